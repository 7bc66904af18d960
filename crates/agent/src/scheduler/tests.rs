use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use pollux_protocol::{
    Args, Ceilings, Declaration, Display, FileDiff, Journal, Limit, Live, NoCheckpoints, Operator,
    Question, QuestionOutcome, QuestionReply, Resource, RunContext, ToolErrorKind, ToolKind,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use pollux_policy::CheckerPrograms;
use pollux_scripted::ScriptedModels;

use crate::budget::{Budget, Spending};
use crate::chat::StreamRetries;
use crate::mode::SessionMode;
use crate::outlet::Outlet;

mod outcome;

/// Log to which every fake tool writes.
type Diary = Arc<Mutex<Vec<String>>>;

#[derive(Clone)]
struct FakeTool {
    name: &'static str,
    kind: ToolKind,
    alone: bool,
    diary: Diary,
    running: Arc<AtomicUsize>,
}

struct FakeRun {
    tool: FakeTool,
    args: Args,
}

impl Tool for FakeTool {
    fn name(&self) -> &str {
        self.name
    }
    fn display_name(&self) -> &str {
        self.name
    }
    fn kind(&self) -> ToolKind {
        self.kind
    }
    fn declaration(&self) -> Declaration {
        Declaration { name: self.name.into(), description: String::new(), parameters: json!({}) }
    }
    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        if args.contains_key("bad") {
            return Err(ToolError::new(ToolErrorKind::InvalidToolParams, "params must NOT be bad"));
        }
        Ok(Box::new(FakeRun { tool: self.clone(), args: args.clone() }))
    }
}

#[async_trait]
impl Invocation for FakeRun {
    fn effects(&self) -> Effects {
        Effects { alone: self.tool.alone, ..Effects::default() }
    }
    fn describe(&self) -> String {
        self.tool.name.into()
    }
    async fn run(&self, context: RunContext) -> ToolOutput {
        let beside = self.tool.running.fetch_add(1, Ordering::SeqCst);
        let label = self.args.get("n").map_or_else(String::new, ToString::to_string);
        self.tool.diary.lock().unwrap().push(format!("start {label} beside {beside}"));
        assert!(!self.args.contains_key("panic"), "boom");
        let wait = self.args.get("ms").and_then(Value::as_u64).unwrap_or(0);
        let sleep = tokio::time::sleep(Duration::from_millis(wait));
        if self.args.contains_key("deaf") {
            sleep.await;
        } else {
            tokio::select! { () = sleep => {}, () = context.cancel.cancelled() => {
                return ToolOutput::quiet("half");
            } }
        }
        self.tool.running.fetch_sub(1, Ordering::SeqCst);
        self.tool.diary.lock().unwrap().push(format!("end {label}"));
        if let Some(late) = self.args.get("late") {
            context.cancel.cancelled().await;
            return changed(late == "failed");
        }
        match self.args.get("tail").and_then(Value::as_str) {
            Some(name) => ToolOutput {
                directives: vec![Directive::TailCall { name: name.into(), args: Args::new() }],
                ..ToolOutput::default()
            },
            None => ToolOutput::quiet(format!("done {label}")),
        }
    }
}

/// Returns the output of a call that has changed a file, or that has failed after the change.
fn changed(has_failed: bool) -> ToolOutput {
    let diff = FileDiff {
        file_diff: String::new(),
        file_name: "a".into(),
        file_path: "/a".into(),
        original_content: None,
        new_content: String::new(),
        diff_stat: None,
        is_new_file: None,
    };
    let error = has_failed.then(|| ToolError::new(ToolErrorKind::ExecutionFailed, "no"));
    ToolOutput {
        display: Some(Display::Diff(Box::new(diff))),
        error,
        ..ToolOutput::quiet("changed")
    }
}

/// Journal that keeps its records in memory. It fails after a given number of records.
#[derive(Default)]
struct MemoryJournal {
    records: Mutex<Vec<Record>>,
    fails_after: Option<usize>,
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, added: &[Arc<Record>]) -> Result<(), JournalError> {
        let mut records = self.records.lock().unwrap();
        for record in added {
            if self.fails_after.is_some_and(|limit| records.len() >= limit) {
                return Err(JournalError::NoSpace { path: "log".into() });
            }
            records.push(Record::clone(record));
        }
        Ok(())
    }
    async fn sync(&self) -> Result<(), JournalError> {
        Ok(())
    }

    async fn recall(&self) -> Result<History, JournalError> {
        Ok(History::new())
    }
}

