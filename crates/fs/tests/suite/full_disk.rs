//! Tests on a full disk, a small file system in a separate namespace.

use std::fs;

use pollux_fs::{AppendLog, Error, Expectation, Fingerprint, WriteOptions, write_atomic};

use super::child;

const MOUNT: &str = r#"mount -t tmpfs -o size=64k tmpfs "$POLLUX_FS_TEST_FOLDER" && exec "$@""#;
const OLD: &[u8] = &[b'o'; 20_000];

#[test]
#[ignore = "run by the test below in a child process"]
fn fills_the_disk() {
    let Some(folder) = child::folder() else { return };
    let (file, linked) = (folder.join("file"), folder.join("linked"));
    fs::write(&file, OLD).unwrap();
    fs::write(&linked, OLD).unwrap();
    fs::hard_link(&linked, folder.join("other-name")).unwrap();
    let expected = Some(Expectation::Unchanged(Fingerprint::of_path(&file).unwrap()));
    let options = WriteOptions { expected, ..WriteOptions::default() };
    for path in [&file, &linked] {
        let error = write_atomic(path, &vec![b'n'; 60_000], &options).unwrap_err();
        assert!(matches!(error, Error::NoSpace { .. }), "{error}");
        assert_eq!(error.code(), "ENOSPC");
        assert_eq!(fs::read(path).unwrap(), OLD);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3, "a temporary file is left");

    let mut log = AppendLog::open(&folder.join("log")).unwrap();
    let line = vec![b'l'; 3000];
    let error = (0..100).find_map(|_| log.append(&line).err()).unwrap();
    assert!(matches!(error, Error::NoSpace { .. }), "{error}");
    fs::remove_file(&file).unwrap();
    log.append(b"after").unwrap();
    let text = fs::read_to_string(folder.join("log")).unwrap();
    assert!(text.ends_with("\nafter\n"));
    assert!(text.lines().filter(|line| line.len() == 3000).count() > 1);
}

#[test]
fn a_full_disk_leaves_old_files_whole_and_logs_readable() {
    let dir = tempfile::tempdir().unwrap();
    let probe = std::process::Command::new("unshare")
        .args(["-rm", "sh", "-c", r#"mount -t tmpfs -o size=64k tmpfs "$0""#])
        .arg(dir.path())
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        pollux_testkit::cannot_run("no mount namespace");
        return;
    }
    let wrapper = ["unshare", "-rm", "sh", "-c", MOUNT, "sh"];
    let output =
        child::command(&wrapper, "suite::full_disk::fills_the_disk", dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}
