use pollux_protocol::Opaque;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::super::DIALECT;
use super::*;

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "model": "claude-y", "content": [],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}}})
}

fn begin(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn end(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn text(index: u64, pieces: &[&str]) -> Vec<Value> {
    let mut events = vec![begin(index, &json!({"type": "text", "text": ""}))];
    let pieces = pieces.iter();
    events.extend(pieces.map(|text| delta(index, &json!({"type": "text_delta", "text": text}))));
    events.push(end(index));
    events
}

fn thinking(index: u64, pieces: &[&str], signature: &str) -> Vec<Value> {
    let mut events =
        vec![begin(index, &json!({"type": "thinking", "thinking": "", "signature": ""}))];
    let pieces = pieces.iter();
    events.extend(
        pieces.map(|text| delta(index, &json!({"type": "thinking_delta", "thinking": text}))),
    );
    events.push(delta(index, &json!({"type": "signature_delta", "signature": signature})));
    events.push(end(index));
    events
}

fn call(index: u64, id: &str, name: &str, pieces: &[&str]) -> Vec<Value> {
    let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let mut events = vec![begin(index, &block)];
    let pieces = pieces.iter();
    events.extend(
        pieces.map(|json| delta(index, &json!({"type": "input_json_delta", "partial_json": json}))),
    );
    events.push(end(index));
    events
}

fn stop(reason: &str) -> Vec<Value> {
    vec![
        json!({"type": "message_delta", "delta": {"stop_reason": reason},
            "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

fn stream(events: &[Value]) -> Vec<u8> {
    let one = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n").into_bytes()
    };
    events.iter().flat_map(one).collect()
}

fn decoded(events: &[Value]) -> Result<ResponseChunk, ModelError> {
    let reading = Reading { model: "m".to_owned(), ..Reading::default() };
    let chunks = answer_stream::decode(vec![stream(events).into()], Answer::new(reading))?;
    let mut whole = ResponseChunk::default();
    for chunk in chunks {
        whole.append(chunk);
    }
    Ok(whole)
}

fn signed(thought: &str, signature: &str) -> Part {
    let block = json!({"type": "thinking", "thinking": thought, "signature": signature});
    let data = json!({"model": "m", "block": block}).to_string();
    Part { opaque: Some(Opaque { dialect: DIALECT.to_owned(), data }), ..Part::thought("") }
}

#[test]
fn a_response_is_put_together() {
    let events = [
        vec![start(), json!({"type": "ping"})],
        thinking(0, &["First ", "this.\n\nThen", " that."], "c2ln"),
        text(1, &["Loo", "king."]),
        call(2, "toolu_1", "glob", &["{\"pat", "tern\": \"*\"}"]),
        call(3, "toolu_2", "read_file", &[]),
        stop("tool_use"),
    ]
    .concat();
    let answer = decoded(&events).unwrap();
    assert_eq!(
        answer.parts,
        [
            Part::thought("First this."),
            Part::thought("Then that."),
            signed("First this.\n\nThen that.", "c2ln"),
            Part::text("Loo"),
            Part::text("king."),
            Part::call("toolu_1", "glob", json!({"pattern": "*"})),
            Part::call("toolu_2", "read_file", json!({})),
        ]
    );
    assert_eq!(answer.finish, Some(FinishReason::Stop));
    let usage = answer.usage.unwrap();
    assert_eq!((usage.prompt, usage.cached, usage.candidates), (15, 5, 9));
    assert_eq!(answer.response_id.as_deref(), Some("msg_1"));
    assert_eq!(answer.model_version.as_deref(), Some("claude-y"));
}

#[test]
fn thoughts_between_calls_keep_their_places() {
    let events = [
        vec![start()],
        call(0, "a", "one", &["{}"]),
        thinking(1, &["hm"], "x"),
        call(2, "b", "two", &["{}"]),
        text(3, &["after"]),
        stop("tool_use"),
    ]
    .concat();
    let answer = decoded(&events).unwrap();
    let (one, two) = (Part::call("a", "one", json!({})), Part::call("b", "two", json!({})));
    assert_eq!(
        answer.parts,
        [Part::thought("hm"), one, signed("hm", "x"), two, Part::text("after")]
    );
}

#[test]
fn a_response_that_breaks_off_makes_no_calls() {
    let events = [vec![start()], call(0, "a", "glob", &["{}"])].concat();
    let error = decoded(&events).unwrap_err();
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Broken, true));
    // A stop reason without the last event is an end.
    let mut events = [events, stop("tool_use")].concat();
    events.pop();
    assert_eq!(decoded(&events).unwrap().parts.len(), 1);
    // The last event is an end, too.
    let last = [events[..4].to_vec(), vec![json!({"type": "message_stop"})]].concat();
    assert_eq!(decoded(&last).unwrap().finish, Some(FinishReason::Stop));
    // What follows the last event does not matter.
    let events = [events, stop("end_turn"), vec![json!({"type": "error"})]].concat();
    assert_eq!(decoded(&events).unwrap().parts.len(), 1);
}

#[test]
fn stop_reasons() {
    for (word, expected) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("tool_use", FinishReason::Stop),
        ("max_tokens", FinishReason::MaxTokens),
        ("model_context_window_exceeded", FinishReason::MaxTokens),
        ("refusal", FinishReason::Safety),
        // Nobody continues the response.
        ("pause_turn", FinishReason::MaxTokens),
        ("new_reason", FinishReason::Other("new_reason".to_owned())),
    ] {
        let events = [vec![start()], text(0, &["x"]), stop(word)].concat();
        assert_eq!(decoded(&events).unwrap().finish, Some(expected), "{word}");
    }
}

#[test]
fn an_error_inside_the_stream_is_the_services() {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let events = [vec![start()], text(0, &["half"]), vec![overloaded]].concat();
    let error = decoded(&events).unwrap_err();
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Overloaded, true), "{error}");
}

