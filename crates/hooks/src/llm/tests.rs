use pollux_protocol::Content;
use pretty_assertions::assert_eq;

use super::*;

fn entries(contents: &[Value]) -> Vec<Arc<HistoryEntry>> {
    let read =
        |content: &Value| HistoryEntry::detached(serde_json::from_value(content.clone()).unwrap());
    contents.iter().map(read).collect()
}

fn contents(entries: &[Arc<HistoryEntry>]) -> Value {
    let contents: Vec<&Content> = entries.iter().map(|entry| entry.content()).collect();
    serde_json::to_value(contents).unwrap()
}

fn conversation() -> Vec<Arc<HistoryEntry>> {
    entries(&[
        json!({"role": "user", "parts": [{"text": "context"}]}),
        json!({"role": "user", "parts": [{"text": "go"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]}),
        json!({"role": "model", "parts": [{"functionCall": {"id": "g", "name": "glob", "args": {}}}]}),
        json!({"role": "user", "parts": [{"functionResponse": {"id": "g", "name": "glob", "response": {"output": "x"}}}]}),
        json!({"role": "model", "parts": [{"text": "done"}, {"functionCall": {"id": "h", "name": "glob", "args": {}}}]}),
    ])
}

#[test]
fn a_request_shows_words_alone() {
    let tuning =
        Tuning { temperature: Some(1.into()), top_k: Some(64.into()), ..Tuning::default() };
    assert_eq!(
        request("m", &conversation(), &tuning),
        json!({"model": "m", "messages": [
            {"role": "user", "content": "contextgo"}, {"role": "model", "content": "done"}],
            "config": {"temperature": 1, "topK": 64}})
    );
}

#[expect(clippy::needless_pass_by_value, reason = "tests hand it a literal")]
fn change(value: Value) -> RequestChange {
    RequestChange::read(value.as_object().unwrap())
}

#[test]
fn messages_take_the_places_of_words() {
    let changed = change(json!({"messages": [
        {"role": "user", "content": "A"}, {"role": "model", "content": "B"}, {"role": "user", "content": 5}]}));
    assert_eq!(
        contents(&changed.apply(&conversation()).unwrap()),
        json!([
            {"role": "user", "parts": [{"text": "A"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]},
            {"role": "model", "parts": [{"functionCall": {"id": "g", "name": "glob", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "g", "name": "glob", "response": {"output": "x"}}}]},
            {"role": "model", "parts": [{"text": "B"}, {"functionCall": {"id": "h", "name": "glob", "args": {}}}]},
            {"role": "user", "parts": [{"text": "5"}]},
        ])
    );
    let fewer = change(json!({"messages": [{"role": "user", "content": "A"}]}));
    let kept = fewer.apply(&conversation()).unwrap();
    assert_eq!(contents(&kept)[3]["parts"][0]["text"], "done");
    assert!(change(json!({"model": "x"})).apply(&conversation()).is_none());
}

#[test]
fn figures_and_models() {
    let read = change(
        json!({"model": " flash ", "config": {"temperature": 0.1, "topP": "x", "maxOutputTokens": 5}}),
    );
    assert_eq!(read.model.as_deref(), Some("flash"));
    assert_eq!(read.tuning.max_output_tokens, Some(5.into()));
    assert_eq!((read.tuning.top_p, read.tuning.top_k), (None, None));
    assert_eq!(
        change(json!({"model": 5, "messages": "x", "config": []})),
        RequestChange::default()
    );
}

#[test]
fn answers_there_and_back() {
    let chunk = ResponseChunk {
        parts: vec![Part::thought("hm"), Part::text("a"), Part::call("g", "glob", json!({}))],
        finish: Some(FinishReason::Stop),
        usage: Some(Usage { prompt: 1, candidates: 2, total: 3, ..Usage::default() }),
        ..ResponseChunk::default()
    };
    let reported = response(&chunk);
    assert_eq!(
        reported,
        json!({"text": "a", "candidates": [{"content": {"role": "model", "parts": ["hm", "a"]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}})
    );
    let back = answer(&reported).unwrap();
    assert_eq!(
        (back.parts, back.finish, back.usage),
        (vec![Part::text("hm"), Part::text("a")], chunk.finish, chunk.usage)
    );
    let empty = response(&ResponseChunk { usage: chunk.usage, ..ResponseChunk::default() });
    assert_eq!(empty["candidates"], json!([]));
    for nothing in [
        empty,
        json!({"text": "T"}),
        json!({"candidates": [{"content": {"parts": []}}]}),
        json!([]),
    ] {
        assert_eq!(answer(&nothing), None, "{nothing}");
    }
}
