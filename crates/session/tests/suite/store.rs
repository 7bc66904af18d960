use std::path::Path;
use std::time::{Duration, Instant};

use pollux_protocol::{CallStatus, Journal, TranscriptFrom, TranscriptItem};
use pollux_session::{SessionError, SessionStore};
use serde_json::json;

use super::resume::{said, store};

fn write(folder: &Path, name: &str, lines: &[serde_json::Value]) {
    let chats = folder.join("chats");
    std::fs::create_dir_all(&chats).unwrap();
    let text = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    std::fs::write(chats.join(name), text).unwrap();
}

fn header(id: &str, start: &str) -> serde_json::Value {
    json!({ "sessionId": id, "projectHash": "h", "startTime": start, "lastUpdated": start, "kind": "main" })
}

fn user(text: &str) -> serde_json::Value {
    json!({ "id": "u", "type": "user", "content": [{ "text": text }] })
}

fn sample(folder: &Path) -> SessionStore {
    let context = json!({ "$set": { "messages": [user("<session_context>x")] } });
    write(
        folder,
        "session-b.jsonl",
        &[header("second", "2026-01-02T00:00:00.000Z"), context.clone(), user("two\nlines")],
    );
    write(folder, "session-a.jsonl", &[header("first", "2026-01-01T00:00:00.000Z"), user("one")]);
    write(
        folder,
        "session-c.jsonl",
        &[header("silent", "2026-01-03T00:00:00.000Z"), context, user("/help")],
    );
    let mut child = header("child", "2026-01-04T00:00:00.000Z");
    child["kind"] = json!("subagent");
    write(folder, "session-d.jsonl", &[child, user("sub")]);
    write(folder, "session-e.jsonl", &[json!("garbage")]);
    write(folder, "session-f.jsonl", &[]);
    write(folder, "other.jsonl", &[header("other", "2026-01-05T00:00:00.000Z"), user("no")]);
    store(folder)
}

#[test]
fn the_list_is_in_order_and_hides_what_nobody_can_resume() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = sample(folder.path()).list().unwrap();
    let shown: Vec<_> = sessions
        .iter()
        .map(|session| (session.index, session.id.as_str(), session.title()))
        .collect();
    assert_eq!(
        shown,
        [(1, "first", "one"), (2, "second", "two lines"), (3, "session-e", "(damaged file)")]
    );
}

#[test]
fn the_title_is_what_the_user_typed() {
    let folder = tempfile::tempdir().unwrap();
    let mut message = user("read @a.txt\n--- Content from referenced files ---\nsecret");
    message["displayContent"] = json!([{ "text": "read @a.txt" }]);
    write(folder.path(), "session-a.jsonl", &[header("a", "2026-01-31T10:00:00.000Z"), message]);
    assert_eq!(store(folder.path()).list().unwrap()[0].title(), "read @a.txt");
}

#[test]
fn identifiers_are_ids_first_then_strict_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample(folder.path());
    assert_eq!(store.find("latest").unwrap().id, "second");
    assert_eq!(store.find(" 1 ").unwrap().id, "first");
    assert_eq!(store.find("second").unwrap().index, 2);
    for wrong in ["0", "4", "01", "1a", "-1", "silent", "child", ""] {
        let error = store.find(wrong).unwrap_err();
        let expected = format!(
            "Invalid session identifier \"{wrong}\".\n  Searched for sessions in {}.\n  Use --list-sessions to see available sessions, then use --resume {{number}}, --resume {{uuid}}, or --resume latest.",
            folder.path().join("chats").display()
        );
        assert_eq!(error.to_string(), expected);
    }
    let empty = tempfile::tempdir().unwrap();
    let error = super::resume::store(empty.path()).find("1").unwrap_err();
    assert_eq!(error.to_string(), "No previous sessions found for this project.");
}

#[test]
fn a_given_id_is_checked_and_used_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let log = store.create(Some("build-1234-a")).unwrap();
    let name = log.path().file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name.starts_with("session-20") && name.ends_with("-build-12.jsonl"), "{name}");
    let error = store.create(Some("build-1234-a")).err().unwrap();
    assert_eq!(
        error.to_string(),
        "Session ID \"build-1234-a\" already exists. Use --resume to resume it, or provide a different ID."
    );
    // Two ids with the same first eight characters, possibly in the same minute.
    let other = store.create(Some("build-1234-b")).unwrap();
    assert_ne!(other.path(), log.path());
    for wrong in ["", "../x", "a b", "a/b", "é"] {
        assert!(matches!(store.create(Some(wrong)), Err(SessionError::InvalidId(_))), "{wrong}");
    }
}

