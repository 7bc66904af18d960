//! Checkpoints around the calls of a turn.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pollux_protocol::{
    CallStatus, CheckpointError, Checkpoints, Effects, Event, Op, PendingCall, PromptOutcome,
    Record, ToolOutput,
};
use pollux_scripted::{FakeTool, Gate, ScriptedModels, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

/// Checkpoints that only note their calls.
#[derive(Default)]
struct Keeper {
    notes: Mutex<Vec<String>>,
    refuses: bool,
    hangs: bool,
}

impl Keeper {
    fn note(&self, what: &str, calls: &[PendingCall]) {
        let call = |call: &PendingCall| match call.effects.writes.first() {
            Some(path) => format!("{} writes {}", call.call_id, path.display()),
            None => call.call_id.to_string(),
        };
        let calls: Vec<String> = calls.iter().map(call).collect();
        self.notes.lock().unwrap().push(format!("{what} {}", calls.join(" ")));
    }
}

#[async_trait]
impl Checkpoints for Keeper {
    async fn before(&self, calls: &[PendingCall]) -> Result<(), CheckpointError> {
        self.note("before", calls);
        if self.hangs {
            std::future::pending::<()>().await;
        }
        if self.refuses { Err(CheckpointError("The disk is full.".to_owned())) } else { Ok(()) }
    }

    fn after(&self, calls: &[PendingCall]) {
        self.note("after", calls);
    }
}

fn stage(keeper: &Arc<Keeper>) -> Stage {
    let both = reply().call_with_id("a", "look", json!({})).call_with_id("b", "look", json!({}));
    let mut stage = Stage::with([both, reply().text("done")]);
    stage.checkpoints = Arc::clone(keeper) as Arc<dyn Checkpoints>;
    stage
}

fn notes(keeper: &Keeper) -> Vec<String> {
    keeper.notes.lock().unwrap().clone()
}

#[tokio::test]
async fn a_group_is_one_checkpoint_before_and_after() {
    let keeper = Arc::new(Keeper::default());
    let talk = stage(&keeper).start();
    talk.done("go").await;
    assert_eq!(notes(&keeper), ["before look__a look__b", "after look__a look__b"]);
}

#[tokio::test]
async fn calls_that_fail_are_reported_as_ended_too() {
    let keeper = Arc::new(Keeper::default());
    let look = FakeTool::new("look").runs(|_, _| async { panic!("boom") });
    let talk = stage(&keeper).tool(look).start();
    talk.done("go").await;
    assert_eq!(notes(&keeper).len(), 2);
}

#[tokio::test]
async fn without_a_checkpoint_nothing_runs() {
    let keeper = Arc::new(Keeper { refuses: true, ..Keeper::default() });
    let look = FakeTool::new("look");
    let talk = stage(&keeper).tool(look.clone()).start();
    talk.done("go").await;
    assert_eq!(look.ran().len(), 0);
    let errors: Vec<_> = talk.finished().iter().map(|call| call.error.clone().unwrap()).collect();
    assert_eq!(errors.len(), 2);
    assert_eq!(
        errors[0].message,
        "Not run: Pollux could not create a checkpoint. The disk is full."
    );
    assert_eq!(notes(&keeper), ["before look__a look__b"]);
    let is_started = |record: &Record| matches!(record, Record::CallStarted { .. });
    assert!(!talk.journal.records().iter().any(is_started));
}

#[tokio::test]
async fn a_cancel_is_heard_while_a_checkpoint_is_made() {
    let keeper = Arc::new(Keeper { hangs: true, ..Keeper::default() });
    let look = FakeTool::new("look");
    let talk = stage(&keeper).tool(look.clone()).start();
    let id = talk.begin("go");
    talk.first(|event| matches!(event, Event::CallPrepared(_)).then_some(())).await;
    talk.send(Op::Cancel);
    assert!(matches!(talk.ended(&id).await, PromptOutcome::Cancelled));
    assert_eq!(look.ran().len(), 0);
    assert!(talk.finished().iter().all(|call| call.status == CallStatus::Cancelled));
    talk.models.discard_replies();
}

#[tokio::test]
async fn a_checkpoint_is_given_the_effects_of_the_calls_that_run() {
    let keeper = Arc::new(Keeper::default());
    let write = |path: &str| reply().call_with_id("w", "write", json!({ "path": path }));
    let mut stage = stage(&keeper).tool(
        FakeTool::new("write").effects(|args| Effects::write(args["path"].as_str().unwrap())),
    );
    stage.models = ScriptedModels::with([
        write("/a").call_with_id("x", "nosuch", json!({})).call_with_id("l", "look", json!({})),
        reply().text("done"),
    ]);
    stage.start().done("go").await;
    let groups = ["write__w writes /a", "look__l"];
    let notes_of = |group: &str| [format!("before {group}"), format!("after {group}")];
    assert_eq!(notes(&keeper), groups.map(notes_of).concat());
}

#[tokio::test(start_paused = true)]
async fn calls_that_a_cancel_ends_are_reported_as_ended_too() {
    let keeper = Arc::new(Keeper::default());
    let begun = Gate::closed();
    let tell = begun.clone();
    let look = FakeTool::new("look").runs(move |_, context| {
        tell.open();
        async move {
            context.cancel.cancelled().await;
            ToolOutput::quiet("half")
        }
    });
    let talk = stage(&keeper).tool(look).start();
    let id = talk.begin("go");
    begun.pass().await;
    talk.send(Op::Cancel);
    assert!(matches!(talk.ended(&id).await, PromptOutcome::Cancelled));
    assert_eq!(notes(&keeper), ["before look__a look__b", "after look__a look__b"]);
    talk.models.discard_replies();
}
