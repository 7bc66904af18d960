//! Operations that take effect during running work, and the events that report them.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    ApprovalMode, CallStatus, Command, CommandContext, CommandError, CommandOutcome, CommandSet,
    CommandSource, Directive, EntryId, Event, Live, Measurement, Op, Part, PromptCommand,
    PromptInput, PromptOutcome, QuestionOutcome, Record, Todo, TodoStatus, ToolOutput,
};
use pollux_scripted::{FakeTool, Gate, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, Talk};

/// Returns the reported modes.
fn modes(talk: &Talk) -> Vec<ApprovalMode> {
    talk.log.all(|event| match event {
        Event::ModeChanged(mode) => Some(*mode),
        _ => None,
    })
}

#[tokio::test]
async fn an_approved_plan_and_the_end_of_a_prompt_are_measured() {
    for (interactive, mode, ends) in [
        (true, ApprovalMode::Yolo, 1),
        (false, ApprovalMode::Yolo, 0),
        (true, ApprovalMode::AutoEdit, 0),
    ] {
        let leave = FakeTool::new("look").runs(|_, _| {
            let directives = vec![Directive::LeavePlanMode { plan: "a.md".to_owned() }];
            std::future::ready(ToolOutput { directives, ..ToolOutput::quiet("approved") })
        });
        let stage = Stage::with([reply().call("look", json!({})), reply().text("done")]);
        let talk = Stage { interactive, mode, ..stage.tool(leave) }.start();
        // The plan is carried out in default mode, which is not measured.
        talk.done("go").await;
        talk.send(Op::SetMode(mode));
        talk.models.stream(reply().text("well"));
        talk.done("again").await;
        let plans = talk.log.measured(|measurement| match measurement {
            Measurement::PlanExecution { mode } => Some(*mode),
            _ => None,
        });
        assert_eq!(plans, [ApprovalMode::Default]);
        let finished = talk.log.measured(|measurement| match measurement {
            Measurement::ConversationFinished { mode, turns } => Some((*mode, *turns)),
            _ => None,
        });
        assert_eq!(finished, vec![(mode, 1); ends], "{interactive} {mode}");
    }
}

#[tokio::test]
async fn a_call_that_waits_is_judged_again_under_a_new_mode() {
    let tool = FakeTool::new("write");
    let stage = Stage::with([reply().call("write", json!({})), reply().text("done")]);
    let talk = stage.interactive().tool(tool.clone()).start();
    let id = talk.begin("go");
    let question = talk.question(|_| true).await;
    // This mode would ask about the call, too, so the question stays open.
    talk.send(Op::SetMode(ApprovalMode::AutoEdit));
    talk.first(|event| matches!(event, Event::ModeChanged(_)).then_some(())).await;
    assert_eq!(talk.log.all(withdrawn), []);
    talk.send(Op::SetMode(ApprovalMode::Yolo));
    talk.ended(&id).await;
    assert_eq!(talk.log.all(withdrawn), [question.id]);
    assert_eq!(tool.ran().len(), 1);
    assert_eq!(modes(&talk), [ApprovalMode::AutoEdit, ApprovalMode::Yolo]);
}

fn withdrawn(event: &Event) -> Option<pollux_protocol::QuestionId> {
    match event {
        Event::QuestionWithdrawn(id) => Some(*id),
        _ => None,
    }
}

#[tokio::test]
async fn a_neighbour_that_has_not_begun_is_judged_again_under_a_stricter_mode() {
    // In the mode `AutoEdit` the policy allows `edit`, and asks about `write`.
    let (edit, write) = (FakeTool::new("edit"), FakeTool::new("write"));
    let answer = reply().call("edit", json!({})).call("write", json!({}));
    let mut stage = Stage::with([answer, reply().text("done")]).interactive();
    stage.mode = ApprovalMode::AutoEdit;
    let talk = stage.tool(edit.clone()).tool(write.clone()).start();
    let id = talk.begin("go");
    let question = talk.question(|_| true).await;
    talk.send(Op::SetMode(ApprovalMode::Default));
    talk.first(|event| matches!(event, Event::ModeChanged(_)).then_some(())).await;
    talk.reply(&question.reply(QuestionOutcome::ProceedOnce));
    let stricter = talk.question(|_| true).await;
    assert_eq!(edit.ran().len(), 0);
    talk.reply(&stricter.reply(QuestionOutcome::Cancel));
    talk.ended(&id).await;
    assert_eq!((edit.ran().len(), write.ran().len()), (0, 1));
}

