//! Hooks of the user around requests and answers, and the recorded usage in each case.

use pollux_testkit::{ModelReply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, Stage, lines_of, spoken, texts};

/// Creates a stage with one hook of the user.
fn with_hook(replies: impl IntoIterator<Item = ModelReply>, event: &str, command: &str) -> Stage {
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
        let reported = "Agent execution blocked: No reason provided";
        match format {
            "text" => {
                assert_eq!(run.stdout_text(), "from the cache\n");
                assert!(
                    run.stderr_text().contains(&format!("[WARNING] {reported}")),
                    "{}",
                    run.report()
                );
            }
            "json" => {
                assert_eq!(run.json()["response"], "from the cache");
                assert_eq!(run.json()["warnings"], json!([reported]));
            }
            _ => {
                assert_eq!(spoken(&run), "from the cache");
                assert_eq!(lines_of(&run, "error")[0]["message"], reported);
            }
        }
    }
    // The answer that the user saw is also in later requests.
    let stage = with_hook([], "BeforeModel", &deny);
    stage.prompt("text", "go").assert_code(0);
    stage.home.settings(&json!({}));
    stage.server.stream(reply().text("again"));
    stage.pollux(&["--resume", "latest", "-p", "more"]).run().assert_code(0);
    let request = stage.server.last_request();
    assert_eq!(texts(&request.contents()[1]), ["from the cache"]);
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
        errors.contains("hooks.BeforeAgent[0].hooks[0] has the unknown type \"weird\"."),
        "{errors}"
    );
}

#[test]
fn programs_see_no_credentials_of_models() {
    let stage = with_hook(
        [reply().text("done")],
        "BeforeAgent",
        "printenv GEMINI_API_KEY OPENAI_API_KEY ANTHROPIC_API_KEY PLAIN > seen; true",
    );
    let program = stage.pollux(&["-p", "go"]).env("OPENAI_API_KEY", "sk").env("PLAIN", "p");
    program.env("ANTHROPIC_API_KEY", "sk").run().assert_code(0);
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
