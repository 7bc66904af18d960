//! Extraction of zip archives within bounds.

use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use pollux_fs::{Expectation, WriteOptions};
use zip::ZipArchive;
use zip::read::ZipFile;

use crate::error::InstallError;

/// Maximum size of an archive, in bytes.
const MAX_ARCHIVE: u64 = 64 << 20;
/// Maximum number of files and folders in an archive.
const MAX_ENTRIES: usize = 2000;
/// Maximum size of all files together, in bytes.
const MAX_EXTRACTED: u64 = 128 << 20;
/// Maximum length of a path in an archive, in bytes.
const MAX_PATH: usize = 512;

/// Bits of a Unix mode that hold the kind of file, and their values.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const EXECUTABLE: u32 = 0o111;

/// Extracts a zip archive into a folder, which must be empty. Files that can be executed stay
/// executable. Blocks the thread.
///
/// # Errors
/// [`InstallError::Archive`] for an archive that is damaged or too large, that contains links, or
/// paths that lead out of it or occur twice. Some of the files may already be extracted.
pub fn extract_zip(archive: &Path, to: &Path) -> Result<(), InstallError> {
    let size = pollux_fs::info(archive)?.size;
    if size > MAX_ARCHIVE {
        return Err(InstallError::archive(
            archive,
            format!("it is larger than {MAX_ARCHIVE} bytes"),
        ));
    }
    let file = pollux_fs::open_to_read(archive)?;
    extract(file, to).map_err(|error| match error {
        Unusable::Archive(reason) => InstallError::archive(archive, reason),
        Unusable::File(error) => InstallError::File(error),
    })
}

/// Extracts a zip archive in memory, like [`extract_zip`].
///
/// # Errors
/// The reason why it is not extracted.
pub fn extract_zip_bytes(archive: &[u8], to: &Path) -> Result<(), String> {
    extract(Cursor::new(archive), to).map_err(|error| match error {
        Unusable::Archive(reason) => reason,
        Unusable::File(error) => error.to_string(),
    })
}

/// Reason why an archive is not extracted.
enum Unusable {
    Archive(String),
    File(pollux_fs::Error),
}

impl From<zip::result::ZipError> for Unusable {
    fn from(error: zip::result::ZipError) -> Self {
        Self::Archive(error.to_string())
    }
}

fn extract(file: impl Read + Seek, to: &Path) -> Result<(), Unusable> {
    let mut archive = ZipArchive::new(file)?;
    if archive.len() > MAX_ENTRIES {
        return Err(Unusable::Archive(format!("it contains more than {MAX_ENTRIES} entries")));
    }
    let mut left = MAX_EXTRACTED;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let name = entry.name()?.into_owned();
        let path = to.join(inner_path(&name)?);
        let mode = kept_mode(&entry, &name)?;
        let written = if entry.is_dir() {
            pollux_fs::create_directories(&path)
        } else {
            let bytes = content(&mut entry, &name, &mut left)?;
            let options = WriteOptions {
                expected: Some(Expectation::Absent),
                mode: Some(mode),
                create_parents: true,
                without_sync: true,
            };
            pollux_fs::write_atomic(&path, &bytes, &options).map(drop)
        };
        written.map_err(|error| match error {
            pollux_fs::Error::ChangedOnDisk { .. } | pollux_fs::Error::NotADirectory { .. } => {
                Unusable::Archive(format!("it contains {} twice", shown(&name)))
            }
            error => Unusable::File(error),
        })?;
    }
    Ok(())
}

/// Returns the path of an entry below the folder for the archive.
fn inner_path(name: &str) -> Result<PathBuf, Unusable> {
    let is_plain = |part: &str| {
        // Windows reads a colon as a drive or a stream, and a backslash as a slash.
        !part.contains(['\\', ':']) && !part.contains(char::is_control)
    };
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let is_inside = !name.starts_with('/')
        && !parts.is_empty()
        && parts.iter().all(|part| *part != ".." && is_plain(part));
    if !is_inside || name.len() > MAX_PATH {
        return Err(Unusable::Archive(format!("the path {} is not allowed in it", shown(name))));
    }
    Ok(parts.iter().collect())
}

/// Returns the permission bits for a file.
fn kept_mode<R: Read>(entry: &ZipFile<'_, R>, name: &str) -> Result<u32, Unusable> {
    let mode = entry.unix_mode().unwrap_or_default();
    match mode & KIND {
        0 | REGULAR | FOLDER => Ok(if mode & EXECUTABLE == 0 { 0o644 } else { 0o755 }),
        _ => Err(Unusable::Archive(format!(
            "{} is a link or a special file, which is not allowed in it",
            shown(name)
        ))),
    }
}

