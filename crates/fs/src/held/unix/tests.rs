use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// Both implementations of the walk must agree; most systems that run the tests would never use the
/// second.
#[test]
fn walking_step_by_step_finds_and_refuses_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    symlink("a", root.join("way")).unwrap();
    let table = [
        ("", None),
        ("a", None),
        ("a/b", None),
        ("way", Some(Errno::LOOP)),
        ("way/b", Some(Errno::LOOP)),
        ("file", Some(Errno::NOTDIR)),
        ("file/b", Some(Errno::NOTDIR)),
        ("none", Some(Errno::NOENT)),
        ("none/b", Some(Errno::NOENT)),
    ];
    for access in [SEARCH, OFlags::RDONLY] {
        for (path, expected) in table {
            let path = root.join(path);
            assert_eq!(step_by_step(&path, access).err(), expected, "{}", path.display());
            let at_once = open_folder(&path, access).err();
            let code = at_once.and_then(|error| error.raw_os_error());
            assert_eq!(code, expected.map(Errno::raw_os_error), "{}", path.display());
        }
    }
    assert!(step_by_step(Path::new("/"), OFlags::RDONLY).is_ok());
    assert_eq!(step_by_step(Path::new("a"), SEARCH).err(), Some(Errno::INVAL));
}

#[test]
fn folders_are_created_where_the_handle_is() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("old/inner")).unwrap();
    let held = HeldFolder::open(&root.join("old")).unwrap();
    fs::rename(root.join("old"), root.join("moved")).unwrap();
    fs::create_dir(root.join("old")).unwrap();
    held.create_folder(OsStr::new("made")).unwrap();
    held.create_file(OsStr::new("file"), true).unwrap();
    assert!(root.join("moved/made").is_dir() && root.join("moved/file").is_file());
    assert_eq!(fs::read_dir(root.join("old")).unwrap().count(), 0);
}

#[test]
fn a_new_name_takes_nothing_away() {
    let dir = tempfile::tempdir().unwrap();
    let held = HeldFolder::open(&dir.path().canonicalize().unwrap()).unwrap();
    let [one, two] = ["one", "two"].map(OsStr::new);
    for name in [one, two] {
        held.create_file(name, true).unwrap();
    }
    let error = held.rename_to_new(one, two).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    held.rename(one, two).unwrap();
    held.rename_to_new(two, one).unwrap();
    assert!(dir.path().join("one").exists() && !dir.path().join("two").exists());
}
