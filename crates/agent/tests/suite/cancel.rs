//! A cancel in every state of the work.

use std::time::Duration;

use pollux_protocol::{
    CallStatus, Event, Measurement, ModelError, ModelErrorKind, Op, PromptOutcome, RetryNotice,
    ToolOutput,
};
use pollux_scripted::{FakeTool, Gate, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, Talk};

/// Maximum time until the work has stopped.
const SOON: Duration = Duration::from_millis(100);

/// Cancels the prompt, and checks that it ends in time and that the conversation can continue.
async fn stop(talk: Talk, id: &str) {
    let began = tokio::time::Instant::now();
    talk.send(Op::Cancel);
    let outcome = talk.ended(id).await;
    assert!(matches!(outcome, PromptOutcome::Cancelled), "{outcome:?}");
    assert!(began.elapsed() <= SOON, "{:?}", began.elapsed());
    assert_eq!(talk.models.open_answers(), 0, "the connection is closed");
    talk.models.stream(reply().text("well then"));
    talk.done("go on").await;
    let history = talk.journal.history();
    let replayed: Vec<_> = history.entries().iter().map(|entry| entry.content()).collect();
    let last = talk.models.last();
    assert_eq!(replayed[..replayed.len() - 1], last.contents()[..], "the log has what was sent");
}

#[tokio::test(start_paused = true)]
async fn while_the_model_has_not_begun_to_answer() {
    let talk = Stage::with([reply().never_answers()]).start();
    let id = talk.begin("go");
    talk.models.wait_for(1).await;
    stop(talk, &id).await;
}

#[tokio::test(start_paused = true)]
async fn while_the_disk_is_slow() {
    let talk = Stage::with([reply().never_answers()]).start();
    talk.journal.set_sync_time(Duration::from_secs(1));
    let id = talk.begin("go");
    talk.models.wait_for(1).await;
    stop(talk, &id).await;
}

#[tokio::test(start_paused = true)]
async fn while_the_answer_streams_what_was_said_is_kept() {
    let talk = Stage::with([reply().text("half").hangs()]).start();
    let id = talk.begin("go");
    talk.first(|event| matches!(event, Event::Text(_)).then_some(())).await;
    let models = talk.models.clone();
    stop(talk, &id).await;
    let said = models.last().contents()[2].text().into_owned();
    assert_eq!(said, "half\n\n[This answer was interrupted here.]");
}

#[tokio::test(start_paused = true)]
async fn while_a_failed_answer_waits_for_the_next_attempt() {
    let broken = ModelError { retryable: true, ..ModelError::new(ModelErrorKind::Broken, "cut") };
    let talk = Stage::with([reply().text("half").breaks(broken)]).start();
    let id = talk.begin("go");
    let is_retry = |measurement: &Measurement| {
        matches!(measurement, Measurement::NetworkRetry { .. }).then_some(())
    };
    talk.log.first_measured(is_retry).await;
    stop(talk, &id).await;
}

#[tokio::test(start_paused = true)]
async fn while_a_failed_connection_waits_for_the_next_attempt() {
    let notice = RetryNotice {
        attempt: 1,
        max_attempts: 2,
        delay: Duration::from_mins(1),
        reason: "503 later".to_owned(),
        error_type: "ApiError".to_owned(),
    };
    let talk = Stage::with([reply().retried(notice).text("done")]).start();
    let id = talk.begin("go");
    talk.first(|event| matches!(event, Event::Waiting(_)).then_some(())).await;
    stop(talk, &id).await;
}

