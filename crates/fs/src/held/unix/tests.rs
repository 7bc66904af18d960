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

/// A handle without this flag stays open in every command that Pollux starts.
#[test]
fn handles_are_not_inherited() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let held = HeldFolder::open(&root).unwrap();
    let name = OsStr::new("file");
    let check = |what: &str, handle: &dyn AsFd| {
        let flags = rustix::io::fcntl_getfd(handle).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC), "{what}");
    };
    check("folder", &held.0);
    check("new file", &held.create_file(name, true).unwrap());
    check("file", &held.open_file(name, Purpose::Both).unwrap());
    check("new folder", &held.create_folder(OsStr::new("a")).unwrap().0);
    check("step by step", &step_by_step(&root.join("a"), SEARCH).unwrap());
    check("root", &step_by_step(Path::new("/"), SEARCH).unwrap());
    check("file to read", &open_to_read(&root.join("file")).unwrap());
}

#[test]
fn a_file_is_opened_without_following_links_or_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::write(root.join("file"), "x").unwrap();
    symlink("file", root.join("link")).unwrap();
    let pipe = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(CWD, root.join("pipe"), pipe, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let held = HeldFolder::open(&root).unwrap();
    let open = |name: &str, purpose| held.open_file(OsStr::new(name), purpose);
    for purpose in [Purpose::Read, Purpose::Write, Purpose::Both] {
        open("file", purpose).unwrap();
        assert!(has_met_a_link(&open("link", purpose).unwrap_err()));
    }
    // Without a reader or writer at the other end, a blocking open would wait for it.
    open("pipe", Purpose::Read).unwrap();
    let error = open("pipe", Purpose::Write).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::NXIO.raw_os_error()));
}

#[test]
fn new_entries_have_the_mode_that_the_umask_allows() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let held = HeldFolder::open(&root).unwrap();
    let mode = |name: &str| fs::metadata(root.join(name)).unwrap().permissions().mode() & 0o777;
    fs::create_dir(root.join("usual folder")).unwrap();
    fs::write(root.join("usual file"), "").unwrap();
    held.create_folder(OsStr::new("folder")).unwrap();
    held.create_file(OsStr::new("file"), false).unwrap();
    held.create_file(OsStr::new("private"), true).unwrap();
    assert_eq!(mode("folder"), mode("usual folder"));
    assert_eq!(mode("file"), mode("usual file"));
    assert_eq!(mode("private"), 0o600);
}

#[test]
fn times_before_1970_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let file = File::create(root.join("file")).unwrap();
    let held = HeldFolder::open(&root).unwrap();
    let epoch = SystemTime::UNIX_EPOCH;
    let time = Duration::new(90, 250_000_000);
    for time in [epoch - time, epoch, epoch + time] {
        file.set_modified(time).unwrap();
        assert_eq!(held.info(OsStr::new("file")).unwrap().modified, Some(time));
    }
}
