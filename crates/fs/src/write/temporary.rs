//! Temporary files with new content before the rename.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;

use crate::held::HeldFolder;

/// Maximum number of names that are tried.
const MAX_TRIES: usize = 100;

/// File with a temporary name. Dropping it removes the file.
pub(super) struct Temporary<'f> {
    folder: &'f HeldFolder,
    name: OsString,
    file: File,
    persisted: bool,
}

impl<'f> Temporary<'f> {
    /// Creates a file, for the owner only or with the default mode of new files.
    pub(super) fn create(folder: &'f HeldFolder, private: bool) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            // The name is short, because it must fit wherever the target's name fits.
            let number = RandomState::new().build_hasher().finish();
            let name = OsString::from(format!(".pollux-{number:016x}.tmp"));
            tries += 1;
            match folder.create_file(&name, private) {
                Ok(file) => return Ok(Self { folder, name, file, persisted: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < MAX_TRIES => {
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Renames the file to its final name. With `is_new`, the name must not be in use; otherwise an
    /// existing file is replaced.
    pub(super) fn persist(mut self, name: &OsStr, is_new: bool) -> io::Result<()> {
        if is_new {
            self.folder.rename_to_new(&self.name, name)?;
        } else {
            self.folder.rename(&self.name, name)?;
        }
        self.persisted = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.persisted {
            // A failure is ignored, because nothing can be done about it.
            self.folder.remove(&self.name).ok();
        }
    }
}
