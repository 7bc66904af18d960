use pollux_protocol::{Opaque, Usage};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::catalog::ReasoningKey;

fn decode(value: &Value) -> Result<ResponseChunk, ModelError> {
    decode_chat_chunk(value.to_string().as_bytes())
}

/// Reads all payloads and joins the pieces of the response.
fn read(reading: Reading, payloads: &[Value]) -> ResponseChunk {
    let mut answer = Answer::new(reading);
    let mut whole = ResponseChunk::default();
    let mut add = |chunk: ResponseChunk| {
        whole.parts.extend(chunk.parts);
        whole.finish = chunk.finish.or(whole.finish.take());
        whole.usage = chunk.usage.or(whole.usage);
    };
    for payload in payloads {
        add(answer.take(payload.to_string().as_bytes()).unwrap());
    }
    add(answer.finish());
    whole
}

fn delta(delta: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

fn finish(word: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": word}]})
}

#[test]
fn a_whole_completion_is_read() {
    let chunk = decode(&json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 7, "model": "gpt-x", "unknown": {},
        "choices": [
            {"index": 1, "message": {"content": "another"}},
            {"index": 0, "finish_reason": "tool_calls", "logprobs": null, "message": {
                "role": "assistant", "content": "Look:", "refusal": null, "reasoning_content": "hm",
                "tool_calls": [{"id": "c", "type": "function",
                    "function": {"name": "glob", "arguments": "{\"pattern\":\"*\"}"}}]}}
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
        "error": null
    }))
    .unwrap();
    let call = Part::call("c", "glob", json!({"pattern": "*"}));
    assert_eq!(chunk.parts, [Part::thought("hm"), Part::text("Look:"), call]);
    assert_eq!(chunk.finish, Some(FinishReason::Stop));
    let usage = Usage { prompt: 9, candidates: 2, total: 11, ..Usage::default() };
    assert_eq!(chunk.usage, Some(usage));
    assert_eq!(chunk.response_id.as_deref(), Some("chatcmpl-1"));
    assert_eq!(chunk.model_version.as_deref(), Some("gpt-x"));
}

#[test]
fn shapes_are_tolerated_and_others_refused_in_words() {
    for empty in [
        json!({}),
        json!({"choices": []}),
        json!({"choices": [null]}),
        json!({"choices": null}),
        json!({"choices": [{"delta": null}]}),
        json!({"choices": [{"delta": {"content": null, "tool_calls": [null]}}]}),
        json!({"id": 7, "model": {}, "choices": [{"delta": {"content": 7}}]}),
    ] {
        assert_eq!(decode(&empty).unwrap(), ResponseChunk::default(), "{empty}");
    }
    for wrong in ["", "x", "[]", "{", r#"{"choices": 7}"#, r#"{"usage": "many"}"#] {
        let error = decode_chat_chunk(wrong.as_bytes()).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Broken, "{wrong}");
        assert!(!error.message.is_empty());
    }
    let half = decode_chat_chunk(br#"{"choices":[{"delta":{"content":"\ud83e"}}]}"#).unwrap();
    assert_eq!(half.parts, [Part::text("\u{fffd}")]);
}

#[test]
fn errors_in_place_of_answers() {
    for (payload, kind, retryable) in [
        (json!({"error": {"message": "x", "code": 503}}), ModelErrorKind::Overloaded, true),
        (
            json!({"error": {"message": "x", "code": "invalid_api_key"}}),
            ModelErrorKind::Auth,
            false,
        ),
        (json!({"error": "words"}), ModelErrorKind::Overloaded, true),
        (json!({"object": "error", "message": "x", "code": 400}), ModelErrorKind::Invalid, false),
        (json!({"detail": "x"}), ModelErrorKind::Overloaded, true),
        (
            json!({"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 429, "message": "x"}}]}),
            ModelErrorKind::Overloaded,
            true,
        ),
    ] {
        let error = decode(&payload).unwrap_err();
        assert_eq!((error.kind, error.retryable), (kind, retryable), "{payload}: {error}");
    }
    assert_eq!(decode_chat_chunk(b"<html>").unwrap_err().kind, ModelErrorKind::Broken);
}

#[test]
fn finish_reasons() {
    for (word, reason) in [
        ("stop", FinishReason::Stop),
        ("tool_calls", FinishReason::Stop),
        ("length", FinishReason::MaxTokens),
        ("content_filter", FinishReason::Safety),
        ("STOP", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::MaxTokens),
        ("refusal", FinishReason::Safety),
        ("odd", FinishReason::Other("odd".to_owned())),
    ] {
        assert_eq!(decode(&finish(word)).unwrap().finish, Some(reason));
    }
}

#[test]
fn calls_come_whole_with_the_finish_and_their_own_names() {
    let sent = crate::tool_names::sent_name("a.b", crate::tool_schema::ToolDialect::Chat);
    let names = Names::new([(&*sent, "a.b")].into_iter());
    let reading = Reading { names: Arc::new(names), ..Reading::default() };
    let whole = read(
        reading,
        &[
            delta(
                &json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": sent, "arguments": "{\"a\""}}]}),
            ),
            delta(&json!({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]})),
            finish("tool_calls"),
            json!({"choices": [], "usage": {"prompt_tokens": 1}}),
        ],
    );
    assert_eq!(whole.parts, [Part::call("c", "a.b", json!({"a": 1}))]);
    assert_eq!(whole.usage.unwrap().prompt, 1);
}

