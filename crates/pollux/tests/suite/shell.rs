//! The shell tool, called by the model.

use std::fs;

use pollux_testkit::{Finished, Pollux, reply};
use serde_json::json;

use super::stage::{Stage, is_alive};

fn yolo(stage: &Stage, command: &str) -> Pollux {
    let call = reply().call("run_shell_command", json!({"command": command}));
    stage.server.stream(call).stream(reply().text("done"));
    stage.pollux(&["-y", "-o", "stream-json", "-p", "go"])
}

/// Runs a command line through the model; returns the result for the model and the run.
fn shell(stage: &Stage, command: &str) -> (String, Finished) {
    let run = yolo(stage, command).run();
    run.assert_code(0);
    (stage.response(), run)
}

/// Returns the lines between the tags of untrusted text, without the line that differs between
/// runs.
fn lines(reported: &str) -> Vec<&str> {
    let inner =
        reported.strip_prefix("<untrusted_context>\n").unwrap_or_else(|| panic!("{reported}"));
    let inner =
        inner.strip_suffix("\n</untrusted_context>").unwrap_or_else(|| panic!("{reported}"));
    let group = inner.lines().last().unwrap();
    assert!(group.starts_with("Process Group PGID: "), "{reported}");
    inner.lines().filter(|line| *line != group).collect()
}

#[test]
fn output_is_cut_to_what_the_model_has_room_for() {
    let stage = Stage::new();
    // 1,400 of the model's 1,048,576 tokens are left, and half of them for one result: 2,800
    // characters.
    let call = reply().call("run_shell_command", json!({"command": "seq -w 0 1999"}));
    stage.server.stream(call.usage(1_047_176, 0)).stream(reply().text("done"));
    stage.pollux(&["-y", "-p", "go"]).run().assert_code(0);
    let reported = stage.response();
    let head = "Output: Output too large. Showing first 560 and last 2,240 characters. For full output see: ";
    assert_eq!(reported.lines().nth(1).unwrap().find(head), Some(0), "{reported}");
    let file = reported.lines().nth(1).unwrap().strip_prefix(head).unwrap();
    assert!(
        reported.contains("\n\n0000\n0001\n") && reported.contains("\n1998\n1999\n"),
        "{reported}"
    );
    assert!(fs::read_to_string(file).unwrap().contains("\n1000\n"));
    // Without remaining tokens a result still has some text.
    let call = reply().call("run_shell_command", json!({"command": "seq -w 0 1999"}));
    stage.server.stream(call.usage(500_000, 1_500_000)).stream(reply().text("done"));
    stage.pollux(&["-y", "-p", "go"]).run().assert_code(0);
    let reported = stage.response();
    assert!(reported.contains("Showing first 400 and last 1,600 characters."), "{reported}");
}

#[test]
fn standard_input_is_closed() {
    let stage = Stage::new();
    // The program's own input stays open; the command must not read it.
    let run = yolo(&stage, "cat; echo over").args(["--no-stdin"]).stdin_held_open().run();
    run.assert_code(0);
    assert_eq!(lines(&stage.response()), ["Output: over"]);
}

#[test]
fn a_command_ends_when_its_child_does() {
    let stage = Stage::new();
    let (reported, _) = shell(&stage, "sleep 600 & echo $! > pid; echo done");
    let pid = stage.home.read_project_file("pid").trim().to_owned();
    assert_eq!(lines(&reported), ["Output: done".to_owned(), format!("Background PIDs: {pid}")]);
    assert!(!is_alive(pid.parse().unwrap()), "nothing outlives the program");
}

/// Waits up to ten seconds for a condition.
#[cfg(target_os = "linux")]
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed().as_secs() < 10, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_program_leaves_nothing_behind() {
    let stage = Stage::new();
    // The command, a child in a session of its own, and a daemon without living parents.
    let line = "echo $$ > pids; setsid sh -c 'echo $$ >> pids; exec sleep 600' & \
                (setsid sh -c 'echo $$ >> pids; trap \"\" TERM; sleep 600; sleep 600' &); sleep 600";
    let running = yolo(&stage, line).spawn();
    let pids = || -> Vec<u32> {
        let text = fs::read_to_string(stage.home.project().join("pids")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    };
    wait_until("three processes", || pids().len() == 3);
    let folders = || {
        let entries = fs::read_dir(stage.home.temporary()).unwrap().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("pollux-")).count()
    };
    assert_eq!(folders(), 1);
    running.signal(rustix::process::Signal::KILL);
    drop(running.wait());
    stage.server.discard_replies();
    wait_until("all commands end", || pids().into_iter().all(|pid| !is_alive(pid)));
    wait_until("the temporary folder is removed", || folders() == 0);
}