/// Reads a file, at most the bytes that are left. The sizes in the archive may be wrong.
fn content<R: Read>(
    entry: &mut ZipFile<'_, R>,
    name: &str,
    left: &mut u64,
) -> Result<Vec<u8>, Unusable> {
    let mut bytes = Vec::new();
    let read = entry.by_ref().take(*left + 1).read_to_end(&mut bytes);
    read.map_err(|error| Unusable::Archive(format!("{}: {error}", shown(name))))?;
    *left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
        Unusable::Archive(format!("its files are larger than {MAX_EXTRACTED} bytes"))
    })?;
    Ok(bytes)
}

fn shown(name: &str) -> String {
    let short: String = name.chars().take(100).collect();
    format!("\"{}\"", pollux_protocol::plain_text::visible(&short))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;

    /// Returns an archive of these files.
    fn zipped(files: &[(&str, &[u8])]) -> ZipWriter<Cursor<Vec<u8>>> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer
    }

    fn extracted(writer: ZipWriter<Cursor<Vec<u8>>>) -> Result<tempfile::TempDir, String> {
        let folder = tempfile::tempdir().unwrap();
        match extract(writer.finish().unwrap(), &folder.path().join("to")) {
            Ok(()) => Ok(folder),
            Err(Unusable::Archive(reason)) => Err(reason),
            Err(Unusable::File(error)) => Err(error.to_string()),
        }
    }

    #[test]
    fn files_keep_their_paths_and_can_be_executed() {
        let mut writer = zipped(&[("SKILL.md", b"text")]);
        writer.add_directory("empty", SimpleFileOptions::default()).unwrap();
        let script = SimpleFileOptions::default().unix_permissions(0o755);
        writer.start_file("bin/run.sh", script).unwrap();
        writer.write_all(b"echo").unwrap();
        let folder = extracted(writer).unwrap();
        let to = folder.path().join("to");
        assert_eq!(std::fs::read(to.join("SKILL.md")).unwrap(), b"text");
        assert_eq!(std::fs::read(to.join("bin/run.sh")).unwrap(), b"echo");
        assert!(to.join("empty").is_dir());
        #[cfg(unix)]
        {
            let mode = |name: &str| pollux_fs::ownership(&to.join(name)).unwrap().mode & 0o777;
            assert_eq!((mode("SKILL.md"), mode("bin/run.sh")), (0o644, 0o755));
        }
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        let long = "x/".repeat(300);
        for name in ["../x", "a/../../x", "/etc/x", "a\\..\\x", "C:x", "a\nb", long.as_str()] {
            let error = extracted(zipped(&[("SKILL.md", b""), (name, b"x")])).unwrap_err();
            assert!(error.contains("is not allowed in it"), "{name:?}: {error}");
        }
    }

    #[test]
    fn links_are_refused() {
        let mut writer = zipped(&[]);
        writer.add_symlink("link", "/etc/passwd", SimpleFileOptions::default()).unwrap();
        let error = extracted(writer).unwrap_err();
        assert!(error.contains("\"link\" is a link"), "{error}");
    }

    #[test]
    fn a_name_occurs_once() {
        let error = extracted(zipped(&[("a", b"1"), ("./a", b"2")])).unwrap_err();
        assert!(error.contains("twice"), "{error}");
        let error = extracted(zipped(&[("a", b"1"), ("a/b", b"2")])).unwrap_err();
        assert!(error.contains("twice"), "{error}");
    }

    #[test]
    fn bombs_are_refused() {
        let mut writer = zipped(&[]);
        let packed = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        let chunk = vec![0; 1 << 20];
        writer.start_file("zeros", packed).unwrap();
        for _ in 0..=(MAX_EXTRACTED >> 20) {
            writer.write_all(&chunk).unwrap();
        }
        let error = extracted(writer).unwrap_err();
        assert!(error.contains("are larger than"), "{error}");
        let mut many = zipped(&[]);
        for number in 0..=MAX_ENTRIES {
            many.start_file(number.to_string(), SimpleFileOptions::default()).unwrap();
        }
        assert!(extracted(many).unwrap_err().contains("entries"));
    }

    #[test]
    fn damage_is_an_error() {
        let bytes = zipped(&[("SKILL.md", b"text")]).finish().unwrap().into_inner();
        let folder = tempfile::tempdir().unwrap();
        for cut in 0..bytes.len() {
            assert!(extract(Cursor::new(&bytes[..cut]), folder.path()).is_err(), "{cut}");
        }
        let archive = folder.path().join("x.skill");
        std::fs::write(&archive, "no archive").unwrap();
        let error = extract_zip(&archive, &folder.path().join("to")).unwrap_err().to_string();
        assert!(error.starts_with("Cannot extract ") && error.contains("x.skill: "), "{error}");
    }
}
