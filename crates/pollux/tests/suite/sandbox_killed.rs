//! Changes of protected files by the commands of a run that was killed.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use pollux_testkit::{Finished, RunningProgram, reply};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::json;

use super::sandbox::holds_here;
use super::stage::{FORMATS, SOON, Stage};

/// Folder of the records of running audits, in a state directory.
const RECORDS: &str = "pollux/sandbox/running";

/// Starts a run whose model runs this line and then waits, and kills it when the line is done.
fn kill_after(stage: &Stage, line: &str) {
    let command = format!("{line}; touch done; sleep 1000");
    stage.server.stream(reply().call("run_shell_command", json!({ "command": command })));
    let mut run = stage.pollux(&["--yolo", "-p", "go"]).spawn();
    let done = stage.home.project().join("done");
    let deadline = Instant::now() + SOON;
    while !done.exists() {
        assert!(Instant::now() < deadline && run.is_running(), "{line}");
        std::thread::yield_now();
    }
    run.signal(Signal::KILL);
    drop(run.wait());
    fs::remove_file(done).unwrap();
    assert_eq!(records(stage).len(), 1);
}

fn records(stage: &Stage) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(stage.home.gemini().join(RECORDS)) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Runs a prompt in a format and returns the run.
fn next(stage: &Stage, format: &str) -> Finished {
    stage.server.stream(reply().text("done"));
    let run = stage.prompt(format, "hello");
    run.assert_code(0);
    run
}

#[test]
fn the_next_start_reverts_what_a_killed_run_left() {
    if !holds_here("protect") {
        return;
    }
    for format in FORMATS {
        let stage = Stage::new();
        // The planted policy is broken: the next start would fail if it read the file.
        kill_after(
            &stage,
            "echo evil > ~/.zshenv; mkdir ~/.gemini/policies; echo broken > ~/.gemini/policies/a.toml",
        );
        assert!(stage.home.home().join(".zshenv").exists());
        let run = next(&stage, format);
        let said = run.stderr_text();
        assert!(said.contains("/.zshenv is new, and protected; moved to "), "{format}: {said}");
        assert!(said.contains("/.gemini/policies is new, and protected;"), "{format}: {said}");
        assert!(!stage.home.home().join(".zshenv").exists());
        assert!(!stage.home.gemini().join("policies").exists());
        assert!(records(&stage).is_empty());
        let again = next(&stage, format).stderr_text();
        assert!(!again.contains("killed"), "{format}: {again}");
    }
}

#[test]
fn a_test_of_hooks_runs_no_hook_that_a_killed_run_left() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    let hook = json!({"hooks": [{"type": "command", "command": "touch ran"}]});
    let settings = json!({"hooks": {"BeforeTool": [hook]}});
    kill_after(&stage, &format!("echo '{settings}' > ~/.gemini/settings.json"));
    assert!(stage.home.gemini().join("settings.json").exists());
    let run = stage.alone().args(["hooks", "test", "BeforeTool"]).run();
    run.assert_code(0);
    assert!(run.stderr_text().contains("/settings.json is new, and protected"), "{}", run.report());
    assert_eq!(run.stdout_text(), "No hook runs at BeforeTool.\n");
    assert!(!stage.home.project().join("ran").exists() && records(&stage).is_empty());
}

#[test]
fn the_next_start_restores_the_configuration_of_a_repository() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    let config = stage.home.project_file(".git/config", "[core]\n\tbare = false\n");
    let config = config.project().join(".git/config");
    stage.home.project_file(".git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir_all(stage.home.project().join(".git/objects")).unwrap();
    fs::create_dir_all(stage.home.project().join(".git/refs")).unwrap();
    let before = fs::read_to_string(&config).unwrap();
    kill_after(&stage, "git branch -d zz; printf '[core]\n\tfsmonitor = ./x\n' >> .git/config");
    assert_ne!(fs::read_to_string(&config).unwrap(), before);
    let said = next(&stage, "text").stderr_text();
    assert!(said.contains(".git/config was restored") && said.contains("core.fsmonitor"), "{said}");
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
}

