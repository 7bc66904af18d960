//! Tests with files that an editor holds: tools read and write its text instead of the disk.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pollux_fs::Workspace;
use pollux_protocol::{Files, TextWritten, ToolErrorKind};
use pollux_tools::{FileContent, FileReader};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::session::Session;

/// An editor that holds its open files and fails for those that are `None`.
#[derive(Default)]
struct Editor(Mutex<HashMap<PathBuf, Option<String>>>);

impl Editor {
    fn opens(&self, path: PathBuf, text: Option<&str>) {
        self.0.lock().unwrap().insert(path, text.map(str::to_owned));
    }

    fn text(&self, path: &Path) -> Option<String> {
        self.0.lock().unwrap().get(path).cloned().flatten()
    }
}

impl Files for Editor {
    fn read(&self, path: &Path) -> io::Result<Option<String>> {
        match self.0.lock().unwrap().get(path) {
            None => Ok(None),
            Some(Some(text)) => Ok(Some(text.clone())),
            Some(None) => Err(io::Error::other("The editor has gone.")),
        }
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<TextWritten> {
        match self.0.lock().unwrap().get_mut(path) {
            None => Ok(TextWritten::ToDisk),
            Some(Some(held)) => {
                text.clone_into(held);
                Ok(TextWritten::Taken)
            }
            Some(None) => Err(io::Error::other("The editor has gone.")),
        }
    }
}

fn session() -> (Session, Arc<Editor>) {
    let editor = Arc::<Editor>::default();
    let files = editor.clone() as Arc<dyn Files>;
    (Session::with(|context| context.files = files), editor)
}

#[tokio::test]
async fn the_model_reads_and_changes_what_the_editor_holds() {
    let (session, editor) = session();
    let path = session.file("a.txt", "saved\n");
    editor.opens(path.clone(), Some("unsaved ü\r\ntwo\r\n"));
    let read = || session.ok("read_file", json!({"file_path": "a.txt"}));
    assert_eq!(read().await, "unsaved ü\ntwo\n");
    let replace = |old: &str, new: &str| json!({"file_path": "a.txt", "instruction": "", "old_string": old, "new_string": new});
    session.ok("replace", replace("two", "three")).await;
    assert_eq!(editor.text(&path).unwrap(), "unsaved ü\r\nthree\r\n", "its line ends stay");
    assert_eq!(read().await, "unsaved ü\nthree\n");
    let (kind, _) = session.err("replace", replace("saved\n\n", "x")).await;
    assert_eq!(kind, ToolErrorKind::EditNoOccurrenceFound, "the disk is not looked at");
    session.ok("write_file", json!({"file_path": "a.txt", "content": "all\nnew\n"})).await;
    assert_eq!(editor.text(&path).unwrap(), "all\r\nnew\r\n");
    assert_eq!(session.text("a.txt"), "saved\n", "nothing went to the disk");
}

#[tokio::test]
async fn what_the_person_types_meanwhile_is_not_overwritten() {
    let (session, editor) = session();
    let path = session.file("a.txt", "saved\n");
    editor.opens(path.clone(), Some("read\n"));
    session.ok("read_file", json!({"file_path": "a.txt"})).await;
    editor.opens(path.clone(), Some("typed\n"));
    let write = json!({"file_path": "a.txt", "content": "x\n"});
    let (kind, message) = session.err("write_file", write).await;
    assert_eq!(kind, ToolErrorKind::FileWriteFailure, "{message}");
    assert_eq!(editor.text(&path).unwrap(), "typed\n");
}

#[tokio::test]
async fn a_file_that_was_never_saved_can_be_read() {
    let (session, editor) = session();
    editor.opens(session.path("new.txt"), Some("fresh\n"));
    assert_eq!(session.ok("read_file", json!({"file_path": "new.txt"})).await, "fresh\n");
    session.ok("write_file", json!({"file_path": "new.txt", "content": "more\n"})).await;
    assert!(!session.path("new.txt").exists());
}

#[tokio::test]
async fn other_files_are_those_of_the_disk() {
    let (session, _) = session();
    session.file("a.txt", "saved\n");
    assert_eq!(session.ok("read_file", json!({"file_path": "a.txt"})).await, "saved\n");
    session.ok("write_file", json!({"file_path": "a.txt", "content": "written\n"})).await;
    assert_eq!(session.text("a.txt"), "written\n");
}

#[tokio::test]
async fn a_failure_of_the_editor_is_one_of_the_call() {
    let (session, editor) = session();
    editor.opens(session.file("a.txt", "saved\n"), None);
    let calls = [
        ("read_file", json!({"file_path": "a.txt"})),
        ("write_file", json!({"file_path": "a.txt", "content": "x"})),
    ];
    for (tool, args) in calls {
        let (_, message) = session.err(tool, args).await;
        assert!(message.contains("The editor has gone."), "{tool}: {message}");
    }
    assert_eq!(session.text("a.txt"), "saved\n");
}

#[tokio::test]
async fn files_read_together_are_those_of_the_editor_too() {
    let (session, editor) = session();
    let path = session.file("a.txt", "saved\n");
    editor.opens(path.clone(), Some("unsaved\n"));
    let reported = session.ok("read_many_files", json!({"include": ["a.txt"]})).await;
    assert!(reported.contains("unsaved") && !reported.contains("\nsaved"), "{reported}");
    // The reader that `@path` in prompts uses.
    let workspace = Workspace::new(session.root.clone(), session.spill.clone());
    let content = FileReader::new(&workspace, &*editor).read(&path, "a.txt", true).unwrap();
    let FileContent::Text(file) = content else { panic!("{content:?}") };
    assert_eq!(file.text, "unsaved\n");
}
