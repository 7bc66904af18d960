//! Handling of the facts that tools declare about themselves.

use std::sync::Arc;

use futures::StreamExt as _;
use pollux_protocol::{
    CallStatus, Effects, Event, Op, QuestionOutcome, Record, ToolFacts, ToolOutput, ToolSource,
};
use pollux_scripted::{FakeTool, Gate, reply};
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::sync::Barrier;

use super::stage::{Stage, Talk};

/// Returns the effects of each call that started, in order.
fn started(talk: &Talk) -> Vec<Effects> {
    let effects = |record: Record| match record {
        Record::CallStarted { effects, .. } => Some(effects),
        _ => None,
    };
    talk.journal.records().into_iter().filter_map(effects).collect()
}

#[tokio::test]
async fn a_tool_from_outside_may_touch_anything_and_runs_beside_others() {
    let both = Arc::new(Barrier::new(2));
    let outside = |name: &str, source: ToolSource| {
        let both = Arc::clone(&both);
        let meets = move |_, _| {
            let both = Arc::clone(&both);
            async move {
                both.wait().await;
                ToolOutput::quiet("done")
            }
        };
        FakeTool::new(name).source(source).effects(|_| Effects::read("/p/a")).runs(meets)
    };
    let replies = [reply().call("a", json!({})).call("b", json!({})), reply().text("done")];
    let talk = Stage::with(replies)
        .tool(outside("a", ToolSource::Discovered))
        .tool(outside("b", ToolSource::Server("s".into())))
        .start();
    talk.done("go").await;
    let claimed = Effects::read("/p/a").or_unknown();
    assert_eq!(started(&talk), [claimed.clone(), claimed.clone()]);
    let history = talk.journal.history();
    let calls = history.entries().iter().flat_map(|entry| entry.content().calls());
    let noted: Vec<_> = calls.map(|call| history.effects_of(&call.id)).collect();
    assert_eq!(noted, [Some(&claimed), Some(&claimed)]);
}

#[tokio::test]
async fn an_announcement_comes_first_and_is_no_work_by_itself() {
    let facts = ToolFacts { announces: true, ..ToolFacts::default() };
    let announcement = FakeTool::new("look").facts(facts);
    let calls = reply().call("write", json!({"n": 1})).call("look", json!({}));
    let talk = Stage::with([calls])
        .tool(announcement.clone())
        .tool(FakeTool::new("write"))
        .interactive()
        .start();
    let id = talk.begin("go");
    let question = talk.question(|_| true).await;
    talk.reply(&question.reply(QuestionOutcome::Cancel));
    talk.log.ended(&id).await;
    assert_eq!(announcement.ran().len(), 1);
    let statuses: Vec<_> = talk.finished().iter().map(|finished| finished.status).collect();
    assert_eq!(statuses, [CallStatus::Cancelled, CallStatus::Success]);
    assert_eq!(talk.models.streamed().len(), 1, "nothing was done that the model could go on from");
}

#[tokio::test]
async fn a_running_call_is_reported_to_go_to_the_background() {
    let begun = Gate::closed();
    let tell = begun.clone();
    let look = FakeTool::new("look").runs(move |_, mut context| {
        tell.open();
        async move {
            let reported = context.input.next().await;
            ToolOutput::quiet(format!("{reported:?}"))
        }
    });
    let stage = Stage::with([reply().call("look", json!({})), reply().text("done")]).tool(look);
    let talk = stage.start();
    let id = talk.begin("go");
    begun.pass().await;
    let call = talk.first(|event| match event {
        Event::CallRequested(call) => Some(call.id.clone()),
        _ => None,
    });
    talk.send(Op::Background(call.await));
    talk.ended(&id).await;
    assert_eq!(talk.models.last().response(), "Some(Background)");
}
