//! Tests without permissions, which run in an unprivileged child process if the tests run as root.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use pollux_fs::{Error, WriteOptions, write_atomic};

use super::child;

#[test]
#[ignore = "run by the test below in a child process"]
fn writes_without_privileges() {
    let Some(folder) = child::folder() else { return };
    let write = |name: &str| write_atomic(&folder.join(name), b"new", &WriteOptions::default());

    let error = write("read-only").unwrap_err();
    assert!(matches!(error, Error::PermissionDenied { .. }), "{error}");
    assert_eq!(
        (error.code(), fs::read(folder.join("read-only")).unwrap()),
        ("EACCES", b"old".to_vec())
    );

    let inode = fs::metadata(folder.join("closed/open")).unwrap().ino();
    assert!(write("closed/open").unwrap().in_place);
    assert_eq!(fs::read(folder.join("closed/open")).unwrap(), b"new");
    assert_eq!(fs::metadata(folder.join("closed/open")).unwrap().ino(), inode);

    assert!(matches!(write("closed/new"), Err(Error::PermissionDenied { .. })));
    assert!(matches!(
        pollux_fs::read_text(&folder.join("secret"), 10),
        Err(Error::PermissionDenied { .. })
    ));
}

#[test]
fn permissions_are_respected_even_where_a_rename_would_work() {
    let dir = tempfile::tempdir().unwrap();
    let mode = |name: &str, bits| {
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(bits)).unwrap();
    };
    fs::create_dir(dir.path().join("closed")).unwrap();
    for file in ["read-only", "closed/open", "secret"] {
        fs::write(dir.path().join(file), "old").unwrap();
    }
    mode("", 0o777);
    mode("read-only", 0o444);
    mode("closed/open", 0o666);
    mode("closed", 0o555);
    mode("secret", 0o000);
    // Root runs the child as the user `nobody`; any other user runs it directly.
    let is_root = fs::metadata(dir.path()).unwrap().uid() == 0;
    let copy = tempfile::tempdir().unwrap();
    let program = copy.path().join("test");
    pollux_testkit::copy_executable(std::env::current_exe().unwrap(), &program);
    fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = child::command(&[], "suite::denied::writes_without_privileges", dir.path());
    if is_root {
        use std::os::unix::process::CommandExt;
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let mut unprivileged = std::process::Command::new(&program);
        unprivileged
            .args(arguments)
            .envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
        unprivileged.uid(65534).gid(65534).current_dir("/");
        command = unprivileged;
    }
    let output = command.output();
    mode("closed", 0o755);
    let output = match output {
        Err(error) if is_root && error.kind() == std::io::ErrorKind::PermissionDenied => {
            pollux_testkit::cannot_run("nobody may not enter the temporary folder");
            return;
        }
        other => other.unwrap(),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}
