//! Tests of the runner, with a shell as the program.

use std::time::Duration;

use pollux_testkit::{ModelServer, Pollux, Signal, TestHome, Tree, tiny_disk, tiny_disk_at};
use serde_json::json;

fn shell(home: &TestHome, script: &str) -> Pollux {
    Pollux::new("/bin/sh").home(home).args(["-c", script])
}

#[test]
fn a_run_is_reported_whole() {
    let home = TestHome::new();
    let run = shell(&home, "cat; echo oops >&2; exit 3").stdin("in").run();
    run.assert_code(3);
    assert_eq!((run.stdout_text().as_str(), run.stderr_text().as_str()), ("in", "oops\n"));
    assert_eq!(run.signal, None);
    let run = shell(&home, "kill -TERM $$").run();
    assert_eq!((run.code, run.signal), (None, Some(15)));
}

#[test]
fn the_environment_is_clean() {
    let home = TestHome::new();
    let server = ModelServer::start();
    let run = shell(&home, "env; pwd -P")
        .env("EXTRA", "1")
        .env_remove("GEMINI_CLI_TRUST_WORKSPACE")
        .server(&server)
        .run();
    let text = run.stdout_text();
    let has = |line: &str| text.lines().any(|found| found == line);
    for line in [
        format!("HOME={}", home.home().display()),
        format!("GOOGLE_GEMINI_BASE_URL={}", server.url()),
        "GEMINI_API_KEY=test-key".to_owned(),
        "EXTRA=1".to_owned(),
        home.project().display().to_string(),
    ] {
        assert!(has(&line), "{line}\n{text}");
    }
    assert!(!text.contains("CARGO") && !text.contains("TRUST_WORKSPACE"), "{text}");
}

#[test]
fn output_is_read_as_json() {
    let home = TestHome::new();
    let run = shell(&home, r#"printf '{"a":1}\n{"a":2}\n'"#).run();
    assert_eq!(run.json_lines(), [json!({"a": 1}), json!({"a": 2})]);
    assert_eq!(shell(&home, r#"printf '{"a":[]}'"#).run().json(), json!({"a": []}));
}

#[test]
#[should_panic(expected = "the program did not end within 200ms")]
fn a_run_that_hangs_is_killed() {
    let home = TestHome::new();
    drop(shell(&home, "echo so far; sleep 60").timeout(Duration::from_millis(200)).run());
}

#[test]
#[should_panic(expected = "give the program a home()")]
fn a_run_needs_a_home() {
    drop(Pollux::new("/bin/sh").directory("/").run());
}

#[test]
fn a_running_program_takes_signals_and_input() {
    let home = TestHome::new();
    // A loop that starts programs would lose the signal now and then: dash forgets a trap whose
    // signal arrives while it starts one.
    // INT would be ignored in tests that run in the background of a shell.
    let script = "trap 'echo caught; exit 143' TERM; echo ready; read line; echo \"got $line\"; \
                  read never";
    let mut running = shell(&home, script).stdin_held_open().spawn();
    running.stdout_until("ready");
    running.write_stdin(b"this\n");
    assert_eq!(running.stdout_until("got this"), "ready\ngot this\n");
    assert!(running.is_running());
    running.signal(Signal::TERM);
    let finished = running.wait();
    finished.assert_code(143);
    assert!(finished.stdout_text().ends_with("caught\n"));
}

#[test]
#[should_panic(expected = "stdout ended without")]
fn waiting_for_a_text_that_never_comes_fails_early() {
    let home = TestHome::new();
    shell(&home, "echo other").spawn().stdout_until("text");
}

#[test]
fn a_grandchild_that_holds_the_pipe_does_not_hold_the_test() {
    let home = TestHome::new();
    // The background process runs longer than the time limit of the run.
    let run = shell(&home, "echo first; sleep 60 & exit 0").run();
    assert_eq!(run.assert_code(0).stdout_text(), "first\n");
}

#[test]
fn a_closed_pipe_is_felt_by_the_program() {
    let home = TestHome::new();
    let run = shell(&home, "while :; do echo 0123456789; done").close_stdout_after(100).run();
    assert_eq!((run.stdout.len(), run.signal), (100, Some(13)));
}

#[cfg(target_os = "linux")]
#[test]
fn peak_memory_is_seen() {
    let home = TestHome::new();
    let run = shell(&home, "sleep 0.5; exit 0").measure_memory().run();
    let peak = run.peak_rss.unwrap();
    assert!((100_000..100_000_000).contains(&peak), "{peak}");
}

#[test]
fn a_home_is_written_where_it_is_read() {
    let home = TestHome::new();
    home.settings(&json!({"model": {"name": "m"}}))
        .project_settings(&json!({}))
        .project_file("src/a.rs", "a")
        .trust_project();
    let paths: Vec<String> = Tree::of(home.home().parent().unwrap()).entries.into_keys().collect();
    for path in [
        "home/.gemini/settings.json",
        "home/.gemini/trustedFolders.json",
        "project/.gemini/settings.json",
        "project/src/a.rs",
    ] {
        assert!(paths.iter().any(|found| found == path), "{path}: {paths:?}");
    }
    assert_eq!(home.read_project_file("src/a.rs"), "a");
}

#[test]
fn a_tiny_disk_is_soon_full() {
    let Some(disk) = tiny_disk(64 * 1024) else { return };
    let home = TestHome::new();
    let script = "head -c 16384 /dev/zero > \"$0/small\" && head -c 1000000 /dev/zero > \"$0/big\"";
    let run = shell(&home, script).args([disk.path()]).on_disk(&disk).run();
    assert_ne!(run.code, Some(0), "{}", run.report());
    assert!(run.stderr_text().contains("No space left"), "{}", run.report());
    assert_eq!(std::fs::read_dir(disk.path()).unwrap().count(), 0, "only the program sees it");
}

#[test]
fn a_tiny_disk_can_lie_over_a_folder_of_the_home() {
    let home = TestHome::new();
    home.user_file("tmp/old", "hidden");
    let Some(disk) = tiny_disk_at(home.gemini().join("tmp"), 4096) else { return };
    let run = shell(&home, "ls -A \"$HOME/.gemini/tmp\"").on_disk(&disk).run();
    assert_eq!(run.assert_code(0).stdout_text(), "");
    let status = disk.command("true").status().unwrap();
    assert!(status.success());
}
