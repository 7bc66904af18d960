use std::fs;

use super::*;

#[test]
fn appends_lines_and_creates_private_folders() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/log.jsonl");
    let mut log = AppendLog::open(&path).unwrap();
    log.append(b"one").unwrap();
    log.append(b"two\n").unwrap();
    log.append(b"").unwrap();
    log.sync().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}

#[test]
fn a_torn_line_costs_that_line_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    fs::write(&path, "whole\n{\"half\":").unwrap();
    let mut log = AppendLog::open(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "whole\n{\"half\":", "opening writes nothing");
    log.append(b"next").unwrap();
    log.append(b"more").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "whole\n{\"half\":\nnext\nmore\n");
}

#[test]
fn lines_that_come_together_stand_behind_a_torn_one_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    fs::write(&path, "half").unwrap();
    let mut log = AppendLog::open(&path).unwrap();
    log.append_all([]).unwrap();
    assert!(matches!(
        log.append_all([b"a".to_vec(), b"b\nc".to_vec()]),
        Err(Error::InvalidLine { .. })
    ));
    assert_eq!(fs::read_to_string(&path).unwrap(), "half");
    log.append_all([b"one".to_vec(), b"two\n".to_vec(), Vec::new()]).unwrap();
    log.append_all([b"three".to_vec()]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "half\none\ntwo\n\nthree\n");
}

#[test]
fn a_line_break_inside_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = AppendLog::open(&dir.path().join("log")).unwrap();
    assert!(matches!(log.append(b"a\nb"), Err(Error::InvalidLine { .. })));
    assert!(matches!(log.append(b"a\n\n"), Err(Error::InvalidLine { .. })));
    assert_eq!(fs::read(log.path()).unwrap(), b"");
}

#[test]
fn a_claim_ends_with_its_value_although_a_child_has_the_descriptor() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let mut first = AppendLog::open(&path).unwrap();
    first.try_lock().unwrap();
    // A child process between fork and exec has the same open file.
    let _of_child = first.file.try_clone().unwrap();
    let mut second = AppendLog::open(&path).unwrap();
    assert!(matches!(second.try_lock(), Err(Error::Locked { .. })));
    drop(first);
    second.try_lock().unwrap();
}

#[test]
fn the_second_holder_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let mut first = AppendLog::open(&path).unwrap();
    let mut second = AppendLog::open(&path).unwrap();
    first.try_lock().unwrap();
    assert!(matches!(second.try_lock(), Err(Error::Locked { .. })));
    first.file.write_all(b"torn").unwrap();
    drop(first);
    second.try_lock().unwrap();
    second.append(b"x").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"torn\nx\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_no_space() {
    let mut log = AppendLog {
        file: OpenOptions::new().read(true).append(true).open("/dev/full").unwrap(),
        path: "/dev/full".into(),
        torn: false,
        buffer: Vec::new(),
    };
    assert!(matches!(log.append(b"x"), Err(Error::NoSpace { .. })));
}

#[test]
fn a_folder_in_the_place_of_the_log_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    assert!(AppendLog::open(dir.path()).is_err());
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(AppendLog::open(&dir.path().join("file/log")).is_err());
}
