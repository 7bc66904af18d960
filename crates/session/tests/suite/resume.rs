use std::io::Write as _;
use std::path::{Path, PathBuf};

use pollux_config::ProjectIdentity;
use pollux_protocol::{
    CallId, CallRecord, CallStatus, EntryId, History, Journal, MessageDisplay, MessageRecord, Part,
    Record,
};
use pollux_session::{SessionError, SessionStore};
use serde_json::json;

pub(crate) fn store(folder: &Path) -> SessionStore {
    SessionStore::new(&ProjectIdentity {
        root: PathBuf::from("/project"),
        hash: "hash".to_owned(),
        slug: "project".to_owned(),
        temporary_dir: folder.to_owned(),
        history_dir: folder.join("history"),
        warning: None,
    })
}

pub(crate) fn said(id: &str, text: &str) -> Record {
    Record::User {
        id: EntryId::new(id),
        parts: vec![Part::text(text)],
        display: MessageDisplay::Parts,
    }
}

fn asked(ids: &[&str]) -> Record {
    let call = |id: &&str| CallRecord {
        id: CallId::new(*id),
        name: "tool".to_owned(),
        args: json!({}),
        status: CallStatus::Scheduled,
        result: None,
        result_display: None,
        description: String::new(),
        display_name: String::new(),
        kind: None,
        locations: Vec::new(),
        render_output_as_markdown: false,
    };
    Record::Model(MessageRecord {
        id: EntryId::new("m"),
        parts: ids.iter().map(|id| Part::call(*id, "tool", json!({}))).collect(),
        thoughts: Vec::new(),
        usage: None,
        model: "model".to_owned(),
        interrupted: false,
        calls: ids.iter().map(call).collect(),
    })
}

fn finished(id: &str) -> Record {
    let Record::Model(message) = asked(&[id]) else { unreachable!() };
    Record::CallFinished(CallRecord {
        status: CallStatus::Success,
        result: Some(vec![Part::output(id, "tool", "done")]),
        ..message.calls[0].clone()
    })
}

#[tokio::test]
async fn killed_in_the_middle_of_a_call_the_other_results_survive() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let log = store.create(None).unwrap();
    for record in [said("u", "go"), asked(&["a", "b"]), finished("b")] {
        log.append(&[record.into()]).await.unwrap();
    }
    let id = log.session_id().to_owned();
    drop(log);
    let (log, data) = store.resume(&store.find("latest").unwrap()).unwrap();
    assert_eq!((log.session_id(), data.id.as_str()), (id.as_str(), id.as_str()));
    let (mut history, _) = History::restore(data.contents);
    let results = history.entries().last().unwrap().content().clone();
    let answers: Vec<_> = results.responses().collect();
    assert!(answers[0].response["error"].as_str().unwrap().contains("interrupted"));
    assert_eq!(answers[1].response, json!({ "output": "done" }));
    // The session continues, and resuming gives the same conversation again.
    log.append(&[said("u2", "go on").into()]).await.unwrap();
    history.push_user(EntryId::new("u2"), vec![Part::text("go on")]);
    drop(log);
    let (_log, data) = store.resume(&store.find(&id).unwrap()).unwrap();
    let (again, _) = History::restore(data.contents);
    let texts = |history: &History| {
        format!("{:?}", history.entries().iter().map(|e| e.content()).collect::<Vec<_>>())
    };
    assert_eq!(texts(&again), texts(&history));
}

