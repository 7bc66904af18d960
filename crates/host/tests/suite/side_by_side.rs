//! Two sessions side by side in one process, in two folders with different settings.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{
    ApprovalMode, ConfirmationKind, Event, Op, PromptOutcome, Question, QuestionOutcome,
    QuestionSubject, SessionRequest, SessionStart, Sessions,
};
use pollux_scripted::EventLog;
use pollux_testkit::{Endpoint, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, Talk, exists, mentions, says};

/// Models of the two sessions, by which the server selects its replies.
const QUINCE: &str = "gemini-2.5-pro";
const MEDLAR: &str = "gemini-2.5-flash";

const SNAPSHOT: &str =
    "<state_snapshot><overall_goal>Pick the medlars.</overall_goal></state_snapshot>";

/// Timeout for an event that never comes; then the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Both sessions, each running its first prompt.
struct Orchard {
    stage: Stage,
    quince: Talk,
    medlar: Talk,
    folders: [PathBuf; 2],
    shared: Arc<EventLog>,
}

impl Orchard {
    async fn open() -> Self {
        let stage = Stage::new();
        let settings = json!({"model": {"name": QUINCE}, "general": {"maxAttempts": 1}});
        let quince = stage.folder("quince", &settings, ("GEMINI.md", "quinces are sour"));
        let settings = json!({"model": {"name": MEDLAR}, "context": {"fileName": "FRUIT.md"}});
        let medlar = stage.folder("medlar", &settings, ("FRUIT.md", "medlars are soft"));
        stage.server.answer_with(Endpoint::GenerateContent, |_| reply().text(SNAPSHOT));
        let shared = Arc::<EventLog>::default();
        let folders = [quince.clone(), medlar.clone()];
        let quince = stage.open(SessionRequest::new(quince), &shared).await;
        let medlar = stage.open(SessionRequest::new(medlar), &shared).await;
        Self { stage, quince, medlar, folders, shared }
    }

    /// Brings the sessions to their waits: the quince for the rest of its answer, the medlar for
    /// the approval of a command.
    async fn begin(&self) {
        let (stage, touch) = (&self.stage, json!({"command": "touch ran.txt"}));
        stage.reply(QUINCE, reply().text("Quince begins.").stall_after(1));
        stage.reply(MEDLAR, reply().text("Medlar begins.").call("run_shell_command", touch));
        self.quince.prompt("quince-1", "Boil the quinces.");
        self.medlar.prompt("medlar-1", "Store the medlars.");
        let text = |event: &Event| matches!(event, Event::Text(_)).then_some(());
        self.quince.log.first(text).await;
        self.medlar.question(0).await;
    }

    /// Cancels the prompt of the quince. The medlar's question stays open.
    async fn cancel(&self) {
        self.quince.send(Op::Cancel);
        let outcome = self.quince.log.ended("quince-1").await;
        assert!(matches!(outcome, PromptOutcome::Cancelled), "{outcome:?}");
        assert_eq!(self.medlar.log.all(withdrawn), []);
    }

    /// Allows the medlar's command for the session, then changes its mode during an open question.
    async fn answer_and_change_mode(&self) {
        let (stage, medlar) = (&self.stage, &self.medlar);
        let write = json!({"file_path": "note.txt", "content": "soft"});
        stage.reply(MEDLAR, reply().call("run_shell_command", json!({"command": "touch ran.txt"})));
        stage.reply(MEDLAR, reply().call("write_file", write));
        stage.reply(MEDLAR, reply().text("The medlars are stored.").usage(9000, 5));
        medlar.answer(&medlar.question(0).await, QuestionOutcome::ProceedAlways);
        // The same command was not asked about again.
        let change = medlar.question(1).await;
        assert!(matches!(call_in(&change), ConfirmationKind::Edit { .. }), "{change:?}");
        medlar.send(Op::SetMode(ApprovalMode::AutoEdit));
        assert_eq!(medlar.log.first(withdrawn).await, change.id);
        let outcome = medlar.log.ended("medlar-1").await;
        assert!(matches!(outcome, PromptOutcome::Done), "{outcome:?}");
        let [quince, medlar] = &self.folders;
        for file in ["note.txt", "ran.txt"] {
            assert_eq!((exists(quince, file), exists(medlar, file)), (false, true), "{file}");
        }
    }

