use pollux_protocol::{Body, ModelErrorKind, Opaque, Part};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn decode(value: &Value) -> Result<ResponseChunk, ModelError> {
    decode_chunk(value.to_string().as_bytes())
}

fn parts(parts: &Value) -> Vec<Part> {
    decode(&json!({"candidates": [{"content": {"role": "model", "parts": parts}}]})).unwrap().parts
}

#[test]
fn a_whole_answer_is_read() {
    let chunk = decode(&json!({
        "candidates": [
            {"content": {"role": "model", "parts": [
                {"text": "**Plan** look", "thought": true},
                {"functionCall": {"name": "glob", "args": {"pattern": "*"}, "id": "g"}, "thoughtSignature": "QU/J+D=="}
            ]}, "finishReason": "STOP", "index": 0, "safetyRatings": [{"unknown": 1}],
             "citationMetadata": {"citationSources": [{"uri": "https://a", "title": "A"}, {"title": "no uri"}]}},
            {"content": {"parts": [{"text": "another candidate"}]}}
        ],
        "usageMetadata": {"promptTokenCount": 900, "candidatesTokenCount": 20, "thoughtsTokenCount": 40,
            "totalTokenCount": 960, "cachedContentTokenCount": 7, "toolUsePromptTokenCount": 3},
        "modelVersion": "m", "responseId": "r1"
    }))
    .unwrap();
    let mut call = Part::call("g", "glob", json!({"pattern": "*"}));
    call.opaque = Some(Opaque { dialect: "gemini".to_owned(), data: "QU/J+D==".to_owned() });
    let usage = Usage {
        prompt: 900,
        candidates: 20,
        total: 960,
        cached: 7,
        cache_write: 0,
        thoughts: 40,
        tool: 3,
    };
    let expected = ResponseChunk {
        parts: vec![Part::thought("**Plan** look"), call],
        finish: Some(FinishReason::Stop),
        usage: Some(usage),
        citations: vec![Citation { title: Some("A".to_owned()), uri: "https://a".to_owned() }],
        grounding: None,
        response_id: Some("r1".to_owned()),
        model_version: Some("m".to_owned()),
    };
    assert_eq!(chunk, expected);
}

