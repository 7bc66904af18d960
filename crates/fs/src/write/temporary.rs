//! The new bytes before they take their name.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;

use crate::held::HeldFolder;

/// How many names are tried.
const MAX_TRIES: usize = 100;

/// A file under a name of its own. Dropped, it is removed.
pub(super) struct Temporary<'f> {
    folder: &'f HeldFolder,
    name: OsString,
    file: File,
    persisted: bool,
}

impl<'f> Temporary<'f> {
    /// A new file, for the owner only or with the mode that any program would give it.
    pub(super) fn create(folder: &'f HeldFolder, private: bool) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            // The name is short whatever the target's is: it must fit where the target's fits.
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

    /// Gives it its name, in place of what has it or only if nothing has.
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
            // Nothing is left to do about a failure.
            self.folder.remove(&self.name).ok();
        }
    }
}