#[test]
fn deleting_takes_what_was_asked_for_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample(folder.path());
    let belongings = folder.path().join("tool-outputs/session-first");
    std::fs::create_dir_all(&belongings).unwrap();
    assert!(matches!(store.delete("1", Some("first")), Err(SessionError::Current)));
    let wrong = store.delete("1x", None).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "Invalid session identifier \"1x\". Use --list-sessions to see available sessions."
    );
    assert_eq!(store.delete("1", None).unwrap().id, "first");
    assert!(!belongings.exists());
    let left: Vec<String> = store.list().unwrap().into_iter().map(|session| session.id).collect();
    assert_eq!(left, ["second", "session-e"]);
}

#[test]
fn a_deleted_session_does_not_come_back_from_another_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, id) in [
        ("session-1-abcdefgh.jsonl", "abcdefgh-1"),
        ("session-2-abcdefgh.jsonl", "abcdefgh-1"),
        ("session-3-abcdefgh.jsonl", "abcdefgh-2"),
    ] {
        write(folder.path(), name, &[header(id, "2026-01-01T00:00:00.000Z"), user("x")]);
    }
    let store = store(folder.path());
    store.delete("abcdefgh-1", None).unwrap();
    let left: Vec<_> = store.list().unwrap().into_iter().map(|session| session.id).collect();
    assert_eq!(left, ["abcdefgh-2"]);
}

#[test]
fn what_the_end_of_a_long_file_says_counts() {
    let folder = tempfile::tempdir().unwrap();
    let long = json!({ "id": "g", "type": "gemini", "content": "x".repeat(100_000) });
    let start = "2026-01-01T00:00:00.000Z";
    let reported =
        json!({ "$set": { "summary": "A title", "lastUpdated": "2026-02-02T00:00:00.000Z" } });
    let tail = json!({ "id": "i", "type": "info", "content": "y" });
    write(
        folder.path(),
        "session-1.jsonl",
        &[header("titled", start), user("x"), long.clone(), reported, tail.clone()],
    );
    let gone = json!({ "$rewindTo": "u" });
    write(
        folder.path(),
        "session-2.jsonl",
        &[header("emptied", start), user("x"), long, gone, tail],
    );
    let listed = store(folder.path()).list().unwrap();
    let reported: Vec<_> =
        listed.iter().map(|session| (session.title(), session.last_updated.as_str())).collect();
    assert_eq!(reported, [("A title", "2026-02-02T00:00:00.000Z")]);
}

#[test]
fn a_session_in_the_old_format_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let mut old = header("old", "2026-01-01T00:00:00.000Z");
    old["summary"] = json!("A title");
    old["directories"] = json!(["/d"]);
    old["messages"] = json!([user("hello"), { "id": "i", "type": "info", "content": "noted" }]);
    write(folder.path(), "session-old.json", &[old]);
    let store = store(folder.path());
    let session = store.find("latest").unwrap();
    store.resume(&session).unwrap();
    let text = std::fs::read_to_string(folder.path().join("chats/session-old.jsonl")).unwrap();
    for part in [r#""summary":"A title""#, r#""directories":["/d"]"#, "noted", "hello"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(store.list().unwrap()[0].title(), "A title");
}

#[test]
fn a_session_named_after_a_folder_of_the_state_deletes_no_other_sessions() {
    let folder = tempfile::tempdir().unwrap();
    for (name, id) in
        [("session-1.jsonl", "chats"), ("session-2.jsonl", ".."), ("session-3.jsonl", "keep")]
    {
        write(folder.path(), name, &[header(id, "2026-01-01T00:00:00.000Z"), user("x")]);
    }
    let store = store(folder.path());
    store.delete("chats", None).unwrap();
    store.delete("..", None).unwrap();
    assert_eq!(store.list().unwrap().len(), 1);
    assert!(folder.path().exists());
}

