//! Opening sessions: everything that a request determines.

use std::sync::Arc;

use pollux_protocol::{QuestionOutcome, SessionRequest};
use pollux_scripted::ScriptedOperator;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

#[tokio::test]
async fn questions_before_a_session_name_it() {
    let mut stage = Stage::with_folder_trust();
    let operator = Arc::new(ScriptedOperator::answering(QuestionOutcome::Option(0)));
    stage.host.operator = Some(operator.clone());
    let settings = json!({"model": {"name": "gemini-2.5-pro"}});
    let folder = stage.folder("shop", &settings, ("GEMINI.md", ""));
    let talk = stage.open(SessionRequest::new(folder), &Arc::default()).await;
    let asked = operator.asked();
    let from: Vec<&str> = asked.iter().map(|question| &*question.from.session).collect();
    assert_eq!(from, [talk.session.facts().id.as_str()]);
    talk.close().await;
}
