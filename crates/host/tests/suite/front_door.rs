//! Opening sessions: everything that a request determines.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use pollux_protocol::{
    ApprovalMode, Files, Notices, PromptOutcome, PromptSource, QuestionOutcome, SessionFailure,
    SessionRequest, SessionStart, Sessions, Severity,
};
use pollux_scripted::{EventLog, Gate, ScriptedOperator};
use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, says};

const MODEL: &str = "gemini-2.5-pro";
/// Timeout for work that never comes; then the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn questions_before_a_session_name_it() {
    let stage = Stage::with_folder_trust();
    let operator = Arc::new(ScriptedOperator::answering(QuestionOutcome::Option(0)));
    let settings = json!({"model": {"name": "gemini-2.5-pro"}});
    let folder = stage.folder("shop", &settings, ("GEMINI.md", ""));
    let request =
        SessionRequest { operator: Some(operator.clone()), ..SessionRequest::new(folder) };
    let talk = stage.open(request, &Arc::default()).await;
    let asked = operator.asked();
    let from: Vec<&str> = asked.iter().map(|question| &*question.from.session).collect();
    assert_eq!(from, [talk.session.facts().id.as_str()]);
    talk.close().await;
}

/// Holder of one unsaved text.
struct Unsaved(PathBuf, &'static str);

impl Files for Unsaved {
    fn read(&self, path: &Path) -> std::io::Result<Option<String>> {
        Ok((path == self.0).then(|| self.1.to_owned()))
    }
}

#[tokio::test]
async fn a_request_brings_folders_files_notices_and_observers() {
    let stage = Stage::new();
    let settings = json!({"model": {"name": MODEL}});
    let folder = stage.folder("shop", &settings, ("GEMINI.md", "On the disk."));
    let further = stage.folder("store", &json!({}), ("note.txt", "On the disk."));
    let further = further.canonicalize().unwrap();
    let (noticed, observed) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<EventLog>::default());
    let sink = Arc::clone(&noticed);
    let request = SessionRequest {
        further_folders: vec!["../store".into(), "../nosuch".into()],
        files: Arc::new(Unsaved(further.join("note.txt"), "In the editor.")),
        notices: Arc::new(move |severity: Severity, text: &str| {
            sink.lock().unwrap().push((severity, text.to_owned()));
        }),
        observers: vec![observed.clone()],
        ..SessionRequest::new(&folder)
    };
    let talk = stage.open(request, &Arc::default()).await;
    let read = json!({"file_path": further.join("note.txt")});
    stage.reply(MODEL, reply().call("read_file", read));
    stage.reply(MODEL, reply().text("Read."));
    talk.prompt("one", "Read the note.");
    assert!(matches!(talk.log.ended("one").await, PromptOutcome::Done));
    let request = stage.requests(MODEL).pop().unwrap();
    assert!(says(&request, "In the editor."));
    let parts =
        talk.session.expand("What is in @note.txt?".to_owned(), PromptSource::Typed).await.unwrap();
    assert!(format!("{parts:?}").contains("In the editor."), "{parts:?}");
    let log = talk.close().await;
    assert_eq!(observed.events().len(), log.events().len());
    let noticed = noticed.lock().unwrap();
    let is_about_a_folder = |text: &str| text.starts_with("[WARN] Skipping unreadable directory");
    assert!(
        noticed
            .iter()
            .any(|(severity, text)| *severity == Severity::Warning && is_about_a_folder(text)),
        "{noticed:?}"
    );
}

/// Sink that blocks at the notice about a file that begins with `label`, until another thread lets
/// it continue.
struct Stopping {
    label: &'static str,
    reached: Gate,
    released: Mutex<mpsc::Receiver<()>>,
}

impl Notices for Stopping {
    fn notice(&self, _severity: Severity, text: &str) {
        if text.starts_with(self.label) && text.contains("slow") {
            self.reached.open();
            let released = self.released.lock().unwrap().recv_timeout(PATIENCE);
            assert!(released.is_ok(), "nothing else works while {text:?} is reported");
        }
    }
}

