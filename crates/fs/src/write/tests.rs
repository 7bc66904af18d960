use std::fs;

use super::*;

fn leftovers(dir: &Path) -> Vec<String> {
    fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(".pollux-"))
        .collect()
}

fn write(path: &Path, bytes: &[u8]) -> Result<Written> {
    write_atomic(path, bytes, &WriteOptions::default())
}

#[test]
fn creates_and_replaces() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    assert!(write(&path, b"one").unwrap().created);
    let second = write(&path, b"two").unwrap();
    assert!(!second.created && !second.in_place);
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert!(second.fingerprint.matches(&path).unwrap());
    assert!(leftovers(dir.path()).is_empty());
}

#[test]
fn parents_are_made_only_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x/y/a.txt");
    assert!(matches!(write(&path, b""), Err(Error::NotFound { .. })));
    let options = WriteOptions { create_parents: true, ..WriteOptions::default() };
    write_atomic(&path, b"made", &options).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"made");
    assert!(matches!(
        write_atomic(&path.join("below"), b"", &options),
        Err(Error::NotADirectory { .. })
    ));
}

#[test]
fn expectations_hold_or_nothing_happens() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    let absent = WriteOptions { expected: Some(Expectation::Absent), ..WriteOptions::default() };
    let first = write_atomic(&path, b"one", &absent).unwrap();
    assert!(matches!(write_atomic(&path, b"two", &absent), Err(Error::ChangedOnDisk { .. })));
    let expected = Some(Expectation::Unchanged(first.fingerprint));
    let unchanged = WriteOptions { expected, ..WriteOptions::default() };
    write_atomic(&path, b"one", &unchanged).unwrap();
    fs::write(&path, "oNe").unwrap();
    assert!(matches!(write_atomic(&path, b"two", &unchanged), Err(Error::ChangedOnDisk { .. })));
    fs::remove_file(&path).unwrap();
    assert!(matches!(write_atomic(&path, b"two", &unchanged), Err(Error::ChangedOnDisk { .. })));
    assert!(!path.exists() && leftovers(dir.path()).is_empty());
}

#[test]
fn folders_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(write(dir.path(), b"x"), Err(Error::IsDirectory { .. })));
}

#[test]
fn rewriting_in_place_grows_and_shrinks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    for (old, new) in
        [("", "x"), ("abc", "abcdef"), ("abcdef", "xy"), ("abc", ""), ("same", "four")]
    {
        fs::write(&path, old).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        in_place::rewrite(&file, new.as_bytes(), None).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), new);
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn keeps_the_mode_and_sets_one_exactly() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.sh");
        fs::write(&path, "a").unwrap();
        for bits in [0o755, 0o640, 0o600, 0o4755] {
            fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
            write(&path, b"b").unwrap();
            assert_eq!(mode(&path), bits);
        }
        write_atomic(&dir.path().join("secret"), b"", &WriteOptions::private()).unwrap();
        assert_eq!(mode(&dir.path().join("secret")), 0o600);
    }

    #[test]
    fn a_new_file_has_the_mode_any_program_would_give_it() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("theirs"), "").unwrap();
        write(&dir.path().join("ours"), b"").unwrap();
        assert_eq!(mode(&dir.path().join("ours")), mode(&dir.path().join("theirs")));
    }

    #[test]
    fn links_stay_links() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("real")).unwrap();
        fs::write(dir.path().join("real/file"), "old").unwrap();
        symlink("real/file", dir.path().join("middle")).unwrap();
        symlink("middle", dir.path().join("link")).unwrap();
        write(&dir.path().join("link"), b"new").unwrap();
        assert_eq!(fs::read(dir.path().join("real/file")).unwrap(), b"new");
        assert!(dir.path().join("link").is_symlink() && dir.path().join("middle").is_symlink());

        symlink("real/later", dir.path().join("dangling")).unwrap();
        let written = write(&dir.path().join("dangling"), b"born").unwrap();
        assert!(written.created);
        assert_eq!(fs::read(dir.path().join("real/later")).unwrap(), b"born");

        symlink("loop-b", dir.path().join("loop-a")).unwrap();
        symlink("loop-a", dir.path().join("loop-b")).unwrap();
        assert!(matches!(write(&dir.path().join("loop-a"), b""), Err(Error::InvalidPath(_))));
    }

    #[test]
    fn hard_links_share_the_new_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        fs::write(&one, "old and long").unwrap();
        fs::hard_link(&one, &two).unwrap();
        assert!(write(&one, b"new").unwrap().in_place);
        assert_eq!(fs::read(&two).unwrap(), b"new");
    }

    #[test]
    fn pipes_are_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(matches!(write(&path, b""), Err(Error::NotRegular { .. })));
        assert!(matches!(crate::read_bytes(&path, 10), Err(Error::NotRegular { .. })));
        assert!(matches!(write(Path::new("/dev/null"), b""), Err(Error::NotRegular { .. })));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn extended_attributes_are_kept() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "old").unwrap();
        if setxattr(&path, "user.origin", b"here", XattrFlags::empty()).is_err() {
            pollux_testkit::cannot_run("the file system has no extended attributes");
            return;
        }
        write(&path, b"new").unwrap();
        let mut value = [0; 16];
        let length = getxattr(&path, "user.origin", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"here");
    }
}