#[test]
fn reasoning_that_is_wanted_back_is_a_signed_thought_before_the_calls() {
    let reading = {
        let reasoning = ReasoningReturn::Vendor(ReasoningKey::ReasoningDetails);
        Reading { reasoning, ..Reading::default() }
    };
    let call = |index: u64| json!({"index": index, "function": {"name": "f", "arguments": "{}"}});
    let whole = read(
        reading.clone(),
        &[
            delta(&json!({"reasoning": "hm", "reasoning_details": [{"type": "x", "data": "Q"}]})),
            delta(&json!({"tool_calls": [call(0), call(1)]})),
            finish("tool_calls"),
        ],
    );
    let data = r#"{"reasoning_details":[{"type":"x","data":"Q"}]}"#.to_owned();
    let opaque = Some(Opaque { dialect: "openai".to_owned(), data });
    let signed = Part { opaque, ..Part::thought("") };
    let call = || Part::call("", "f", json!({}));
    assert_eq!(whole.parts, [Part::thought("hm"), signed, call(), call()]);
    let answered = [delta(&json!({"reasoning_details": ["x"]})), delta(&json!({"content": "hi"}))];
    assert_eq!(read(reading, &answered).parts, [Part::text("hi")]);
}

#[test]
fn thoughts_are_reported_by_the_paragraph() {
    let words = ["I ", "think", ".\n", "\nThere", "fore", " I am", "."];
    let mut deltas: Vec<Value> =
        words.iter().map(|words| delta(&json!({"reasoning": words, "content": ""}))).collect();
    deltas.push(delta(&json!({"content": "Yes."})));
    let whole = read(Reading::default(), &deltas);
    assert_eq!(
        whole.parts,
        [Part::thought("I think."), Part::thought("Therefore I am."), Part::text("Yes.")]
    );
}

#[test]
fn emulated_calls_and_thoughts_in_tags() {
    let reading = Reading { emulated: true, ..Reading::default() };
    let text =
        "<think>hm</think>\nI look.\n```tool_call\n{\"name\": \"glob\", \"arguments\": {}}\n```\n";
    let deltas: Vec<Value> =
        text.split_inclusive(' ').map(|words| delta(&json!({"content": words}))).collect();
    let whole = read(reading, &[&deltas[..], &[finish("stop")]].concat());
    let call = Part::call("", "glob", json!({}));
    let text: String =
        whole.parts.iter().filter(|part| !part.thought).filter_map(Part::as_text).collect();
    assert_eq!(text, "I look.\n");
    assert_eq!(whole.parts.last(), Some(&call));
    assert_eq!(whole.parts[0], Part::thought("hm"));
}

fn decode_stream(bytes: &[u8]) -> Result<Vec<ResponseChunk>, ModelError> {
    crate::decode_chat_stream(vec![bytes.to_vec().into()])
}

#[test]
fn a_recorded_stream_is_read_whole() {
    let words = delta(&json!({"content": "<think>hm</think>yes"}));
    let stream =
        format!("data: {words}\n\ndata: {}\n\ndata: [DONE]\n\ndata: behind", finish("stop"));
    let chunks = decode_stream(stream.as_bytes()).unwrap();
    let parts: Vec<Part> = chunks.iter().flat_map(|chunk| chunk.parts.clone()).collect();
    assert_eq!(parts, [Part::thought("hm"), Part::text("yes")]);
    for broken in ["", "data: x\n\n", "garbage", &format!("data: {words}\n\n")] {
        let error = decode_stream(broken.as_bytes()).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Broken, "{broken}");
    }
}

/// Returns the parts, with thoughts joined without white space, texts joined, and other parts kept.
fn joined(parts: Vec<Part>) -> Vec<(bool, String)> {
    let mut joined: Vec<(bool, String)> = Vec::new();
    for part in parts {
        let (thought, text) = match part.as_call() {
            Some(call) => {
                joined.push((false, format!("{}({})", call.name, call.args)));
                joined.push((false, String::new()));
                continue;
            }
            None if part.thought => {
                let text = part.as_thought().unwrap_or_default();
                (true, text.split_whitespace().collect::<String>())
            }
            None => (false, part.as_text().unwrap_or_default().to_owned()),
        };
        match joined.last_mut() {
            Some((kind, before)) if *kind == thought => before.push_str(&text),
            _ => joined.push((thought, text)),
        }
    }
    joined
}

proptest! {
    #[test]
    fn any_cutting_of_the_text_gives_the_same_parts(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "<think>", "</think>", "<thi", "nk>", "a", " ", "\n", "\n\n", "```tool_call\n",
                "{\"name\":\"f\"}", "\n```\n", "```",
            ]),
            0..12,
        ),
        emulated: bool,
        cuts in prop::collection::vec(1usize..9, 0..80),
    ) {
        let text = pieces.concat();
        let mut rest = text.as_str();
        let mut deltas = Vec::new();
        for cut in cuts {
            let (head, tail) = rest.split_at(cut.min(rest.len()));
            deltas.push(delta(&json!({"content": head})));
            rest = tail;
        }
        deltas.extend([delta(&json!({"content": rest})), finish("stop")]);
        let reading = Reading { emulated, ..Reading::default() };
        let whole = [delta(&json!({"content": text})), finish("stop")];
        prop_assert_eq!(
            joined(read(reading.clone(), &deltas).parts),
            joined(read(reading, &whole).parts)
        );
    }

    #[test]
    fn anything_gives_a_chunk_or_words(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(error) = decode_chat_chunk(&bytes) {
            prop_assert!(!error.message.is_empty());
        }
    }

    #[test]
    fn any_json_gives_a_chunk_or_words(
        key in "(choices|usage|error|id|object|detail)",
        value in prop_oneof![Just(json!(null)), Just(json!([])), Just(json!({})), Just(json!("x")), Just(json!(-1.5)),
            Just(json!([{"delta": {"tool_calls": [{"index": -1, "function": {"arguments": [1]}}]}}]))],
    ) {
        if let Err(error) = decode(&json!({ key: value })) {
            prop_assert!(!error.message.is_empty());
        }
    }
}
