//! Files in the text of a conversation, as links of the terminal.

use std::os::unix::fs::{PermissionsExt, symlink};

use pollux_testkit::reply;
use serde_json::json;

use super::screen::{PLACEHOLDER, Talk, on_screen};
use super::stage::Stage;

#[test]
fn a_file_with_a_line_is_a_link_if_it_is_a_text_of_the_workspace() {
    let command = "echo 'error  --> src/main.rs:2:5'";
    let answer = "See `src/main.rs:1` and **src/main.rs:2**, not src/none.rs:1, run.sh:1, page.html:1, \
                  key.rs:1, ../../../../../etc/hosts:1 or [src/main.rs:3](https://example.com/x).";
    let stage = Stage::with([
        reply().call("run_shell_command", json!({ "command": command })),
        reply().text(answer),
    ]);
    stage.home.project_file("src/main.rs", "fn main() {\n}\n");
    for name in ["page.html", "run.sh"] {
        stage.home.project_file(name, "#!/bin/sh\n");
    }
    let project = std::fs::canonicalize(stage.home.project()).unwrap();
    std::fs::set_permissions(project.join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("/etc/hosts", project.join("key.rs")).unwrap();
    let terminal = on_screen(stage.pollux(&["-y"])).env("NO_COLOR", "").in_terminal(24, 100);
    let talk = Talk { stage, terminal };
    talk.wait(PLACEHOLDER);
    talk.line("go");
    talk.wait("example.com/x");
    talk.idle();
    let printed = String::from_utf8_lossy(&talk.terminal.transcript()).into_owned();
    let name = format!("{}/src/main.rs", project.display());
    let links: Vec<&str> = printed
        .split("\x1b]8;;")
        .filter_map(|part| part.split_once("\x1b\\"))
        .map(|it| it.0)
        .collect();
    for line in [1, 2] {
        let end = format!("{name}#{line}");
        assert!(
            links.iter().any(|link| link.starts_with("file://") && link.ends_with(&end)),
            "{links:?}"
        );
    }
    let linked = printed.split("\x1b]8;;file://").skip(1);
    let mut texts: Vec<String> = linked
        .map(|part| {
            let shown = part.split_once("\x1b\\").unwrap().1.split("\x1b]8;;").next().unwrap();
            shown.replace("\x1b[0m", "").replace("\x1b[36m", "").replace("\x1b[1m", "")
        })
        .collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts, ["src/main.rs:1", "src/main.rs:2", "src/main.rs:2:5"], "{printed:?}");
    assert!(printed.contains("\x1b]8;;https://example.com/x\x1b\\"), "{printed:?}");
    talk.end();
}
