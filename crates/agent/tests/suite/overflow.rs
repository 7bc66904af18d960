//! Prompts and results that do not fit into the model's context.

use pollux_protocol::{
    EntryId, Event, ModelError, ModelErrorKind, ModelLimits, Part, PromptOutcome, Record,
    ToolOutput,
};
use pollux_scripted::{FakeTool, ScriptedReply, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

/// Context of the model in these tests, in tokens.
const CONTEXT: u64 = 256_000;
/// Number of letters that do not fit: each letter is a quarter of a token.
const LETTERS: usize = 1_100_000;

/// Returns a model that does not report an over-long request by itself.
fn small(replies: impl IntoIterator<Item = ScriptedReply>) -> Stage {
    let mut stage = Stage::with(replies);
    stage.models =
        stage.models.with_limits(ModelLimits { context: CONTEXT, ..ModelLimits::default() });
    stage
}

fn failure(outcome: PromptOutcome) -> ModelError {
    let PromptOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    error
}

#[tokio::test]
async fn a_prompt_that_does_not_fit_is_not_sent_and_is_no_part_of_the_conversation() {
    let replies = [reply().text("hello").usage(250_000, 10), reply().text("again")];
    let talk = Stage { compression: 0.0, ..small(replies) }.start();
    talk.done("hi").await;
    let error = failure(talk.prompt(&"x".repeat(LETTERS)).await);
    assert_eq!(error.kind, ModelErrorKind::Invalid);
    assert!(error.message.contains("275000 tokens"), "{error}");
    assert!(error.message.contains("--model"), "the remedy: {error}");
    assert_eq!(talk.models.streamed().len(), 1);
    let overflow = talk.log.all(|event| match event {
        Event::ContextWillOverflow { estimated, remaining } => Some((*estimated, *remaining)),
        _ => None,
    });
    assert_eq!(overflow, [(275_000, 6000)]);
    talk.done("short").await;
    assert_eq!(talk.models.last().last_texts(), ["short"]);
    assert!(talk.models.last().all_text().len() < LETTERS / 2);
    talk.assert_replays();
}

/// A prompt stays in the conversation if it is cancelled before its length is known.
#[tokio::test]
async fn a_cancelled_prompt_that_does_not_fit_is_taken_back_with_the_next_one() {
    let mut stage = Stage { compression: 0.0, ..small([reply().text("hello")]) };
    for (id, text) in [(EntryId::CONTEXT, "context"), ("u1", "earlier")] {
        stage.history.push_user(EntryId::new(id), vec![Part::text(text)]);
    }
    stage.history.push_model(EntryId::new("m1"), vec![Part::text("answer")]);
    for id in ["u2", "u3"] {
        stage.history.push_user(EntryId::new(id), vec![Part::text("x".repeat(LETTERS))]);
    }
    let talk = stage.start();
    assert_eq!(failure(talk.prompt("one").await).kind, ModelErrorKind::Invalid);
    talk.done("two").await;
    let sent = talk.models.last().all_text();
    assert!(sent.contains("earlier") && sent.contains("two"), "{}", sent.len());
    assert!(sent.len() < LETTERS, "{}", sent.len());
}

#[tokio::test]
async fn a_prompt_that_would_fit_alone_makes_the_conversation_shorter() {
    let stage = small([reply().text("hello").usage(110_000, 10), reply().text("done")]);
    let summary = "<state_snapshot><overall_goal>Greet.</overall_goal></state_snapshot>";
    stage.models.generate_with(move |_| reply().text(summary));
    let talk = stage.start();
    talk.done(&"y".repeat(440_000)).await;
    talk.done(&"x".repeat(640_000)).await;
    let sent = talk.models.last().all_text();
    assert!(sent.contains("<overall_goal>Greet."), "it was summarised");
    let records = talk.journal.records();
    assert!(records.iter().any(|record| matches!(record, Record::Compressed(_))));
    talk.assert_replays();
}

#[tokio::test]
async fn what_the_vendor_counted_is_room_that_is_gone() {
    let call = reply().call("look", json!({})).usage(CONTEXT - 1, 10);
    let look = FakeTool::new("look").answers(&"some words\n".repeat(20));
    let talk = small([call]).tool(look).start();
    let error = failure(talk.prompt("read").await);
    assert_eq!(talk.models.streamed().len(), 1);
    assert_eq!(talk.finished().len(), 1, "what was done is in the log");
    assert!(error.message.contains("but only 1 of"), "{error}");
}

#[tokio::test]
async fn only_media_are_counted_by_the_vendor() {
    let failed = ModelError::new(ModelErrorKind::Overloaded, "later");
    for (count, fits) in [(Ok(300_000), false), (Err(failed), true)] {
        let picture = Part::inline("image/png", "iVBORw0KGgo=");
        let look = FakeTool::new("look").runs(move |_, _| {
            let content = vec![picture.clone()];
            std::future::ready(ToolOutput { content, ..ToolOutput::default() })
        });
        let stage = small([reply().call("look", json!({})), reply().text("a dot")]).tool(look);
        stage.models.count(count);
        let talk = stage.start();
        let outcome = talk.prompt("look").await;
        assert_eq!(talk.models.counted().len(), 1, "words alone are estimated");
        if fits {
            assert!(matches!(outcome, PromptOutcome::Done), "{outcome:?}");
        } else {
            let error = failure(outcome);
            assert!(error.message.contains("300000 tokens"), "{error}");
        }
        talk.models.discard_replies();
    }
}
