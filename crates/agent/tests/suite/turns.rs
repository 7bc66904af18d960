//! A prompt from its first request to its end.

use std::time::Duration;

use pollux_protocol::{
    Args, CallStatus, Effects, Event, Opaque, Part, PromptOutcome, Record, ToolErrorKind,
    ToolOutput, TurnLimit,
};
use pollux_scripted::{FakeTool, MemoryJournal, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::Stage;

/// Returns the kinds of records, in order.
fn kinds(records: &[Record]) -> Vec<&'static str> {
    let kind = |record: &Record| match record {
        Record::Context { .. } => "context",
        Record::Cleared => "cleared",
        Record::User { .. } => "user",
        Record::Model(_) => "model",
        Record::Decided { .. } => "decided",
        Record::CallStarted { .. } => "started",
        Record::CallFinished(_) => "finished",
        Record::Responses { .. } => "responses",
        Record::Rewound { .. } => "rewound",
        Record::Notice { .. } => "notice",
        Record::Compressed(_) => "compressed",
        Record::Uncompressed => "uncompressed",
        Record::PromptEnded { .. } => "ended",
    };
    records.iter().map(kind).collect()
}

/// Returns the tool `look`, which returns its argument `n`.
fn echo() -> FakeTool {
    let output = |args: &Args| ToolOutput::quiet(args["n"].to_string());
    FakeTool::new("look").runs(move |args, _| std::future::ready(output(&args)))
}

#[tokio::test]
async fn everything_is_in_the_log_in_the_order_in_which_it_happened() {
    let talk = Stage::with([reply().call("look", json!({"n": 1})), reply().text("done")]).start();
    talk.done("go").await;
    let turn = ["context", "user", "model", "decided", "started", "finished", "responses"];
    let records = talk.journal.records();
    assert_eq!(kinds(&records), [&turn[..], &["model", "ended"]].concat());
    assert_eq!(talk.journal.synced(), records.len(), "the log is on the device");
    assert_eq!(talk.log.text(), "done");
    let requests = talk.models.streamed();
    assert_eq!(requests[0].user_texts()[1..], ["go"]);
    assert_eq!(requests[1].responses(), [json!({"output": "done"})]);
}

#[tokio::test]
async fn signed_thoughts_go_back_in_their_places() {
    let signed = |data: &str| {
        let opaque = Some(Opaque { dialect: "d".to_owned(), data: data.to_owned() });
        Part { opaque, ..Part::thought("") }
    };
    let first = reply().thought("for people").part(signed("1")).text("Look.").part(signed("2"));
    let stage = Stage::with([first.call("look", json!({})), reply().text("done")]);
    let talk = stage.start();
    talk.done("go").await;
    let requests = talk.models.streamed();
    let answered = requests[1].contents()[2].parts.clone();
    assert_eq!(answered[..3], [signed("1"), Part::text("Look."), signed("2")]);
    assert_eq!((answered.len(), answered[3].as_call().is_some()), (4, true));
    let history = talk.journal.history();
    assert_eq!(history.entries()[2].content().parts, answered, "the log has them too");
}

#[tokio::test]
async fn the_records_give_the_conversation_that_was_sent() {
    let replies = [reply().text("Look.").call("look", json!({})), reply().text("a"), reply()];
    let stage = Stage::with(replies);
    stage.models.stream(reply().text("b"));
    let talk = stage.start();
    talk.done("one").await;
    talk.done("two").await;
    let history = talk.journal.history();
    let replayed: Vec<_> = history.entries().iter().map(|entry| entry.content()).collect();
    let sent = talk.models.last();
    assert_eq!(replayed[..replayed.len() - 1], sent.contents()[..]);
}

#[tokio::test]
async fn a_second_prompt_goes_on_with_the_conversation() {
    let talk = Stage::with([reply().text("one"), reply().text("two")]).start();
    talk.done("first").await;
    talk.done("second").await;
    let sent = talk.models.last();
    assert_eq!(sent.user_texts()[1..], ["first", "second"], "one context, two prompts");
    assert_eq!(sent.contents()[2].text(), "one");
}

#[tokio::test]
async fn a_log_that_cannot_be_written_ends_the_work_before_the_next_effect() {
    for room in 0..8 {
        let write = FakeTool::new("write").effects(|_| Effects::write("/a"));
        let mut stage = Stage::with([reply().call("write", json!({})), reply().text("done")]);
        stage = stage.tool(write.clone());
        stage.journal = std::sync::Arc::new(MemoryJournal::with_room(room));
        let talk = stage.start();
        let outcome = talk.prompt("go").await;
        assert!(matches!(outcome, PromptOutcome::LogFailed(_)), "{room}: {outcome:?}");
        let kinds = kinds(&talk.journal.records());
        assert_eq!(kinds.len(), room);
        assert_eq!(write.ran().len(), kinds.iter().filter(|kind| **kind == "started").count());
        let asked = talk.models.streamed().len();
        assert_eq!(asked, usize::from(room >= 2) + usize::from(room >= 7), "room for {room}");
        talk.models.discard_replies();
    }
}