#[tokio::test]
async fn opening_a_session_does_not_delay_another() {
    let mut stage = Stage::new();
    stage.host.options.debug = true;
    let settings = json!({"model": {"name": MODEL}});
    let folder = stage.folder("shop", &settings, ("GEMINI.md", ""));
    let slow = stage.folder("slow", &settings, ("GEMINI.md", "Slowly."));
    let talk = stage.open(SessionRequest::new(folder), &Arc::default()).await;
    // The settings are read while the session is prepared, the context files while it starts.
    for label in ["Read settings", "Read context"] {
        let (release, released) = mpsc::channel();
        let (reached, released) = (Gate::closed(), Mutex::new(released));
        let notices = Arc::new(Stopping { label, reached: reached.clone(), released });
        let request = SessionRequest { notices, ..SessionRequest::new(&slow) };
        let shared = Arc::default();
        let opening = stage.open(request, &shared);
        let meanwhile = async {
            reached.pass().await;
            stage.reply(MODEL, reply().text("Served."));
            talk.prompt(label, "Serve.");
            let outcome = talk.log.ended(label).await;
            assert!(matches!(outcome, PromptOutcome::Done), "{outcome:?}");
            release.send(()).unwrap();
        };
        tokio::join!(opening, meanwhile).0.close().await;
    }
    talk.close().await;
}

#[tokio::test]
async fn a_prepared_session_leaves_nothing_behind() {
    let stage = Stage::new();
    let settings = json!({"model": {"name": MODEL}, "output": {"format": "json"}});
    let folder = stage.folder("shop", &settings, ("GEMINI.md", "Prices."));
    let (sessions, request): (&dyn Sessions, _) = (&stage.host, SessionRequest::new(&folder));
    let prepared = sessions.prepare(request.clone()).await.unwrap();
    assert_eq!(prepared.settings().get("output.format"), Some(&json!("json")));
    let prompt = "Read @GEMINI.md".to_owned();
    let parts = prepared.expand(prompt.clone(), PromptSource::Typed).await.unwrap();
    assert!(format!("{parts:?}").contains("Prices."), "{parts:?}");
    drop(prepared);
    assert_eq!(sessions.list(request.clone()).await.unwrap(), []);
}

#[tokio::test]
async fn an_error_says_what_was_known() {
    let stage = Stage::new();
    let settings = json!({"model": {"name": MODEL}, "output": {"format": "json"}});
    let folder = stage.folder("shop", &settings, ("GEMINI.md", ""));
    let sessions: &dyn Sessions = &stage.host;
    let start = SessionStart::Resume("nosuch".to_owned());
    let request = SessionRequest { start, ..SessionRequest::new(&folder) };
    let error = sessions.prepare(request.clone()).await.err().unwrap();
    assert!(matches!(*error.failure, SessionFailure::Input(_)), "{error}");
    assert_eq!(error.settings.unwrap().get("output.format"), Some(&json!("json")));
    let error = sessions.delete(request, "nosuch").await.unwrap_err();
    assert!(matches!(*error.failure, SessionFailure::Input(_)), "{error}");
    stage.home.project_file("shop/.gemini/settings.json", "{");
    let error = sessions.list(SessionRequest::new(&folder)).await.unwrap_err();
    assert!(matches!(*error.failure, SessionFailure::Config(_)), "{error}");
    assert!(error.settings.is_none());
}

#[tokio::test]
async fn a_request_overrides_settings() {
    let stage = Stage::new();
    let folder = stage.folder("shop", &json!({"model": {"name": MODEL}}), ("GEMINI.md", ""));
    let settings = json!({"model.name": "gemini-2.5-flash", "ui.theme": "Ayu"});
    let Value::Object(settings) = settings else { panic!("an object") };
    let request = SessionRequest { settings, ..SessionRequest::new(folder) };
    let talk = stage.open(request, &Arc::default()).await;
    assert_eq!(talk.session.facts().model, "gemini-2.5-flash");
    assert_eq!(talk.session.settings().get("ui.theme"), Some(&json!("Ayu")));
    talk.close().await;
}

#[tokio::test]
async fn a_mode_is_checked_and_models_are_listed_before_and_after_the_start() {
    let stage = Stage::new();
    let settings = json!({"model": {"name": MODEL}, "security": {"disableYoloMode": true}});
    let folder = stage.folder("shop", &settings, ("GEMINI.md", ""));
    let sessions: &dyn Sessions = &stage.host;
    let prepared = sessions.prepare(SessionRequest::new(&folder)).await.unwrap();
    assert!(prepared.check_mode(ApprovalMode::AutoEdit).is_ok());
    let before = prepared.check_mode(ApprovalMode::Yolo).unwrap_err().to_string();
    let listed = prepared.models().await;
    let running = prepared.start().await.unwrap();
    assert_eq!(running.check_mode(ApprovalMode::Yolo).unwrap_err().to_string(), before);
    assert_eq!(running.models().await, listed);
    assert!(running.is_readable(&folder.join("GEMINI.md")));
    assert!(!running.is_readable(std::path::Path::new("/etc/hostname")));
    running.close().await;
}
