//! A resumed session.

use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{Event, SessionRequest, SessionStart, Todo, TodoStatus};
use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, Talk};

const MODEL: &str = "gemini-2.5-pro";
/// Timeout for an event that never comes; then the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

fn todos(event: &Event) -> Option<Vec<Todo>> {
    match event {
        Event::TodosChanged(todos) => Some(todos.clone()),
        _ => None,
    }
}

#[tokio::test]
async fn the_todo_list_comes_first_when_a_session_is_resumed() {
    let run = async {
        let stage = Stage::new();
        let settings = json!({"model": {"name": MODEL}, "useWriteTodos": true});
        let folder = stage.folder("shop", &settings, ("GEMINI.md", ""));
        let list = json!({"todos": [
            {"description": "Peel", "status": "completed"},
            {"description": "Boil", "status": "in_progress"},
        ]});
        stage.reply(MODEL, reply().call("write_todos", list));
        stage.reply(MODEL, reply().text("Noted."));
        let shared = Arc::default();
        let talk = stage.open(SessionRequest::new(&folder), &shared).await;
        assert_eq!(talk.log.all(todos), [[]; 0]);
        talk.prompt("one", "Make jam.");
        talk.log.ended("one").await;
        let listed = talk.log.first(todos).await;
        let expected = [("Peel", TodoStatus::Completed), ("Boil", TodoStatus::InProgress)];
        let expected = expected.map(|(text, status)| Todo { description: text.into(), status });
        assert_eq!(listed, expected);
        talk.close().await;

        let start = SessionStart::Resume("latest".to_owned());
        let request = SessionRequest { start, ..SessionRequest::new(&folder) };
        let resumed: Talk = stage.open(request, &shared).await;
        assert_eq!(resumed.log.first(|event| Some(todos(event))).await, Some(expected.into()));
        let log = resumed.close().await;
        assert_eq!(log.all(todos).len(), 1);
    };
    tokio::time::timeout(PATIENCE, run).await.expect("an event did not come");
}