#[tokio::test]
async fn a_plan_stays_open_whatever_the_mode_becomes() {
    let plan = pollux_protocol::ConfirmationKind::Plan { path: "/p.md".into(), text: "x".into() };
    let tool = FakeTool::new("write").confirms(plan);
    let stage = Stage::with([reply().call("write", json!({})), reply().text("done")]);
    let talk = stage.interactive().tool(tool.clone()).start();
    let id = talk.begin("go");
    let question = talk.question(|_| true).await;
    talk.send(Op::SetMode(ApprovalMode::Yolo));
    talk.first(|event| matches!(event, Event::ModeChanged(_)).then_some(())).await;
    assert_eq!(tool.ran().len(), 0);
    talk.reply(&question.reply(QuestionOutcome::ProceedOnce));
    talk.ended(&id).await;
    assert_eq!(talk.log.all(withdrawn), []);
    assert_eq!(tool.ran().len(), 1);
}

#[tokio::test]
async fn a_cancelled_prompt_withdraws_its_question() {
    let stage = Stage::with([reply().call("write", json!({}))]).interactive();
    let talk = stage.tool(FakeTool::new("write")).start();
    let id = talk.begin("go");
    let question = talk.question(|_| true).await;
    talk.send(Op::Cancel);
    assert!(matches!(talk.ended(&id).await, PromptOutcome::Cancelled));
    assert_eq!(talk.log.all(withdrawn), [question.id]);
}

#[tokio::test]
async fn a_new_model_is_asked_from_the_next_request_on() {
    let (begun, gate) = (Gate::closed(), Gate::closed());
    let (tell, wait) = (begun.clone(), gate.clone());
    let look = FakeTool::new("look").runs(move |_, _| {
        let (tell, wait) = (tell.clone(), wait.clone());
        async move {
            tell.open();
            wait.pass().await;
            pollux_protocol::ToolOutput::quiet("seen")
        }
    });
    let stage = Stage::with([reply().call("look", json!({})), reply().text("done")]);
    let talk = stage.tool(look).start();
    let id = talk.begin("go");
    begun.pass().await;
    talk.send(Op::SetModel("other".to_owned()));
    let is_other = |event: &Event| match event {
        Event::ModelChanged { model, .. } => (model == "other").then_some(()),
        _ => None,
    };
    talk.first(is_other).await;
    gate.open();
    talk.ended(&id).await;
    let changes = talk.log.all(|event| match event {
        Event::ModelChanged { model, .. } => Some(model.clone()),
        _ => None,
    });
    // Reported when the user chooses it, and when the first request goes to it.
    assert_eq!(changes, ["main", "other", "other"]);
    let chosen = talk.log.measured(|measurement| match measurement {
        Measurement::ModelCommand { model } => Some(model.clone()),
        _ => None,
    });
    assert_eq!(chosen, ["other"]);
    assert_eq!(talk.models.last().model, "other");
}

/// Command that prints in several pieces. It may run in parallel to work, or continue with a
/// prompt.
struct Fake {
    name: &'static str,
    beside: bool,
    gate: Gate,
}

#[async_trait]
impl Command for Fake {
    fn name(&self) -> &str {
        self.name
    }
    fn description(&self) -> &'static str {
        ""
    }
    fn runs_while_working(&self) -> bool {
        self.beside
    }
    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        context.say("one");
        self.gate.pass().await;
        context.say(format!("mode {}", context.session.mode));
        match context.arguments.as_str() {
            "fail" => Err(CommandError("no".to_owned())),
            "plan" => {
                context.send(Op::SetMode(ApprovalMode::Plan));
                let parts = vec![Part::text("plan it")];
                Ok(Some(Op::Prompt { id: context.id, input: parts.into() }))
            }
            _ => Ok(None),
        }
    }
}