struct Answering(QuestionOutcome);

#[async_trait]
impl Operator for Answering {
    async fn ask(&self, question: Question) -> QuestionReply {
        question.reply(self.0)
    }
}

struct Bench {
    diary: Diary,
    journal: Arc<MemoryJournal>,
    cancel: CancellationToken,
    interactive: bool,
    mode: ApprovalMode,
    says: QuestionOutcome,
    spending: Spending,
    inputs: Arc<CallInputs>,
}

impl Default for Bench {
    fn default() -> Self {
        Self {
            diary: Diary::default(),
            journal: Arc::default(),
            cancel: CancellationToken::new(),
            interactive: false,
            mode: ApprovalMode::Yolo,
            says: QuestionOutcome::ProceedOnce,
            spending: Spending::default(),
            inputs: Arc::default(),
        }
    }
}

impl Bench {
    async fn run(&self, calls: &[(&str, Value)]) -> Result<Batch, JournalError> {
        let running = Arc::new(AtomicUsize::new(0));
        let tool = |name, kind, alone| -> Arc<dyn Tool> {
            let (diary, running) = (self.diary.clone(), Arc::clone(&running));
            Arc::new(FakeTool { name, kind, alone, diary, running })
        };
        let toolset = Toolset::new(vec![
            tool("look", ToolKind::Read, false),
            tool("write", ToolKind::Edit, true),
            tool("shell", ToolKind::Execute, false),
        ]);
        let (outlet, _events) = Outlet::new("s", Vec::new());
        let services = self.services(&outlet);
        let scheduler = Scheduler {
            services: &services,
            policy: &services.policy.get(),
            hooks: &HookEvents::new(services.hooks.clone(), outlet.clone()),
            side_models: &Arc::new(services.side_models(outlet.clone(), String::new())),
            recorder: &HistoryRecorder::new(self.journal.clone(), outlet),
            toolset: &toolset,
            conseca: None,
            prompt: "",
            history: &History::new(),
            cancel: &self.cancel,
            caller: None,
            model: "m",
            limits: ModelLimits::default(),
            room: None,
        };
        let calls = calls.iter().enumerate().map(|(index, (name, args))| Call {
            id: CallId::new(format!("c{index}")),
            name: (*name).into(),
            args: args.clone(),
            prompt_id: "p".into(),
        });
        scheduler.run(calls.collect()).await
    }

    fn services(&self, outlet: &Outlet) -> AgentServices {
        // The read-only tools of these tests need no approval.
        let rules = pollux_policy::read(
            pollux_policy::Tier::User,
            std::path::Path::new("test.toml"),
            "[[rule]]\ntoolName = \"look\"\ndecision = \"allow\"\npriority = 1\n\
             [[rule]]\ntoolName = \"write\"\ndecision = \"allow\"\npriority = 1\nmodes = [\"autoEdit\"]\n",
        );
        let facts = pollux_policy::Facts { interactive: self.interactive, ..Default::default() };
        AgentServices {
            models: Arc::new(ScriptedModels::default()),
            fallback: Arc::default(),
            routing: crate::RoutingOptions::default(),
            operator: Arc::new(Answering(self.says)),
            policy: Live::new(Policy::new(facts, rules)),
            checkers: CheckerPrograms::default(),
            conseca: false,
            modes: Arc::new(SessionMode::new(Live::new(self.mode), outlet.clone())),
            choices: ApprovalChoices::default(),
            grants: Arc::default(),
            inputs: Arc::clone(&self.inputs),
            checkpoints: Arc::new(NoCheckpoints),
            budget: Budget::new(self.spending.clone(), outlet.clone()),
            hooks: pollux_hooks::Hooks::default(),
            retries: StreamRetries::default(),
            log_prompts: false,
            interactive: self.interactive,
            new_id: Arc::new(|| "e".to_owned()),
        }
    }

    fn diary(&self) -> Vec<String> {
        self.diary.lock().unwrap().clone()
    }
}

/// Returns `id status answer` for each call, in the order of completion.
fn summary(batch: &Batch) -> Vec<String> {
    let line = |finished: &Arc<FinishedCall>| {
        let response = finished.response[0].as_response().unwrap();
        let text = response.response.get("output").or(response.response.get("error")).unwrap();
        assert_eq!(response.id, finished.call.id.as_str());
        format!("{} {} {}", finished.call.id, finished.status.as_str(), text.as_str().unwrap())
    };
    batch.finished.iter().map(line).collect()
}

