use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pollux_protocol::{CallId, Effects, Origin};
use pretty_assertions::assert_eq;

use super::*;

struct Project {
    home: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self { home: tempfile::tempdir().unwrap() };
        fs::create_dir(project.root()).unwrap();
        project
    }

    fn root(&self) -> PathBuf {
        self.home.path().join("project")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.root().join(path)).unwrap();
    }

    fn repository(&self) -> ShadowRepository {
        let path = std::env::var_os("PATH").unwrap();
        ShadowRepository::new(self.home.path().join("history"), self.root(), path)
    }

    fn checkpoints(&self) -> GitCheckpoints {
        let records = CheckpointRecords::new(self.home.path().join("checkpoints"));
        GitCheckpoints::new(self.repository(), records, "s1")
    }

    /// Returns the content of all files of the project.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.root(), "", &mut files);
        files
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}

#[tokio::test]
async fn a_restore_gives_back_every_byte_and_can_be_taken_back() {
    let project = Project::new();
    let repository = project.repository();
    project.write(".gitattributes", "* text=auto eol=crlf\n*.x filter=evil\n");
    project.write(".gitignore", "ignored\n");
    project.write("dos.txt", "a\r\nb\r\n");
    project.write("mixed.x", "a\r\nb\n\u{0}");
    project.write("untracked/deep/file", "1");
    project.write("ignored", "secret");
    let before = project.files();
    let snapshot = repository.snapshot("one").await.unwrap();
    assert_eq!(repository.snapshot("again").await.unwrap(), snapshot, "nothing has changed");

    project.write("dos.txt", "changed");
    project.remove("untracked/deep/file");
    project.write("-new\n file", "2");
    project.write("untracked/other", "3");
    project.write("ignored", "still mine");
    let after = project.files();
    let now = repository.snapshot("two").await.unwrap();
    let mut changes: Vec<_> = repository
        .changes(&now, &snapshot)
        .await
        .unwrap()
        .into_iter()
        .map(|file| (file.path, file.change))
        .collect();
    changes.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("-new\n file", FileChange::Removed),
        ("dos.txt", FileChange::Changed),
        ("untracked/deep/file", FileChange::Created),
        ("untracked/other", FileChange::Removed),
    ];
    assert_eq!(changes, expected.map(|(path, change)| (path.to_owned(), change)));

    repository.restore(&now, &snapshot).await.unwrap();
    let mut expected = before.clone();
    expected.insert("ignored".to_owned(), b"still mine".to_vec());
    assert_eq!(project.files(), expected, "what Git ignores is not touched");
    let again = repository.snapshot("three").await.unwrap();
    repository.restore(&again, &now).await.unwrap();
    assert_eq!(project.files(), after);
}

#[tokio::test]
async fn a_file_that_has_changed_since_the_question_is_not_overwritten() {
    let project = Project::new();
    let repository = project.repository();
    project.write("a", "1");
    let snapshot = repository.snapshot("one").await.unwrap();
    project.write("a", "2");
    let now = repository.snapshot("two").await.unwrap();
    project.write("a", "3");
    assert!(repository.restore(&now, &snapshot).await.is_err());
    assert_eq!(project.files()["a"], b"3");
}

#[tokio::test]
async fn a_command_that_was_killed_blocks_nothing() {
    let project = Project::new();
    let repository = project.repository();
    project.write("a", "1");
    let first = repository.snapshot("one").await.unwrap();
    fs::write(project.home.path().join("history/.git/index.lock"), "").unwrap();
    project.write("a", "2");
    assert_ne!(repository.snapshot("two").await.unwrap(), first);
}

#[tokio::test]
async fn only_snapshots_are_restored() {
    let project = Project::new();
    let repository = project.repository();
    project.write("a", "1");
    let now = repository.snapshot("one").await.unwrap();
    for name in ["HEAD", "--help", "", &"0".repeat(40), &"z".repeat(40), "main"] {
        let error = repository.restore(&now, name).await.unwrap_err();
        assert_eq!(error, RepositoryError::Invalid(name.to_owned()), "{name}");
    }
    assert_eq!(project.files().len(), 1);
}