#[test]
fn credentials_are_not_for_commands() {
    let stage = Stage::new();
    let program = yolo(&stage, "env").env("GOOGLE_API_KEY", "other-secret");
    let program = program.env("GEMINI_CLI_CUSTOM_HEADERS", "X-Token: third-secret");
    let program = program.env("OPENAI_CUSTOM_HEADERS", "api-key: fourth-secret");
    let program = program.env("ANTHROPIC_CUSTOM_HEADERS", "X-Key: fifth-secret");
    let program = program.env("ANTHROPIC_API_KEY", "vendor-secret");
    program.env("MINE", "kept").run().assert_code(0);
    let reported = stage.response();
    for secret in ["test-key", "-secret", "GEMINI_API_KEY", "CUSTOM_HEADERS"] {
        assert!(!reported.contains(secret), "{secret}\n{reported}");
    }
    for line in
        ["MINE=kept", "GEMINI_CLI=1", "PAGER=cat", "GIT_TERMINAL_PROMPT=0", "TERM=xterm-256color"]
    {
        assert!(reported.lines().any(|found| found == line), "{line}\n{reported}");
    }
}

#[test]
fn a_key_from_a_file_is_not_for_commands_either() {
    let stage = Stage::new();
    stage.home.user_file(".env", "GEMINI_API_KEY=key-from-file\n");
    let run = yolo(&stage, "env; cat /proc/$PPID/cmdline").env_remove("GEMINI_API_KEY").run();
    run.assert_code(0);
    assert_eq!(stage.requests()[0].header("x-goog-api-key"), Some("key-from-file"));
    assert!(!stage.response().contains("key-from-file"), "{}", stage.response());
}

#[test]
fn the_border_of_long_output_is_a_setting() {
    for (setting, cut) in [(json!(1000), true), (json!(0), false), (json!(-1), false)] {
        let stage = Stage::new();
        stage.home.settings(&json!({"tools": {"truncateToolOutputThreshold": setting}}));
        let (reported, _) = shell(&stage, "seq 1 20000");
        assert_eq!(reported.contains("characters omitted"), cut, "{setting}");
    }
}

#[test]
fn without_bash_there_is_sh() {
    let stage = Stage::new();
    let folder = stage.home.project().join("../bin");
    fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink("/bin/sh", folder.join("sh")).unwrap();
    let run = yolo(&stage, "echo hello").env("PATH", folder).run();
    run.assert_code(0);
    assert_eq!(lines(&stage.response()), ["Output: hello"]);
}

#[test]
fn the_git_configuration_of_commands_is_an_empty_file_of_the_session() {
    let look = "for f in \"$GIT_CONFIG_GLOBAL\" \"$GIT_CONFIG_SYSTEM\"; do echo \"$f\"; test -f \"$f\" && wc -c <\"$f\"; done";
    // A command replaces the file as Git does.
    let replace = "case $GIT_CONFIG_GLOBAL in /dev/*) echo device ;; *) echo harm >new && mv -f new \"$GIT_CONFIG_GLOBAL\" ;; esac";
    let call = |line: &str| reply().call("run_shell_command", json!({"command": line}));
    let stage = Stage::with([call(replace), call(look), reply().text("ok")]);
    stage.yolo("go");
    let response = stage.response();
    let state = stage.project_temporary();
    assert_eq!(response.matches(&state.display().to_string()).count(), 2, "{response}");
    assert_eq!(response.matches("empty.gitconfig\n0").count(), 2, "{response}");
}

#[cfg(target_os = "linux")]
#[test]
fn keys_are_not_in_the_environment_block_of_the_program() {
    // Root may read the block; other users must not.
    let chain = "p=$PPID; while [ \"${p:-0}\" -gt 1 ]; do echo \"at $p\"; tr '\\0' '\\n' <\"/proc/$p/environ\"; p=$(sed -n 's/^PPid:[[:space:]]*//p' \"/proc/$p/status\"); done; echo \"home $HOME\"";
    let stage = Stage::new();
    let run = yolo(&stage, chain).env("GOOGLE_API_KEY", "other-secret").run();
    run.assert_code(0);
    let reported = stage.response();
    assert!(reported.contains("at "), "{reported}");
    for secret in ["test-key", "other-secret"] {
        assert!(!reported.contains(secret), "{secret}\n{reported}");
    }
    // The program and its commands still have their environment.
    assert!(reported.contains(&format!("home {}", stage.home.home().display())), "{reported}");
}

#[cfg(target_os = "linux")]
#[test]
fn commands_cannot_read_the_memory_of_the_program() {
    let look = "import os\ndef parent(p):\n    return int(open(f'/proc/{p}/stat').read().rsplit(')', 1)[1].split()[1])\np = parent(os.getppid())\nwhile p > 1:\n    try:\n        open(f'/proc/{p}/mem', 'rb').close()\n        print('memory of', p)\n    except OSError as e:\n        print('kept', p, e)\n    p = parent(p)\n";
    // Checks the program and its ancestors; the shell of the command has the command's own rights.
    let other = rustix::process::geteuid().is_root().then_some(54321);
    for user in [None, other] {
        let stage = Stage::with([
            reply().call("run_shell_command", json!({"command": format!("python3 -c \"{look}\"")})),
            reply().text("ok"),
        ]);
        // Only the rights of the user separate the command from the program.
        stage.home.settings(&json!({"pollux": {"sandbox": {"yolo": "none"}}}));
        let own = stage.pollux(&["--yolo", "-p", "go"]);
        let run = match user {
            None => own.run(),
            Some(user) => own.as_user(user, &stage.home).run(),
        };
        run.assert_code(0);
        let reported = stage.response();
        assert!(
            reported.contains("kept ") && !reported.contains("memory of"),
            "{user:?}: {reported}"
        );
    }
}
