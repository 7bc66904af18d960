//! Tests of the file tools together, on whole projects.

use std::fs;

use pollux_protocol::ToolErrorKind;
use pollux_testkit::{Tree, samples};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::session::Session;
#[cfg(unix)]
use super::session::make_fifo;

fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "instruction": "change it", "old_string": old, "new_string": new})
}

/// Returns the text for the model: the output, or the error.
async fn reported(session: &Session, tool: &str, arguments: Value) -> String {
    let output = session.call(tool, arguments).await;
    match output.error {
        Some(error) => error.message,
        None => output.content.iter().filter_map(|part| part.as_text()).collect(),
    }
}

#[cfg(unix)]
#[tokio::test]
async fn modes_and_links_survive_an_edit() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let session = Session::new();
    session.file("real.sh", "#!/bin/sh\necho one\n");
    fs::set_permissions(session.path("real.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    symlink("real.sh", session.path("link.sh")).unwrap();
    session.ok("replace", replace("link.sh", "one", "two")).await;
    assert_eq!(fs::read_link(session.path("link.sh")).unwrap().to_str(), Some("real.sh"));
    assert_eq!(session.text("real.sh"), "#!/bin/sh\necho two\n");
    let mode = fs::metadata(session.path("real.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    assert_eq!(fs::read_dir(&session.root).unwrap().count(), 2, "no temporary file is left");
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_outside_the_workspace_is_read_or_written() {
    use std::os::unix::fs::symlink;

    let session = Session::new();
    let outside = &session.outside;
    fs::write(outside.join("secret.txt"), "secret").unwrap();
    symlink(outside, session.path("door")).unwrap();
    symlink(outside.join("new.txt"), session.path("dangling")).unwrap();
    let before = Tree::of(outside);
    let absolute = outside.join("secret.txt");
    for path in ["../outside/secret.txt", absolute.to_str().unwrap(), "door/secret.txt", "dangling"]
    {
        let calls = [
            ("read_file", json!({"file_path": path})),
            ("write_file", json!({"file_path": path, "content": "x"})),
            ("replace", replace(path, "secret", "x")),
            ("replace", replace(path, "", "x")),
            ("list_directory", json!({"dir_path": path})),
        ];
        for (tool, arguments) in calls {
            let (kind, reported) = session.err(tool, arguments).await;
            let opening = "Path not in workspace: Attempted path \"";
            assert!(reported.starts_with(opening), "{tool} {path}: {kind:?} {reported}");
        }
    }
    assert_eq!(Tree::of(outside), before);
}

#[tokio::test]
async fn files_are_read_as_the_reference_tells() {
    let session = Session::new();
    let project = session.root.display().to_string();
    let lines: Vec<String> = (1..=2500).map(|line| format!("line {line}")).collect();
    session.file("crlf.txt", "a\r\nb\r\n");
    session.file("long.txt", lines.join("\n") + "\n");
    session.file("data.bin", b"\0\x01\x02\xff");
    session.file("sub/x.txt", "x");
    let table = [
        (json!({"file_path": "crlf.txt"}), "a\nb\n".to_owned()),
        (json!({"file_path": "gone.txt"}), format!("File not found: {project}/gone.txt")),
        (json!({"file_path": "sub"}), format!("Path is a directory, not a file: {project}/sub")),
        (
            json!({"file_path": "data.bin"}),
            "Cannot display content of binary file: data.bin".to_owned(),
        ),
    ];
    for (arguments, expected) in table {
        assert_eq!(
            reported(&session, "read_file", arguments.clone()).await,
            expected,
            "{arguments}"
        );
    }
    let reported = session.ok("read_file", json!({"file_path": "long.txt"})).await;
    let status = "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-2000 of 2500 total lines.\nAction: ";
    assert!(reported.starts_with(status), "{}", &reported[..300]);
    assert!(reported.contains("\n\n--- FILE CONTENT (truncated) ---\nline 1\nline 2\n"));
    assert!(reported.trim_end().ends_with("line 2000") && reported.contains("2001"));
    let part = json!({"file_path": "long.txt", "start_line": 2499, "end_line": 2500});
    let reported = session.ok("read_file", part).await;
    assert!(reported.trim_end().ends_with("---\nline 2499\nline 2500"), "{reported}");
}

#[tokio::test]
async fn listings_and_searches_have_their_layout() {
    let session = Session::new();
    samples::git_repo(&session.root);
    let project = session.root.display().to_string();
    let reported = session.ok("list_directory", json!({"dir_path": "."})).await;
    let listing = format!(
        "Directory listing for {project}:\n[DIR] docs\n[DIR] src\n.gitignore (14 bytes)\nREADME.md (9 bytes)\n\n"
    );
    assert!(reported.starts_with(&listing) && reported.ends_with(" ignored)"), "{reported}");
    let reported = session.ok("glob", json!({"pattern": "**/*.md"})).await;
    let head = format!("Found 2 file(s) matching \"**/*.md\" within {project}");
    assert!(reported.starts_with(&head), "{reported}");
    assert!(
        reported.contains(&format!("{project}/README.md")) && !reported.contains("drafts"),
        "{reported}"
    );
    let reported = session.ok("glob", json!({"pattern": "*.nothing"})).await;
    assert!(
        reported.starts_with("No files found matching pattern \"*.nothing\" within "),
        "{reported}"
    );
    let arguments = json!({"pattern": "READ", "include_pattern": "*.md"});
    let reported = session.ok("grep_search", arguments).await;
    let expected = "Found 1 match for pattern \"READ\" in path \".\" (filter: \"*.md\"):\n---\nFile: docs/guide.md\nL1: Read the source.\n---";
    assert_eq!(reported, expected);
    let reported = session.ok("grep_search", json!({"pattern": "nowhere at all"})).await;
    assert_eq!(reported, "No matches found for pattern \"nowhere at all\" in path \".\".");
}

#[tokio::test]
async fn an_edit_that_does_not_fit_says_what_is_there() {
    let session = Session::new();
    session.file("a.txt", "alpha\nbeta\nalpha\n");
    let table = [
        ("gamma delta", "Could not find an exact match for old_string in 'a.txt'."),
        (
            "alpha",
            "Failed to edit, Expected 1 occurrence but found 2 for old_string in file: a.txt.",
        ),
        ("", "File already exists, cannot create: "),
    ];
    for (old, message) in table {
        let (_, reported) = session.err("replace", replace("a.txt", old, "x")).await;
        assert!(reported.contains(message), "{reported}");
    }
    let (_, reported) = session.err("replace", replace("gone.txt", "x", "y")).await;
    assert!(reported.starts_with("File not found: "), "{reported}");
    assert_eq!(session.text("a.txt"), "alpha\nbeta\nalpha\n");
    let mut all = replace("a.txt", "alpha", "omega");
    all["allow_multiple"] = true.into();
    let reported = session.ok("replace", all).await;
    assert!(reported.contains("(2 replacements)"), "{reported}");
    assert_eq!(session.text("a.txt"), "omega\nbeta\nomega\n");
}

#[tokio::test]
async fn placeholders_for_left_out_code_are_refused() {
    let session = Session::new();
    let content = "fn a() {}\n// rest of code ...\n";
    let arguments = json!({"file_path": "a.rs", "content": content});
    let (kind, reported) = session.err("write_file", arguments).await;
    assert_eq!(kind, ToolErrorKind::InvalidToolParams);
    assert!(reported.contains("content"), "{reported}");
    assert!(!session.path("a.rs").exists());
}

// Other systems refuse such names.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn pipes_and_strange_names_stop_no_tool() {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    let session = Session::new();
    make_fifo(&session.path("pipe"));
    let odd = session.root.join(std::ffi::OsStr::from_bytes(b"odd\xff.txt"));
    fs::write(odd, "needle\n").unwrap();
    fs::write(session.path("new\nline.txt"), "needle\n").unwrap();
    symlink("loop", session.path("loop")).unwrap();
    let table = [
        ("read_file", json!({"file_path": "pipe"}), "pipe"),
        ("read_file", json!({"file_path": "loop"}), "loop"),
        ("list_directory", json!({"dir_path": "."}), "odd\u{fffd}.txt"),
        ("glob", json!({"pattern": "*"}), "odd\u{fffd}.txt"),
        ("grep_search", json!({"pattern": "needle"}), "Found 2 matches"),
        ("write_file", json!({"file_path": "pipe", "content": "x"}), "pipe"),
    ];
    for (tool, arguments, words) in table {
        let reported = reported(&session, tool, arguments.clone()).await;
        assert!(reported.contains(words), "{tool} {arguments}: {reported}");
    }
}

#[tokio::test]
async fn what_is_ignored_is_not_read() {
    let session = Session::new();
    samples::git_repo(&session.root);
    session.file(".geminiignore", "# kept from the model\nsecret.txt\n!debug.log\n");
    let path = session.file("secret.txt", "needle");
    let (_, reported) = session.err("read_file", json!({"file_path": "secret.txt"})).await;
    let refused =
        format!("File path '{}' is ignored by configured ignore patterns.", path.display());
    assert_eq!(reported, refused);
    let reported = session.ok("read_file", json!({"file_path": "debug.log"})).await;
    assert_eq!(reported, "noise\n", "taken back");
    let reported = session.ok("grep_search", json!({"pattern": "needle"})).await;
    assert!(reported.starts_with("No matches found"), "{reported}");
    let reported = session.ok("glob", json!({"pattern": "**/*.txt"})).await;
    assert!(reported.starts_with("No files found") && reported.contains("ignored"), "{reported}");
}
