use pollux_protocol::{Body, ModelErrorKind, Usage};
use pollux_testkit::responses::{bytes, call, events, message, reasoning};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::super::kept::{Returned, returned};
use super::*;

/// Reads events and joins the pieces of the response.
fn read(events: &[Value]) -> Result<ResponseChunk, ModelError> {
    let mut answer = Answer::default();
    let mut whole = ResponseChunk::default();
    for event in events {
        whole.append(answer.take("", event.to_string().as_bytes())?);
    }
    Ok(whole)
}

/// Returns the parts that a user sees, with text joined.
fn seen(chunk: &ResponseChunk) -> Vec<Part> {
    let mut seen: Vec<Part> = Vec::new();
    for part in chunk.parts.iter().filter(|part| part.opaque.is_none()) {
        match (seen.last_mut(), part.as_text()) {
            (Some(Part { body: Body::Text(text), thought: false, .. }), Some(more)) => {
                text.push_str(more);
            }
            _ => seen.push(part.clone()),
        }
    }
    seen
}

fn items() -> Vec<Value> {
    vec![
        reasoning("**Plan** Look first.", "gA"),
        message("grüße, 世界"),
        call("c1", "glob", &json!({"pattern": "*"})),
        call("c2", "glob", &json!({})),
    ]
}

fn expected() -> Vec<Part> {
    vec![
        Part::thought("**Plan** Look first."),
        Part::text("grüße, 世界"),
        Part::call("c1", "glob", json!({"pattern": "*"})),
        Part::call("c2", "glob", json!({})),
    ]
}

#[test]
fn a_response_is_read_with_everything_that_it_has() {
    let chunk = read(&events(&items())).unwrap();
    assert_eq!(seen(&chunk), expected());
    let kept: Vec<&Part> = chunk.parts.iter().filter(|part| part.opaque.is_some()).collect();
    let [kept] = kept[..] else { panic!("{kept:?}") };
    let Some(Returned::Item(item)) = returned(kept, &Origin::default()) else { panic!("{kept:?}") };
    assert_eq!(item, items()[0].to_string());
    let usage = Usage { prompt: 10, candidates: 5, total: 15, ..Usage::default() };
    assert_eq!((chunk.usage, chunk.finish), (Some(usage), Some(FinishReason::Stop)));
    assert_eq!(chunk.response_id.as_deref(), Some("resp_1"));
    assert_eq!(chunk.model_version.as_deref(), Some("gpt-test"));
}

#[test]
fn thoughts_come_before_what_they_led_to() {
    let chunk = read(&events(&items())).unwrap();
    let kept = chunk.parts.iter().position(|part| part.opaque.is_some());
    let text = chunk.parts.iter().position(|part| part.as_text().is_some());
    assert!(kept < text, "{chunk:?}");
}

#[test]
fn items_are_found_whatever_a_gateway_does_to_their_places() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 4] = [
        ("one index for all", |event| {
            if event.get("output_index").is_some() {
                event["output_index"] = 0.into();
            }
        }),
        ("no index", |event| drop(event.as_object_mut().unwrap().remove("output_index"))),
        ("no id", |event| {
            event.as_object_mut().unwrap().remove("item_id");
            if let Some(item) = event["item"].as_object_mut() {
                item.remove("id");
            }
        }),
        ("another id in each event", |event| {
            let number = event["sequence_number"].clone();
            for place in ["/item_id", "/item/id"] {
                if let Some(id) = event.pointer_mut(place) {
                    *id = number.to_string().into();
                }
            }
        }),
    ];
    for (name, change) in changes {
        let mut events = events(&items());
        events.iter_mut().for_each(change);
        assert_eq!(seen(&read(&events).unwrap()), expected(), "{name}");
    }
}

#[test]
fn servers_that_send_only_some_events_are_read_too() {
    let all = events(&items());
    let without = |kinds: &[&str]| -> Vec<Value> {
        let is_kept = |event: &&Value| {
            !kinds.iter().any(|kind| event["type"].as_str().unwrap().ends_with(kind))
        };
        all.iter().filter(is_kept).cloned().collect()
    };
    for left_out in [
        &[".delta"][..],
        &["output_item.added"],
        &[".delta", "output_item.added"],
        &[".delta", ".done", "output_item.added"],
        &["summary_text.done", "response.output_text.done", "arguments.done"],
        &["created", "in_progress"],
    ] {
        assert_eq!(seen(&read(&without(left_out)).unwrap()), expected(), "without {left_out:?}");
    }
    // Without the complete items, the summary has no end but the next item.
    let parts = seen(&read(&without(&["item.done"])).unwrap());
    assert_eq!(parts, expected());
}

#[test]
fn a_whole_response_is_read() {
    let last = events(&items()).pop().unwrap();
    let mut answer = Answer::default();
    let chunk = answer.whole(last["response"].to_string().as_bytes()).unwrap();
    assert_eq!(seen(&chunk), expected());
    assert_eq!((chunk.finish, chunk.usage.unwrap().prompt), (Some(FinishReason::Stop), 10));
}

