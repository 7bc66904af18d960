//! Extraction of archives within bounds.

use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use pollux_fs::{Expectation, WriteOptions};
use tar::EntryType;
use zip::ZipArchive;

use crate::error::InstallError;

/// Maximum size of an archive, in bytes.
pub(crate) const MAX_ARCHIVE: usize = 64 << 20;
/// Maximum number of files and folders in an archive.
const MAX_ENTRIES: usize = 2000;
/// Maximum size of all files together, in bytes.
const MAX_EXTRACTED: u64 = 128 << 20;
/// Maximum size of everything else in a tar archive, in bytes.
const MAX_HEADERS: u64 = 8 << 20;
/// Maximum length of a path in an archive, in bytes.
const MAX_PATH: usize = 512;

/// Bits of a Unix mode that hold the kind of file, and their values.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const EXECUTABLE: u32 = 0o111;

/// Format of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveKind {
    /// `.zip`.
    Zip,
    /// `.tar.gz` or `.tgz`.
    TarGz,
}

impl ArchiveKind {
    /// Returns the format of a file with a name; `None` if it is not the name of an archive.
    pub fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        match name.rsplit_once('.')? {
            (_, "zip") => Some(Self::Zip),
            (_, "tgz") => Some(Self::TarGz),
            _ => name.ends_with(".tar.gz").then_some(Self::TarGz),
        }
    }
}

/// Extracts an archive into a folder, which must be empty. Files that can be executed stay
/// executable. Blocks the thread.
///
/// # Errors
/// [`InstallError::Archive`] for an archive that is damaged or too large, that contains links, or
/// paths that lead out of it or occur twice. Some of the files may already be extracted.
pub(crate) fn extract(archive: &Path, kind: ArchiveKind, to: &Path) -> Result<(), InstallError> {
    let size = pollux_fs::info(archive)?.size;
    if size > MAX_ARCHIVE as u64 {
        return Err(InstallError::archive(
            archive,
            format!("it is larger than {MAX_ARCHIVE} bytes"),
        ));
    }
    let file = pollux_fs::open_to_read(archive)?;
    extract_from(file, kind, to).map_err(|error| match error {
        Unusable::Archive(reason) => InstallError::archive(archive, reason),
        Unusable::File(error) => InstallError::File(error),
    })
}

/// Extracts an archive in memory, like [`extract`].
///
/// # Errors
/// The reason why it is not extracted.
pub fn extract_bytes(archive: &[u8], kind: ArchiveKind, to: &Path) -> Result<(), String> {
    extract_from(Cursor::new(archive), kind, to).map_err(String::from)
}

/// Extracts a tar archive in memory, like [`extract`].
///
/// # Errors
/// The reason why it is not extracted.
pub fn extract_tar_bytes(archive: &[u8], to: &Path) -> Result<(), String> {
    extract_tar(archive, to).map_err(String::from)
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

impl From<Unusable> for String {
    fn from(error: Unusable) -> Self {
        match error {
            Unusable::Archive(reason) => reason,
            Unusable::File(error) => error.to_string(),
        }
    }
}

fn extract_from(file: impl Read + Seek, kind: ArchiveKind, to: &Path) -> Result<(), Unusable> {
    match kind {
        ArchiveKind::Zip => extract_zip(file, to),
        ArchiveKind::TarGz => extract_tar(MultiGzDecoder::new(file), to),
    }
}

fn extract_zip(file: impl Read + Seek, to: &Path) -> Result<(), Unusable> {
    let mut archive = ZipArchive::new(file)?;
    let mut extraction = Extraction::new(to);
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let name = entry.name()?.into_owned();
        let mode = entry.unix_mode().unwrap_or_default();
        match mode & KIND {
            0 | REGULAR | FOLDER if entry.is_dir() => extraction.folder(&name)?,
            0 | REGULAR | FOLDER => extraction.file(&name, mode, &mut entry)?,
            _ => return Err(special(&name)),
        }
    }
    Ok(())
}

fn extract_tar(file: impl Read, to: &Path) -> Result<(), Unusable> {
    let damaged = |error: io::Error| Unusable::Archive(error.to_string());
    // Headers and long names need memory, too.
    let mut archive = tar::Archive::new(file.take(MAX_EXTRACTED + MAX_HEADERS));
    let mut extraction = Extraction::new(to);
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let name = String::from_utf8(entry.path_bytes().into_owned())
            .map_err(|_| Unusable::Archive("it contains a name that is not UTF-8".to_owned()))?;
        let mode = entry.header().mode().map_err(damaged)?;
        match entry.header().entry_type() {
            // Facts about the archive, such as the commit of the files.
            EntryType::XGlobalHeader => {}
            EntryType::Directory => extraction.folder(&name)?,
            EntryType::Regular | EntryType::Continuous => {
                extraction.file(&name, mode, &mut entry)?;
            }
            _ => return Err(special(&name)),
        }
    }
    if extraction.entries == 0 {
        return Err(Unusable::Archive("it contains nothing".to_owned()));
    }
    Ok(())
}

/// Entries of an archive on their way into a folder.
struct Extraction<'a> {
    to: &'a Path,
    entries: usize,
    /// Number of bytes that may still be extracted.
    left: u64,
}

impl<'a> Extraction<'a> {
    fn new(to: &'a Path) -> Self {
        Self { to, entries: 0, left: MAX_EXTRACTED }
    }