#[tokio::test]
async fn neighbours_run_together_and_loners_alone() {
    let bench = Bench::default();
    let batch = bench
        .run(&[
            ("look", json!({"n": 0, "ms": 30})),
            ("shell", json!({"n": 1, "ms": 5})),
            ("write", json!({"n": 2})),
            ("look", json!({"n": 3})),
            ("look", json!({"n": 4, "wait_for_previous": true})),
        ])
        .await
        .unwrap();
    assert_eq!(
        bench.diary(),
        [
            "start 0 beside 0",
            "start 1 beside 1",
            "end 1",
            "end 0",
            "start 2 beside 0",
            "end 2",
            "start 3 beside 0",
            "end 3",
            "start 4 beside 0",
            "end 4",
        ]
    );
    let order: Vec<_> =
        batch.finished.iter().map(|finished| finished.call.id.to_string()).collect();
    assert_eq!(order, ["c0", "c1", "c2", "c3", "c4"], "request order inside a group");
}

#[tokio::test]
async fn what_cannot_run_goes_back_to_the_model() {
    let bench = Bench::default();
    let batch = bench
        .run(&[
            ("loook", json!({})),
            ("look", json!({"bad": 1})),
            ("look", json!("{\"n\": 1,}")),
            ("look", json!({"n": 1, "panic": true})),
            ("look", json!({"n": 2})),
        ])
        .await
        .unwrap();
    assert_eq!(
        summary(&batch),
        [
            "c0 error Tool \"loook\" not found. Did you mean one of: \"look\", \"write\", \"shell\"?",
            "c1 error params must NOT be bad",
            "c2 error Value of params must be an object: the arguments are not JSON: trailing comma at line 1 column 9",
            "c3 error boom",
            "c4 success done 2",
        ]
    );
}

#[tokio::test]
async fn results_have_the_order_of_the_calls() {
    let bench = Bench::default();
    let calls = [("look", json!({"n": 0})), ("loook", json!({})), ("look", json!({"n": 2}))];
    let batch = bench.run(&calls).await.unwrap();
    let order: Vec<_> = batch.finished.iter().map(|finished| finished.call.id.as_str()).collect();
    assert_eq!(order, ["c0", "c1", "c2"]);
}

#[tokio::test]
async fn a_headless_run_has_no_tools_that_would_have_to_ask() {
    let bench = Bench { mode: ApprovalMode::Default, ..Bench::default() };
    let batch = bench.run(&[("shell", json!({})), ("look", json!({"n": 1}))]).await.unwrap();
    assert_eq!(batch.finished[0].error.as_ref().unwrap().kind, ToolErrorKind::ToolNotRegistered);
    assert_eq!(batch.finished[1].status, CallStatus::Success);
    assert!(!batch.cancelled);
}

#[tokio::test]
async fn a_no_cancels_the_call_and_those_behind_it_but_not_those_before() {
    let bench = Bench {
        interactive: true,
        mode: ApprovalMode::Default,
        says: QuestionOutcome::Cancel,
        ..Bench::default()
    };
    let calls = [
        ("look", json!({"n": 0})),
        ("shell", json!({"n": 1})),
        ("look", json!({"n": 2})),
        ("write", json!({})),
    ];
    let batch = bench.run(&calls).await.unwrap();
    assert!(batch.refused && !batch.ends_the_work(), "the model gets the results of what was done");
    let mut lines = summary(&batch);
    lines.sort();
    assert_eq!(
        lines,
        [
            "c0 success done 0",
            "c1 cancelled [Operation Cancelled] Reason: User denied execution.",
            "c2 success done 2",
            "c3 cancelled [Operation Cancelled] Reason: User cancelled operation",
        ]
    );
    let alone = bench.run(&calls[1..2]).await.unwrap();
    assert!(alone.ends_the_work());
}

#[tokio::test(start_paused = true)]
async fn cancel_returns_within_100_ms_and_answers_every_call() {
    let bench = Bench::default();
    let cancel = bench.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    let started = tokio::time::Instant::now();
    let calls = [
        ("look", json!({"n": 0})),
        ("look", json!({"n": 1, "ms": 60_000})),
        ("look", json!({"n": 2, "ms": 60_000, "deaf": true})),
        ("write", json!({"n": 3})),
    ];
    let batch = bench.run(&calls).await.unwrap();
    let elapsed = started.elapsed();
    assert!(elapsed <= Duration::from_millis(50 + 100), "{elapsed:?}");
    assert!(batch.cancelled);
    assert_eq!(batch.finished.len(), 4);
    let error = |index: usize| {
        batch.finished[index].response[0].as_response().unwrap().response["error"].clone()
    };
    assert_eq!(error(1), "[Operation Cancelled] User cancelled tool execution.");
    assert_eq!(error(3), "[Operation Cancelled] Reason: User cancelled operation");
}