#[tokio::test(start_paused = true)]
async fn responses_come_in_the_order_of_the_calls() {
    let turn = [30, 10, 20].iter().fold(reply(), |turn, ms| turn.call("look", json!({"ms": ms})));
    let look = FakeTool::new("look").runs(|args, _| async move {
        let ms = args["ms"].as_u64().unwrap();
        tokio::time::sleep(Duration::from_millis(ms)).await;
        ToolOutput::quiet(format!("slept {ms}"))
    });
    let talk = Stage::with([turn, reply().text("done")]).tool(look).start();
    let began = tokio::time::Instant::now();
    talk.done("go").await;
    assert_eq!(began.elapsed(), Duration::from_millis(30), "side by side");
    assert_eq!(talk.models.last().outputs(), ["slept 30", "slept 10", "slept 20"]);
}

#[tokio::test]
async fn unknown_tools_go_back_with_the_nearest_names() {
    let stage = Stage::with([reply().call("lock", json!({})), reply().text("done")]);
    let talk = stage.tool(FakeTool::new("lick")).tool(FakeTool::new("write")).start();
    talk.done("go").await;
    let message = talk.models.last().response();
    let names = "Did you mean one of: \"look\", \"lick\", \"write\"?";
    assert_eq!(message, format!("Tool \"lock\" not found. {names}"));
    let finished = talk.finished();
    assert_eq!(finished[0].error.as_ref().unwrap().kind, ToolErrorKind::ToolNotRegistered);
}

#[tokio::test]
async fn arguments_that_are_no_object_do_not_break_the_conversation() {
    for arguments in [json!("text"), json!([1]), json!(7), Value::Null] {
        let turn = reply().call("look", arguments.clone());
        let talk = Stage::with([turn, reply().text("done")]).start();
        talk.done("go").await;
        assert_eq!(talk.log.text(), "done", "{arguments}");
        assert_eq!(talk.finished()[0].status, CallStatus::Error, "{arguments}");
    }
}

#[tokio::test]
async fn a_call_without_a_name_is_answered_too() {
    let talk = Stage::with([reply().call("", json!({})), reply().text("done")]).start();
    talk.done("go").await;
    assert_eq!(talk.finished()[0].call.name, "generic_tool");
    assert!(talk.models.last().response().contains("\"generic_tool\" not found"));
}

#[tokio::test]
async fn calls_with_the_same_id_are_distinguished() {
    let turn = reply().call_with_id("x", "look", json!({"n": "a"}));
    let turn = turn.call_with_id("x", "look", json!({"n": "b"}));
    let talk = Stage::with([turn, reply().text("done")]).tool(echo()).start();
    talk.done("go").await;
    assert_eq!(talk.models.last().outputs(), ["\"a\"", "\"b\""]);
}

#[tokio::test]
async fn an_empty_answer_to_results_ends_the_prompt() {
    let talk = Stage::with([reply().call("look", json!({})), reply()]).start();
    talk.done("go").await;
    assert_eq!(talk.models.streamed().len(), 2);
}

#[tokio::test]
async fn a_prompt_ends_after_a_hundred_turns() {
    // No two calls are the same, so no loop is detected.
    let stage = Stage::with([]).tool(echo());
    stage.models.stream_with(|sent| reply().call("look", json!({"n": sent.contents().len()})));
    stage.models.generate_with(|_| reply().text("no judgement"));
    let talk = stage.start();
    let outcome = talk.prompt("go").await;
    assert!(matches!(outcome, PromptOutcome::TurnLimit(TurnLimit::Prompt(100))), "{outcome:?}");
    assert_eq!(talk.models.streamed().len(), 100);
}

#[tokio::test]
async fn turns_are_counted_for_the_whole_session() {
    let replies = [reply().call("look", json!({})), reply().text("one"), reply().text("two")];
    let talk = Stage { max_turns: Some(3), ..Stage::with(replies) }.start();
    talk.done("go").await;
    talk.done("go on").await;
    let outcome = talk.prompt("and on").await;
    assert!(matches!(outcome, PromptOutcome::TurnLimit(TurnLimit::Session)), "{outcome:?}");
    let turns = talk.log.all(|event| match event {
        Event::TurnStarted { turn } => Some(*turn),
        _ => None,
    });
    assert_eq!(turns, [1, 2, 3]);
}
