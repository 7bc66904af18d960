//! Calls that the user decides about, through the stream of events.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    ApprovalMode, CallStatus, Command, CommandContext, CommandError, CommandSet, ConfirmationKind,
    DiffStat, Directive, Effects, Envelope, Event, Modification, Op, Origin, PromptOutcome,
    QuestionChoice, QuestionOutcome, QuestionReply, QuestionSubject, ToolOutput,
};
use pollux_scripted::{FakeTool, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, Talk};

/// Replies to the open question about the call whose id ends with `call`.
async fn answer(
    talk: &Talk,
    call: &str,
    outcome: QuestionOutcome,
    modification: Option<Modification>,
) {
    let question =
        talk.question(|asked| asked.call_id().is_some_and(|id| id.as_str().ends_with(call))).await;
    talk.reply(&QuestionReply { modification, ..question.reply(outcome) });
}

fn write(id: &str) -> pollux_scripted::ScriptedReply {
    reply().call_with_id(id, "write", json!({"content": "x"}))
}

#[tokio::test]
async fn a_yes_runs_the_call_and_is_asked_for_again_next_time() {
    let tool = FakeTool::new("write");
    let stage = Stage::with([write("1"), write("2"), reply().text("done")]).interactive();
    let talk = stage.tool(tool.clone()).start();
    let id = talk.begin("go");
    answer(&talk, "1", QuestionOutcome::ProceedOnce, None).await;
    answer(&talk, "2", QuestionOutcome::ProceedOnce, None).await;
    talk.ended(&id).await;
    assert_eq!(tool.ran().len(), 2);
}

#[tokio::test]
async fn a_yes_for_the_session_is_not_asked_for_again() {
    let tool = FakeTool::new("write");
    let stage = Stage::with([write("1"), write("2"), reply().text("done")]).interactive();
    let talk = stage.tool(tool.clone()).start();
    let id = talk.begin("go");
    answer(&talk, "1", QuestionOutcome::ProceedAlways, None).await;
    talk.ended(&id).await;
    assert_eq!(tool.ran().len(), 2);
    let asked = talk.log.all(|event| matches!(event, Event::Question(_)).then_some(()));
    assert_eq!(asked.len(), 1);
}

#[tokio::test]
async fn a_no_ends_the_prompt_when_nothing_else_was_done() {
    let tool = FakeTool::new("write");
    let talk = Stage::with([write("1")]).interactive().tool(tool.clone()).start();
    let id = talk.begin("go");
    answer(&talk, "1", QuestionOutcome::Cancel, None).await;
    talk.ended(&id).await;
    assert!(tool.ran().is_empty());
    assert_eq!(talk.finished()[0].status, CallStatus::Cancelled);
    assert_eq!(talk.models.streamed().len(), 1);
}

#[tokio::test]
async fn arguments_that_the_person_changed_are_shown_again_and_run() {
    let tool = FakeTool::new("write");
    let stage = Stage::with([write("1"), reply().text("done")]).interactive();
    let talk = stage.tool(tool.clone()).start();
    let id = talk.begin("go");
    let change = Modification::NewContent("y".to_owned());
    answer(&talk, "1", QuestionOutcome::ModifyWithEditor, Some(change)).await;
    answer(&talk, "1", QuestionOutcome::ProceedOnce, None).await;
    talk.ended(&id).await;
    assert_eq!(tool.ran()[0]["content"], "y");
}

#[tokio::test]
async fn a_plan_that_is_agreed_to_ends_plan_mode() {
    // The approval of a plan sets a mode instead of a rule.
    let plan = ConfirmationKind::Plan { path: "/p.md".into(), text: "1. Look.".to_owned() };
    let tool = FakeTool::new("write").confirms(plan);
    let mut stage = Stage::with([write("1"), reply().text("done")]).interactive();
    stage.mode = ApprovalMode::Default;
    let talk = stage.tool(tool.clone()).start();
    let id = talk.begin("go");
    answer(&talk, "1", QuestionOutcome::ProceedOnce, None).await;
    talk.ended(&id).await;
    assert_eq!(tool.ran().len(), 1);
}

#[tokio::test]
async fn a_lasting_approval_of_an_edit_allows_all_edits_unless_it_is_saved() {
    let edit = ConfirmationKind::Edit {
        path: "/p/file".into(),
        patch: String::new(),
        original: None,
        proposed: "x".to_owned(),
        stat: DiffStat::default(),
        rewrite: None,
    };
    for (outcome, expected) in [
        (QuestionOutcome::ProceedAlways, vec![ApprovalMode::AutoEdit]),
        (QuestionOutcome::ProceedAlwaysAndSave, vec![]),
    ] {
        let tool = FakeTool::new("write").confirms(edit.clone());
        let stage = Stage::with([write("1"), reply().text("done")]).interactive();
        let talk = stage.tool(tool.clone()).start();
        let id = talk.begin("go");
        answer(&talk, "1", outcome, None).await;
        talk.ended(&id).await;
        let modes = talk.log.all(|event| match event {
            Event::ModeChanged(mode) => Some(*mode),
            _ => None,
        });
        assert_eq!((tool.ran().len(), modes), (1, expected), "{outcome:?}");
    }
}

