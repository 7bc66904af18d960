//! Contents of files as tools see them: the text held by the session's [`Files`], otherwise the
//! content on disk.

use std::path::Path;

use pollux_fs::{Error, Fingerprint, RealPath, TextFile, WriteOptions};
use pollux_protocol::{Files, TextWritten};

/// Maximum size of a file in bytes; larger files are not read.
pub(crate) const MAX_BYTES: u64 = 20 << 20;

/// Returns the message for a file larger than [`MAX_BYTES`].
pub(crate) fn too_large(path: &Path, size: u64) -> String {
    let megabytes = size as f64 / f64::from(1 << 20);
    format!("File size exceeds the 20MB limit: {} ({megabytes:.2}MB)", path.display())
}

/// Returns the text of a file that [`Files`] holds.
pub(crate) fn held(files: &dyn Files, path: &RealPath) -> Result<Option<String>, Error> {
    files.read(path).map_err(|error| Error::from_io(path.to_path_buf(), error))
}

/// Returns the bytes of a file.
pub(crate) fn read_bytes(files: &dyn Files, path: &RealPath) -> Result<Vec<u8>, Error> {
    let Some(text) = held(files, path)? else { return path.read_bytes(MAX_BYTES) };
    let size = text.len() as u64;
    if size > MAX_BYTES {
        return Err(Error::TooLarge { path: path.to_path_buf(), size, limit: MAX_BYTES });
    }
    Ok(text.into_bytes())
}

/// Returns the text of a file before a change; `None` if the file does not exist.
pub(crate) fn read_text(files: &dyn Files, path: &RealPath) -> Result<Option<TextFile>, Error> {
    if let Some(text) = held(files, path)? {
        return Ok(Some(TextFile::from_bytes(text.as_bytes(), None)));
    }
    match path.read_text(MAX_BYTES) {
        Ok(file) => Ok(Some(file)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a text file and returns the fingerprint of the content that [`read_bytes`] returns from
/// now on.
pub(crate) fn write(
    files: &dyn Files,
    path: &RealPath,
    bytes: &[u8],
    options: &WriteOptions,
) -> Result<Fingerprint, Error> {
    let (mut text, format) = pollux_fs::decode(bytes);
    if format.bom {
        text.insert(0, '\u{feff}');
    }
    let written = files.write(path, &text);
    match written.map_err(|error| Error::from_io(path.to_path_buf(), error))? {
        TextWritten::Taken => Ok(Fingerprint::of_bytes(text.as_bytes(), None)),
        TextWritten::ToDisk => Ok(path.write_atomic(bytes, options)?.fingerprint),
    }
}