    /// Returns the path for the next entry.
    fn path(&mut self, name: &str) -> Result<PathBuf, Unusable> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(Unusable::Archive(format!("it contains more than {MAX_ENTRIES} entries")));
        }
        Ok(self.to.join(inner_path(name)?))
    }

    fn folder(&mut self, name: &str) -> Result<(), Unusable> {
        let path = self.path(name)?;
        pollux_fs::create_directories(&path).map_err(|error| not_written(error, name))
    }

    fn file(&mut self, name: &str, mode: u32, content: &mut dyn Read) -> Result<(), Unusable> {
        let path = self.path(name)?;
        // The sizes in the archive may be wrong.
        let mut bytes = Vec::new();
        let read = content.take(self.left + 1).read_to_end(&mut bytes);
        read.map_err(|error| Unusable::Archive(format!("{}: {error}", shown(name))))?;
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            Unusable::Archive(format!("its files are larger than {MAX_EXTRACTED} bytes"))
        })?;
        let options = WriteOptions {
            expected: Some(Expectation::Absent),
            mode: Some(if mode & EXECUTABLE == 0 { 0o644 } else { 0o755 }),
            create_parents: true,
            without_sync: true,
        };
        let written = pollux_fs::write_atomic(&path, &bytes, &options);
        written.map(drop).map_err(|error| not_written(error, name))
    }
}

fn not_written(error: pollux_fs::Error, name: &str) -> Unusable {
    match error {
        pollux_fs::Error::ChangedOnDisk { .. } | pollux_fs::Error::NotADirectory { .. } => {
            Unusable::Archive(format!("it contains {} twice", shown(name)))
        }
        error => Unusable::File(error),
    }
}

fn special(name: &str) -> Unusable {
    Unusable::Archive(format!(
        "{} is a link or a special file, which is not allowed in it",
        shown(name)
    ))
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
        match extract_zip(writer.finish().unwrap(), &folder.path().join("to")) {
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
            let cut = &bytes[..cut];
            assert!(extract_bytes(cut, ArchiveKind::Zip, folder.path()).is_err());
        }
        let archive = folder.path().join("x.skill");
        std::fs::write(&archive, "no archive").unwrap();
        let error =
            extract(&archive, ArchiveKind::Zip, &folder.path().join("to")).unwrap_err().to_string();
        assert!(error.starts_with("Cannot extract ") && error.contains("x.skill: "), "{error}");
    }

    type TarWriter = tar::Builder<Vec<u8>>;

    /// Adds an entry with any name and kind.
    fn add(writer: &mut TarWriter, name: &str, kind: EntryType, mode: u32, bytes: &[u8]) {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        writer.append(&header, bytes).unwrap();
    }

    fn packed(writer: TarWriter) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&writer.into_inner().unwrap()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn tar_archives_are_extracted() {
        let mut writer = TarWriter::new(Vec::new());
        add(&mut writer, "pax_global_header", EntryType::XGlobalHeader, 0, b"20 comment=012345\n");
        add(&mut writer, "r-1/", EntryType::Directory, 0o755, b"");
        add(&mut writer, "r-1/run.sh", EntryType::Regular, 0o775, b"echo");
        let long = format!("r-1/{}/x.md", "long/".repeat(40));
        let mut header = tar::Header::new_gnu();
        header.set_size(4);
        header.set_mode(0o600);
        writer.append_data(&mut header, &long, &b"text"[..]).unwrap();
        let bytes = packed(writer);
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        extract_bytes(&bytes, ArchiveKind::TarGz, &to).unwrap();
        assert_eq!(std::fs::read(to.join("r-1/run.sh")).unwrap(), b"echo");
        assert_eq!(std::fs::read(to.join(&long)).unwrap(), b"text");
        for cut in 0..bytes.len() {
            let cut = &bytes[..cut];
            let to = folder.path().join("cut");
            let result = extract_bytes(cut, ArchiveKind::TarGz, &to);
            assert!(result.is_err() || cut.len() > bytes.len() - 200, "{}", cut.len());
            drop(std::fs::remove_dir_all(&to));
        }
    }

    #[test]
    fn hostile_tar_archives_are_refused() {
        let zeros = vec![0; 1 << 20];
        let refused = |writer: TarWriter, reason: &str| {
            let folder = tempfile::tempdir().unwrap();
            let to = folder.path().join("to");
            let error = extract_bytes(&packed(writer), ArchiveKind::TarGz, &to).unwrap_err();
            assert!(error.contains(reason), "{error}");
            assert!(std::fs::read_dir(folder.path()).unwrap().count() <= 1);
        };
        for name in ["../x", "/etc/x", "a/../../x", "a\\x", "C:x"] {
            let mut writer = TarWriter::new(Vec::new());
            add(&mut writer, name, EntryType::Regular, 0o644, b"x");
            refused(writer, "is not allowed in it");
        }
        for kind in [EntryType::Symlink, EntryType::Link, EntryType::Fifo, EntryType::Char] {
            let mut writer = TarWriter::new(Vec::new());
            add(&mut writer, "link", kind, 0o644, b"");
            refused(writer, "\"link\" is a link");
        }
        let mut twice = TarWriter::new(Vec::new());
        add(&mut twice, "a", EntryType::Regular, 0o644, b"1");
        add(&mut twice, "./a", EntryType::Regular, 0o644, b"2");
        refused(twice, "twice");
        let mut many = TarWriter::new(Vec::new());
        for number in 0..=MAX_ENTRIES {
            add(&mut many, &number.to_string(), EntryType::Directory, 0o755, b"");
        }
        refused(many, "entries");
        let mut bomb = TarWriter::new(Vec::new());
        for number in 0..=(MAX_EXTRACTED >> 20) {
            add(&mut bomb, &number.to_string(), EntryType::Regular, 0o644, &zeros);
        }
        refused(bomb, "are larger than");
        refused(TarWriter::new(Vec::new()), "it contains nothing");
    }
}
