//! The user's programs around requests and answers, and what they cost whatever they do.

use std::time::{Duration, Instant};

use pollux_testkit::{Reply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, Stage, lines_of, spoken, texts};

/// Longer than anything here may take on a busy machine, shorter than what hangs.
const SOON: Duration = Duration::from_secs(20);

/// A stage whose person has one hook.
fn with_hook(replies: impl IntoIterator<Item = Reply>, event: &str, command: &str) -> Stage {
    let stage = Stage::with(replies);
    stage.home.settings(&json!({ "hooks": hook(event, command, &json!({})) }));
    stage
}

fn hook(event: &str, command: &str, fields: &Value) -> Value {
    let mut hook = json!({ "type": "command", "command": command });
    hook.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({ event: [{ "hooks": [hook] }] })
}

fn says(reply: &Value) -> String {
    format!("cat > /dev/null; printf '%s' '{reply}'")
}

fn specific(specific: &Value) -> String {
    says(&json!({ "hookSpecificOutput": specific }))
}

fn answering(text: &str) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": [text] }, "finishReason": "STOP" }] })
}

#[test]
fn a_program_answers_in_the_models_place() {
    let deny = says(
        &json!({ "decision": "deny", "hookSpecificOutput": { "llm_response": answering("from the cache") } }),
    );
    for format in FORMATS {
        let stage = with_hook([], "BeforeModel", &deny);
        let run = stage.prompt(format, "go");
        run.assert_code(0);
        assert_eq!(stage.requests().len(), 0);
        let told = "Agent execution blocked: No reason provided";
        match format {
            "text" => {
                assert_eq!(run.stdout_text(), "from the cache\n");
                assert!(
                    run.stderr_text().contains(&format!("[WARNING] {told}")),
                    "{}",
                    run.report()
                );
            }
            "json" => {
                assert_eq!(run.json()["response"], "from the cache");
                assert_eq!(run.json()["warnings"], json!([told]));
            }
            _ => {
                assert_eq!(spoken(&run), "from the cache");
                assert_eq!(lines_of(&run, "error")[0]["message"], told);
            }
        }
    }
    // What a person saw as the answer is the answer, also for what comes later.
    let stage = with_hook([], "BeforeModel", &deny);
    stage.prompt("text", "go").assert_code(0);
    stage.home.settings(&json!({}));
    stage.server.stream(reply().text("again"));
    stage.pollux(&["--resume", "latest", "-p", "more"]).run().assert_code(0);
    let request = stage.server.last_request();
    assert_eq!(texts(&request.contents()[1]), ["from the cache"]);
}

#[test]
fn a_request_is_changed() {
    let change = specific(
        &json!({ "llm_request": { "model": "gemini-2.5-flash", "config": { "temperature": 0.1, "maxOutputTokens": 50 },
        "messages": [{ "role": "user", "content": "NEW" }, { "role": "user", "content": "MORE" }] } }),
    );
    let stage = with_hook([reply().text("done")], "BeforeModel", &change);
    stage.prompt("text", "go").assert_code(0);
    let request = stage.server.last_request();
    assert_eq!(request.model(), Some("gemini-2.5-flash"));
    let config = &request.body["generationConfig"];
    assert_eq!((&config["temperature"], &config["maxOutputTokens"]), (&json!(0.1), &json!(50)));
    assert_eq!(
        (&config["topP"], &config["topK"]),
        (&json!(0.95), &json!(64)),
        "what is not named stays"
    );
    let contents = request.contents();
    assert_eq!(contents.len(), 1, "{contents:?}");
    assert_eq!(texts(&contents[0]), ["NEW", "MORE"]);
    // The conversation itself is what the person said.
    stage.home.settings(&json!({}));
    stage.server.stream(reply().text("again"));
    stage.pollux(&["--resume", "latest", "-p", "more"]).run().assert_code(0);
    assert!(texts(&stage.server.last_request().contents()[0]).contains(&"go"));
}

#[test]
fn tools_are_chosen() {
    let choose = |mode: &str, names: &[&str]| {
        let choice =
            specific(&json!({ "toolConfig": { "mode": mode, "allowedFunctionNames": names } }));
        let stage = with_hook([reply().text("done")], "BeforeToolSelection", &choice);
        stage.prompt("text", "go").assert_code(0);
        let request = stage.server.last_request();
        let tools: Vec<String> = request.declared_tools().into_iter().map(str::to_owned).collect();
        (tools, request.body["toolConfig"]["functionCallingConfig"].clone())
    };
    let (all, none) = choose("AUTO", &[]);
    assert!(all.len() > 3 && none.is_null());
    assert_eq!(choose("NONE", &["glob"]), (all.clone(), json!({ "mode": "NONE" })));
    let any = json!({ "mode": "ANY", "allowedFunctionNames": ["glob", "read_file"] });
    assert_eq!(choose("ANY", &["read_file", "nope", "glob"]), (all, any));
    let (offered, config) = choose("AUTO", &["glob", "read_file"]);
    assert_eq!((offered.len(), config.is_null()), (2, true), "{offered:?}");
}

