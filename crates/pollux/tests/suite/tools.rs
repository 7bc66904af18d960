//! The file tools, driven by the model.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use pollux_testkit::{Endpoint, Reply, Tree, reply, samples};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, lines_of, make_pipe};

/// Runs one call of a tool in yolo mode and gives what the model is told.
fn call(stage: &Stage, tool: &str, arguments: Value) -> String {
    stage.server.stream(reply().call(tool, arguments)).stream(reply().text("done"));
    stage.yolo("go");
    stage.response()
}

fn write(path: &str, content: &str) -> Reply {
    reply().call("write_file", json!({"file_path": path, "content": content}))
}

fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "instruction": "change it", "old_string": old, "new_string": new})
}

#[test]
fn the_sample_projects_mistake_is_mended() {
    let stage = Stage::new();
    samples::rust_like_project(stage.home.project());
    let before = Tree::of(stage.home.project());
    let check = json!({"command": "sh check.sh"});
    stage.server.stream(reply().call("run_shell_command", check.clone()));
    stage
        .server
        .stream(reply().call("replace", replace("src/lib.rs", "left - right", "left + right")));
    stage.server.stream(reply().call("run_shell_command", check));
    stage.server.stream(reply().text("Mended."));
    let run = stage.yolo("fix the failing check");
    assert_eq!(run.stdout_text(), "Mended.\n");
    let requests = stage.requests();
    assert!(requests[1].last_parts()[0].to_string().contains("Exit Code: 1"));
    assert!(requests[3].last_parts()[0].to_string().contains("Output: ok"));
    let after = Tree::of(stage.home.project());
    assert_eq!(after.changes_since(&before), ["~ src/lib.rs"]);
}

#[test]
fn edits_touch_nothing_but_the_words() {
    let table: [(&str, &[u8], &[u8]); 5] = [
        ("carriage returns", b"one\r\ntwo\r\n", b"one\r\n2\r\n3\r\n"),
        ("a byte order mark", b"\xef\xbb\xbfone\ntwo\n", b"\xef\xbb\xbfone\n2\n3\n"),
        ("no final newline", b"one\ntwo", b"one\n2\n3"),
        ("UTF-16", b"\xff\xfeo\0n\0e\0\n\0t\0w\0o\0", b"\xff\xfeo\0n\0e\0\n\x002\0\n\x003\0"),
        ("tabs", b"\tone\n\ttwo\n", b"\tone\n\t2\n3\n"),
    ];
    for (name, before, after) in table {
        let stage = Stage::new();
        stage.home.project_file("a.txt", before);
        let told = call(&stage, "replace", replace("a.txt", "two", "2\n3"));
        assert!(told.starts_with("Successfully modified file: "), "{name}: {told}");
        let found = fs::read(stage.home.project().join("a.txt")).unwrap();
        assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(after), "{name}");
    }
}

#[test]
fn a_rewritten_file_keeps_its_line_ends_and_its_mark() {
    let stage = Stage::new();
    stage.home.project_file("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n");
    let arguments = json!({"file_path": "a.txt", "content": "three\nfour\n"});
    let told = call(&stage, "write_file", arguments);
    assert!(told.starts_with("Successfully overwrote file: "), "{told}");
    let found = fs::read(stage.home.project().join("a.txt")).unwrap();
    assert_eq!(found, b"\xef\xbb\xbfthree\r\nfour\r\n");
}