#[tokio::test]
async fn a_call_and_its_tail_calls_are_counted_each_under_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let log = store.create(None).unwrap();
    let ended = |id: &str, name: &str, output: &str| {
        let Record::CallFinished(call) = finished("a") else { unreachable!() };
        let result = Some(vec![Part::output("a", "tool", output)]);
        Record::CallFinished(CallRecord {
            id: CallId::new(id),
            name: name.to_owned(),
            result,
            ..call
        })
    };
    let records = [
        said("u", "go"),
        asked(&["a", "b"]),
        ended("a", "tool", "first"),
        ended("a_tail1", "second", "1"),
        ended("a", "tool", "1"),
        ended("a_tail2", "third", "2"),
        ended("a", "tool", "2"),
    ];
    for record in records {
        log.append(&[record.into()]).await.unwrap();
    }
    let resumed = || {
        let data = store.resume(&store.find("latest").unwrap()).unwrap().1;
        let counts = data.figures.tools.iter().map(|(name, tool)| (name.clone(), tool.success));
        let counts: Vec<_> = counts.collect();
        let (history, _) = History::restore(data.contents);
        let results = history.entries().last().unwrap().content().clone();
        assert_eq!(history.entries()[1].content().calls().count(), 2);
        let answer = results.responses().next().unwrap();
        assert_eq!((answer.name.as_str(), &answer.response), ("tool", &json!({"output": "2"})));
        (counts, results.responses().count())
    };
    drop(log);
    let named = |tools: u64| {
        [("tool", tools), ("second", 1), ("third", 1)].map(|(name, count)| (name.to_owned(), count))
    };
    assert_eq!(resumed(), (named(1).to_vec(), 2));
    // The message is written again when its last call has ended.
    let (log, _) = store.resume(&store.find("latest").unwrap()).unwrap();
    log.append(&[finished("b").into()]).await.unwrap();
    drop(log);
    assert_eq!(resumed(), (named(2).to_vec(), 2));
}

#[tokio::test]
async fn a_torn_last_line_costs_that_line_and_nothing_is_shortened() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let log = store.create(None).unwrap();
    log.append(&[said("u", "hello").into()]).await.unwrap();
    let path = log.path().to_owned();
    drop(log);
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(br#"{"id":"torn","type":"user","content":[{"te"#).unwrap();
    let before = std::fs::read(&path).unwrap();
    let (log, data) = store.resume(&store.find("1").unwrap()).unwrap();
    assert_eq!(data.contents.len(), 1);
    assert_eq!(data.damage.len(), 1, "{:?}", data.damage);
    log.append(&[said("u2", "again").into()]).await.unwrap();
    drop(log);
    let after = std::fs::read(&path).unwrap();
    assert!(after.starts_with(&before));
    let (_log, data) = store.resume(&store.find("1").unwrap()).unwrap();
    assert_eq!(data.contents.len(), 2);
}

#[tokio::test]
async fn a_resume_lists_the_same_sessions_ten_times_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    for number in 0..3 {
        let log = store.create(Some(&format!("session-{number}"))).unwrap();
        log.append(&[said("u", &format!("work {number}")).into()]).await.unwrap();
    }
    for _ in 0..10 {
        drop(store.resume(&store.find("session-1").unwrap()).unwrap());
        assert_eq!(store.list().unwrap().len(), 3);
    }
}

#[test]
fn two_processes_do_not_share_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let log = store.create(Some("mine")).unwrap();
    std::fs::OpenOptions::new()
        .append(true)
        .open(log.path())
        .unwrap()
        .write_all(b"{\"id\":\"u\",\"type\":\"user\",\"content\":\"hi\"}\n")
        .unwrap();
    let error = store.resume(&store.find("mine").unwrap()).err().unwrap();
    let SessionError::InUse { process, .. } = &error else { panic!("{error}") };
    assert_eq!(*process, Some(std::process::id()));
    drop(log);
    assert!(store.resume(&store.find("mine").unwrap()).is_ok());
}

#[tokio::test]
async fn the_context_opens_the_file_once_and_never_wipes_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let context = |id: &str| Record::Context {
        id: EntryId::new(id),
        parts: vec![Part::text("<session_context>here")],
    };
    let log = store.create(None).unwrap();
    for record in [context("c"), said("u", "hello")] {
        log.append(&[record.into()]).await.unwrap();
    }
    drop(log);
    let (log, _) = store.resume(&store.find("latest").unwrap()).unwrap();
    log.append(&[context("c2").into()]).await.unwrap();
    drop(log);
    let (_log, data) = store.resume(&store.find("latest").unwrap()).unwrap();
    let ids: Vec<&str> = data.contents.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["c", "u", "c2"]);
}