#[test]
fn two_messages_are_separated_and_keep_their_phases() {
    let mut two = [message("Let me look."), message("Found.")];
    for (message, phase) in two.iter_mut().zip(["commentary", "final_answer"]) {
        message["phase"] = phase.into();
        message["id"] = phase.into();
    }
    for streamed in [true, false] {
        let mut events = events(&two);
        if !streamed {
            events.retain(|event| event["type"] == "response.completed");
        }
        let chunk = read(&events).unwrap();
        assert_eq!(chunk.text(), "Let me look.\n\nFound.");
        let kept: Vec<String> = chunk
            .parts
            .iter()
            .filter_map(|part| match returned(part, &Origin::default())? {
                Returned::Phase(phase) => Some(phase.to_owned()),
                Returned::Item(_) => None,
            })
            .collect();
        assert_eq!(kept, ["commentary", "final_answer"], "streamed: {streamed}");
    }
}

#[test]
fn a_refusal_is_the_answer() {
    let refusal = json!({"id": "m", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "refusal", "refusal": "I cannot help with that."}]});
    let chunk = read(&events(&[refusal])).unwrap();
    assert_eq!(chunk.text(), "I cannot help with that.");
    assert_eq!(chunk.finish, Some(FinishReason::Stop));
}

#[test]
fn an_incomplete_response_says_why_and_makes_no_incomplete_call() {
    for (details, reason) in [
        (json!({"reason": "max_output_tokens"}), FinishReason::MaxTokens),
        (json!({"reason": "content_filter"}), FinishReason::Safety),
        (json!({"reason": "steered"}), FinishReason::Other("steered".to_owned())),
        (Value::Null, FinishReason::Other("incomplete".to_owned())),
    ] {
        let mut cut = call("c2", "glob", &json!({"a": "b"}));
        cut["status"] = "incomplete".into();
        let mut events = events(&[message("half"), call("c1", "glob", &json!({})), cut]);
        let last = events.last_mut().unwrap();
        last["type"] = "response.incomplete".into();
        last["response"]["status"] = "incomplete".into();
        last["response"]["incomplete_details"] = details;
        let one = [Part::text("half"), Part::call("c1", "glob", json!({}))];
        let chunk = read(&events).unwrap();
        assert_eq!((seen(&chunk), chunk.finish), (one.to_vec(), Some(reason.clone())));
        // A call may also just stop.
        events.retain(|event| {
            !(event["type"] == "response.output_item.done" && event["output_index"] == 2)
        });
        let chunk = read(&events).unwrap();
        assert_eq!((seen(&chunk), chunk.finish), (one.to_vec(), Some(reason)));
    }
}

#[test]
fn failures_say_what_failed_and_whether_a_retry_can_help() {
    let failed = |error: Value| json!({"type": "response.failed", "response": {"status": "failed", "error": error}});
    let error = |code: &str| json!({"code": code, "message": "Sorry: x."});
    for (event, kind, retryable, words) in [
        (failed(error("server_error")), ModelErrorKind::Overloaded, true, "Sorry: x."),
        (failed(error("server_is_overloaded")), ModelErrorKind::Overloaded, true, "Sorry: x."),
        (failed(error("rate_limit_exceeded")), ModelErrorKind::RateLimited, true, "Sorry: x."),
        (failed(error("insufficient_quota")), ModelErrorKind::Quota, false, "no credit left"),
        (failed(error("context_length_exceeded")), ModelErrorKind::TooLong, false, "Sorry: x."),
        (failed(error("invalid_prompt")), ModelErrorKind::Filtered, false, "Sorry: x."),
        (failed(error("invalid_image")), ModelErrorKind::Invalid, false, "Sorry: x."),
        (failed(error("image_too_large")), ModelErrorKind::Invalid, false, "Sorry: x."),
        (failed(Value::Null), ModelErrorKind::Overloaded, true, "failed"),
        (
            json!({"type": "error", "code": "server_error", "message": "Sorry: x.", "sequence_number": 3}),
            ModelErrorKind::Overloaded,
            true,
            "Sorry: x. (Status: server_error)",
        ),
        (
            json!({"type": "error", "code": null, "message": "Sorry: x.", "param": null}),
            ModelErrorKind::Overloaded,
            true,
            "[API Error: Sorry: x.]",
        ),
        (
            json!({"type": "error", "error": {"type": "invalid_request_error", "code": "invalid_api_key", "message": "Sorry: x."}}),
            ModelErrorKind::Auth,
            false,
            "Sorry: x.",
        ),
        (
            json!({"error": {"message": "Sorry: x.", "code": 429}}),
            ModelErrorKind::RateLimited,
            true,
            "Sorry: x.",
        ),
        (
            json!({"type": "response.done", "response": {"status": "cancelled"}}),
            ModelErrorKind::Overloaded,
            true,
            "cancelled",
        ),
    ] {
        let mut events = events(&[message("half")]);
        events.truncate(4);
        events.push(event.clone());
        let error = read(&events).unwrap_err();
        assert_eq!((error.kind, error.retryable), (kind, retryable), "{event}: {error}");
        assert!(error.message.contains(words), "{event}: {error}");
    }
    // Some services name the event only.
    let mut answer = Answer::default();
    assert!(answer.take("error", b"{\"message\": \"x\"}").is_err());
}

