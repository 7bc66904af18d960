//! Files that no file tool changes without the user's approval, in any mode.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use pollux_testkit::reply;
use serde_json::{Value, json};

use super::stage::Stage;

const SOON: Duration = Duration::from_secs(20);

/// Part of every denial and of every question.
const REASON: &str = "in every approval mode";

/// Files of a home that control the later behaviour of Pollux, a shell, Git or SSH.
const FILES: [&str; 9] = [
    ".gemini/policies/a.toml",
    ".gemini/settings.json",
    ".gemini/trustedFolders.json",
    ".gemini/pollux/consent.json",
    ".gemini/tmp/another-project/chats/session.jsonl",
    ".bashrc",
    ".config/fish/config.fish",
    ".gitconfig",
    ".ssh/authorized_keys",
];

fn write(path: &str) -> Value {
    json!({"file_path": path, "content": "planted"})
}

/// Creates a stage whose model writes these files of the home, one call after the other.
fn writing(files: &[&str]) -> Stage {
    let stage = Stage::new();
    for file in files {
        let path = stage.home.home().join(file);
        stage.server.stream(reply().call("write_file", write(path.to_str().unwrap())));
    }
    stage.server.stream(reply().text("Done."));
    stage
}

fn holds_planted(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text == "planted")
}

#[test]
fn a_home_in_the_workspace_keeps_its_protected_files() {
    for mode in ["auto_edit", "yolo"] {
        for is_included in [true, false] {
            let stage = writing(&[&FILES[..], &["notes.txt"]].concat());
            let home = stage.home.home();
            let program = stage.pollux(&["--approval-mode", mode, "-o", "stream-json", "-p", "go"]);
            let program = if is_included {
                program.args(["--include-directories", home.to_str().unwrap()])
            } else {
                program.directory(&home)
            };
            let run = program.run();
            run.assert_code(0);
            for file in FILES {
                assert!(!holds_planted(&home.join(file)), "{mode} {is_included} {file}");
            }
            let reported = run.stdout_text();
            let denied = reported.lines().filter(|line| line.contains(REASON)).count();
            assert_eq!(denied, FILES.len(), "{reported}");
            assert!(holds_planted(&home.join("notes.txt")), "{mode} {is_included}: {reported}");
        }
    }
}

#[test]
fn files_behind_links_are_protected_and_so_are_those_that_links_lead_to() {
    let stage = writing(&["dotfiles/bash", "innocent.txt"]);
    let home = stage.home.home();
    fs::create_dir(home.join("dotfiles")).unwrap();
    fs::write(home.join("dotfiles/bash"), "").unwrap();
    symlink("dotfiles/bash", home.join(".bashrc")).unwrap();
    symlink(".profile", home.join("innocent.txt")).unwrap();
    stage.pollux(&["--yolo", "-p", "go"]).directory(&home).run().assert_code(0);
    assert_eq!(fs::read_to_string(home.join("dotfiles/bash")).unwrap(), "");
    assert!(!home.join(".profile").exists());
}

#[test]
fn context_files_temporary_files_and_memories_are_free() {
    let free = [".gemini/GEMINI.md", ".gemini/tmp/home/scratch.txt", "GEMINI.md"];
    let stage = writing(&free);
    let home = stage.home.home();
    let run = stage.pollux(&["--approval-mode", "auto_edit", "-p", "go"]).directory(&home).run();
    run.assert_code(0);
    for file in free {
        assert!(holds_planted(&home.join(file)), "{file}\n{}", run.report());
    }
}

#[test]
fn a_rule_of_the_person_that_names_the_path_allows_the_change() {
    for (pattern, is_written) in [
        (r#"argsPattern = '/home/\.bashrc"'"#, true),
        (r#"argsPattern = '"content":"planted"'"#, false),
        ("", false),
    ] {
        let stage = writing(&[".bashrc"]);
        let rule = format!(
            "[[rule]]\ntoolName = \"write_file\"\ndecision = \"allow\"\npriority = 100\n{pattern}\n"
        );
        stage.home.user_file("policies/my.toml", rule);
        let home = stage.home.home();
        let run = stage.pollux(&["--yolo", "-p", "go"]).directory(&home).run();
        run.assert_code(0);
        assert_eq!(holds_planted(&home.join(".bashrc")), is_written, "{}", run.report());
    }
}

#[test]
fn yolo_mode_asks_at_the_terminal_and_says_why() {
    let stage = writing(&[".bashrc", ".bashrc"]);
    let home = stage.home.home();
    let terminal = stage.pollux(&["--yolo"]).directory(&home).in_terminal(40, 200);
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
    terminal.send("go\r");
    terminal.wait_for(|screen| screen.contents().contains("Choose 1-"), SOON);
    assert!(terminal.screen().contains(REASON), "{}", terminal.screen());
    assert!(!home.join(".bashrc").exists());
    terminal.send("1\r");
    // An approval is for one call.
    terminal.wait_for(|screen| screen.contents().matches("Choose 1-").count() == 2, SOON);
    assert!(holds_planted(&home.join(".bashrc")));
    stage.server.discard_replies();
}