#[tokio::test]
async fn the_project_s_own_repository_and_the_user_s_configuration_are_not_used() {
    let project = Project::new();
    let marker = project.home.path().join("ran");
    let script = format!("#!/bin/sh\ntouch {}\n", marker.display());
    project.write(".git/hooks/pre-commit", &script);
    project.write(".git/HEAD", "ref: refs/heads/mine\n");
    project.write(".git/config", &format!("[core]\nfsmonitor = {}\n", marker.display()));
    project.write("a", "1");
    let before = project.files();
    project.repository().snapshot("one").await.unwrap();
    assert_eq!(project.files(), before);
    assert!(!marker.exists());
    let error = ShadowRepository::new(
        project.home.path().join("history"),
        project.root(),
        project.home.path().into(),
    );
    assert_eq!(error.check().await, Err(RepositoryError::NoGit));
}

fn pending(name: &str, effects: Effects) -> PendingCall {
    let args = json!({ "file_path": "src/ma in.rs" }).as_object().cloned().unwrap();
    let (call_id, name) = (CallId::new("1"), name.to_owned());
    PendingCall { call_id, name, args: Value::Object(args), effects }
}

#[tokio::test]
async fn a_record_names_the_call_and_the_prompt() {
    let project = Project::new();
    let checkpoints = project.checkpoints();
    let recorded = |id: &str, display| {
        let (id, parts) = (EntryId::new(id), Vec::new());
        let record = Record::User { id, parts, display };
        Envelope { origin: Arc::new(Origin::default()), event: Event::Recorded(Arc::new(record)) }
    };
    checkpoints.observe(&recorded("typed", MessageDisplay::Parts));
    checkpoints.observe(&recorded("hidden", MessageDisplay::Hidden));
    checkpoints.before(&[pending("read_file", Effects::read("/a"))]).await.unwrap();
    assert_eq!(checkpoints.records().names(), [""; 0], "a call that only reads needs none");
    checkpoints.before(&[pending("replace", Effects::write("/a"))]).await.unwrap();
    let names = checkpoints.records().names();
    let [name] = &names[..] else { panic!("{names:?}") };
    assert!(name.ends_with("Z-ma_in.rs-replace"), "{name}");
    for wanted in [name.clone(), format!("{name}.json")] {
        let record = checkpoints.records().read(&wanted).unwrap().unwrap();
        assert_eq!(record.prompt_entry, Some(EntryId::new("typed")));
        assert_eq!(record.tool_call.name, "replace");
        assert_eq!(record.commit_hash.map(|hash| hash.len()), Some(40));
    }
    for name in ["../checkpoints", "nosuch", "", ".."] {
        assert_eq!(checkpoints.records().read(name).unwrap(), None, "{name}");
    }
}

#[test]
fn the_oldest_records_are_deleted_and_others_are_read_with_care() {
    let folder = tempfile::tempdir().unwrap();
    let records = CheckpointRecords::new(folder.path().to_owned());
    for number in 0..KEPT + 3 {
        fs::write(folder.path().join(format!("2020-01-01-{number:04}.json")), "[]").unwrap();
    }
    let tool_call = CheckpointCall { name: "a/../b".to_owned(), args: Value::Null };
    let record =
        CheckpointRecord { commit_hash: None, tool_call, session_id: None, prompt_entry: None };
    let name = records.add(&record).unwrap();
    let names = records.names();
    assert_eq!((names.len(), names.last()), (KEPT, Some(&name)));
    assert_eq!(names[0], "2020-01-01-0004");
    assert!(records.read(&names[0]).is_err());
    // A record of Gemini CLI.
    let foreign = r#"{"history":[],"clientHistory":[],"toolCall":{"name":"replace","args":{}},"commitHash":"x","messageId":"m"}"#;
    fs::write(folder.path().join("z.json"), foreign).unwrap();
    let read = records.read("z").unwrap().unwrap();
    assert_eq!((read.commit_hash.as_deref(), read.session_id), (Some("x"), None));
}