/// Runs `make` twice, after a lasting approval of another call. Confinement stops each run. Returns
/// the number of questions about the second run.
async fn questions_after_a_stop(level: &str) -> usize {
    let make = FakeTool::new("run_shell_command")
        .effects(|args| Effects::command(args["command"].as_str().unwrap(), Path::new("/p")))
        .runs(|_, _| {
            let directives = vec![Directive::AskAgain("Confinement stopped it.".to_owned())];
            std::future::ready(ToolOutput { directives, ..ToolOutput::quiet("stopped") })
        });
    let call = |id| reply().call_with_id(id, "run_shell_command", json!({"command": "make"}));
    let replies = [write("1"), call("2"), call("3"), reply().text("done")];
    let stage = Stage::with(replies).interactive().tool(FakeTool::new("write")).tool(make.clone());
    let rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"make\"\n\
        decision = \"allow\"\npriority = 1";
    let rules = format!("{rule}\nconfinement = \"{level}\"\n");
    let talk = Stage { rules, ..stage }.start();
    let id = talk.begin("go");
    answer(&talk, "1", QuestionOutcome::ProceedAlways, None).await;
    if level != "none" {
        answer(&talk, "3", QuestionOutcome::ProceedOnce, None).await;
    }
    talk.ended(&id).await;
    assert_eq!(make.ran().len(), 2);
    talk.log.all(|event| matches!(event, Event::Question(_)).then_some(())).len() - 1
}

#[tokio::test]
async fn a_command_that_confinement_stopped_is_asked_about_despite_approvals() {
    assert_eq!(questions_after_a_stop("workspace-write").await, 1);
}

#[tokio::test]
async fn a_command_without_confinement_is_not_asked_about_after_a_stop() {
    assert_eq!(questions_after_a_stop("none").await, 0);
}

/// Command that asks the user to choose, and shows the reply.
struct Asking;

#[async_trait]
impl Command for Asking {
    fn name(&self) -> &'static str {
        "ask"
    }
    fn description(&self) -> &'static str {
        ""
    }
    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let subject = QuestionSubject::SignIn { text: "Which?".to_owned() };
        let choices = QuestionChoice::options(["this".to_owned(), "that".to_owned()]);
        let reply = context.ask(subject, choices, None).await;
        context.say(format!("{:?}", reply.outcome));
        Ok(None)
    }
}

fn begin_asking(stage: &Stage) -> Talk {
    stage.commands.set(CommandSet::new(vec![Arc::new(Asking)]));
    let talk = stage.clone().start();
    talk.send(Op::Command { id: "c".into(), name: "ask".into(), arguments: String::new() });
    talk
}

/// Returns the origins of the events about questions: of the envelope, and of the question itself.
fn origins(talk: &Talk) -> Vec<(Arc<Origin>, Option<Arc<Origin>>)> {
    let events = talk.log.events();
    let of = |Envelope { origin, event }: &Envelope| match event {
        Event::Question(question) => Some((origin.clone(), Some(question.from.clone()))),
        Event::QuestionWithdrawn(_) => Some((origin.clone(), None)),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

#[tokio::test]
async fn a_command_asks_in_its_own_name() {
    let talk = begin_asking(&Stage::with([]).interactive());
    let question = talk.question(|_| true).await;
    talk.reply(&question.reply(QuestionOutcome::Option(1)));
    talk.ended("c").await;
    let said = talk.log.all(|event| match event {
        Event::CommandOutput(text) => Some(text.clone()),
        _ => None,
    });
    assert_eq!(said, ["Option(1)"]);
    let asker = Origin { session: "s".into(), prompt: Some("c".into()), ..Origin::default() };
    assert_eq!(origins(&talk), [(Arc::new(asker.clone()), Some(Arc::new(asker)))]);
}

#[tokio::test]
async fn a_command_that_is_cancelled_withdraws_its_question() {
    let talk = begin_asking(&Stage::with([]).interactive());
    talk.question(|_| true).await;
    talk.send(Op::Cancel);
    assert!(matches!(talk.ended("c").await, PromptOutcome::Cancelled));
    let asker =
        Arc::new(Origin { session: "s".into(), prompt: Some("c".into()), ..Origin::default() });
    assert_eq!(origins(&talk), [(asker.clone(), Some(asker.clone())), (asker, None)]);
}

#[tokio::test]
async fn without_a_user_every_question_is_refused() {
    let talk = begin_asking(&Stage::with([]));
    talk.ended("c").await;
    assert_eq!(origins(&talk), []);
}