#[test]
fn a_stream_without_its_last_event_is_broken() {
    let mut events = events(&items());
    events.pop();
    let cut = bytes(&events);
    for cut in [cut.clone(), [&cut[..], b"data: [DONE]\n\n"].concat()] {
        let error = decode_responses_stream(vec![cut.into()]).unwrap_err();
        assert_eq!((error.kind, error.retryable), (ModelErrorKind::Broken, true));
    }
}

#[test]
fn what_comes_after_the_end_does_not_matter() {
    let mut events = events(&items());
    events.push(json!({"type": "error", "message": "too late"}));
    assert_eq!(seen(&read(&events).unwrap()), expected());
}

#[test]
fn shapes_are_tolerated_and_others_refused_in_words() {
    for odd in [
        json!({"type": "response.output_text.delta", "delta": null}),
        json!({"type": "response.output_text.delta", "delta": {"x": 1}, "output_index": "0"}),
        json!({"type": "response.output_item.added"}),
        json!({"type": "response.output_item.added", "item": {"type": 7, "content": null}}),
        json!({"type": "response.output_item.done", "item": {"type": "web_search_call"}}),
        json!({"type": "response.output_item.done", "item": {"type": "function_call"}}),
        json!({"type": "response.function_call_arguments.done", "arguments": null}),
        json!({"type": "response.created", "response": {"id": 7, "output": null}}),
        json!({"type": "response.created"}),
        json!({"type": "a.new.kind", "delta": "x"}),
        json!({}),
    ] {
        let mut events = events(&[message("ok")]);
        events.insert(2, odd.clone());
        assert_eq!(seen(&read(&events).unwrap()), [Part::text("ok")], "{odd}");
    }
    for wrong in ["", "x", "[]", "{", r#"{"item": 7, "type": "response.output_item.done"}"#] {
        let error = Answer::default().take("", wrong.as_bytes()).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Broken, "{wrong}");
    }
    let half = br#"{"type":"response.output_text.delta","delta":"\ud83e"}"#;
    assert_eq!(Answer::default().take("", half).unwrap().parts, [Part::text("\u{fffd}")]);
}

#[test]
fn arguments_that_are_no_json_stay_text() {
    let mut broken = call("c", "glob", &Value::Null);
    broken["arguments"] = "{\"p\": broken".into();
    let parts = seen(&read(&events(&[broken])).unwrap());
    assert_eq!(parts, [Part::call("c", "glob", json!("{\"p\": broken"))]);
    let mut object = call("c", "glob", &Value::Null);
    object["arguments"] = json!({"p": 1});
    assert_eq!(
        seen(&read(&events(&[object])).unwrap()),
        [Part::call("c", "glob", json!({"p": 1}))]
    );
}

#[test]
fn responses_are_bounded() {
    let mut answer = Answer::default();
    let added = |number: usize| {
        json!({"type": "response.output_item.added", "output_index": number,
        "item": {"type": "function_call", "id": format!("f{number}"), "name": "x"}})
    };
    let mut outcome = Ok(ResponseChunk::default());
    for number in 0..2000 {
        outcome = answer.take("", added(number).to_string().as_bytes());
        if outcome.is_err() {
            break;
        }
    }
    assert_eq!(outcome.unwrap_err().kind, ModelErrorKind::Broken);
}

#[test]
fn the_refusals_of_a_gateway_are_read() {
    let mut answer = Answer::default();
    let error = answer.whole(b"<html>Sign in</html>").unwrap_err();
    assert!(error.message.contains("a web page"), "{error}");
    let error =
        answer.whole(br#"{"error":{"message":"no","code":"invalid_api_key"}}"#).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Auth);
    let error = answer.whole(br#"{"object":"response","status":"queued"}"#).unwrap_err();
    assert!(error.message.contains("queued"), "{error}");
}

proptest! {
    #[test]
    fn pieces_do_not_matter(cuts in proptest::collection::vec(1_usize..40, 1..40)) {
        let whole = bytes(&events(&items()));
        let mut pieces: Vec<Bytes> = Vec::new();
        let mut rest = whole.as_slice();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, more) = rest.split_at((*cut).min(rest.len()));
            pieces.push(Bytes::copy_from_slice(piece));
            rest = more;
        }
        let cut = decode_responses_stream(pieces).unwrap();
        let uncut = decode_responses_stream(vec![whole.into()]).unwrap();
        prop_assert_eq!(cut, uncut);
    }

    #[test]
    fn anything_gives_chunks_or_an_error(name in "[a-z.]{0,9}", payload in ".{0,200}") {
        let mut answer = Answer::default();
        drop(answer.take(&name, payload.as_bytes()));
        drop(answer.whole(payload.as_bytes()));
    }
}