#[test]
fn what_programs_do_wrong_costs_a_warning() {
    for (command, told) in [
        ("sleep 600", "Hook timed out after 300ms"),
        ("yes", "Hook timed out after 300ms"),
        ("trap '' TERM; while :; do :; done", "Hook timed out after 300ms"),
        ("echo '{}'; exit 1", "exit code 1"),
        ("exit 2", "exit code 2"),
        ("kill -9 $$", "ended by a signal"),
    ] {
        for event in [
            "SessionStart",
            "BeforeAgent",
            "BeforeModel",
            "AfterModel",
            "BeforeTool",
            "AfterTool",
            "AfterAgent",
            "SessionEnd",
        ] {
            if command != "sleep 600" && event != "BeforeTool" {
                continue;
            }
            let call = reply().call("list_directory", json!({ "dir_path": "." }));
            let stage = Stage::with([call, reply().text("done")]);
            stage.home.settings(
                &json!({ "hooks": hook(event, command, &json!({ "timeout": 300, "name": "bad" })) }),
            );
            let started = Instant::now();
            let run = stage.prompt("text", "go");
            run.assert_code(0);
            assert!(started.elapsed() < SOON, "{event} {command}");
            assert_eq!(run.stdout_text(), "done\n", "{event} {command}");
            let line = format!("[WARNING] Hook(s) [bad] failed for event {event}: {told}.");
            assert!(run.stderr_text().lines().any(|told| told == line), "{line}\n{}", run.report());
        }
    }
}

#[test]
fn hooks_are_switched_off() {
    let named = hook("BeforeAgent", "echo no; exit 2", &json!({ "name": "guard" }));
    let plain = hook("BeforeAgent", "echo no; exit 2", &json!({}));
    for settings in [
        json!({ "hooks": named, "hooksConfig": { "disabled": ["guard"] } }),
        json!({ "hooks": plain, "hooksConfig": { "disabled": ["echo no; exit 2"] } }),
        json!({ "hooks": plain, "hooksConfig": { "enabled": false } }),
    ] {
        let stage = Stage::with([reply().text("done")]);
        stage.home.settings(&settings);
        assert_eq!(stage.prompt("text", "go").stdout_text(), "done\n", "{settings}");
    }
}

#[test]
fn settings_that_make_no_sense_are_named() {
    let stage = Stage::with([reply().text("done")]);
    stage.home.settings(
        &json!({ "hooks": { "Nope": [], "BeforeAgent": [{ "hooks": [{ "type": "weird" }] }] } }),
    );
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    let errors = run.stderr_text();
    assert!(
        errors.contains("Invalid hook event name: \"Nope\" from user config. Skipping."),
        "{errors}"
    );
    assert!(
        errors.contains("hooks.BeforeAgent[0].hooks[0] is of the unknown type \"weird\"."),
        "{errors}"
    );
}

#[test]
fn programs_see_no_credentials_of_models() {
    let stage = with_hook(
        [reply().text("done")],
        "BeforeAgent",
        "printenv GEMINI_API_KEY OPENAI_API_KEY PLAIN > seen; true",
    );
    let program = stage.pollux(&["-p", "go"]).env("OPENAI_API_KEY", "sk").env("PLAIN", "p");
    program.run().assert_code(0);
    assert_eq!(stage.home.read_project_file("seen"), "p\n");
}

#[test]
fn programs_see_no_secrets_where_that_is_wanted() {
    let stage = Stage::with([reply().text("done")]);
    stage.home.settings(&json!({
        "hooks": hook("BeforeAgent", "printenv A_TOKEN OK_TOKEN PLAIN REST > seen; true", &json!({})),
        "security": { "environmentVariableRedaction": { "enabled": true, "allowed": ["OK_TOKEN"], "blocked": ["PLAIN"] } },
    }));
    let program = stage.pollux(&["-p", "go"]).env("A_TOKEN", "a").env("OK_TOKEN", "o");
    program.env("PLAIN", "p").env("REST", "r").run().assert_code(0);
    assert_eq!(stage.home.read_project_file("seen"), "o\nr\n");
}

#[test]
fn a_folders_own_programs_run_where_it_is_trusted() {
    let run = |trusted: bool| {
        let stage = Stage::with([reply().text("done")]);
        stage.home.settings(&json!({ "hooks": hook("BeforeAgent", "touch user", &json!({})) }));
        stage.home.project_settings(
            &json!({ "hooks": hook("BeforeAgent", "touch project", &json!({})) }),
        );
        let program = stage.pollux(&["-p", "go"]);
        let program =
            if trusted { program } else { program.env_remove("GEMINI_CLI_TRUST_WORKSPACE") };
        program.run().assert_code(0);
        let exists = |file: &str| stage.home.project().join(file).exists();
        (exists("user"), exists("project"))
    };
    assert_eq!(run(true), (true, true));
    assert_eq!(run(false), (true, false), "the person's own guards hold everywhere");
}
