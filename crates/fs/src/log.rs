//! Append-only line logs that lose at most their last, torn line.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::create_private_directories;

#[cfg(test)]
mod tests;

/// A file of lines that only ever grows. Lines are written in one call, so that a killed process leaves whole ones, and
/// a torn one (power cut, full disk) is closed off with a line break when the log is next written.
#[derive(Debug)]
pub struct AppendLog {
    file: File,
    path: PathBuf,
    /// Whether the file ends inside a line.
    torn: bool,
    buffer: Vec<u8>,
}

impl Drop for AppendLog {
    /// Gives the claim up. Closing the file does not, as long as a child that another thread is starting has a copy of
    /// the descriptor.
    fn drop(&mut self) {
        drop(self.file.unlock());
    }
}

impl AppendLog {
    /// Opens or creates the log (0600) with its folders (0700). Reads one byte of it, whatever its size.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::PermissionDenied`], [`Error::IsDirectory`] and their like.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |error| Error::from_io(path, error);
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            create_private_directories(parent)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(failed)?;
        let torn = ends_inside_a_line(&file).map_err(failed)?;
        Ok(Self { file, path: path.into(), torn, buffer: Vec::new() })
    }

    /// Claims the log for this process until the value is dropped.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process (or another handle) has it.
    pub fn try_lock(&mut self) -> Result<()> {
        match self.file.try_lock() {
            Ok(()) => {
                // What the former holder left may differ from what was there at opening.
                self.torn = ends_inside_a_line(&self.file).map_err(|error| self.failed(error))?;
                Ok(())
            }
            Err(TryLockError::WouldBlock) => Err(Error::Locked { path: self.path.clone() }),
            Err(TryLockError::Error(error)) => Err(self.failed(error)),
        }
    }

    /// Appends `line`, with or without its final line feed. When this returns, the line outlives the process; see
    /// [`Self::sync`].
    ///
    /// # Errors
    /// [`Error::InvalidLine`] for a line break inside, [`Error::NoSpace`] and others with at most a torn line written.
    pub fn append(&mut self, line: &[u8]) -> Result<()> {
        self.append_all([line])
    }

    /// The same for several lines, in one write call.
    ///
    /// # Errors
    /// As [`Self::append`]; lines before a torn one are whole.
    pub fn append_all<'l>(&mut self, lines: impl IntoIterator<Item = &'l [u8]>) -> Result<()> {
        self.begin();
        let start = self.buffer.len();
        for line in lines {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            if line.contains(&b'\n') {
                return Err(Error::InvalidLine { path: self.path.clone() });
            }
            self.buffer.extend_from_slice(line);
            self.buffer.push(b'\n');
        }
        if self.buffer.len() == start { Ok(()) } else { self.write() }
    }

    /// The same for a record of several lines, for files whose readers tell records apart in another way.
    ///
    /// # Errors
    /// [`Error::NoSpace`] and others with at most a torn record written.
    pub fn append_record(&mut self, record: &[u8]) -> Result<()> {
        self.begin();
        self.buffer.extend_from_slice(record);
        self.buffer.push(b'\n');
        self.write()
    }

    /// Closes off a torn line, with what is written next.
    fn begin(&mut self) {
        self.buffer.clear();
        if self.torn {
            self.buffer.push(b'\n');
        }
    }

    fn write(&mut self) -> Result<()> {
        let written = self.file.write_all(&self.buffer);
        if let Err(error) = written {
            // Something may have been written, even the break that closes an older torn line.
            self.torn = ends_inside_a_line(&self.file).unwrap_or(true);
            return Err(self.failed(error));
        }
        self.torn = false;
        // One huge line must not hold its memory for the rest of the session.
        self.buffer.shrink_to(64 * 1024);
        Ok(())
    }

    /// Waits until everything appended is on the device.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| self.failed(error))
    }

    /// Where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::from_io(&self.path, error)
    }
}

fn ends_inside_a_line(mut file: &File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    // Appending always goes to the end, wherever the position is.
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