    /// Checks that the medlar's approvals do not apply to the quince, while the medlar's
    /// conversation is compressed.
    async fn ask_again_and_compress(&self) {
        let (stage, quince, medlar) = (&self.stage, &self.quince, &self.medlar);
        let write = json!({"file_path": "note.txt", "content": "sour"});
        stage.reply(QUINCE, reply().call("write_file", write));
        stage.reply(QUINCE, reply().call("run_shell_command", json!({"command": "touch ran.txt"})));
        stage.reply(QUINCE, reply().text("The quinces are boiled."));
        quince.prompt("quince-2", "Go on.");
        let change = quince.question(0).await;
        medlar.send(Op::Compress { id: "medlar-compress".to_owned() });
        medlar.log.ended("medlar-compress").await;
        assert_eq!((medlar.log.all(compressed).len(), quince.log.all(compressed).len()), (1, 0));
        quince.answer(&change, QuestionOutcome::ProceedOnce);
        let command = quince.question(1).await;
        assert!(matches!(call_in(&command), ConfirmationKind::Execute { .. }), "{command:?}");
        assert!(!exists(&self.folders[0], "ran.txt"));
        quince.answer(&command, QuestionOutcome::ProceedOnce);
        let outcome = quince.log.ended("quince-2").await;
        assert!(matches!(outcome, PromptOutcome::Done), "{outcome:?}");
        let written =
            |folder: usize| std::fs::read_to_string(self.folders[folder].join("note.txt")).unwrap();
        assert_eq!((written(0), written(1)), ("sour".to_owned(), "soft".to_owned()));
        stage.reply(MEDLAR, reply().text("Rest."));
        medlar.prompt("medlar-2", "What next?");
        medlar.log.ended("medlar-2").await;
        let request = self.last(MEDLAR);
        assert!(says(&request, "Pick the medlars.") && !says(&request, "Medlar begins."));
    }

    /// Clears the medlar's conversation and reloads its context file. The quince keeps both.
    async fn clear(&self) {
        let (stage, quince, medlar) = (&self.stage, &self.quince, &self.medlar);
        medlar.send(Op::Clear { id: "medlar-clear".to_owned() });
        medlar.log.ended("medlar-clear").await;
        stage.home.project_file("medlar/FRUIT.md", "medlars are brown");
        medlar.command("medlar-memory", "memory", "refresh").await;
        stage.reply(MEDLAR, reply().text("New."));
        stage.reply(QUINCE, reply().text("Cool."));
        medlar.prompt("medlar-3", "Anything?");
        quince.prompt("quince-3", "And then?");
        medlar.log.ended("medlar-3").await;
        quince.log.ended("quince-3").await;
        let (cleared, kept) = (self.last(MEDLAR), self.last(QUINCE));
        assert!(says(&cleared, "medlars are brown") && !says(&cleared, "What next?"));
        assert!(says(&kept, "quinces are sour") && says(&kept, "Quince begins."));
    }

    fn last(&self, model: &str) -> pollux_testkit::CapturedRequest {
        self.stage.requests(model).pop().unwrap()
    }
}

fn call_in(question: &Question) -> &ConfirmationKind {
    let QuestionSubject::Call(confirmation) = &question.subject else { panic!("{question:?}") };
    &confirmation.kind
}

fn withdrawn(event: &Event) -> Option<pollux_protocol::QuestionId> {
    match event {
        Event::QuestionWithdrawn(id) => Some(*id),
        _ => None,
    }
}

fn compressed(event: &Event) -> Option<()> {
    matches!(event, Event::ChatCompressed(_)).then_some(())
}

fn mode(event: &Event) -> Option<ApprovalMode> {
    match event {
        Event::ModeChanged(mode) => Some(*mode),
        _ => None,
    }
}