#[tokio::test(start_paused = true)]
async fn while_calls_run_even_those_that_do_not_listen() {
    let running = Gate::closed();
    let begun = running.clone();
    let look = FakeTool::new("look").runs(move |args, context| {
        let begun = begun.clone();
        async move {
            begun.open();
            if args.contains_key("deaf") {
                tokio::time::sleep(Duration::from_mins(10)).await;
            }
            context.cancel.cancelled().await;
            ToolOutput::quiet("half")
        }
    });
    let calls = reply().call("look", json!({})).call("look", json!({"deaf": true}));
    let calls = calls.call("look", json!({"wait_for_previous": true}));
    let talk = Stage::with([calls]).tool(look.clone()).start();
    let (id, log, models) = (talk.begin("go"), talk.log.clone(), talk.models.clone());
    running.pass().await;
    stop(talk, &id).await;
    assert_eq!(look.ran().len(), 2, "the third never began");
    let finished = log.all(|event| match event {
        Event::CallsFinished(calls) => Some(calls.clone()),
        _ => None,
    });
    assert!(finished.concat().iter().all(|call| call.status == CallStatus::Cancelled));
    let content = models.last().contents()[3].clone();
    assert_eq!(content.responses().count(), 3, "each call is answered");
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_call_that_had_ended_is_kept() {
    let running = Gate::closed();
    let begun = running.clone();
    let look = FakeTool::new("look").runs(move |args, context| {
        let begun = begun.clone();
        async move {
            if args.contains_key("slow") {
                begun.open();
                context.cancel.cancelled().await;
            }
            ToolOutput::quiet("seen")
        }
    });
    let calls = reply().call("look", json!({}));
    let calls = calls.call("look", json!({"slow": true, "wait_for_previous": true}));
    let talk = Stage::with([calls]).tool(look).start();
    let (id, log, models) = (talk.begin("go"), talk.log.clone(), talk.models.clone());
    running.pass().await;
    stop(talk, &id).await;
    let statuses = log.all(|event| match event {
        Event::CallsFinished(calls) => {
            Some(calls.iter().map(|call| call.status).collect::<Vec<_>>())
        }
        _ => None,
    });
    assert_eq!(statuses, [vec![CallStatus::Success, CallStatus::Cancelled]]);
    assert_eq!(models.last().outputs()[0], "seen");
}

#[tokio::test(start_paused = true)]
async fn while_a_person_is_asked() {
    let write = FakeTool::new("write");
    let stage = Stage::with([reply().call("write", json!({}))]).interactive();
    let talk = stage.tool(write.clone()).start();
    let id = talk.begin("go");
    talk.first(|event| matches!(event, Event::Question(_)).then_some(())).await;
    stop(talk, &id).await;
    assert!(write.ran().is_empty());
}

#[tokio::test(start_paused = true)]
async fn while_tools_are_checked() {
    // The check runs on its own thread, and blocks that thread.
    let (begun, beginning) = std::sync::mpsc::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (begun, released) = (std::sync::Mutex::new(begun), std::sync::Mutex::new(released));
    let look = FakeTool::new("look").checks(move |_| {
        begun.lock().unwrap().send(()).unwrap();
        released.lock().unwrap().recv().unwrap_err();
        Ok(())
    });
    let talk = Stage::with([reply().call("look", json!({}))]).tool(look.clone()).start();
    let id = talk.begin("go");
    tokio::task::spawn_blocking(move || beginning.recv().unwrap()).await.unwrap();
    stop(talk, &id).await;
    drop(release);
    assert!(look.ran().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_waits_is_worked_on_after_one_that_was_stopped() {
    let talk = Stage::with([reply().never_answers(), reply().text("second")]).start();
    let first = talk.begin("first");
    talk.models.wait_for(1).await;
    let second = talk.begin("second");
    talk.send(Op::Cancel);
    assert!(matches!(talk.ended(&first).await, PromptOutcome::Cancelled));
    assert!(matches!(talk.ended(&second).await, PromptOutcome::Done));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_closed_ends_its_work() {
    let talk = Stage::with([reply().never_answers()]).start();
    let (id, log) = (talk.begin("go"), talk.log.clone());
    talk.models.wait_for(1).await;
    talk.close().await;
    assert!(matches!(log.ended(&id).await, PromptOutcome::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn while_the_user_is_asked_about_a_loop() {
    let talk = Stage::with((0..10).map(|_| reply().call("look", json!({})))).interactive().start();
    let id = talk.begin("go");
    talk.question(|_| true).await;
    stop(talk, &id).await;
}
