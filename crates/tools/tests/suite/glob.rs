//! Tests of `glob` on real folders.

use std::time::{Duration, SystemTime};

use pretty_assertions::assert_eq;
use serde_json::json;

use super::session::{Session, display, text};

fn age(session: &Session, name: &str, hours: u64) {
    let time = SystemTime::now() - Duration::from_secs(hours * 3600);
    std::fs::File::options()
        .write(true)
        .open(session.path(name))
        .unwrap()
        .set_modified(time)
        .unwrap();
}

#[tokio::test]
async fn recent_files_come_first() {
    let session = Session::new();
    for (name, hours) in
        [("z.rs", 100), ("b.rs", 200), ("sub/new.rs", 1), ("older.rs", 3), ("x.txt", 0)]
    {
        session.file(name, "");
        age(&session, name, hours);
    }
    let output = session.call("glob", json!({"pattern": "**/*.rs"})).await;
    let root = session.root.display();
    assert_eq!(
        text(&output),
        format!(
            "Found 4 file(s) matching \"**/*.rs\" within {root}, sorted by modification time (newest first):\n\
             {root}/sub/new.rs\n{root}/older.rs\n{root}/b.rs\n{root}/z.rs"
        )
    );
    assert_eq!(display(&output), "Found 4 matching file(s)");
}

#[tokio::test]
async fn ignored_files_are_counted_and_can_be_asked_for() {
    let session = Session::new();
    session.file(".geminiignore", "secret*\n");
    session.file("a.rs", "");
    session.file("secret.rs", "");
    session.file("node_modules/x.rs", "");
    let found = session.ok("glob", json!({"pattern": "*.rs"})).await;
    assert!(
        found.starts_with("Found 1 file(s)")
            && found.contains("(1 additional files were ignored), sorted"),
        "{found}"
    );
    let found =
        session.ok("glob", json!({"pattern": "**/*.rs", "respect_gemini_ignore": false})).await;
    assert!(found.starts_with("Found 2 file(s)"), "{found}");
    let output = session.call("glob", json!({"pattern": "secret.*"})).await;
    assert_eq!(
        text(&output),
        format!(
            "No files found matching pattern \"secret.*\" within {} (1 files were ignored)",
            session.root.display()
        )
    );
    assert_eq!(display(&output), "No files found");
}

#[tokio::test]
async fn case_hidden_names_and_literal_names() {
    let session = Session::new();
    session.file("README.md", "");
    session.file(".hidden", "");
    session.file("[id].ts", "");
    assert!(session.ok("glob", json!({"pattern": "readme*"})).await.contains("README.md"));
    assert!(
        session
            .ok("glob", json!({"pattern": "readme*", "case_sensitive": true}))
            .await
            .starts_with("No files")
    );
    assert!(session.ok("glob", json!({"pattern": "*"})).await.contains(".hidden"));
    assert!(session.ok("glob", json!({"pattern": "[id].ts"})).await.contains("[id].ts"));
}

#[tokio::test]
async fn folders_to_search_must_be_folders() {
    let session = Session::new();
    let file = session.file("file", "");
    let (_, message) = session.err("glob", json!({"pattern": "*", "dir_path": "file"})).await;
    assert_eq!(message, format!("Search path is not a directory: {}", file.display()));
    let (_, message) = session.err("glob", json!({"pattern": "*", "dir_path": "missing"})).await;
    assert_eq!(
        message,
        format!("Search path does not exist {}", session.path("missing").display())
    );
}

#[tokio::test]
async fn gits_own_files_are_not_named() {
    let session = Session::new();
    for name in [".git/config", "sub/.GIT/config", ".env", "sub/.env", "sub/config"] {
        session.file(name, "");
    }
    for pattern in ["**/config", "**/.env", ".git/*"] {
        let args = json!({
            "pattern": pattern, "respect_git_ignore": false, "respect_gemini_ignore": false,
        });
        let found = session.ok("glob", args).await;
        assert!(!found.contains("/.git") && !found.contains("/.GIT"), "{found}");
        assert_eq!(found.contains("/sub/.env"), pattern == "**/.env", "{found}");
        assert_eq!(found.contains("/sub/config"), pattern == "**/config", "{found}");
    }
}
