//! Settings that change during a running session.

use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{Event, PromptOutcome, QuestionOutcome, SessionRequest, TurnLimit};
use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, Talk};

const MODEL: &str = "gemini-2.5-pro";
const MAX_TURNS: &str = "model.maxSessionTurns";
/// Timeout for an event that never comes; then the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Opens a session in a trusted folder with these settings.
async fn open(settings: &Value) -> (Stage, Talk) {
    let stage = Stage::with_folder_trust();
    let folder = stage.folder("shop", settings, ("GEMINI.md", ""));
    stage.home.trust(&folder, "TRUST_FOLDER");
    let talk = stage.open(SessionRequest::new(folder), &Arc::default()).await;
    (stage, talk)
}

fn rewrite(stage: &Stage, settings: &str) {
    stage.home.project_file("shop/.gemini/settings.json", settings);
}

/// Returns all reports so far: keys that changed, and keys that wait.
fn reports(talk: &Talk) -> Vec<(Vec<String>, Vec<String>)> {
    talk.log.all(|event| match event {
        Event::SettingsChanged { changed, restart } => Some((changed.clone(), restart.clone())),
        _ => None,
    })
}

async fn report(talk: &Talk, number: usize) -> (Vec<String>, Vec<String>) {
    let mut left = number;
    let is_it = |event: &Event| {
        let is_report = matches!(event, Event::SettingsChanged { .. });
        left = left.saturating_sub(usize::from(is_report));
        (is_report && left == 0).then_some(())
    };
    talk.log.first(is_it).await;
    reports(talk).swap_remove(number - 1)
}

fn keys(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

#[tokio::test]
async fn settings_are_followed_while_a_prompt_runs() {
    let run = async {
        let (stage, talk) = open(&json!({"model": {"name": MODEL}})).await;
        stage.reply(MODEL, reply().call("run_shell_command", json!({"command": "touch a.txt"})));
        talk.prompt("one", "Touch it.");
        let question = talk.question(0).await;

        // A reload without differences.
        talk.session.reload_settings().await.unwrap();
        // The hook and the command wait for consent, which is asked for at the next start.
        let hook = json!({"hooks": [{"type": "command", "command": "touch planted.txt"}]});
        let settings = json!({
            "model": {"name": MODEL, "maxSessionTurns": 1},
            "general": {"maxAttempts": 2},
            "hooks": {"BeforeTool": [hook]},
            "tools": {"discoveryCommand": "touch planted.txt"},
        });
        rewrite(&stage, &settings.to_string());
        talk.session.reload_settings().await.unwrap();
        let expected = (keys(&[MAX_TURNS]), keys(&["general.maxAttempts", "hooks.BeforeTool"]));
        assert_eq!(report(&talk, 1).await, expected);

        talk.answer(&question, QuestionOutcome::ProceedOnce);
        let outcome = talk.log.ended("one").await;
        let is_limit = matches!(outcome, PromptOutcome::TurnLimit(TurnLimit::Session));
        assert!(is_limit, "{outcome:?}");
        assert!(stage.home.project().join("shop/a.txt").exists());
        assert!(!stage.home.project().join("shop/planted.txt").exists());

        // A file that cannot be read changes nothing.
        rewrite(&stage, "{\"model\": {");
        let error = talk.session.reload_settings().await.unwrap_err();
        assert!(error.to_string().contains("settings.json"), "{error}");
        // The waiting setting has its original value again.
        rewrite(&stage, &json!({"model": {"name": MODEL, "maxSessionTurns": 1}}).to_string());
        talk.session.reload_settings().await.unwrap();
        assert_eq!(report(&talk, 2).await, (keys(&[]), keys(&[])));
        assert_eq!(reports(&talk).len(), 2);
        talk.close().await;
    };
    tokio::time::timeout(PATIENCE, run).await.expect("an event did not come");
}

/// `/permissions` reads the settings again: those of a folder that is no longer trusted do not
/// count.
#[tokio::test]
async fn settings_of_the_project_go_with_its_trust() {
    let run = async {
        let (stage, talk) = open(&json!({"model": {"name": MODEL, "maxSessionTurns": 1}})).await;
        stage.reply(MODEL, reply().text("One."));
        stage.reply(MODEL, reply().text("Two."));
        talk.prompt("one", "Begin.");
        talk.log.ended("one").await;
        talk.prompt("two", "Go on.");
        let outcome = talk.log.ended("two").await;
        assert!(matches!(outcome, PromptOutcome::TurnLimit(TurnLimit::Session)), "{outcome:?}");
        talk.command("distrust", "permissions", "distrust").await;
        assert_eq!(report(&talk, 1).await, (keys(&[MAX_TURNS]), keys(&["model.name"])));
        talk.prompt("three", "Go on.");
        let outcome = talk.log.ended("three").await;
        assert!(matches!(outcome, PromptOutcome::Done), "{outcome:?}");
        talk.close().await;
    };
    tokio::time::timeout(PATIENCE, run).await.expect("an event did not come");
}

#[tokio::test]
async fn a_frontend_applies_its_settings_itself() {
    let stage = Stage::new();
    let theme = |name: &str| json!({"model": {"name": MODEL}, "ui": {"theme": name}});
    let folder = stage.folder("shop", &theme("Ayu"), ("GEMINI.md", ""));
    let live_settings = &["ui.theme"];
    let request = SessionRequest { live_settings, ..SessionRequest::new(folder) };
    let talk = stage.open(request, &Arc::default()).await;
    let shown = |talk: &Talk| talk.session.settings().get("ui.theme").cloned();
    assert_eq!(shown(&talk), Some(json!("Ayu")));
    rewrite(&stage, &theme("Xcode").to_string());
    talk.session.reload_settings().await.unwrap();
    assert_eq!(report(&talk, 1).await, (keys(&["ui.theme"]), keys(&[])));
    assert_eq!(shown(&talk), Some(json!("Xcode")));
    talk.close().await;
}
