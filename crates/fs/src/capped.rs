//! A file for output without end: its beginning and its end stay, what is between them goes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::create_private_directories;

#[cfg(test)]
mod tests;

/// The smallest cap; less has no room for two ends and the line between them.
const SMALLEST: u64 = 512;
/// Bytes moved at once when the middle goes.
const PIECE: usize = 64 * 1024;

/// A new file (0600) that never holds more than its cap, however much is written.
///
/// Full, it loses its middle: two fifths of the cap stay at the beginning, the last fifth moves up behind a
/// line that says how many bytes are missing, and the rest is room again. So the end of the file always is
/// the end of what was written, and each byte is moved at most once per two that are new. Dropping the value keeps the
/// file. It is not synced: what goes here can be produced again.
#[derive(Debug)]
pub struct CappedFile {
    file: File,
    path: PathBuf,
    cap: u64,
    length: u64,
    written: u64,
    omitted: u64,
}

impl CappedFile {
    /// Creates the file with its folders (0700); an old file of the same name is emptied. A cap below 512 counts as
    /// that.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn create(path: &Path, cap: u64) -> Result<Self> {
        Self::open(path, cap, OpenOptions::new().create(true).truncate(true))
    }

    /// The same in place of whatever has the name: an old file or link is removed first, and nothing that another
    /// process puts there meanwhile is opened.
    ///
    /// # Errors
    /// Those of removing and creating it.
    pub fn replace(path: &Path, cap: u64) -> Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::from_io(path, error))
            }
            _ => Self::open(path, cap, OpenOptions::new().create_new(true)),
        }
    }

    fn open(path: &Path, cap: u64, options: &mut OpenOptions) -> Result<Self> {
        if let Some(parent) = path.parent() {
            create_private_directories(parent)?;
        }
        options.read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
        let file = options.open(path).map_err(|error| Error::from_io(path, error))?;
        let (path, cap) = (path.to_path_buf(), cap.max(SMALLEST));
        Ok(Self { file, path, cap, length: 0, written: 0, omitted: 0 })
    }

    /// Adds bytes at the end.
    ///
    /// # Errors
    /// [`Error::NoSpace`] and others; what the file holds then is no longer sure.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.append(bytes).map_err(|error| Error::from_io(&self.path, error))
    }

    /// How many bytes were written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// How many of them are not in the file any more.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    fn append(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.length == self.cap {
                self.drop_middle()?;
            }
            let room = usize::try_from(self.cap - self.length).unwrap_or(usize::MAX);
            let (fits, later) = bytes.split_at(bytes.len().min(room));
            self.file.write_all(fits)?;
            self.length += fits.len() as u64;
            self.written += fits.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Moves the last fifth behind the first two; never onto itself, for there is more than a fifth between them.
    fn drop_middle(&mut self) -> io::Result<()> {
        let (head, kept) = (self.cap / 5 * 2, self.cap / 5);
        let had_line = if self.omitted > 0 { line(0).len() as u64 } else { 0 };
        let from = self.length - kept;
        self.omitted += from - head - had_line;
        let line = line(self.omitted);
        let to = head + line.len() as u64;
        let mut piece = vec![0; PIECE];
        let mut moved = 0;
        while moved < kept {
            let size = piece.len().min(usize::try_from(kept - moved).unwrap_or(usize::MAX));
            self.file.seek(SeekFrom::Start(from + moved))?;
            self.file.read_exact(&mut piece[..size])?;
            self.file.seek(SeekFrom::Start(to + moved))?;
            self.file.write_all(&piece[..size])?;
            moved += size as u64;
        }
        self.file.seek(SeekFrom::Start(head))?;
        self.file.write_all(line.as_bytes())?;
        self.length = to + kept;
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::End(0))?;
        Ok(())
    }
}

/// What stands in place of the missing bytes: always of the same length, so that it can be written again.
fn line(omitted: u64) -> String {
    format!("\n... [{omitted:>20} bytes omitted] ...\n")
}
