//! Opening sessions: everything that a request determines.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pollux_protocol::{Files, PromptOutcome, QuestionOutcome, SessionRequest, Severity};
use pollux_scripted::{EventLog, ScriptedOperator};
use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, says};

const MODEL: &str = "gemini-2.5-pro";

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
    let parts = talk.session.expand("What is in @note.txt?".to_owned()).await.unwrap();
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