#[test]
fn modes_and_links_survive_an_edit() {
    let stage = Stage::new();
    let project = stage.home.project();
    stage.home.project_file("real.sh", "#!/bin/sh\necho one\n");
    fs::set_permissions(project.join("real.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    symlink("real.sh", project.join("link.sh")).unwrap();
    call(&stage, "replace", replace("link.sh", "one", "two"));
    assert_eq!(fs::read_link(project.join("link.sh")).unwrap().to_str(), Some("real.sh"));
    assert_eq!(stage.home.read_project_file("real.sh"), "#!/bin/sh\necho two\n");
    let mode = fs::metadata(project.join("real.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    assert_eq!(fs::read_dir(&project).unwrap().count(), 2, "no temporary file is left");
}

/// A file that changes between the model's look at it and the model's change: gives what the model is
/// told of its change, and what is in the file afterwards.
fn changed_meanwhile(change: Reply) -> (String, String) {
    let stage = Stage::with([reply().call("read_file", json!({"file_path": "a.txt"}))]);
    stage.home.project_file("a.txt", "one\ntwo\n");
    let file = stage.home.project().join("a.txt");
    stage.server.answer_with(Endpoint::StreamGenerateContent, move |request| {
        if request.contents().len() > 3 {
            return reply().text("done");
        }
        fs::write(&file, "one\ntwo\nthe person's own\n").unwrap();
        change.clone()
    });
    stage.yolo("go");
    (stage.response(), stage.home.read_project_file("a.txt"))
}

#[test]
fn a_file_changed_behind_the_models_back_is_not_overwritten() {
    // An edit whose words are not quite the file's might hit what the person has written.
    let inexact = reply().call("replace", replace("a.txt", "  one", "  1"));
    for change in [write("a.txt", "model's\n"), inexact] {
        let (told, text) = changed_meanwhile(change);
        assert!(told.contains("changed on disk"), "{told}");
        assert_eq!(text, "one\ntwo\nthe person's own\n");
    }
}

#[test]
fn an_exact_edit_of_a_changed_file_keeps_what_is_new() {
    let (told, text) = changed_meanwhile(reply().call("replace", replace("a.txt", "one", "1")));
    assert!(told.starts_with("Successfully modified file: "), "{told}");
    assert_eq!(text, "1\ntwo\nthe person's own\n");
}

#[test]
fn nothing_outside_the_workspace_is_read_or_written() {
    let stage = Stage::new();
    let outside = stage.home.project().parent().unwrap().join("outside");
    stage.home.project_file("../outside/secret.txt", "secret");
    symlink(&outside, stage.home.project().join("door")).unwrap();
    symlink(outside.join("new.txt"), stage.home.project().join("dangling")).unwrap();
    let before = Tree::of(&outside);
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
            let told = call(&stage, tool, arguments);
            assert!(
                told.starts_with("Path not in workspace: Attempted path \""),
                "{tool} {path}: {told}"
            );
        }
    }
    assert_eq!(Tree::of(&outside), before);
}

#[test]
fn files_are_read_as_the_reference_tells() {
    let stage = Stage::new();
    let project = stage.home.project().display().to_string();
    let lines: Vec<String> = (1..=2500).map(|line| format!("line {line}")).collect();
    let long = lines.join("\n") + "\n";
    stage.home.project_file("crlf.txt", "a\r\nb\r\n").project_file("long.txt", long);
    stage.home.project_file("data.bin", b"\0\x01\x02\xff").project_file("sub/x.txt", "x");
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
        assert_eq!(call(&stage, "read_file", arguments.clone()), expected, "{arguments}");
    }
    let told = call(&stage, "read_file", json!({"file_path": "long.txt"}));
    let status = "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-2000 of 2501 total lines.\nAction: ";
    assert!(told.starts_with(status), "{}", &told[..300]);
    assert!(told.contains("\n\n--- FILE CONTENT (truncated) ---\nline 1\nline 2\n"));
    assert!(told.trim_end().ends_with("line 2000") && told.contains("2001"));
    let part = json!({"file_path": "long.txt", "start_line": 2499, "end_line": 2500});
    let told = call(&stage, "read_file", part);
    assert!(told.trim_end().ends_with("---\nline 2499\nline 2500"), "{told}");
}

#[test]
fn a_picture_goes_to_the_model_as_it_is() {
    let stage =
        Stage::with([reply().call("read_file", json!({"file_path": "a.png"})), reply().text("ok")]);
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
    stage.home.project_file("a.png", picture);
    stage.prompt("text", "go").assert_code(0);
    let request = stage.server.last_request();
    let [response, media] = request.last_parts() else { panic!("{:?}", request.last_parts()) };
    let words = "Binary content provided (1 item(s)).";
    assert_eq!(response["functionResponse"]["response"]["output"], words);
    assert_eq!(media["inlineData"]["mimeType"], "image/png");
}

#[test]
fn listings_and_searches_have_their_layout() {
    let stage = Stage::new();
    samples::git_repo(stage.home.project());
    let project = stage.home.project().display().to_string();
    let told = call(&stage, "list_directory", json!({"dir_path": "."}));
    let listing = format!(
        "Directory listing for {project}:\n[DIR] docs\n[DIR] src\n.gitignore (14 bytes)\nREADME.md (9 bytes)\n\n"
    );
    assert!(told.starts_with(&listing) && told.ends_with(" ignored)"), "{told}");
    let told = call(&stage, "glob", json!({"pattern": "**/*.md"}));
    let head = format!("Found 2 file(s) matching \"**/*.md\" within {project}");
    assert!(told.starts_with(&head), "{told}");
    assert!(told.contains(&format!("{project}/README.md")) && !told.contains("drafts"), "{told}");
    let told = call(&stage, "glob", json!({"pattern": "*.nothing"}));
    assert!(told.starts_with("No files found matching pattern \"*.nothing\" within "), "{told}");
    let told = call(&stage, "grep_search", json!({"pattern": "READ", "include_pattern": "*.md"}));
    let expected = "Found 1 match for pattern \"READ\" in path \".\" (filter: \"*.md\"):\n---\nFile: docs/guide.md\nL1: Read the source.\n---";
    assert_eq!(told, expected);
    let told = call(&stage, "grep_search", json!({"pattern": "nowhere at all"}));
    assert_eq!(told, "No matches found for pattern \"nowhere at all\" in path \".\".");
}

#[test]
fn an_edit_that_does_not_fit_says_what_is_there() {
    let stage = Stage::new();
    stage.home.project_file("a.txt", "alpha\nbeta\nalpha\n");
    let table = [
        ("gamma delta", "Failed to edit, 0 occurrences found for old_string in a.txt."),
        (
            "alpha",
            "Failed to edit, Expected 1 occurrence but found 2 for old_string in file: a.txt.",
        ),
        ("", "File already exists, cannot create: "),
    ];
    for (old, message) in table {
        let told = call(&stage, "replace", replace("a.txt", old, "x"));
        assert!(told.contains(message), "{told}");
    }
    let told = call(&stage, "replace", replace("gone.txt", "x", "y"));
    assert!(told.starts_with("File not found: "), "{told}");
    assert_eq!(stage.home.read_project_file("a.txt"), "alpha\nbeta\nalpha\n");
    let mut all = replace("a.txt", "alpha", "omega");
    all["allow_multiple"] = true.into();
    let told = call(&stage, "replace", all);
    assert!(told.contains("(2 replacements)"), "{told}");
    assert_eq!(stage.home.read_project_file("a.txt"), "omega\nbeta\nomega\n");
}

#[test]
fn placeholders_for_left_out_code_are_refused() {
    let stage = Stage::new();
    let content = "fn a() {}\n// rest of code ...\n";
    let told = call(&stage, "write_file", json!({"file_path": "a.rs", "content": content}));
    assert!(told.contains("content"), "{told}");
    assert!(!stage.home.project().join("a.rs").exists());
}

#[test]
fn a_new_file_is_told_with_its_folders_made() {
    let stage = Stage::with([write("new/deep/a.rs", "fn a() {}\n"), reply().text("done")]);
    let run = stage.pollux(&["-y", "-o", "stream-json", "-p", "go"]).run();
    run.assert_code(0);
    let path = stage.home.project().join("new/deep/a.rs");
    let expected = format!(
        "Successfully created and wrote to new file: {}. Here is the updated code:\nfn a() {{}}",
        path.display()
    );
    assert!(stage.response().starts_with(&expected), "{}", stage.response());
    assert_eq!(lines_of(&run, "tool_result")[0].get("output"), None, "a diff is no text");
}

// Other systems refuse such names.
#[cfg(target_os = "linux")]
#[test]
fn pipes_and_strange_names_stop_no_tool() {
    use std::os::unix::ffi::OsStrExt as _;

    let stage = Stage::new();
    let project = stage.home.project();
    make_pipe(&project.join("pipe"));
    fs::write(project.join(std::ffi::OsStr::from_bytes(b"odd\xff.txt")), "needle\n").unwrap();
    fs::write(project.join("new\nline.txt"), "needle\n").unwrap();
    symlink("loop", project.join("loop")).unwrap();
    let table = [
        ("read_file", json!({"file_path": "pipe"}), "pipe"),
        ("read_file", json!({"file_path": "loop"}), "loop"),
        ("list_directory", json!({"dir_path": "."}), "odd\u{fffd}.txt"),
        ("glob", json!({"pattern": "*"}), "odd\u{fffd}.txt"),
        ("grep_search", json!({"pattern": "needle"}), "Found 2 matches"),
        ("write_file", json!({"file_path": "pipe", "content": "x"}), "pipe"),
    ];
    for (tool, arguments, words) in table {
        let told = call(&stage, tool, arguments.clone());
        assert!(told.contains(words), "{tool} {arguments}: {told}");
    }
}

#[test]
fn what_is_ignored_is_not_read() {
    let stage = Stage::new();
    samples::git_repo(stage.home.project());
    stage.home.project_file(".geminiignore", "# kept from the model\nsecret.txt\n!debug.log\n");
    stage.home.project_file("secret.txt", "needle");
    let path = stage.home.project().join("secret.txt");
    let told = call(&stage, "read_file", json!({"file_path": "secret.txt"}));
    let refused =
        format!("File path '{}' is ignored by configured ignore patterns.", path.display());
    assert_eq!(told, refused);
    assert_eq!(
        call(&stage, "read_file", json!({"file_path": "debug.log"})),
        "noise\n",
        "taken back"
    );
    let told = call(&stage, "grep_search", json!({"pattern": "needle"}));
    assert!(told.starts_with("No matches found"), "{told}");
    let told = call(&stage, "glob", json!({"pattern": "**/*.txt"}));
    assert!(told.starts_with("No files found") && told.contains("ignored"), "{told}");
}
