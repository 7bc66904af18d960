//! The list of background jobs that the shell writes when it ends.

use std::io::{self, Read as _, Seek as _};
use std::path::Path;

use tempfile::{NamedTempFile, TempDir};

use crate::sessions::is_running;

/// The most that is read; a hostile command may have written the list.
const LIST_BYTES: u64 = 16 * 1024;

/// A place for the shell's list.
///
/// The file has a folder of its own, readable by the owner only. A shell that is being killed may
/// write its list after we are done with it: without the folder it can neither leave a file behind
/// nor be led through a link that another user put there.
pub(crate) struct JobList {
    // In this order: the file goes before its folder.
    file: NamedTempFile,
    _folder: TempDir,
}

impl JobList {
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("pollux-shell-").tempdir()?;
        let file = NamedTempFile::new_in(folder.path())?;
        Ok(Self { file, _folder: folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The listed jobs that still run. Read through the handle from before the command ran: what the
    /// path names now is the command's business.
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
