use pollux_protocol::{EntryId, MessageDisplay, Part};

use super::*;

fn said(text: &str) -> Record {
    Record::User {
        id: EntryId::new("u"),
        parts: vec![Part::text(text)],
        display: MessageDisplay::Parts,
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_stops_the_log_for_good() {
    let file = AppendLog::open(Path::new("/dev/full")).unwrap();
    let log = SessionLog::new("s", file, true);
    for _ in 0..2 {
        let error = log.append(&[said("x").into()]).await.unwrap_err();
        assert!(matches!(error, JournalError::NoSpace { .. }), "{error}");
    }
    assert!(log.sync().await.is_err());
}

#[tokio::test]
async fn a_cancelled_append_still_writes_whole_lines_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let log = SessionLog::new("s", AppendLog::open(&path).unwrap(), false);
    for _ in 0..50 {
        let records = [said(&"x".repeat(10_000)).into()];
        let append = log.append(&records);
        drop(tokio::time::timeout(std::time::Duration::ZERO, append).await);
    }
    log.append(&[said("last").into()]).await.unwrap();
    let text = String::from_utf8(pollux_fs::read_bytes(&path, 1 << 30).unwrap()).unwrap();
    assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    assert!(text.lines().rev().nth(1).unwrap().contains("last"));
}

#[test]
fn times_have_milliseconds() {
    let time: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    assert_eq!(timestamp(time), "2026-01-31T12:00:00.000Z");
}
