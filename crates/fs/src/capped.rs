//! A size-limited file for unlimited output: its beginning and its end are kept, the middle is
//! dropped.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::create_private_directories;

#[cfg(test)]
mod tests;

/// Minimum limit; a smaller one has no room for both ends and the line between them.
const SMALLEST: u64 = 512;
/// Number of bytes moved in one step when the middle is dropped.
const PIECE: usize = 64 * 1024;

/// A new file (0600) whose size never exceeds its limit, however much is written.
///
/// The middle of a full file is dropped: two fifths of the limit are kept at the beginning, the
/// last fifth is moved to follow a line with the number of missing bytes, and the rest becomes
/// free. The end of the file therefore is always the end of the output, and each byte is moved at
/// most once per two new bytes. Dropping the value keeps the file. The file is not synced, because
/// its content can be produced again.
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
    /// Creates the file and its folders (0700); an existing file is truncated. A `cap` below 512
    /// counts as 512.
    ///
    /// # Errors
    /// Returns any error of creating the file.
    pub fn create(path: &Path, cap: u64) -> Result<Self> {
        Self::open(path, cap, OpenOptions::new().create(true).truncate(true))
    }

    /// Creates the file like [`Self::create`], but first removes an existing file or link. A file
    /// that another process creates there in the meantime is not opened.
    ///
    /// # Errors
    /// Returns any error of removing or creating the file.
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

    /// Appends bytes.
    ///
    /// # Errors
    /// [`Error::NoSpace`] and others; the content of the file is then undefined.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.append(bytes).map_err(|error| Error::from_io(&self.path, error))
    }

    /// Returns the number of bytes written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns the number of bytes that are no longer in the file.
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

    /// Moves the last fifth to follow the first two. The ranges never overlap, because more than a
    /// fifth lies between them.
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

/// Returns the line in place of the missing bytes. Its length is constant, so that it can be
/// overwritten.
fn line(omitted: u64) -> String {
    format!("\n... [{omitted:>20} bytes omitted] ...\n")
}