#[test]
fn grounding_is_read_and_keeps_its_places() {
    let chunk = decode(&json!({"candidates": [{
        "groundingMetadata": {
            "webSearchQueries": ["q", null],
            "searchEntryPoint": {"renderedContent": "<div>"},
            "groundingChunks": [null, {"web": {"uri": "https://a", "title": "A"}}, {"retrievedContext": {"uri": "c"}}],
            "groundingSupports": [null,
                {"segment": {"endIndex": 5, "text": "words"}, "groundingChunkIndices": [1, null, -1, 2.0], "confidenceScores": [0.5]},
                {"segment": null}]
        },
        "urlContextMetadata": {"urlMetadata": [
            {"retrievedUrl": "https://a", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},
            {"retrievedUrl": "https://b", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_PAYWALL"},
            {"urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"}, null]}
    }]}))
    .unwrap();
    let grounding = chunk.grounding.unwrap();
    assert_eq!(grounding.queries, ["q"]);
    let uris: Vec<_> = grounding.sources.iter().map(|source| source.uri.as_deref()).collect();
    assert_eq!(uris, [None, Some("https://a"), Some("c")]);
    let [first, empty] = &grounding.supports[..] else { panic!("{grounding:?}") };
    assert_eq!((first.part, first.start, first.end), (0, 0, 5));
    assert_eq!((first.text.as_deref(), &first.sources[..]), (Some("words"), &[1, 2][..]));
    assert_eq!(*empty, pollux_protocol::Support::default());
    let read: Vec<_> =
        grounding.retrieved.iter().map(|one| (one.url.as_str(), one.success)).collect();
    assert_eq!(read, [("https://a", true), ("https://b", false)]);
}

#[test]
fn nothing_is_an_empty_chunk() {
    for value in [
        json!({}),
        json!({"candidates": []}),
        json!({"candidates": null, "usageMetadata": null}),
        json!({"candidates": [null]}),
        json!({"candidates": [{}]}),
        json!({"candidates": [{"content": null, "finishReason": null}]}),
        json!({"candidates": [{"content": {"parts": null}, "finishReason": ""}]}),
        json!({"candidates": [{"groundingMetadata": {}, "urlContextMetadata": {"urlMetadata": []}}]}),
        json!({"candidates": [{"groundingMetadata": {"groundingChunks": null}, "urlContextMetadata": null}]}),
        json!({"candidates": [{"content": {"parts": [null, {}, {"text": ""}, {"text": null}]}}]}),
        json!({"anything": "else"}),
    ] {
        assert_eq!(decode(&value).unwrap(), ResponseChunk::default(), "{value}");
    }
}

#[test]
fn odd_parts_are_kept() {
    assert_eq!(parts(&json!([{"functionCall": {}}])), [Part::call("", "", json!({}))]);
    assert_eq!(
        parts(&json!([{"functionCall": {"id": null, "name": "t", "args": "text"}}])),
        [Part::call("", "t", json!("text"))],
        "arguments that are no object are for the history to mend"
    );
    let other = parts(&json!([{"executableCode": {"code": "1"}, "x": 2}]));
    let Body::Other(keys) = &other[0].body else { panic!("not kept: {other:?}") };
    assert_eq!(Value::Object(keys.clone()), json!({"executableCode": {"code": "1"}, "x": 2}));
    let lone = parts(&json!([{"thoughtSignature": "s"}]));
    assert_eq!(lone[0].opaque.as_ref().unwrap().data, "s");
    assert_eq!(
        parts(&json!([{"inlineData": {"mimeType": "image/png", "data": "AA=="}}])),
        [Part::inline("image/png", "AA==")]
    );
}

#[test]
fn parts_are_read_as_the_interchange_form_reads_them() {
    for value in [
        json!({"text": "a", "unknown": 1}),
        json!({"text": "a", "thought": true, "thoughtSignature": "s"}),
        json!({"functionCall": {"name": "t", "args": {"a": [1]}}, "text": "both"}),
        json!({"functionResponse": {"id": "a", "name": "t", "response": {"output": 1}}}),
        json!({"fileData": {"fileUri": "gs://x"}}),
        json!({"codeExecutionResult": {"outcome": "OK"}}),
    ] {
        let expected: Part = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(parts(&json!([value])), [expected]);
    }
}

#[test]
fn finish_reasons() {
    for (word, expected) in [
        ("STOP", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::MaxTokens),
        ("SAFETY", FinishReason::Safety),
        ("RECITATION", FinishReason::Recitation),
        ("MALFORMED_FUNCTION_CALL", FinishReason::MalformedFunctionCall),
        ("UNEXPECTED_TOOL_CALL", FinishReason::UnexpectedToolCall),
        ("OTHER", FinishReason::Other("OTHER".to_owned())),
        ("NEW", FinishReason::Other("NEW".to_owned())),
    ] {
        let chunk = decode(&json!({"candidates": [{"finishReason": word}]})).unwrap();
        assert_eq!(chunk.finish, Some(expected));
    }
    for (word, expected) in [
        ("SAFETY", Some(FinishReason::PromptBlocked("SAFETY".to_owned()))),
        ("BLOCK_REASON_UNSPECIFIED", None),
        ("", None),
    ] {
        let chunk = decode(&json!({"promptFeedback": {"blockReason": word}})).unwrap();
        assert_eq!(chunk.finish, expected);
    }
}

#[test]
fn json_of_another_shape_is_a_broken_answer() {
    for text in [
        "",
        "{",
        "7",
        "null",
        "[]",
        "[1]",
        "\"x\"",
        "\u{0}",
        "{\"candidates\":7}",
        "{\"candidates\":[7]}",
        "{\"candidates\":[{\"content\":[]}]}",
        "{\"candidates\":[{\"content\":{\"parts\":[7]}}]}",
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":7}]}}]}",
        "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":7}]}}]}",
        "{\"usageMetadata\":{\"promptTokenCount\":\"many\"}}",
    ] {
        let error = decode_chunk(text.as_bytes()).unwrap_err();
        assert_eq!((error.kind, error.retryable), (ModelErrorKind::Broken, true), "{text}");
        assert!(error.message.contains("not have the expected form"), "{error}");
    }
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = format!(r#"{{"candidates":[{{"content":{{"parts":[{{"x":{nested}}}]}}}}]}}"#);
    assert_eq!(decode_chunk(deep.as_bytes()).unwrap_err().kind, ModelErrorKind::Broken);
}

#[test]
fn half_a_character_does_not_spoil_the_answer() {
    let json = br#"{"candidates":[{"content":{"parts":[{"text":"a \ud83e"}]}}]}"#;
    assert_eq!(decode_chunk(json).unwrap().parts, [Part::text("a \u{fffd}")]);
}

#[test]
fn counts_of_any_number_are_read() {
    let chunk =
        decode(&json!({"usageMetadata": {"promptTokenCount": 12.0, "totalTokenCount": -4}}));
    assert_eq!(chunk.unwrap().usage, Some(Usage { prompt: 12, ..Usage::default() }));
}

#[test]
fn an_error_object_is_understood() {
    let body = json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    for value in [body.clone(), json!([body])] {
        let error = decode(&value).unwrap_err();
        assert_eq!(
            (error.kind, error.status(), error.retryable),
            (ModelErrorKind::Overloaded, Some(503), true)
        );
        assert!(
            error
                .message
                .starts_with("[API Error: The model is overloaded. (Status: UNAVAILABLE)]"),
            "{error}"
        );
    }
    let bad = json!({"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}});
    let error = decode(&bad).unwrap_err();
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Invalid, false));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        drop(decode_chunk(&bytes));
    }

    #[test]
    fn any_text_survives(text in ".*") {
        prop_assume!(!text.is_empty());
        let read = parts(&json!([{"text": text.clone(), "thoughtSignature": text.clone()}]));
        prop_assert_eq!(read[0].as_text(), Some(text.as_str()));
        prop_assert_eq!(&read[0].opaque.as_ref().unwrap().data, &text);
    }
}
