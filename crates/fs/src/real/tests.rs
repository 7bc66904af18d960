use std::fs;

use super::*;
use crate::write::WriteOptions;

#[test]
fn what_is_real_is_read_listed_and_written() {
    let dir = tempfile::tempdir().unwrap();
    let root = RealPath::of(dir.path()).unwrap();
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("sub/a"), "one\r\ntwo").unwrap();
    let file = root.below("sub/a");
    assert_eq!((file.info().unwrap().kind, file.info().unwrap().size), (EntryKind::File, 8));
    assert_eq!(file.info().unwrap(), crate::info(&file).unwrap());
    assert_eq!(file.read_bytes(8).unwrap(), b"one\r\ntwo");
    assert!(matches!(file.read_bytes(7), Err(Error::TooLarge { .. })));
    assert_eq!(file.read_head(3).unwrap(), b"one");
    assert_eq!(file.read_text(8).unwrap().text, "one\ntwo");
    assert!(matches!(root.below("sub").read_bytes(9), Err(Error::IsDirectory { .. })));
    assert!(matches!(root.below("none/a").read_bytes(9), Err(Error::NotFound { .. })));
    assert!(matches!(file.list(), Err(Error::NotADirectory { .. })));

    let options = WriteOptions { create_parents: true, ..WriteOptions::default() };
    assert!(root.below("new/deep/b").write_atomic(b"b", &options).unwrap().created);
    assert_eq!(fs::read(root.join("new/deep/b")).unwrap(), b"b");
    let names = |path: &RealPath| -> Vec<String> {
        path.list().unwrap().into_iter().map(|(entry, _)| entry.name).collect()
    };
    assert_eq!(names(&root), ["new", "sub"]);
}

#[test]
fn the_root_of_the_file_system_is_a_folder() {
    let root = RealPath::of(Path::new("/")).unwrap();
    assert_eq!(root.info().unwrap().kind, EntryKind::Directory);
    assert!(root.list().is_ok());
    assert!(matches!(root.read_bytes(1), Err(Error::IsDirectory { .. })));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_was_put_there_since_is_met_everywhere() {
        let dir = tempfile::tempdir().unwrap();
        let root = RealPath::of(dir.path()).unwrap();
        fs::create_dir_all(root.join("outside/sub")).unwrap();
        fs::write(root.join("outside/sub/a"), "secret").unwrap();
        symlink("outside", root.join("way")).unwrap();
        symlink("outside/sub/a", root.join("file")).unwrap();
        let before = fs::read_dir(root.join("outside/sub")).unwrap().count();
        let options = WriteOptions { create_parents: true, ..WriteOptions::default() };
        for path in ["way/sub/a", "way/sub/new", "way/made/new", "way", "file"] {
            let path = root.below(path);
            let changed = |result: Result<()>| {
                assert!(matches!(result, Err(Error::PathChanged { .. })), "{path:?} {result:?}");
            };
            changed(path.info().map(drop));
            changed(path.read_bytes(10).map(drop));
            changed(path.read_head(10).map(drop));
            changed(path.read_text(10).map(drop));
            changed(path.open_listed().map(drop));
            changed(path.write_atomic(b"written", &options).map(drop));
        }
        for path in ["way", "way/sub"] {
            let listed = root.below(path).list();
            assert!(matches!(listed, Err(Error::PathChanged { .. })), "{path} {listed:?}");
        }
        assert_eq!(fs::read(root.join("outside/sub/a")).unwrap(), b"secret");
        assert_eq!(fs::read_dir(root.join("outside/sub")).unwrap().count(), before);
        assert!(!root.join("outside/made").exists());
    }

    #[test]
    fn a_link_in_a_listing_is_what_it_leads_to() {
        let dir = tempfile::tempdir().unwrap();
        let root = RealPath::of(dir.path()).unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        symlink("sub", root.join("way")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        let listed: Vec<_> = root.list().unwrap();
        let shown: Vec<_> =
            listed.iter().map(|(entry, info)| (&*entry.name, entry.kind, info.kind)).collect();
        assert_eq!(
            shown,
            [
                ("sub", EntryKind::Directory, EntryKind::Directory),
                ("way", EntryKind::Symlink, EntryKind::Directory)
            ]
        );
    }
}
