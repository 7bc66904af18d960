//! A trusted folder in a headless run: pinned items take effect, new and changed items stay off.

use std::fs;
use std::path::PathBuf;

use pollux_testkit::{Finished, ModelServer, Pollux, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{MODEL, Stage};

/// Returns the program in a folder that only the file of trusted folders trusts.
fn by_rule(stage: &Stage) -> Pollux {
    stage.program().env_remove("GEMINI_CLI_TRUST_WORKSPACE").args(["-m", MODEL, "-p", "go"])
}

fn trusted() -> Stage {
    let stage = Stage::new();
    stage.home.trust_project();
    stage
}

fn consent_file(stage: &Stage) -> PathBuf {
    stage.home.gemini().join("pollux/consent.json")
}

/// Returns the pinned items of the project: kind, name and answer.
fn pinned(stage: &Stage) -> Vec<(String, String, bool)> {
    let text = fs::read_to_string(consent_file(stage)).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let folder = stage.home.project().canonicalize().unwrap();
    let items = file["folders"][folder.to_str().unwrap()]["items"].as_array().unwrap().clone();
    let word = |item: &Value, key: &str| item[key].as_str().unwrap().to_owned();
    items
        .iter()
        .map(|item| (word(item, "kind"), word(item, "name"), item["accepted"] == true))
        .collect()
}

/// Runs a prompt in which the model writes a file, and returns true if the tool was available.
fn writes(stage: &Stage, program: Pollux) -> (bool, Finished) {
    drop(fs::remove_file(stage.home.project().join("made.txt")));
    let write = json!({"file_path": "made.txt", "content": "x"});
    stage.server.stream(reply().call("write_file", write));
    stage.server.stream(reply().text("Done."));
    let run = program.run();
    run.assert_code(0);
    (stage.home.project().join("made.txt").exists(), run)
}

fn mode(stage: &Stage, mode: &str) {
    stage.home.project_settings(&json!({"general": {"defaultApprovalMode": mode}}));
}

#[test]
fn the_first_use_pins_and_a_change_stays_off() {
    let stage = trusted();
    mode(&stage, "auto_edit");
    let (written, run) = writes(&stage, by_rule(&stage));
    assert!(written, "{}", run.report());
    assert!(
        run.stderr_text().contains("now pinned: 1 setting: general.defaultApprovalMode."),
        "{}",
        run.report()
    );
    let pin = ("setting".to_owned(), "general.defaultApprovalMode".to_owned(), true);
    assert_eq!(pinned(&stage), [pin]);

    let (written, run) = writes(&stage, by_rule(&stage));
    assert!(written, "{}", run.report());
    assert_eq!(run.stderr_text(), "", "known items are not reported");

    // One more item, and a mode that was not agreed to.
    stage.home.project_settings(&json!({
        "general": {"defaultApprovalMode": "AUTO_EDIT"},
        "tools": {"allowed": ["write_file"]},
    }));
    let (written, run) = writes(&stage, by_rule(&stage));
    assert!(!written, "{}", run.report());
    let off: Vec<String> = run
        .stderr_text()
        .lines()
        .filter(|line| line.contains("Disabled until"))
        .map(str::to_owned)
        .collect();
    let [line] = &off[..] else { panic!("one line for the group\n{}", run.report()) };
    assert!(line.contains("2 settings: general.defaultApprovalMode, tools.allowed"), "{line}");
    assert_eq!(pinned(&stage).len(), 1, "nothing new is pinned");

    // An item that was agreed to is accepted again when it comes back.
    mode(&stage, "auto_edit");
    assert!(writes(&stage, by_rule(&stage)).0);
}

#[test]
fn what_comes_to_a_folder_that_had_nothing_is_new() {
    let stage = trusted();
    assert!(!writes(&stage, by_rule(&stage)).0);
    mode(&stage, "auto_edit");
    let (written, run) = writes(&stage, by_rule(&stage));
    assert!(!written, "{}", run.report());
    assert!(
        run.stderr_text().contains("1 setting: general.defaultApprovalMode"),
        "{}",
        run.report()
    );
}

#[test]
fn the_ways_that_ask_nobody_accept_everything_and_pin_nothing() {
    type Way = fn(&Stage) -> Pollux;
    let ways: [Way; 3] = [
        |stage| by_rule(stage).args(["--skip-trust"]),
        |stage| by_rule(stage).env("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        |stage| {
            stage.home.settings(&json!({"security": {"folderTrust": {"enabled": false}}}));
            by_rule(stage)
        },
    ];
    for way in ways {
        let stage = trusted();
        mode(&stage, "auto_edit");
        let (written, run) = writes(&stage, way(&stage));
        assert!(written, "{}", run.report());
        assert_eq!(run.stderr_text(), "");
        assert!(!consent_file(&stage).exists());
    }
}

#[test]
fn variables_are_pinned_one_by_one_and_four_are_free() {
    let stage = trusted();
    let canary = ModelServer::start();
    stage
        .home
        .project_file(".env", "GEMINI_MODEL=gemini-2.5-flash-lite\nGEMINI_API_KEY=project-key\n");
    stage.server.stream(reply().text("hi"));
    let program = stage.program().env_remove("GEMINI_CLI_TRUST_WORKSPACE").args(["-p", "go"]);
    program.env_remove("GEMINI_API_KEY").run().assert_code(0);
    let request = stage.requests().remove(0);
    assert_eq!(request.model(), Some("gemini-2.5-flash-lite"));
    assert_eq!(request.header("x-goog-api-key"), Some("project-key"));
    let pin = ("environment variable".to_owned(), "GEMINI_MODEL".to_owned(), true);
    assert_eq!(pinned(&stage), [pin], "the four keys are not asked about");

    // A new variable would send the next prompt, with the key, to another server.
    stage.home.project_file(
        ".env",
        format!(
            "GEMINI_MODEL=gemini-2.5-flash-lite\nHTTP_PROXY={0}\nOPENAI_BASE_URL={0}\n",
            canary.url()
        ),
    );
    stage.server.stream(reply().text("hi"));
    let program = stage.program().env_remove("GEMINI_CLI_TRUST_WORKSPACE").args(["-p", "go"]);
    let run = program.run();
    run.assert_code(0);
    assert_eq!(
        stage.requests()[1].model(),
        Some("gemini-2.5-flash-lite"),
        "what is pinned still counts"
    );
    assert!(
        run.stderr_text().contains("2 environment variables: HTTP_PROXY, OPENAI_BASE_URL"),
        "{}",
        run.report()
    );
    assert_eq!(canary.connections(), 0);
}

#[test]
fn nobody_has_agreed_while_the_answers_cannot_be_read() {
    let stage = trusted();
    mode(&stage, "auto_edit");
    let broken = "{\n  \"version\": 1,\n  oops";
    stage.home.user_file("pollux/consent.json", broken);
    let (written, run) = writes(&stage, by_rule(&stage));
    assert!(!written, "{}", run.report());
    let reported = run.stderr_text();
    assert!(
        reported.contains("consent.json") && reported.contains("(line 3, column 3)"),
        "{reported}"
    );
    assert!(reported.contains("1 setting: general.defaultApprovalMode"), "{reported}");
    assert_eq!(fs::read_to_string(consent_file(&stage)).unwrap(), broken, "it is left alone");
}

#[test]
fn a_broken_settings_file_pins_nothing() {
    let stage = trusted();
    stage.home.project_file(".gemini/settings.json", "{");
    by_rule(&stage).run().assert_code(52);
    assert!(!consent_file(&stage).exists());
}

#[cfg(unix)]
#[test]
fn the_answers_are_for_the_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = trusted();
    stage.server.stream(reply().text("hi"));
    by_rule(&stage).run().assert_code(0);
    let mode = fs::metadata(consent_file(&stage)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_look_at_the_sessions_pins_nothing() {
    let stage = trusted();
    mode(&stage, "auto_edit");
    let program = stage.program().env_remove("GEMINI_CLI_TRUST_WORKSPACE");
    program.args(["--list-sessions"]).run().assert_code(0);
    assert!(!consent_file(&stage).exists());
}

#[test]
fn a_group_that_would_replace_the_persons_stays_off() {
    let stage = trusted();
    stage.home.settings(&json!({"tools": {"exclude": ["glob"]}}));
    stage.server.stream(reply().text("hi"));
    by_rule(&stage).run().assert_code(0);
    stage.home.project_settings(&json!({"tools": null}));
    stage.server.stream(reply().text("hi"));
    let run = by_rule(&stage).run();
    run.assert_code(0);
    assert!(run.stderr_text().contains("1 setting: tools."), "{}", run.report());
    assert!(!stage.requests()[1].declared_tools().contains(&"glob"));
}

#[test]
fn a_folder_of_policies_is_pinned_by_its_content() {
    let allow =
        "[[rule]]\ntoolName = \"write_file\"\ndecision = \"allow\"\npriority = 100\n".to_owned();
    let deny = allow.replace("\"allow\"", "\"deny\"");
    for path in ["rules", "$HOME/../project/rules", "~/../project/rules", "/linked"] {
        let stage = trusted();
        let linked = stage.home.temporary().join("linked");
        std::os::unix::fs::symlink(stage.home.project().join("rules"), &linked).unwrap();
        let path = if path == "/linked" { linked.to_str().unwrap() } else { path };
        stage.home.project_settings(&json!({"policyPaths": [path]}));
        stage.home.project_file("rules/a.toml", &deny);
        let (written, run) = writes(&stage, by_rule(&stage));
        assert!(!written && run.stderr_text().contains("policyPaths"), "{}", run.report());
        for (file, content) in [("rules/a.toml", &allow), ("rules/b.toml", &allow)] {
            stage.home.project_file("rules/a.toml", &deny).project_file(file, content);
            let (written, run) = writes(&stage, by_rule(&stage));
            assert!(!written, "{path} {file}: {}", run.report());
            let reported = "(new or changed in this folder): 1 setting: policyPaths.";
            assert!(run.stderr_text().contains(reported), "{path} {file}: {}", run.report());
        }
        // The earlier consent still counts.
        fs::remove_file(stage.home.project().join("rules/b.toml")).unwrap();
        stage.home.project_file("rules/a.toml", &deny);
        let (_, run) = writes(&stage, by_rule(&stage));
        assert!(!run.stderr_text().contains("policyPaths"), "{}", run.report());
    }
}

#[test]
fn a_model_of_another_vendor_waits_for_a_person() {
    let stage = trusted();
    let other = ModelServer::start();
    stage.home.project_settings(&json!({"model": {"name": "openai/gpt-5"}}));
    for _ in 0..2 {
        stage.server.stream(reply().text("From the person's vendor."));
        let program = stage.program().env_remove("GEMINI_CLI_TRUST_WORKSPACE").args(["-p", "go"]);
        let run = program.env("OPENAI_API_KEY", "key").env("OPENAI_BASE_URL", other.url()).run();
        run.assert_code(0);
        assert!(run.stdout_text().contains("From the person's vendor."), "{}", run.report());
        let reported = "it cannot be approved automatically): 1 setting: model.name.";
        assert!(run.stderr_text().contains(reported), "{}", run.report());
    }
}

#[test]
fn a_hook_whose_changes_cannot_be_noticed_waits_for_a_person() {
    let stage = trusted();
    let project = stage.home.project();
    fs::write(project.join("noted.sh"), "touch noted\n").unwrap();
    fs::write(project.join("unnoted.sh"), "touch unnoted\n").unwrap();
    let hook = |command: &str| json!({"type": "command", "command": command});
    let noted = hook("sh \"$GEMINI_PROJECT_DIR\"/noted.sh");
    let unnoted = hook("sh \"$PWD/$(echo unnoted.sh)\"");
    stage.home.project_settings(&json!({"hooks": {"SessionStart": [{"hooks": [noted, unnoted]}]}}));
    stage.server.stream(reply().text("Done."));
    let run = by_rule(&stage).run();
    run.assert_code(0);
    let said = run.stderr_text();
    assert!(said.contains("now pinned: 1 hook: sh \"$GEMINI_PROJECT_DIR\"/noted.sh"), "{said}");
    let off = "Disabled until you approve it at the terminal (it cannot be approved automatically): 1 hook: sh \"$PWD/";
    assert!(said.contains(off), "{said}");
    assert!(project.join("noted").exists() && !project.join("unnoted").exists());
}
