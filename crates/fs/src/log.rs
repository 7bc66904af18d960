//! Append-only line logs that lose at most their last, incomplete line.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::create_private_directories;

#[cfg(test)]
mod tests;

/// Append-only file of lines. Each write is a single call, so that a killed process leaves at most
/// one incomplete line. An incomplete line (kill, power failure, full disk) is ended with a line
/// break at the next write.
#[derive(Debug)]
pub struct AppendLog {
    file: File,
    path: PathBuf,
    /// True if the file ends inside a line.
    torn: bool,
    buffer: Vec<u8>,
}

impl Drop for AppendLog {
    /// Releases the lock. Closing the file is not sufficient while a child that another thread
    /// starts has a copy of the descriptor.
    fn drop(&mut self) {
        drop(self.file.unlock());
    }
}

impl AppendLog {
    /// Opens or creates the log (0600) and its folders (0700). Reads only one byte of it, whatever
    /// its size.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::PermissionDenied`], [`Error::IsDirectory`] and similar
    /// errors.
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

    /// Locks the log for this process until the value is dropped.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process (or another handle) has locked it.
    pub fn try_lock(&mut self) -> Result<()> {
        match self.file.try_lock() {
            Ok(()) => {
                // The previous holder may have written since the log was opened.
                self.torn = ends_inside_a_line(&self.file).map_err(|error| self.failed(error))?;
                Ok(())
            }
            Err(TryLockError::WouldBlock) => Err(Error::Locked { path: self.path.clone() }),
            Err(TryLockError::Error(error)) => Err(self.failed(error)),
        }
    }

    /// Appends `line`, with or without its final line feed. After the return, the line survives the
    /// end of the process; see [`Self::sync`].
    ///
    /// # Errors
    /// [`Error::InvalidLine`] for a line break inside the line, [`Error::NoSpace`] and
    /// others. At most an incomplete line was then written.
    pub fn append(&mut self, line: &[u8]) -> Result<()> {
        self.append_all([line.to_vec()])
    }

    /// Appends several lines in one write call. A long first line is not copied.
    ///
    /// # Errors
    /// The same as of [`Self::append`]; lines before an incomplete one are complete.
    pub fn append_all(&mut self, lines: impl IntoIterator<Item = Vec<u8>>) -> Result<()> {
        self.begin();
        let start = self.buffer.len();
        for mut line in lines {
            line.pop_if(|last| *last == b'\n');
            if line.contains(&b'\n') {
                return Err(Error::InvalidLine { path: self.path.clone() });
            }
            if self.buffer.is_empty() {
                self.buffer = line;
            } else {
                self.buffer.append(&mut line);
            }
            self.buffer.push(b'\n');
        }
        if self.buffer.len() == start { Ok(()) } else { self.write() }
    }

    /// Appends a record of several lines, for files whose readers separate records in another way.
    ///
    /// # Errors
    /// [`Error::NoSpace`] and others. At most an incomplete record was then written.
    pub fn append_record(&mut self, record: &[u8]) -> Result<()> {
        self.begin();
        self.buffer.extend_from_slice(record);
        self.buffer.push(b'\n');
        self.write()
    }

    /// Starts a write; it begins with a line break if the last line is incomplete.
    fn begin(&mut self) {
        self.buffer.clear();
        if self.torn {
            self.buffer.push(b'\n');
        }
    }

    fn write(&mut self) -> Result<()> {
        let written = self.file.write_all(&self.buffer);
        if let Err(error) = written {
            // Part of the data may have been written, even the line break that ends an older
            // incomplete line.
            self.torn = ends_inside_a_line(&self.file).unwrap_or(true);
            return Err(self.failed(error));
        }
        self.torn = false;
        // Releases the memory of a huge line, which would otherwise be kept for the rest of the
        // session.
        self.buffer.shrink_to(64 * 1024);
        Ok(())
    }

    /// Waits until everything appended is on the storage device.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| self.failed(error))
    }

    /// Returns the path of the log.
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
    // Appending always writes at the end, independent of the position.
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
