use pollux_protocol::{
    Citation, Content, Grounding, HistoryEntry, RetrievedUrl, Support, WebSource,
};

use super::*;
use crate::replay::{Replay, ReplayModel};

const SCRIPT: &str = r#"{"method":"generateContentStream","response":[{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"glob","args":{"pattern":"*"}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"totalTokenCount":2}}]}
{"method":"countTokens","response":{"totalTokens":12}}
{"method":"embedContent","response":{"embeddings":[{"values":[0.5]}]}}
{"method":"generateContent","response":{"candidates":[{"content":{"role":"model","parts":[{"text":"{\"a\":1}"}]},"finishReason":"STOP","index":0}],"usageMetadata":{}}}
"#;

fn recording(directory: &Path, script: &str) -> (RecordingModel, std::path::PathBuf) {
    let replay = Arc::new(Replay::from_text(script, true).unwrap());
    let path = directory.join("recorded.jsonl");
    let recorder = Arc::new(ResponseRecorder::open(&path).unwrap());
    (RecordingModel::new(Arc::new(ReplayModel::new(replay, "m")), recorder), path)
}

fn request() -> ModelRequest {
    let entries = vec![HistoryEntry::detached(Content::user(vec![Part::text("hello")]))];
    ModelRequest { entries, ..ModelRequest::default() }
}

fn recorded(path: &Path) -> String {
    String::from_utf8(pollux_fs::read_bytes(path, 1 << 20).unwrap()).unwrap()
}

#[tokio::test]
async fn a_recorded_replay_is_the_same_script() {
    let directory = tempfile::tempdir().unwrap();
    let (model, path) = recording(directory.path(), SCRIPT);
    let cancel = CancellationToken::new;
    let mut chunks = model.stream(request(), cancel()).await.unwrap();
    assert!(chunks.next().await.unwrap().is_ok());
    assert_eq!(recorded(&path), "", "nothing before the answer is complete");
    assert!(chunks.next().await.is_none());
    model.count_tokens(request(), cancel()).await.unwrap();
    model.embed(vec!["x".to_owned()], cancel()).await.unwrap();
    let json = JsonRequest { request: request(), schema: Value::Null, max_attempts: 1 };
    model.generate_json(json, cancel()).await.unwrap();
    assert_eq!(recorded(&path), SCRIPT);
}

#[tokio::test]
async fn an_answer_that_was_cut_short_is_not_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let (model, path) = recording(directory.path(), SCRIPT);
    let cancel = CancellationToken::new();
    let mut dropped = model.stream(request(), cancel.clone()).await.unwrap();
    dropped.next().await;
    drop(dropped);

    let (model, _) = recording(directory.path(), SCRIPT);
    let mut cancelled = model.stream(request(), cancel.clone()).await.unwrap();
    cancel.cancel();
    assert!(cancelled.next().await.unwrap().is_err());
    assert!(cancelled.next().await.is_none());
    assert_eq!(recorded(&path), "");
}

#[test]
fn citations_and_empty_pieces_are_kept() {
    let citation = Citation { title: None, uri: "https://a".to_owned() };
    let chunk = ResponseChunk { citations: vec![citation], ..ResponseChunk::default() };
    let text = chunk_response(&chunk).to_string();
    assert_eq!(crate::decode_chunk(text.as_bytes()).unwrap(), chunk);
    assert_eq!(chunk_response(&ResponseChunk::default()), json!({}));
}

#[test]
fn a_blocked_prompt_is_kept() {
    let finish = Some(FinishReason::PromptBlocked("SAFETY".to_owned()));
    let chunk = ResponseChunk { finish, ..ResponseChunk::default() };
    let response = chunk_response(&chunk);
    assert_eq!(response, json!({"promptFeedback": {"blockReason": "SAFETY"}}));
    assert_eq!(crate::decode_chunk(response.to_string().as_bytes()).unwrap(), chunk);
}

#[test]
fn grounding_is_kept() {
    let named = WebSource { title: Some("A".to_owned()), uri: Some("https://a".to_owned()) };
    let support =
        Support { part: 1, start: 2, end: 7, text: Some("words".to_owned()), sources: vec![1, 0] };
    let retrieved = RetrievedUrl {
        url: "https://b".to_owned(),
        success: true,
        status: "URL_RETRIEVAL_STATUS_SUCCESS".to_owned(),
    };
    let whole = Grounding {
        queries: vec!["q".to_owned()],
        sources: vec![named, WebSource::default()],
        supports: vec![support],
        retrieved: vec![retrieved.clone()],
    };
    for grounding in [
        whole,
        Grounding { retrieved: vec![retrieved], ..Grounding::default() },
        Grounding::default(),
    ] {
        let said_something = grounding != Grounding::default();
        let chunk = ResponseChunk {
            grounding: said_something.then(|| Box::new(grounding)),
            ..ResponseChunk::default()
        };
        let text = chunk_response(&chunk).to_string();
        assert_eq!(crate::decode_chunk(text.as_bytes()).unwrap(), chunk);
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_is_recorded_as_one() {
    let directory = tempfile::tempdir().unwrap();
    let line = SCRIPT.lines().last().unwrap();
    let (model, path) = recording(directory.path(), line);
    let answer = model.generate(request(), CancellationToken::new()).await.unwrap();
    assert_eq!(answer.text(), "{\"a\":1}");
    assert_eq!(recorded(&path).trim_end(), line);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let error = ResponseRecorder::open(directory.path()).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Replay);
}