#[tokio::test]
async fn a_file_from_elsewhere_becomes_a_new_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let path = folder.path().join("elsewhere.jsonl");
    let text = format!(
        "{}\n{}\n{}\n",
        header("theirs", "2026-01-01T00:00:00.000Z"),
        user("hello"),
        json!({ "id": "i", "type": "info", "content": "x" })
    );
    std::fs::write(&path, text).unwrap();
    let (log, data) = store.import(&path).unwrap();
    assert_ne!(data.id, "theirs");
    assert_eq!(data.contents.len(), 1);
    log.append(&[said("u2", "more").into()]).await.unwrap();
    let lines = std::fs::read_to_string(log.path()).unwrap();
    assert!(lines.contains(&format!("Imported session from {}", path.display())));
    assert!(!lines.contains("\"content\":\"x\""));
    let missing = folder.path().join("missing");
    let error = store.import(&missing).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("File not found or invalid format: {}", missing.display())
    );
}

#[test]
fn an_old_session_goes_on_in_a_new_file_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let old = json!({ "sessionId": "old", "projectHash": "h", "startTime": "2025-01-01T00:00:00.000Z", "lastUpdated": "2025-01-01T00:00:00.000Z", "messages": [{ "id": "u", "type": "user", "content": "hi" }] });
    let chats = folder.path().join("chats");
    std::fs::create_dir_all(&chats).unwrap();
    std::fs::write(chats.join("session-old.json"), serde_json::to_string_pretty(&old).unwrap())
        .unwrap();
    let store = store(folder.path());
    for _ in 0..2 {
        let (log, data) = store.resume(&store.find("old").unwrap()).unwrap();
        assert_eq!(data.contents.len(), 1);
        assert!(log.path().ends_with("session-old.jsonl"));
    }
    assert!(chats.join("session-old.json").exists());
    assert_eq!(store.list().unwrap().len(), 1);
}

#[test]
fn two_thousand_sessions_are_listed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(30_000);
    for number in 0..2_000 {
        let answer = json!({ "id": "m", "type": "gemini", "content": long });
        let start = format!("2026-01-01T00:{:02}:{:02}.000Z", number / 60, number % 60);
        write(
            folder.path(),
            &format!("session-{number}.jsonl"),
            &[header(&number.to_string(), &start), user("hi"), answer],
        );
    }
    let store = store(folder.path());
    let start = Instant::now();
    assert_eq!(store.list().unwrap().len(), 2_000);
    // Reading every file completely takes minutes.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_call_without_an_end_is_interrupted_in_the_copy_of_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original.jsonl");
    let lines = [
        r#"{"sessionId":"s","projectHash":"h"}"#,
        r#"{"id":"m","type":"gemini","content":"","toolCalls":[{"id":"a","name":"t","args":{},"status":"validating"}]}"#,
    ];
    std::fs::write(&original, lines.join("\n")).unwrap();
    let (log, _) = store(folder.path()).import(&original).unwrap();
    let page = log.transcript(TranscriptFrom::End, 1).await.unwrap();
    let [TranscriptItem::Answer(answer)] = &page.items[..] else { panic!("{page:?}") };
    assert_eq!(answer.calls[0].status, CallStatus::Cancelled);
}

#[test]
fn a_preview_has_the_last_prompt_and_the_number_of_messages() {
    let folder = tempfile::tempdir().unwrap();
    let result = json!({ "functionResponse": { "id": "1", "name": "t", "response": {} } });
    let message = |id: &str, kind: &str, part: serde_json::Value| json!({ "id": id, "type": kind, "content": [part] });
    let lines = [
        header("long", "2026-01-01T00:00:00.000Z"),
        message("1", "user", json!({ "text": "begin" })),
        message("2", "gemini", json!({ "text": "begun" })),
        message("3", "user", json!({ "text": "go\n\u{1b}[2J on" })),
        message("4", "gemini", json!({ "text": "gone" })),
        message("5", "user", result),
    ];
    write(folder.path(), "session-a.jsonl", &lines);
    let store = store(folder.path());
    let mut session = store.find("long").unwrap();
    let preview = store.preview(&session).unwrap();
    assert_eq!((preview.messages, preview.last_prompt.as_deref()), (5, Some("go on")));
    session.path = folder.path().join("gone.jsonl");
    assert_eq!(store.preview(&session), None);
}
