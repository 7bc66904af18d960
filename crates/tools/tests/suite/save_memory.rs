//! Tests of `save_memory` in a separate home.

use std::path::{Path, PathBuf};

use pollux_protocol::{CallId, CancellationToken, ConfirmationKind, ModelLimits, ToolErrorKind};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::session::{Session, display, side_models, text};

/// Returns a session whose user has a context file, and the path of that file.
fn session() -> (Session, PathBuf) {
    let mut file = PathBuf::new();
    let session = Session::with(|context| {
        let target = context.workspace.get().target().to_owned();
        file = pollux_fs::absolute(&target, Path::new("../home/.gemini/GEMINI.md"));
        context.workspace.update(|workspace| workspace.allow_memory_file(&file));
        context.memory_file.clone_from(&file);
        context.project_memory_file = context.workspace.get().temp().join("memory/MEMORY.md");
    });
    (session, file)
}

#[tokio::test]
async fn facts_come_together_under_one_heading() {
    let (session, file) = session();
    let output = session.call("save_memory", json!({"fact": " Likes\n tea. "})).await;
    let message = "Okay, I've remembered that: \"Likes tea.\"";
    assert_eq!(text(&output), json!({"success": true, "message": message}).to_string());
    assert_eq!(display(&output), message);
    session.ok("save_memory", json!({"fact": "- Lives in Rome"})).await;
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(kept, "## Gemini Added Memories\n- Likes tea.\n- Lives in Rome\n");
}

#[tokio::test]
async fn a_fact_about_the_project_goes_to_the_private_notes() {
    let (session, file) = session();
    let invocation =
        session.prepare("save_memory", &json!({"fact": "x", "scope": "project"})).unwrap();
    let notes = invocation.effects().writes[0].clone();
    assert!(notes.ends_with("memory/MEMORY.md") && !notes.starts_with(&session.root), "{notes:?}");
    session.ok("save_memory", json!({"fact": "Uses tabs", "scope": "project"})).await;
    session.ok("save_memory", json!({"fact": "Likes tea", "scope": "global"})).await;
    let kept = |path| std::fs::read_to_string(path).unwrap();
    assert_eq!(kept(&notes), "## Gemini Added Memories\n- Uses tabs\n");
    assert_eq!(kept(&file), "## Gemini Added Memories\n- Likes tea\n");
    let (_, message) = session.err("save_memory", json!({"fact": "x", "scope": "team"})).await;
    assert_eq!(message, "params/scope must be equal to one of the allowed values");
}

#[tokio::test]
async fn what_the_person_wrote_stays() {
    let (session, file) = session();
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before =
        "\u{feff}# Me\r\n\r\n## Gemini Added Memories\r\n- old\r\n\r\n## Rules\r\nBe brief.\r\n";
    std::fs::write(&file, before).unwrap();
    session.ok("save_memory", json!({"fact": "new"})).await;
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(kept, before.replace("- old\r\n", "- old\r\n- new\r\n"));
}

#[tokio::test]
async fn a_person_sees_the_change_and_it_is_that_change() {
    let (session, file) = session();
    let invocation = session.prepare("save_memory", &json!({"fact": "Likes tea."})).unwrap();
    assert_eq!(invocation.effects().writes, std::slice::from_ref(&file));
    let confirmation = invocation.confirmation(&CallId::new("c"), &side_models()).await.unwrap();
    let ConfirmationKind::Edit { path, patch, original, proposed, .. } = confirmation.kind else {
        panic!("no edit")
    };
    assert_eq!((path, original), (file.clone(), None));
    assert!(patch.contains("+- Likes tea."), "{patch}");
    assert_eq!(proposed, "## Gemini Added Memories\n- Likes tea.\n");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "meanwhile\n").unwrap();
    let output = invocation.run(session.run_context(CancellationToken::new())).await;
    assert_eq!(output.error.unwrap().kind, ToolErrorKind::FileWriteFailure);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "meanwhile\n");
}

#[tokio::test]
async fn what_is_no_fact_is_refused() {
    let (session, file) = session();
    let table = [
        (json!({}), "params must have required property 'fact'"),
        (json!({"fact": 3}), "params/fact must be string"),
        (json!({"fact": " \n- "}), "Parameter \"fact\" must be a non-empty string."),
        (json!({"fact": "x".repeat(4097)}), "Parameter \"fact\" has at most 4096 bytes."),
    ];
    for (args, expected) in table {
        assert_eq!(session.err("save_memory", args).await.1, expected);
    }
    assert!(!file.exists());
}

#[tokio::test]
async fn a_file_that_may_not_be_touched_is_not() {
    let session = Session::with(|context| {
        context.memory_file = context.workspace.get().target().join("../outside/settings.json");
    });
    let (kind, message) = session.err("save_memory", json!({"fact": "x"})).await;
    assert_eq!(kind, ToolErrorKind::InvalidToolParams);
    assert!(message.contains("Path not in workspace"), "{message}");
    assert!(!session.outside.join("settings.json").exists());
}

#[test]
fn it_is_there_when_it_is_asked_for() {
    assert!(!Session::new().tool("save_memory").is_offered_to("m", ModelLimits::default()));
    let session = Session::with(|context| context.options.save_memory = true);
    assert!(session.tool("save_memory").is_offered_to("m", ModelLimits::default()));
}
