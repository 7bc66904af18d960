//! A subagent: the same loop as the main agent, with other parts and the same services.

use std::path::Path;
use std::sync::Arc;

use pollux_agent::{
    AgentLoop, AgentParts, AgentServices, EventOperator, HistoryRecorder, InstructionSource,
    LoopSettings, Outlet, Toolset,
};
use pollux_policy::{Policy, Tier};
use pollux_protocol::{
    ApprovalMode, CancellationToken, Envelope, Event, History, Live, ModelRequest, ModelRole, Part,
    PromptOutcome, Record, ToolOutput, TurnLimit,
};
use pollux_scripted::{EventLog, FakeTool, MemoryJournal, ScriptedModels, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

/// A main agent and its subagent, named `review`.
struct Family {
    services: AgentServices,
    main: AgentLoop,
    child: AgentLoop,
    models: ScriptedModels,
    log: Arc<EventLog>,
    main_journal: Arc<MemoryJournal>,
    child_journal: Arc<MemoryJournal>,
}

impl Family {
    fn of(stage: &Stage, tool: FakeTool, settings: LoopSettings) -> Self {
        let (outlet, _) = Outlet::new("s", vec![stage.log.clone()]);
        let operator = Arc::new(EventOperator::new(outlet.clone()));
        let services = stage.services(&outlet, operator);
        let child_journal = Arc::new(MemoryJournal::default());
        let parts = AgentParts {
            role: ModelRole::Subagent,
            requested_model: Live::new("small".to_owned()),
            instruction: InstructionSource::Text("You review.".into()),
            toolset: Live::new(Toolset::new(vec![Arc::new(tool)])),
            recorder: HistoryRecorder::new(child_journal.clone(), outlet.child("review")),
            history: History::new(),
            settings: Live::new(settings),
            ..stage.parts(outlet.clone())
        };
        Self {
            main: AgentLoop::new(services.clone(), stage.parts(outlet)),
            child: AgentLoop::new(services.clone(), parts),
            services,
            models: stage.models.clone(),
            log: stage.log.clone(),
            main_journal: stage.journal.clone(),
            child_journal,
        }
    }

    async fn prompt(&mut self, id: &str, text: &str) -> PromptOutcome {
        let parts = vec![Part::text(text)];
        self.main.prompt(id, parts.into(), &CancellationToken::new()).await
    }

    async fn delegate(&mut self, id: &str, text: &str) -> PromptOutcome {
        let parts = vec![Part::text(text)];
        self.child.prompt(id, parts.into(), &CancellationToken::new()).await
    }

    /// Returns agent, prompt and value for every event from which `pick` takes a value.
    fn origins<T>(&self, pick: impl Fn(&Event) -> Option<T>) -> Vec<(String, String, T)> {
        let events = self.log.events();
        let found = events.iter().filter_map(|Envelope { origin, event }| {
            let prompt = origin.prompt.as_deref().unwrap_or_default().to_owned();
            Some((origin.agent.to_string(), prompt, pick(event)?))
        });
        found.collect()
    }
}

/// Returns a tool that asks a model on behalf of its call.
fn asking() -> FakeTool {
    FakeTool::new("look").runs(|_, context| async move {
        let choice = context.models.select("helper").await.unwrap();
        let answer = choice.model.generate(ModelRequest::default(), context.cancel).await.unwrap();
        ToolOutput::quiet(format!("{} under {:?}", answer.text(), context.models.instruction()))
    })
}

#[tokio::test]
async fn a_child_has_its_own_tools_instruction_role_and_log() {
    let stage = Stage::with([
        reply().call("look", json!({})),
        reply().text("reviewed"),
        reply().text("done"),
    ]);
    let mut family = Family::of(&stage, FakeTool::new("look"), LoopSettings::default());
    let (of_child, of_main) =
        (family.delegate("p0#review", "review it").await, family.prompt("p0", "go on").await);
    assert!(matches!((of_child, of_main), (PromptOutcome::Done, PromptOutcome::Done)));
    let [first, _, main] = &family.models.streamed()[..] else { panic!("three requests") };
    assert_eq!((first.system(), first.tools()), ("You review.", vec!["look"]));
    assert_eq!((first.request.role, first.model.as_str()), (ModelRole::Subagent, "small"));
    assert_eq!(main.request.role, ModelRole::Main);
    assert!(!main.all_text().contains("review it"), "{}", main.all_text());

    let text = |event: &Event| match event {
        Event::Text(text) => Some(text.clone()),
        Event::CallPrepared(call) => Some(call.name.clone()),
        _ => None,
    };
    let from = |agent: &str, prompt: &str, text: &str| {
        (agent.to_owned(), prompt.to_owned(), text.to_owned())
    };
    assert_eq!(
        family.origins(text),
        [
            from("main/review", "p0#review", "look"),
            from("main/review", "p0#review", "reviewed"),
            from("main", "p0", "done")
        ]
    );
    let prompts = |journal: &MemoryJournal| {
        let ended = |record: &Record| match record {
            Record::PromptEnded { prompt_id } => Some(prompt_id.clone()),
            _ => None,
        };
        journal.records().iter().filter_map(ended).collect::<Vec<_>>()
    };
    assert_eq!(prompts(&family.child_journal), ["p0#review"]);
    assert_eq!(prompts(&family.main_journal), ["p0"]);
}

#[tokio::test]
async fn a_child_has_its_own_limits() {
    let stage = Stage::with([
        reply().call("look", json!({})),
        reply().call("look", json!({"again": true})),
        reply().text("done"),
    ]);
    let settings = LoopSettings { max_turns: Some(1), ..LoopSettings::default() };
    let mut family = Family::of(&stage, FakeTool::new("look"), settings);
    let of_child = family.delegate("p0#review", "review it").await;
    assert!(matches!(of_child, PromptOutcome::TurnLimit(TurnLimit::Session)), "{of_child:?}");
    let of_main = family.prompt("p0", "go on").await;
    assert!(matches!(of_main, PromptOutcome::Done), "{of_main:?}");
}

#[tokio::test]
async fn mode_and_approvals_are_those_of_the_session() {
    let stage = Stage::with([
        reply().call("build", json!({})),
        reply().text("planned"),
        reply().call("build", json!({})),
        reply().text("built"),
    ]);
    let stage = Stage { mode: ApprovalMode::Default, ..stage };
    let mut family = Family::of(&stage, FakeTool::new("build"), LoopSettings::default());
    family.delegate("p0#review", "build it").await;
    let outcome = |family: &Family| family.models.last().response();
    assert!(outcome(&family).contains("not found"), "{}", outcome(&family));
    family.services.modes.set(ApprovalMode::Yolo).await;
    family.delegate("p1#review", "build it").await;
    assert_eq!(outcome(&family), "done");
}

#[tokio::test]
async fn side_calls_belong_to_the_agent_that_made_the_call() {
    let stage = Stage::with([
        reply().call("look", json!({})),
        reply().text("reviewed"),
        reply().call("look", json!({})),
        reply().text("done"),
    ]);
    stage.models.generate_with(|_| reply().text("hm"));
    let stage = stage.tool(asking());
    let mut family = Family::of(&stage, asking(), LoopSettings::default());
    family.delegate("p0#review", "review it").await;
    assert!(family.models.last().response().contains("hm under Some(\"You review.\")"));
    family.prompt("p0", "go on").await;
    assert!(!family.models.last().response().contains("You review."));
    let sent: Vec<String> =
        family.models.generated().into_iter().map(|sent| sent.request.prompt_id).collect();
    assert_eq!(sent, ["p0#review", "p0"]);
    let beside: Vec<_> = family
        .models
        .selected()
        .into_iter()
        .filter_map(|context| context.conversation_model)
        .collect();
    assert_eq!(beside, ["small", "main"]);
}

#[tokio::test]
async fn a_question_of_a_child_names_the_child() {
    let stage = Stage::with([reply().call("write", json!({}))]).interactive();
    let mut family = Family::of(&stage, FakeTool::new("write"), LoopSettings::default());
    let (log, cancel) = (Arc::clone(&family.log), CancellationToken::new());
    let parts = vec![Part::text("write it")];
    let work = family.child.prompt("p0#review", parts.into(), &cancel);
    let asked = async {
        let from = |event: &Event| match event {
            Event::Question(question) => Some(question.from.agent.to_string()),
            _ => None,
        };
        let from = log.first(from).await;
        cancel.cancel();
        from
    };
    let (outcome, from) = tokio::join!(work, asked);
    assert!(matches!(outcome, PromptOutcome::Cancelled), "{outcome:?}");
    assert_eq!(from, "main/review");
    let about = |event: &Event| match event {
        Event::Question(_) => Some("asked"),
        Event::QuestionWithdrawn(_) => Some("withdrawn"),
        _ => None,
    };
    let of_child = |event| ("main/review".to_owned(), "p0#review".to_owned(), event);
    assert_eq!(family.origins(about), [of_child("asked"), of_child("withdrawn")]);
}

#[tokio::test]
async fn a_change_of_the_policy_changes_the_tools_of_the_next_request() {
    let stage = Stage::with([reply().text("one"), reply().text("two"), reply().text("three")]);
    let mut family = Family::of(&stage, FakeTool::new("look"), LoopSettings::default());
    family.prompt("p0", "go").await;
    let rule = "[[rule]]\ntoolName = \"look\"\ndecision = \"deny\"\npriority = 1\n";
    let rules = pollux_policy::read(Tier::User, Path::new("new.toml"), rule);
    let facts = family.services.policy.get().facts.clone();
    let earlier = family.services.policy.set(Policy::new(facts, rules));
    family.prompt("p1", "go on").await;
    family.services.policy.set(Policy::clone(&earlier));
    family.prompt("p2", "go on").await;
    let offered: Vec<usize> =
        family.models.streamed().iter().map(|sent| sent.tools().len()).collect();
    assert_eq!(offered, [1, 0, 1]);
}