#[test]
fn odd_streams_are_read() {
    for (events, expected) in [
        // All of the arguments at the beginning of the block.
        (
            vec![begin(0, &json!({"type": "tool_use", "id": "a", "name": "t", "input": {"p": 1}}))],
            vec![Part::call("a", "t", json!({"p": 1}))],
        ),
        // Text at the beginning of a block that never ends.
        (
            vec![begin(0, &json!({"type": "text", "text": "a"})), delta(0, &json!({"text": "b"}))],
            vec![Part::text("a"), Part::text("b")],
        ),
        // No beginning.
        (vec![delta(7, &json!({"type": "text_delta", "text": "x"}))], vec![Part::text("x")]),
        // Arguments that are no JSON.
        (call(0, "a", "t", &["{\"p\": "]), vec![Part::call("a", "t", json!("{\"p\": "))]),
        // Unknown kinds of events and blocks, and empty texts.
        (
            vec![
                json!({"type": "new_event", "delta": {"text": "x"}}),
                begin(0, &json!({"type": "server_tool_use", "id": "s", "input": {}})),
                delta(0, &json!({"type": "input_json_delta", "partial_json": "{}"})),
                delta(9, &json!({"type": "text_delta", "text": ""})),
                json!({"type": "content_block_stop", "index": 99}),
            ],
            vec![],
        ),
        // A redacted thought, and one without a signature.
        (
            vec![
                begin(0, &json!({"type": "redacted_thinking", "data": "QUJD"})),
                end(0),
                begin(1, &json!({"type": "thinking", "thinking": "hm"})),
                end(1),
            ],
            vec![
                Part {
                    opaque: Some(Opaque {
                        dialect: DIALECT.to_owned(),
                        data: r#"{"model":"m","block":{"type":"redacted_thinking","data":"QUJD"}}"#
                            .to_owned(),
                    }),
                    ..Part::thought("")
                },
                Part::thought("hm"),
            ],
        ),
    ] {
        let events = [vec![start()], events, stop("end_turn")].concat();
        assert_eq!(decoded(&events).unwrap().parts, expected, "{events:#?}");
    }
    for broken in [json!([]), json!({}), json!({"type": "content_block_start", "index": "x"})] {
        assert!(decoded(&[start(), broken]).is_err());
    }
}

#[test]
fn a_whole_message_is_read() {
    let body = json!({"type": "message", "id": "msg_1", "role": "assistant", "model": "claude-y",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "Hi"},
            {"type": "tool_use", "id": "a", "name": "t", "input": {"p": 1}}
        ],
        "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 4}});
    let reading = Reading { model: "m".to_owned(), ..Reading::default() };
    let answer = Answer::new(reading).take_whole(body.to_string().as_bytes()).unwrap();
    assert_eq!(
        answer.parts,
        [
            Part::thought("hm"),
            signed("hm", "x"),
            Part::text("Hi"),
            Part::call("a", "t", json!({"p": 1}))
        ]
    );
    assert_eq!(answer.finish, Some(FinishReason::Stop));
    assert_eq!(answer.usage.map(|usage| usage.total), Some(7));
    for (body, expected) in [
        ("<html>", "a web page"),
        ("", "nothing"),
        (r#"{"type":"error","error":{"type":"api_error","message":"Oh."}}"#, "Oh."),
        (r#"{"error":{"message":"Oh."}}"#, "Oh."),
    ] {
        let error = Answer::new(Reading::default()).take_whole(body.as_bytes()).unwrap_err();
        assert!(error.message.contains(expected), "{error}");
    }
}

#[test]
fn a_response_is_bounded() {
    let mut answer = Answer::new(Reading::default());
    let block = begin(0, &json!({"type": "text", "text": ""})).to_string();
    let opened = (0..=MAX_BLOCKS).map(|_| answer.take(block.as_bytes()).map(drop));
    assert!(opened.collect::<Result<Vec<()>, ModelError>>().is_err());
    let mut answer = Answer::new(Reading::default());
    let piece = delta(0, &json!({"text": "x".repeat(1024 * 1024)})).to_string();
    let taken = (0..=64).map(|_| answer.take(piece.as_bytes()).map(drop));
    assert!(taken.collect::<Result<Vec<()>, ModelError>>().is_err());
}

proptest! {
    #[test]
    fn the_pieces_of_a_stream_do_not_matter(cuts in prop::collection::vec(1_usize..40, 1..60)) {
        let events = [
            vec![start()],
            thinking(0, &["grüße\n\n", "🦀"], "c2ln"),
            text(1, &["a", "é\u{2028}"]),
            call(2, "a", "glob", &["{\"p\":", "\"ü\"}"]),
            stop("tool_use"),
        ]
        .concat();
        let bytes = stream(&events);
        let mut pieces = Vec::new();
        let mut rest = bytes.as_slice();
        for size in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, more) = rest.split_at((*size).min(rest.len()));
            pieces.push(Bytes::copy_from_slice(piece));
            rest = more;
        }
        let cut = decode_messages_stream(pieces).unwrap();
        prop_assert_eq!(cut, decode_messages_stream(vec![bytes.into()]).unwrap());
    }
}