fn command(id: &str, name: &str, arguments: &str) -> Op {
    Op::Command { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

fn output(talk: &Talk) -> Vec<String> {
    talk.log.all(|event| match event {
        Event::CommandOutput(text) => Some(text.clone()),
        _ => None,
    })
}

fn stage_with_commands(gate: &Gate) -> Stage {
    let mut stage = Stage::with([]);
    let fake =
        |name, beside| -> Arc<dyn Command> { Arc::new(Fake { name, beside, gate: gate.clone() }) };
    stage.commands = Live::new(CommandSet::new(vec![fake("work", false), fake("read", true)]));
    stage
}

#[tokio::test]
async fn a_command_that_reads_runs_beside_a_prompt_under_an_id_of_its_own() {
    let (open, held) = (Gate::closed(), Gate::closed());
    open.open();
    let mut stage = stage_with_commands(&open);
    stage.models = pollux_scripted::ScriptedModels::with([reply().text("done").held_by(&held)]);
    let talk = stage.start();
    let id = talk.begin("go");
    talk.models.wait_for(1).await;
    talk.send(command("c1", "work", ""));
    talk.send(command("c2", "read", ""));
    assert!(matches!(talk.ended("c2").await, PromptOutcome::Done));
    assert_eq!(output(&talk), ["one", "mode yolo"]);
    held.open();
    talk.ended(&id).await;
    talk.ended("c1").await;
    let order = talk.log.events().iter().filter_map(ended).collect::<Vec<_>>();
    assert_eq!(order, ["c2", id.as_str(), "c1"]);
}

fn ended(envelope: &pollux_protocol::Envelope) -> Option<String> {
    matches!(envelope.event, Event::PromptEnded(_))
        .then(|| envelope.origin.prompt.as_deref().unwrap_or("none").to_owned())
}

#[tokio::test]
async fn a_command_is_cancelled_like_a_prompt() {
    for name in ["work", "read"] {
        let talk = stage_with_commands(&Gate::closed()).start();
        talk.models.stream(reply().text("done"));
        talk.send(command("c", name, ""));
        talk.first(|event| matches!(event, Event::CommandOutput(_)).then_some(())).await;
        talk.send(Op::Cancel);
        assert!(matches!(talk.ended("c").await, PromptOutcome::Cancelled));
        talk.done("still here").await;
    }
}

#[tokio::test]
async fn a_command_goes_on_with_a_prompt_under_its_id_after_what_it_has_sent() {
    let open = Gate::closed();
    open.open();
    let talk = stage_with_commands(&open).start();
    talk.models.stream(reply().text("done"));
    talk.send(command("c", "work", "plan"));
    talk.ended("c").await;
    assert_eq!(modes(&talk), [ApprovalMode::Plan]);
    assert!(talk.models.last().last_texts().contains(&"plan it"));
    let outcomes = talk.log.all(|event| match event {
        Event::CommandEnded(outcome) => Some(outcome.clone()),
        _ => None,
    });
    assert_eq!(outcomes, [CommandOutcome::Continues]);
    let before = talk.log.events();
    let place = |wanted: fn(&Event) -> bool| {
        before.iter().position(|envelope| wanted(&envelope.event)).unwrap()
    };
    let mode = place(|event| matches!(event, Event::ModeChanged(_)));
    assert!(mode < place(|event| matches!(event, Event::PromptStarted)));
}

#[tokio::test]
async fn what_fails_or_is_unknown_is_reported() {
    let open = Gate::closed();
    open.open();
    let talk = stage_with_commands(&open).start();
    talk.send(command("c1", "work", "fail"));
    talk.send(command("c2", "nosuch", ""));
    talk.ended("c2").await;
    let failures = talk.log.all(|event| match event {
        Event::CommandEnded(CommandOutcome::Failed(message)) => Some(message.clone()),
        _ => None,
    });
    assert_eq!(failures, ["no", "Unknown command: /nosuch. Type /help for a list."]);
}

/// Command of a source.
struct Late;

#[async_trait]
impl PromptCommand for Late {
    fn name(&self) -> &'static str {
        "late"
    }
    fn description(&self) -> &'static str {
        ""
    }
    async fn expand(&self, context: &CommandContext) -> Result<PromptInput, CommandError> {
        match context.arguments.as_str() {
            "" => Err(CommandError("no arguments".to_owned())),
            arguments => Ok(vec![Part::text(format!("expanded {arguments}"))].into()),
        }
    }
}

