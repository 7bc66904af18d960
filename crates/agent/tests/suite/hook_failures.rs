//! Failing hooks of the user: the work continues, and a warning reports the failure.

use pollux_protocol::CallStatus;
use pollux_scripted::reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

#[tokio::test]
async fn a_failed_program_costs_a_warning_at_every_event() {
    for (command, reason) in [
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
            let call = reply().text("hello").call("look", json!({}));
            let stage = Stage::with([call, reply().text("done")]).hooks(&[(event, "", command)]);
            let talk = stage.start();
            talk.done("go").await;
            let (log, finished) = (talk.log.clone(), talk.finished());
            talk.close().await;
            assert_eq!(log.text(), "hellodone", "{event} {command}");
            assert_eq!(finished[0].status, CallStatus::Success, "{event} {command}");
            let line = format!("Hook(s) [{command}] failed for event {event}: {reason}.");
            assert!(log.notices().contains(&line), "{line}: {:?}", log.notices());
        }
    }
}
