//! Tests of `list_directory` on real folders.

use pollux_protocol::ToolErrorKind;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::session::{Session, display, text};

#[tokio::test]
async fn folders_come_first_and_ignored_names_are_counted() {
    let session = Session::new();
    session.file("src/util/x", "");
    session.file("src/main.rs", "x".repeat(1203));
    session.file("src/Alpha.rs", "");
    session.file("src/skip.log", "");
    session.file(".geminiignore", "secret*\n");
    session.file("src/secret", "");
    let output =
        session.call("list_directory", json!({"dir_path": "src", "ignore": ["*.log"]})).await;
    let path = session.path("src");
    assert_eq!(
        text(&output),
        format!(
            "Directory listing for {}:\n[DIR] util\nAlpha.rs (0 bytes)\nmain.rs (1203 bytes)\n\n(1 ignored)",
            path.display()
        )
    );
    assert_eq!(
        display(&output),
        json!({"summary": "Found 3 item(s). (1 ignored)", "files": ["[DIR] util", "Alpha.rs", "main.rs"]})
    );
    let all = session
        .ok(
            "list_directory",
            json!({"dir_path": "src", "file_filtering_options": {"respect_gemini_ignore": false}}),
        )
        .await;
    assert!(all.contains("secret (0 bytes)"), "{all}");
}

#[tokio::test]
async fn what_is_ignored_and_left_out_counts_as_ignored() {
    let session = Session::new();
    session.file(".geminiignore", "*.log\n");
    session.file("dir/a.log", "");
    session.file("dir/b.tmp", "");
    session.file("dir/c", "");
    let args = json!({"dir_path": "dir", "ignore": ["*.log", "*.tmp"]});
    let listing = session.ok("list_directory", args).await;
    assert!(listing.ends_with(":\nc (0 bytes)\n\n(1 ignored)"), "{listing}");
}

#[tokio::test]
async fn no_path_is_the_project_folder_and_gits_own_is_hidden() {
    let session = Session::new();
    session.file("a", "");
    for closed in [".git/config", "sub/.GIT/config"] {
        session.file(closed, "");
    }
    let all = json!({"respect_git_ignore": false, "respect_gemini_ignore": false});
    for (path, expected) in
        [("", "[DIR] sub\na (0 bytes)\n\n(1 ignored)"), ("sub", "\n\n(1 ignored)")]
    {
        let args = json!({"dir_path": path, "file_filtering_options": all});
        let listing = session.ok("list_directory", args).await;
        let folder = if path.is_empty() { session.root.clone() } else { session.path(path) };
        let head = format!("Directory listing for {}:\n", folder.display());
        assert_eq!(listing, format!("{head}{expected}"));
    }
    let (_, message) = session.err("list_directory", json!({"dir_path": ".git"})).await;
    assert!(message.starts_with("Path not in workspace: "), "{message}");
}

#[tokio::test]
async fn what_is_no_listing() {
    let session = Session::new();
    std::fs::create_dir(session.path("empty")).unwrap();
    let output = session.call("list_directory", json!({"dir_path": "empty"})).await;
    assert_eq!(text(&output), format!("Directory {} is empty.", session.path("empty").display()));
    assert_eq!(display(&output), "Directory is empty.");
    let file = session.file("file", "");
    let (kind, message) = session.err("list_directory", json!({"dir_path": "file"})).await;
    assert_eq!(kind, ToolErrorKind::PathIsNotADirectory);
    assert_eq!(message, format!("Error: Path is not a directory: {}", file.display()));
    let (kind, message) = session.err("list_directory", json!({"dir_path": "missing"})).await;
    assert_eq!(kind, ToolErrorKind::LsExecutionError);
    assert!(message.starts_with("Error listing directory: "), "{message}");
}

#[cfg(unix)]
#[tokio::test]
async fn links_count_as_what_they_lead_to() {
    let session = Session::new();
    session.file("dir/file", "abc");
    std::os::unix::fs::symlink("file", session.path("dir/link")).unwrap();
    std::os::unix::fs::symlink(".", session.path("dir/self")).unwrap();
    std::os::unix::fs::symlink("nowhere", session.path("dir/broken")).unwrap();
    super::session::make_fifo(&session.path("dir/pipe"));
    let listing = session.ok("list_directory", json!({"dir_path": "dir"})).await;
    let (_, entries) = listing.split_once('\n').unwrap();
    assert_eq!(entries, "[DIR] self\nfile (3 bytes)\nlink (3 bytes)\npipe (0 bytes)");
}