#[tokio::test]
async fn a_command_that_comes_later_is_announced_and_becomes_a_prompt() {
    let stage = Stage::with([reply().text("one")]);
    let commands = stage.commands.clone();
    let talk = stage.start();
    commands.update(|set| {
        set.replace_source(CommandSource::User, vec![Arc::new(Late)], Vec::new());
    });
    talk.first(|event| matches!(event, Event::CommandsChanged).then_some(())).await;
    assert_eq!(talk.commands().get().complete("/la").await, ["/late"]);
    talk.send(command("c1", "late", ""));
    talk.ended("c1").await;
    talk.send(command("c2", "late", "x  y"));
    talk.ended("c2").await;
    let outcomes = talk.log.all(|event| match event {
        Event::CommandEnded(outcome) => Some(outcome.clone()),
        _ => None,
    });
    let failed = CommandOutcome::Failed("no arguments".to_owned());
    assert_eq!(outcomes, [failed, CommandOutcome::Continues]);
    let sent = format!("{:?}", talk.models.last().contents());
    assert!(sent.contains("expanded x  y"), "{sent}");
}

#[tokio::test]
async fn tools_that_come_later_are_reported() {
    let stage = Stage::with([]);
    let tools = stage.toolset.clone();
    let talk = stage.start();
    tools.update(|set| set.insert(Arc::new(FakeTool::new("late"))));
    talk.first(|event| matches!(event, Event::ToolsChanged).then_some(())).await;
}

#[tokio::test]
async fn a_cleared_conversation_is_not_sent_again() {
    let talk = Stage::with([reply().text("one"), reply().text("two")]).start();
    talk.done("first").await;
    talk.send(Op::Clear { id: "clear".to_owned() });
    talk.ended("clear").await;
    talk.done("second").await;
    let sent = format!("{:?}", talk.models.last().contents());
    assert!(sent.contains("second") && !sent.contains("first"), "{sent}");
    assert!(talk.journal.records().contains(&Record::Cleared));
}

#[tokio::test]
async fn a_rewound_conversation_goes_on_from_there() {
    let talk = Stage::with([reply().text("one"), reply().text("two"), reply().text("x")]).start();
    talk.done("first").await;
    talk.done("second").await;
    let to = talk
        .journal
        .records()
        .iter()
        .filter_map(|record| match record {
            Record::User { id, .. } => Some(id.clone()),
            _ => None,
        })
        .next_back()
        .unwrap();
    talk.send(Op::Rewind { id: "r1".to_owned(), to });
    talk.send(Op::Rewind { id: "r2".to_owned(), to: EntryId::new("nosuch") });
    talk.ended("r2").await;
    assert_eq!(talk.log.notices(), ["The conversation does not contain this message."]);
    talk.done("third").await;
    let sent = format!("{:?}", talk.models.last().contents());
    assert!(sent.contains("first") && sent.contains("third") && !sent.contains("second"), "{sent}");
}

#[tokio::test]
async fn a_list_of_things_to_do_and_the_tokens_are_reported() {
    let todo = Todo { description: "read".to_owned(), status: TodoStatus::Pending };
    let listed = vec![todo.clone()];
    let look = FakeTool::new("look").runs(move |_, _| {
        let directives = vec![Directive::SetTodos(listed.clone())];
        async move { ToolOutput { directives, ..ToolOutput::quiet("ok") } }
    });
    let stage = Stage::with([
        reply().call("look", json!({})).usage(70, 7),
        reply().text("done").usage(80, 8),
    ]);
    let talk = stage.tool(look).start();
    talk.done("go").await;
    let reported = talk.log.all(|event| match event {
        Event::TodosChanged(todos) => Some(format!("{todos:?}")),
        Event::Usage(report) => Some(format!("{} {}", report.model, report.usage.total)),
        _ => None,
    });
    assert_eq!(reported, ["main 77".to_owned(), format!("{:?}", [todo]), "main 88".to_owned()]);
}

#[tokio::test]
async fn a_call_is_described_before_it_runs() {
    let stage = Stage::with([reply().call("look", json!({})), reply().text("done")]);
    let talk = stage.start();
    let id = talk.begin("go");
    talk.ended(&id).await;
    let steps = talk.log.all(|event| match event {
        Event::CallRequested(_) => Some("requested".to_owned()),
        Event::CallPrepared(call) => Some(format!("prepared {}", call.display_name)),
        Event::CallMoved { status: CallStatus::Executing, .. } => Some("executing".to_owned()),
        _ => None,
    });
    assert_eq!(steps, ["requested", "prepared look", "executing"]);
    let all = talk.log.events();
    assert!(all.iter().all(|envelope| &*envelope.origin.session == "s"));
    let of_prompt = |envelope: &&pollux_protocol::Envelope| {
        envelope.origin.prompt.as_deref() == Some(id.as_str())
    };
    assert_eq!(all.iter().filter(of_prompt).count(), all.len(), "{all:?}");
}
