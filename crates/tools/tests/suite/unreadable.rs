//! Tests of files and folders without access. Root has access to everything, so root runs these
//! tests as the user `nobody`.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use pollux_protocol::ToolErrorKind as Kind;
use serde_json::{Value, json};

use super::session::Session;

const NOBODY: u32 = 65534;

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs one test of this program again, without privileges.
fn as_nobody(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    set_mode(folder.path(), 0o755);
    let program = folder.path().join("test");
    pollux_testkit::copy_executable(std::env::current_exe().unwrap(), &program);
    let mut command = Command::new(&program);
    command.args(["--exact", test]).current_dir("/").uid(NOBODY).gid(NOBODY);
    let output = command.output().unwrap();
    let reported = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && reported.contains("1 passed"), "{reported}");
}

/// A project with inaccessible paths of every kind. The access is restored when the value is
/// dropped, so that the project can be deleted.
struct Closed(Session);

impl Closed {
    fn new() -> Self {
        let session = Session::new();
        session.file("locked", "secret words\n");
        session.file("closed/inner", "secret words\n");
        session.file("fixed", "old words\n");
        session.file("full/old", "old words\n");
        for (name, mode) in [("locked", 0), ("closed", 0), ("fixed", 0o444), ("full", 0o555)] {
            set_mode(&session.path(name), mode);
        }
        Self(session)
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        for name in ["closed", "full"] {
            set_mode(&self.0.path(name), 0o755);
        }
    }
}

#[tokio::test]
async fn what_the_system_keeps_closed_is_a_typed_failure() {
    if rustix::process::geteuid().is_root() {
        as_nobody("suite::unreadable::what_the_system_keeps_closed_is_a_typed_failure");
        return;
    }
    let closed = Closed::new();
    let session = &closed.0;
    let write = |path: &str| json!({"file_path": path, "content": "new words\n"});
    let edit = |path: &str, old: &str| json!({"file_path": path, "instruction": "", "old_string": old, "new_string": "new"});
    let table: Vec<(&str, Value, Kind)> = vec![
        ("read_file", json!({"file_path": "locked"}), Kind::ReadContentFailure),
        ("read_file", json!({"file_path": "closed/inner"}), Kind::ReadContentFailure),
        ("write_file", write("locked"), Kind::FileWriteFailure),
        ("write_file", write("closed/inner"), Kind::FileWriteFailure),
        ("write_file", write("closed/new"), Kind::FileWriteFailure),
        ("write_file", write("fixed"), Kind::PermissionDenied),
        ("write_file", write("full/new"), Kind::PermissionDenied),
        ("write_file", write("full/new/deeper"), Kind::PermissionDenied),
        ("replace", edit("locked", "secret"), Kind::EditPreparationFailure),
        ("replace", edit("closed/new", ""), Kind::EditPreparationFailure),
        ("replace", edit("fixed", "old"), Kind::PermissionDenied),
        ("list_directory", json!({"dir_path": "closed"}), Kind::LsExecutionError),
    ];
    for (tool, args, kind) in table {
        let (found, message) = session.err(tool, args.clone()).await;
        assert_eq!(found, kind, "{tool} {args}: {message}");
        assert!(message.to_lowercase().contains("permission denied"), "{tool} {args}: {message}");
    }
    for (tool, args) in [
        ("glob", json!({"pattern": "**/*"})),
        ("glob", json!({"pattern": "*", "dir_path": "closed"})),
        ("grep_search", json!({"pattern": "words"})),
        ("grep_search", json!({"pattern": "words", "dir_path": "closed"})),
        ("grep_search", json!({"pattern": "words", "dir_path": "locked"})),
        ("read_many_files", json!({"include": ["**/*", "closed", "closed/inner"]})),
    ] {
        let reported = session.ok(tool, args.clone()).await;
        assert!(
            !reported.contains("secret words") && !reported.contains("inner"),
            "{tool} {args}: {reported}"
        );
    }
    assert_eq!(session.text("fixed"), "old words\n");
    assert_eq!(std::fs::read_dir(session.path("full")).unwrap().count(), 1);
}
