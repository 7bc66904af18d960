//! The system instruction as the built program sends and shows it.

use std::fs;
use std::os::unix::fs::symlink;

use pollux_testkit::{CapturedRequest, Finished, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{MODEL, Stage, texts};

fn system(request: &CapturedRequest) -> String {
    texts(&request.body["systemInstruction"]).concat()
}

/// Runs one prompt with these variables, and returns the system instruction that was sent.
fn reported_with(stage: &Stage, variables: &[(&str, &str)]) -> String {
    stage.server.stream(reply().text("ok"));
    let program = stage.pollux(&["-p", "go"]);
    let run =
        variables.iter().fold(program, |program, (name, value)| program.env(name, value)).run();
    run.assert_code(0);
    system(stage.requests().last().unwrap())
}

fn shown(stage: &Stage, words: &[&str]) -> Finished {
    let run = stage.alone().args(["prompt", "show"]).args(words).run();
    run.assert_code(0);
    assert!(stage.session_files().is_empty(), "no session is begun\n{}", run.report());
    run
}

fn in_json(stage: &Stage, words: &[&str]) -> Value {
    shown(stage, &[words, &["--json"]].concat()).json()
}

fn names(shown: &Value) -> Vec<&str> {
    let sections = shown["system"]["sections"].as_array().unwrap();
    sections.iter().map(|section| section["name"].as_str().unwrap()).collect()
}

#[test]
fn what_is_shown_is_what_is_sent() {
    let stage = Stage::new();
    stage.home.project_file("GEMINI.md", "Project rule.");
    stage.home.user_file("GEMINI.md", "Rule for all projects.");
    fs::create_dir(stage.home.project().join(".git")).unwrap();
    let sent = reported_with(&stage, &[]);
    let request = stage.requests().remove(0);
    for file in stage.session_files() {
        fs::remove_file(file).unwrap();
    }
    let shown = in_json(&stage, &["-m", MODEL]);
    let sections = shown["system"]["sections"].as_array().unwrap();
    let text: Vec<&str> = sections.iter().map(|one| one["text"].as_str().unwrap()).collect();
    // The folder of a session has the name of the session.
    let session = sent.split("/plans`").next().unwrap().rsplit('/').next().unwrap();
    assert_eq!(text.join("\n\n").replace("SESSION", session), sent);
    assert_eq!(shown["tools"]["names"], json!(request.declared_tools()));
    let opening = texts(&request.contents()[0])[0].to_owned();
    assert_eq!(shown["context"]["text"], opening);
    assert!(opening.contains("Project rule.") && sent.contains("Rule for all projects."));
    let tokens = |value: &Value| value["tokens"].as_u64().unwrap();
    let of_sections: u64 = sections.iter().map(tokens).sum();
    assert_eq!(tokens(&shown["system"]), of_sections);
    assert_eq!(tokens(&shown), of_sections + tokens(&shown["tools"]) + tokens(&shown["context"]));
    assert_eq!((&shown["model"], &shown["family"]), (&json!(MODEL), &json!("legacy")));
}

#[test]
fn what_is_shown_follows_the_flags() {
    let stage = Stage::new();
    let headless = in_json(&stage, &["-m", "gemini-3-flash-preview"]);
    assert_eq!((&headless["family"], &headless["interactive"]), (&json!("modern"), &json!(false)));
    let expected = [
        "preamble",
        "coreMandates",
        "agentContexts",
        "hookContext",
        "primaryWorkflows",
        "operationalGuidelines",
        "finalReminder",
    ];
    assert_eq!(names(&headless), expected);
    let planning = in_json(&stage, &["--approval-mode", "plan", "--interactive"]);
    assert_eq!(planning["mode"], "plan");
    assert!(names(&planning).contains(&"planningWorkflow"));
    assert!(!names(&planning).contains(&"primaryWorkflows"));
    stage.home.settings(&json!({"experimental": {"taskTracker": true}}));
    assert!(names(&in_json(&stage, &[])).contains(&"taskTracker"));
    let text = shown(&stage, &["--approval-mode", "yolo", "--interactive"]).stdout_text();
    assert!(
        text.contains("Mode: yolo, interactive.\n") && text.contains("    interactiveYoloMode\n")
    );
    assert!(text.contains("\n----- first message -----\n<session_context>\n"), "{text}");
}

#[test]
fn a_section_can_be_left_out() {
    let stage = Stage::new();
    fs::create_dir(stage.home.project().join(".git")).unwrap();
    let all = reported_with(&stage, &[("GEMINI_PROMPT_GIT", "1")]);
    assert!(all.contains("# Git\n") && all.contains("# Reminder\n"));
    let some = reported_with(
        &stage,
        &[("GEMINI_PROMPT_GIT", "0"), ("GEMINI_PROMPT_FINALREMINDER", "FALSE")],
    );
    assert!(!some.contains("# Git\n") && !some.contains("# Reminder\n"), "{some}");
}

#[test]
fn words_of_ones_own_replace_ours() {
    let stage = Stage::new();
    stage.home.user_file("GEMINI.md", "Mine.");
    stage.home.project_file(".gemini/system.md", "Use ${read_file_ToolName}.\n\n\n\n${zz}\n");
    stage.home.project_file("sub/own.md", "Other.");
    fs::write(stage.home.home().join("own.md"), "Home.").unwrap();
    let table = [
        ("1", "Use read_file.\n\n${zz}\n\n#"),
        ("TRUE", "Use "),
        ("sub/own.md", "Other.\n\n#"),
        ("~/own.md", "Home.\n\n#"),
    ];
    for (value, begins) in table {
        let reported = reported_with(&stage, &[("GEMINI_SYSTEM_MD", value)]);
        assert!(reported.starts_with(begins) && reported.contains("Mine."), "{value}: {reported}");
        assert!(!reported.contains("# Rules\n"), "{reported}");
    }
    for value in ["0", "false", "", " "] {
        assert!(reported_with(&stage, &[("GEMINI_SYSTEM_MD", value)]).contains("# Rules\n"));
    }
}

#[test]
fn words_of_ones_own_that_are_not_there_end_the_run() {
    let stage = Stage::new();
    let path = stage.home.project().join(".gemini/system.md");
    let message = format!("missing system prompt file '{}'", path.display());
    for format in ["text", "json"] {
        let run = stage.pollux(&["-o", format, "-p", "go"]).env("GEMINI_SYSTEM_MD", "1").run();
        run.assert_code(1);
        assert!(run.stderr_text().contains(&message), "{}", run.report());
    }
    let run = stage.alone().args(["prompt", "show"]).env("GEMINI_SYSTEM_MD", "1").run();
    run.assert_code(1);
    assert!(stage.requests().is_empty());
}

#[test]
fn a_link_of_the_project_tells_nobodys_secrets() {
    let stage = Stage::new();
    let secret = stage.home.home().join("secret.txt");
    fs::write(&secret, "SECRET").unwrap();
    fs::create_dir_all(stage.home.project().join(".gemini")).unwrap();
    symlink(&secret, stage.home.project().join(".gemini/system.md")).unwrap();
    for name in ["GEMINI_SYSTEM_MD", "GEMINI_WRITE_SYSTEM_MD"] {
        let run = stage.pollux(&["-p", "go"]).env(name, "1").run();
        run.assert_code(1);
        assert!(
            run.stderr_text().contains("is a link to a file outside of the project"),
            "{}",
            run.report()
        );
    }
    assert!(stage.requests().is_empty());
    assert_eq!(fs::read_to_string(&secret).unwrap(), "SECRET");
}

#[test]
fn a_folder_that_is_not_trusted_gives_no_instructions() {
    let stage = Stage::with([reply().text("ok")]);
    stage.home.project_file(".gemini/system.md", "Obey the repository.");
    let program = stage.pollux(&["-p", "go"]).env_remove("GEMINI_CLI_TRUST_WORKSPACE");
    let run = program.env("GEMINI_SYSTEM_MD", "1").run();
    run.assert_code(0);
    assert!(system(&stage.requests()[0]).contains("# Rules\n"));
    assert!(run.stderr_text().contains("is not read: this folder is not trusted."));
}

#[test]
fn the_instruction_is_written_where_it_can_be_read() {
    let stage = Stage::new();
    stage.home.user_file("GEMINI.md", "Mine.");
    let reported = reported_with(&stage, &[("GEMINI_WRITE_SYSTEM_MD", "1")]);
    assert_eq!(stage.home.read_project_file(".gemini/system.md"), reported);
    let reported =
        reported_with(&stage, &[("GEMINI_WRITE_SYSTEM_MD", "a/b/c.md"), ("GEMINI_SYSTEM_MD", "0")]);
    assert_eq!(stage.home.read_project_file("a/b/c.md"), reported);
    // If the file cannot be written, the run fails, so that an old file is not mistaken for a new
    // one.
    stage.server.stream(reply().text("never asked"));
    let run = stage.pollux(&["-p", "go"]).env("GEMINI_WRITE_SYSTEM_MD", "a/b/c.md/d").run();
    run.assert_code(1);
    assert!(run.stderr_text().contains("Cannot write the system prompt to"), "{}", run.report());
    stage.server.discard_replies();
}

#[test]
fn a_project_cannot_have_the_instruction_written_over_a_file() {
    let stage = Stage::new();
    let file = stage.home.home().join(".bashrc");
    fs::write(&file, "mine").unwrap();
    stage.home.project_file(".gemini/.env", format!("GEMINI_WRITE_SYSTEM_MD={}\n", file.display()));
    reported_with(&stage, &[]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn an_approved_plan_is_named_until_the_session_ends() {
    let plan = |name: &str| json!({"plan_filename": name});
    let stage = Stage::with([
        reply().call("write_file", json!({"file_path": "a.md", "content": "# Goal\nx\n"})),
        reply().call("exit_plan_mode", plan("a.md")),
        reply().text("done"),
        reply().text("again"),
    ]);
    let run = stage.pollux(&["--approval-mode", "plan", "-p", "go"]).run();
    run.assert_code(0);
    let reported: Vec<String> = stage.requests().iter().map(system).collect();
    assert!(
        reported[0].contains("# Plan mode\n") && !reported[0].contains("has approved the plan")
    );
    assert!(!reported[2].contains("# Plan mode\n"), "approved by itself\n{}", run.report());
    let named = |reported: &str| {
        reported.contains("approved the plan in `")
            && reported.contains("/plans/a.md`. Read it before")
    };
    assert!(named(&reported[2]), "{}", reported[2]);
    stage.pollux(&["--resume", "latest", "-p", "more"]).run().assert_code(0);
    assert!(named(&system(&stage.requests()[3])));
}
