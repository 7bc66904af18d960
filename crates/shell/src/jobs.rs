//! The list of background jobs, which the shell writes when it ends.

use std::io::{self, Read as _, Seek as _};
use std::path::Path;

use tempfile::{NamedTempFile, TempDir};

use crate::sessions::is_running;
use crate::temporary;

/// Maximum number of bytes that are read, because a hostile command may have written the list.
const LIST_BYTES: u64 = 16 * 1024;

/// File for the shell's list of jobs.
///
/// The file is in a private folder that only the owner can read. A shell that is being killed may
/// write its list after this value is dropped: without the folder, the shell can neither leave a
/// file behind nor be led through a link that another user has created.
pub(crate) struct JobList {
    // The fields are in this order so that the file is removed before its folder.
    file: NamedTempFile,
    _folder: TempDir,
}

impl JobList {
    pub(crate) fn new() -> io::Result<Self> {
        let folder = temporary::private_folder(temporary::JOBS)?;
        let file = NamedTempFile::new_in(folder.path())?;
        Ok(Self { file, _folder: folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the listed jobs that still run. The list is read through the handle that was opened
    /// before the command ran, because the command may have replaced the file at the path.
    pub(crate) fn read(&self) -> io::Result<Vec<u32>> {
        let mut list = Vec::new();
        let mut handle = self.file.as_file();
        handle.rewind()?;
        handle.take(LIST_BYTES).read_to_end(&mut list)?;
        let numbers = list.split(|&byte| byte == b'\n');
        let numbers = numbers.filter_map(|line| std::str::from_utf8(line).ok()?.parse().ok());
        Ok(numbers.filter(|&id| is_running(id)).collect())
    }
}