/// Asserts that all events of a session name it and its own prompts, and that the shared stream
/// holds exactly these events of it.
fn assert_own(log: &EventLog, shared: &EventLog, id: &str, prefix: &str) {
    let own = log.events();
    for envelope in &own {
        let origin = &envelope.origin;
        assert_eq!(&*origin.session, id, "{envelope:?}");
        assert!(origin.agent.is_main(), "{envelope:?}");
        assert!(origin.prompt.iter().all(|prompt| prompt.starts_with(prefix)), "{envelope:?}");
    }
    let from_shared =
        shared.events().iter().filter(|envelope| &*envelope.origin.session == id).count();
    assert_eq!(own.len(), from_shared);
}

#[tokio::test]
async fn two_sessions_share_a_process_and_nothing_else() {
    let run = async {
        let orchard = Orchard::open().await;
        orchard.begin().await;
        orchard.cancel().await;
        orchard.answer_and_change_mode().await;
        orchard.ask_again_and_compress().await;
        orchard.clear().await;
        let Orchard { stage, quince, medlar, shared, .. } = orchard;
        let (quince_id, medlar_id) = (quince.id(), medlar.id());
        assert_ne!(quince_id, medlar_id);
        let (quince, medlar) = (quince.close().await, medlar.close().await);
        assert_own(&quince, &shared, &quince_id, "quince-");
        assert_own(&medlar, &shared, &medlar_id, "medlar-");
        assert_eq!(quince.all(mode), []);
        assert_eq!(medlar.all(mode), [ApprovalMode::AutoEdit]);
        for (model, foreign) in [(QUINCE, "medlar"), (MEDLAR, "quince")] {
            for request in stage.requests(model) {
                assert!(!mentions(&request, foreign), "{}", request.body);
            }
        }
        stage.server.assert_all_valid();
    };
    tokio::time::timeout(PATIENCE, run).await.expect("an event did not come");
}

/// `/clear` and `/resume` of a frontend: one more session is opened while others work.
#[tokio::test]
async fn more_sessions_open_in_a_folder_while_another_works() {
    let run = async {
        let orchard = Orchard::open().await;
        orchard.begin().await;
        let Orchard { stage, quince, medlar, folders, shared } = orchard;
        let old = medlar.id();
        medlar.close().await;

        stage.reply(MEDLAR, reply().text("Fresh."));
        let fresh = stage.open(SessionRequest::new(&folders[1]), &shared).await;
        assert_ne!(fresh.id(), old);
        assert_eq!(fresh.session.facts().resumed, None);
        fresh.prompt("fresh", "Hello.");
        fresh.log.ended("fresh").await;
        assert!(!stage.requests(MEDLAR).pop().is_some_and(|request| says(&request, "medlars.")));

        let listed = stage.host.list(SessionRequest::new(&folders[1])).await.unwrap();
        let mut listed: Vec<String> = listed.into_iter().map(|entry| entry.id).collect();
        listed.sort();
        let mut expected = vec![old.clone(), fresh.id()];
        expected.sort();
        assert_eq!(listed, expected);
        stage.host.delete(SessionRequest::new(&folders[1]), &fresh.id()).await.unwrap_err();
        let fresh_id = fresh.id();
        fresh.close().await;
        stage.host.delete(SessionRequest::new(&folders[1]), &fresh_id).await.unwrap();

        stage.reply(MEDLAR, reply().text("Again."));
        let start = SessionStart::Resume("latest".to_owned());
        let request = SessionRequest { start, ..SessionRequest::new(&folders[1]) };
        let resumed = stage.open(request, &shared).await;
        assert_eq!(resumed.id(), old);
        assert!(resumed.session.facts().resumed.is_some());
        resumed.prompt("resumed", "Go on.");
        resumed.log.ended("resumed").await;
        assert!(says(&stage.requests(MEDLAR).pop().unwrap(), "Store the medlars."));

        // The first session is not affected by any of this.
        quince.send(Op::Cancel);
        let outcome = quince.log.ended("quince-1").await;
        assert!(matches!(outcome, PromptOutcome::Cancelled), "{outcome:?}");
        let (id, log) = (quince.id(), quince.close().await);
        assert_own(&log, &shared, &id, "quince-");
        resumed.close().await;
    };
    tokio::time::timeout(PATIENCE, run).await.expect("an event did not come");
}