#[tokio::test]
async fn a_change_that_was_complete_at_the_cancel_is_reported_and_logged_as_done() {
    let bench = Bench::default();
    let (cancel, diary) = (bench.cancel.clone(), bench.diary.clone());
    tokio::spawn(async move {
        let ended = |line: &String| line.starts_with("end");
        while diary.lock().unwrap().iter().filter(|line| ended(line)).count() < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cancel.cancel();
    });
    let calls = ["done", "failed"]
        .map(|late| ("look", json!({"late": late})))
        .into_iter()
        .collect::<Vec<_>>();
    let all = [&calls[..], &[("look", json!({"ms": 60_000}))]].concat();
    let batch = bench.run(&all).await.unwrap();
    assert!(batch.cancelled, "no other call follows that could notice the cancel");
    let expected = [CallStatus::Success, CallStatus::Cancelled, CallStatus::Cancelled];
    let statuses: Vec<_> = batch.finished.iter().map(|finished| finished.status).collect();
    assert_eq!(statuses, expected);
    let records = bench.journal.records.lock().unwrap();
    let logged: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::CallFinished(call) => Some(call.status),
            _ => None,
        })
        .collect();
    assert_eq!(logged, expected);
}

#[tokio::test]
async fn at_most_64_calls_run_at_once_and_none_takes_input_after_its_end() {
    let bench = Bench::default();
    let calls = vec![("look", json!({"ms": 30})); 100];
    let batch = bench.run(&calls).await.unwrap();
    assert_eq!(batch.finished.len(), 100);
    let beside = |line: String| line.split_once("beside ")?.1.parse::<usize>().ok();
    assert_eq!(bench.diary().into_iter().filter_map(beside).max(), Some(63));
    assert!(!format!("{:?}", bench.inputs).contains("CallId"), "{:?}", bench.inputs);
}

#[tokio::test]
async fn a_tail_call_answers_under_the_first_name() {
    let bench = Bench::default();
    let calls = [("look", json!({"n": 0, "tail": "shell"})), ("look", json!({"n": 1}))];
    let batch = bench.run(&calls).await.unwrap();
    assert_eq!(summary(&batch), ["c1 success done 1", "c0 success done "]);
    assert_eq!(batch.finished[1].response[0].as_response().unwrap().name, "look");
}

#[tokio::test]
async fn nothing_runs_that_the_log_does_not_hold() {
    for limit in 0..6 {
        let journal =
            Arc::new(MemoryJournal { fails_after: Some(limit), ..MemoryJournal::default() });
        let bench = Bench { journal: journal.clone(), ..Bench::default() };
        let calls = [("write", json!({"n": 0})), ("write", json!({"n": 1}))];
        let failed = bench.run(&calls).await.is_err();
        let started = bench.diary().iter().filter(|line| line.starts_with("start")).count();
        let records = journal.records.lock().unwrap();
        let logged =
            records.iter().filter(|record| matches!(record, Record::CallStarted { .. })).count();
        assert!(started <= logged, "limit {limit}: {started} started, {logged} in the log");
        assert!(failed, "limit {limit}");
    }
}

#[tokio::test]
async fn calls_that_the_budget_has_no_room_for_are_answered_and_not_run() {
    let mut prompt = Ceilings::default();
    prompt.set(Resource::ToolCalls, Limit { amount: 2, by_flag: true });
    let bench = Bench { spending: Spending { prompt, ..Spending::default() }, ..Bench::default() };
    let batch = bench
        .run(&[("look", json!({})), ("look", json!({})), ("look", json!({})), ("look", json!({}))])
        .await
        .unwrap();
    let statuses: Vec<_> = batch.finished.iter().map(|finished| finished.status).collect();
    assert_eq!(
        statuses,
        [CallStatus::Success, CallStatus::Success, CallStatus::Cancelled, CallStatus::Cancelled]
    );
    assert!(batch.finished.iter().all(|finished| finished.response.len() == 1));
    let Some(PromptOutcome::Budget(exceeded)) = batch.outcome() else { panic!("{batch:?}") };
    assert_eq!((exceeded.resource, exceeded.wanted), (Resource::ToolCalls, 4));
}
