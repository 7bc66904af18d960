//! Invalid arguments of each tool, with the message for the model.

use std::path::Path;

use pollux_protocol::{CancellationToken, ToolErrorKind};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::session::Session;

fn refusal(session: &Session, tool: &str, args: &Value) -> String {
    let Err(error) = session.prepare(tool, args) else { panic!("{tool} {args} was taken") };
    assert_eq!(error.kind, ToolErrorKind::InvalidToolParams, "{tool} {args}");
    error.message
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of all parameters")]
fn wrong_shapes() {
    let table = [
        ("read_file", json!({}), "params must have required property 'file_path'"),
        ("read_file", json!({"file_path": 7}), "params/file_path must be string"),
        ("read_file", json!({"file_path": "a", "start_line": 0}), "params/start_line must be >= 1"),
        (
            "read_file",
            json!({"file_path": "a", "end_line": "2"}),
            "params/end_line must be integer",
        ),
        ("read_file", json!({"file_path": " "}), "The 'file_path' parameter must be non-empty."),
        (
            "read_file",
            json!({"file_path": "a", "start_line": 3, "end_line": 2}),
            "start_line cannot be greater than end_line",
        ),
        ("write_file", json!({"file_path": "a"}), "params must have required property 'content'"),
        (
            "write_file",
            json!({"content": ["x"], "file_path": "a"}),
            "params/content must be string",
        ),
        ("write_file", json!({"file_path": "", "content": ""}), "Missing or empty \"file_path\""),
        (
            "replace",
            json!({"file_path": "a", "instruction": "", "old_string": ""}),
            "params must have required property 'new_string'",
        ),
        (
            "replace",
            json!({"file_path": "a", "old_string": "", "new_string": ""}),
            "params must have required property 'instruction'",
        ),
        (
            "replace",
            json!({"file_path": "", "instruction": "", "old_string": "a", "new_string": "b"}),
            "The 'file_path' parameter must be non-empty.",
        ),
        (
            "replace",
            json!({"file_path": "a", "instruction": "", "old_string": "a", "new_string": "b", "allow_multiple": 1}),
            "params/allow_multiple must be boolean",
        ),
        ("list_directory", json!({}), "params must have required property 'dir_path'"),
        ("list_directory", json!({"dir_path": ".", "ignore": "x"}), "params/ignore must be array"),
        (
            "list_directory",
            json!({"dir_path": ".", "ignore": [1]}),
            "params/ignore/0 must be string",
        ),
        (
            "list_directory",
            json!({"dir_path": ".", "file_filtering_options": {"respect_git_ignore": 1}}),
            "params/file_filtering_options/respect_git_ignore must be boolean",
        ),
        ("glob", json!({}), "params must have required property 'pattern'"),
        ("glob", json!({"pattern": "  "}), "The 'pattern' parameter cannot be empty."),
        (
            "glob",
            json!({"pattern": "*", "case_sensitive": "no"}),
            "params/case_sensitive must be boolean",
        ),
        ("grep_search", json!({"pattern": null}), "params/pattern must be string"),
        ("grep_search", json!({"pattern": "x", "context": -1}), "params/context must be >= 0"),
        (
            "grep_search",
            json!({"pattern": "x", "total_max_matches": 0}),
            "params/total_max_matches must be >= 1",
        ),
        ("run_shell_command", json!({}), "params must have required property 'command'"),
        ("run_shell_command", json!({"command": ["ls"]}), "params/command must be string"),
        ("run_shell_command", json!({"command": " \n"}), "Command cannot be empty."),
        ("run_shell_command", json!({"command": "a\0b"}), "Command cannot contain NUL characters."),
    ];
    let session = Session::new();
    for (tool, args, message) in table {
        assert_eq!(refusal(&session, tool, &args), message, "{tool} {args}");
    }
}

#[test]
fn the_arguments_about_background_processes_are_checked() {
    let session = Session::new();
    for (tool, args, message) in [
        ("read_background_output", json!({}), "params must have required property 'pid'"),
        ("read_background_output", json!({"pid": "x"}), "params/pid must be integer"),
        ("read_background_output", json!({"pid": 1, "lines": 0}), "params/lines must be >= 1"),
        ("read_background_output", json!({"pid": 1, "lines": 1.5}), "params/lines must be integer"),
        ("stop_background_process", json!({}), "params must have required property 'pid'"),
        (
            "run_shell_command",
            json!({"command": "true", "delay_ms": 1.5}),
            "params/delay_ms must be integer",
        ),
    ] {
        assert_eq!(refusal(&session, tool, &args), message);
    }
}

#[test]
fn a_broken_pattern_is_named() {
    let session = Session::new();
    for args in [json!({"pattern": "a("}), json!({"pattern": "a", "exclude_pattern": "b("})] {
        let message = refusal(&session, "grep_search", &args);
        assert!(message.contains("regular expression pattern provided: "), "{message}");
    }
    assert!(
        session.prepare("grep_search", &json!({"pattern": "a(", "fixed_strings": true})).is_ok()
    );
}

/// Returns calls for every parameter that is a path.
fn path_calls(path: &str) -> [(&'static str, Value); 7] {
    [
        ("read_file", json!({"file_path": path})),
        ("write_file", json!({"file_path": path, "content": "x"})),
        (
            "replace",
            json!({"file_path": path, "instruction": "", "old_string": "a", "new_string": "b"}),
        ),
        ("list_directory", json!({"dir_path": path})),
        ("glob", json!({"pattern": "*", "dir_path": path})),
        ("grep_search", json!({"pattern": "x", "dir_path": path})),
        ("run_shell_command", json!({"command": "true", "dir_path": path})),
    ]
}

fn link(target: &Path, path: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, path).unwrap();
    #[cfg(windows)]
    std::os::windows::fs::symlink_dir(target, path).unwrap();
}

#[test]
fn nothing_outside_the_workspace_is_touched() {
    let session = Session::new();
    link(&session.outside, &session.path("door"));
    link(&session.outside.join("missing"), &session.path("dangling"));
    let sibling = format!("{}-sibling", session.root.display());
    std::fs::create_dir(&sibling).unwrap();
    let outside = session.outside.display().to_string();
    let paths = [
        "..",
        "../outside/x",
        &outside,
        "door/x",
        "door/../../outside",
        "dangling",
        &sibling,
        "/etc/passwd",
    ];
    for path in paths {
        for (tool, args) in path_calls(path) {
            let message = refusal(&session, tool, &args);
            assert!(
                message.starts_with("Path not in workspace: Attempted path \""),
                "{tool} {path}: {message}"
            );
            assert!(message.contains("the allowed workspace directories: "), "{message}");
        }
    }
    std::fs::remove_dir(&sibling).unwrap();
}

#[test]
fn paths_that_are_none() {
    let session = Session::new();
    let long = "x".repeat(5000);
    let component = format!("{}/y", "x".repeat(300));
    for path in ["a\nb", "a\tb", long.as_str(), component.as_str(), "AssertionError: expected 1"] {
        for (tool, args) in path_calls(path) {
            let message = refusal(&session, tool, &args);
            assert!(message.starts_with("Invalid path: "), "{tool}: {message}");
        }
    }
}

#[tokio::test]
async fn a_folder_that_becomes_a_link_after_the_check_is_noticed() {
    let session = Session::new();
    session.file("dir/a", "inside");
    std::fs::write(session.outside.join("a"), "secret").unwrap();
    let invocation = session.prepare("read_file", &json!({"file_path": "dir/a"})).unwrap();
    std::fs::rename(session.path("dir"), session.path("old")).unwrap();
    link(&session.outside, &session.path("dir"));
    let output = invocation.run(session.run_context(CancellationToken::new())).await;
    assert_eq!(output.error.unwrap().kind, ToolErrorKind::PathNotInWorkspace);
}
