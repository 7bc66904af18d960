//! Archives of skills and extensions: whatever the bytes are, nothing is written outside of the
//! folder, and there are no links.

use std::path::Path;

use pollux_extensions::{ArchiveKind, extract_bytes, extract_tar_bytes};
use pollux_fs::EntryKind;

pub(crate) fn run(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let to = folder.path().join("to");
    // An archive that is refused may leave files, too.
    drop(match bytes {
        [b'P', ..] => extract_bytes(bytes, ArchiveKind::Zip, &to),
        [0x1f, ..] => extract_bytes(bytes, ArchiveKind::TarGz, &to),
        _ => extract_tar_bytes(bytes, &to),
    });
    let names: Vec<String> = entries(folder.path()).into_iter().map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| name == "to"), "{names:?}");
    check(&to);
}

fn check(folder: &Path) {
    for (name, kind) in entries(folder) {
        match kind {
            EntryKind::File => {}
            EntryKind::Directory => check(&folder.join(name)),
            kind => panic!("{name} is {kind:?}"),
        }
    }
}

fn entries(folder: &Path) -> Vec<(String, EntryKind)> {
    let entries = pollux_fs::list_directory(folder).unwrap_or_default();
    entries.into_iter().map(|entry| (entry.name, entry.kind)).collect()
}
