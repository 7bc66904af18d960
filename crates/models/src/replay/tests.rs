use pollux_protocol::{Content, FinishReason, HistoryEntry, Part};
use serde_json::json;

use super::*;

const STREAM: &str = r#"{"method":"generateContentStream","response":[{"candidates":[{"content":{"role":"model","parts":[{"text":"h"}]},"index":0}]},{"candidates":[{"content":{"role":"model","parts":[{"text":"i"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}]}"#;
const JSON: &str = r#"{"method":"generateContent","response":{"candidates":[{"content":{"parts":[{"text":"{\"a\":1}"}]}}]}}"#;
const COUNT: &str =
    r#"{"method":"countTokens","response":{"totalTokens":12,"cachedContentTokenCount":0}}"#;
const EMBED: &str =
    r#"{"method":"embedContent","response":{"embeddings":[{"values":[0.5,1]}],"metadata":{}}}"#;

fn model(lines: &[&str], strict: bool) -> ReplayModel {
    let replay = Replay::from_text(&lines.join("\n\n"), strict).unwrap();
    ReplayModel::new(Arc::new(replay), "m")
}

fn request() -> ModelRequest {
    let entries = vec![HistoryEntry::detached(Content::user(vec![Part::text("hello")]))];
    ModelRequest { entries, ..ModelRequest::default() }
}

fn json_request() -> JsonRequest {
    JsonRequest { request: request(), schema: json!({}), max_attempts: 1 }
}

async fn text(model: &ReplayModel) -> Result<String, ModelError> {
    let mut chunks = model.stream(request(), CancellationToken::new()).await?;
    let mut text = String::new();
    while let Some(chunk) = chunks.next().await {
        text.extend(chunk?.parts.iter().filter_map(Part::as_text));
    }
    Ok(text)
}

#[tokio::test]
async fn every_method_answers_from_the_file() {
    let model = model(&[STREAM, JSON, COUNT, EMBED], true);
    let cancel = CancellationToken::new;
    let chunks: Vec<_> = model.stream(request(), cancel()).await.unwrap().collect().await;
    assert_eq!(chunks.len(), 2);
    let last = chunks[1].as_ref().unwrap();
    assert_eq!((&last.finish, last.usage.unwrap().total), (&Some(FinishReason::Stop), 2));
    assert_eq!(model.generate_json(json_request(), cancel()).await.unwrap().0, json!({"a": 1}));
    assert_eq!(model.count_tokens(request(), cancel()).await.unwrap(), 12);
    assert_eq!(model.embed(vec!["x".to_owned()], cancel()).await.unwrap(), [[0.5, 1.0]]);
    assert_eq!(model.replay.remaining(), 0);
}

#[tokio::test]
async fn a_strict_script_fails_on_another_method_and_consumes_the_answer() {
    let model = model(&[COUNT, STREAM], true);
    assert_eq!(
        text(&model).await.unwrap_err().message,
        "Unexpected response type, next response was for countTokens but expected generateContentStream"
    );
    assert_eq!(text(&model).await.unwrap(), "hi");
}

#[tokio::test]
async fn another_script_takes_the_first_answer_of_the_method() {
    let model = model(&[COUNT, STREAM, COUNT], false);
    assert_eq!(text(&model).await.unwrap(), "hi");
    assert_eq!(model.replay.remaining(), 2);
}

#[tokio::test]
async fn an_exhausted_script_shows_the_request() {
    let model = model(&[], true);
    let error = text(&model).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Replay);
    assert_eq!(
        error.message,
        "No more mock responses for generateContentStream, got request:\n{\"model\":\"m\",\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hello\"}]}]}"
    );
}

#[test]
fn a_line_that_is_no_answer_is_named() {
    for line in ["{", "7", r#"{"method":"generateContent"}"#] {
        let error = Replay::from_text(&format!("{COUNT}\n\n{line}\n"), true).unwrap_err();
        assert!(error.message.starts_with("line 3 of the recorded responses: "), "{error}");
    }
    assert!(Replay::from_text(&format!("\u{feff}{COUNT}\r\n \n"), true).is_ok());
}

#[tokio::test]
async fn an_answer_of_the_wrong_shape_names_its_line() {
    for response in ["{}", "[7]", r#"[{"candidates":7}]"#] {
        let line = format!(r#"{{"method":"generateContentStream","response":{response}}}"#);
        let error = text(&model(&[&line], true)).await.unwrap_err();
        assert!(error.message.starts_with("line 1 "), "{error}");
        assert_eq!(error.kind, ModelErrorKind::Replay);
    }
    let refusal =
        r#"{"method":"generateContentStream","response":[{"error":{"code":400,"message":"no"}}]}"#;
    assert_eq!(text(&model(&[refusal], true)).await.unwrap_err().kind, ModelErrorKind::Invalid);
}

#[tokio::test]
async fn a_cancelled_stream_says_so_and_ends() {
    let model = model(&[STREAM], true);
    let cancel = CancellationToken::new();
    let mut chunks = model.stream(request(), cancel.clone()).await.unwrap();
    assert!(chunks.next().await.unwrap().is_ok());
    cancel.cancel();
    assert_eq!(chunks.next().await.unwrap().unwrap_err().kind, ModelErrorKind::Cancelled);
    assert!(chunks.next().await.is_none());
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("missing.jsonl");
    let error = Replay::from_file(&path, true).unwrap_err();
    assert!(error.message.contains("missing.jsonl"), "{error}");
    assert!(Replay::from_file(directory.path(), true).is_err());
}