#[test]
fn a_change_of_a_killed_run_that_cannot_be_undone_ends_the_next_start_in_every_format() {
    if !holds_here("protect") {
        return;
    }
    for format in FORMATS {
        let stage = Stage::new();
        kill_after(&stage, "echo evil > ~/.zshenv");
        // Nothing can be moved aside.
        stage.home.user_file("pollux/sandbox/moved", "");
        let run = stage.prompt(format, "hello");
        run.assert_code(54);
        let said = run.stderr_text();
        assert!(said.contains("/.zshenv") && said.contains("cannot undo"), "{format}: {said}");
        let out = run.stdout_text();
        assert_eq!(out.contains("cannot undo"), format != "text", "{format}: {out}");
        // It is reported once.
        assert!(!next(&stage, format).stderr_text().contains("cannot undo"));
    }
}

#[test]
fn of_several_starts_one_reverts_and_reports() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    kill_after(&stage, "echo evil > ~/.zshenv");
    let starts: Vec<_> = (0..4)
        .map(|_| {
            stage.server.stream(reply().text("done"));
            stage.pollux(&["-p", "hello"]).spawn()
        })
        .collect();
    let ended: Vec<Finished> = starts.into_iter().map(RunningProgram::wait).collect();
    let said: Vec<String> = ended.iter().map(Finished::stderr_text).collect();
    assert!(ended.iter().all(|run| run.assert_code(0).stdout_text() == "done\n"), "{said:?}");
    let reports = said.iter().filter(|said| said.contains("/.zshenv is new")).count();
    assert_eq!(reports, 1, "{said:?}");
}

#[test]
fn a_run_that_ended_left_no_record_and_a_running_one_is_left_alone() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    let call = |line: &str| reply().call("run_shell_command", json!({ "command": line }));
    stage.server.stream(call("echo a")).stream(reply().text("done"));
    stage.yolo("go");
    assert!(stage.home.gemini().join(RECORDS).is_dir());
    assert!(records(&stage).is_empty());
    stage.server.stream(call("touch ready; sleep 1000"));
    let mut run = stage.pollux(&["--yolo", "-p", "go"]).spawn();
    let deadline = Instant::now() + SOON;
    while !stage.home.project().join("ready").exists() {
        assert!(Instant::now() < deadline && run.is_running());
        std::thread::yield_now();
    }
    let running = records(&stage);
    assert_eq!(running.len(), 1);
    next(&stage, "text");
    assert_eq!(records(&stage), running);
    run.signal(Signal::INT);
    drop(run.wait());
    assert!(records(&stage).is_empty());
}

#[test]
fn a_record_that_cannot_be_used_is_moved_away_with_a_warning() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    kill_after(&stage, "true");
    let [record] = &records(&stage)[..] else { unreachable!() };
    let bytes = fs::read(record).unwrap();
    let name = record.file_name().unwrap().to_str().unwrap().to_owned();
    let file = |name: &str, bytes: &[u8]| {
        stage.home.user_file(&format!("{RECORDS}/{name}"), bytes);
    };
    file(&name, &bytes[..bytes.len() - 1]);
    file("unknown", &bytes);
    let link = stage.home.gemini().join(RECORDS).join(format!("{name}1"));
    std::os::unix::fs::symlink(stage.home.home(), &link).unwrap();
    let said = next(&stage, "text").stderr_text();
    for name in [&name, "unknown", &format!("{name}1")] {
        let refused = format!("{RECORDS}/{name} is not a usable record of a killed run, and was");
        assert!(said.contains(&refused), "{said}");
    }
    assert!(records(&stage).is_empty() && stage.home.home().is_dir());
}

#[test]
fn a_forged_record_changes_nothing_outside_of_the_audited_places() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    // The record says that the file did not exist. The bytes of a path are replaced by others of
    // the same length.
    kill_after(&stage, "true");
    let [record] = &records(&stage)[..] else { unreachable!() };
    let (from, to) = (b"home/.zshenv", b"home/letters");
    let mut bytes = fs::read(record).unwrap();
    let place = bytes.windows(from.len()).position(|window| window == from).unwrap();
    bytes[place..place + to.len()].copy_from_slice(to);
    fs::write(record, bytes).unwrap();
    let letters = stage.home.home().join("letters");
    fs::write(&letters, "mine").unwrap();
    let run = stage.prompt("text", "hello");
    run.assert_code(54);
    let said = run.stderr_text();
    assert!(said.contains("/letters is new") && said.contains("does not protect"), "{said}");
    assert_eq!(fs::read_to_string(&letters).unwrap(), "mine");
}
