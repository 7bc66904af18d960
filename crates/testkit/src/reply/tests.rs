use serde_json::{Value, json};

use super::{ModelReply, reply};
use crate::endpoint::Endpoint;

fn stream(reply: &ModelReply) -> Vec<String> {
    let rendered = reply.render(Some(Endpoint::StreamGenerateContent), false);
    rendered.chunks.iter().map(|chunk| String::from_utf8_lossy(chunk).into_owned()).collect()
}

fn event(chunk: &str) -> Value {
    serde_json::from_str(chunk.strip_prefix("data: ").unwrap().trim_end()).unwrap()
}

#[test]
fn a_turn_becomes_events_with_parallel_calls_in_one() {
    let turn = reply()
        .thought("**Plan** look first")
        .call("read_file", json!({"file_path": "a.rs"}))
        .signature("QUJD")
        .call("glob", json!({"pattern": "*.toml"}))
        .usage(900, 20);
    let chunks = stream(&turn);
    assert_eq!(chunks.len(), 2);
    assert_eq!(
        event(&chunks[0]),
        json!({"candidates": [{"content": {"role": "model", "parts": [
            {"text": "**Plan** look first", "thought": true}
        ]}, "index": 0}]})
    );
    assert_eq!(
        event(&chunks[1]),
        json!({
            "candidates": [{
                "content": {"role": "model", "parts": [
                    {"functionCall": {"name": "read_file", "args": {"file_path": "a.rs"}}, "thoughtSignature": "QUJD"},
                    {"functionCall": {"name": "glob", "args": {"pattern": "*.toml"}}}
                ]},
                "index": 0,
                "finishReason": "STOP"
            }],
            "usageMetadata": {"promptTokenCount": 900, "candidatesTokenCount": 20, "totalTokenCount": 920}
        })
    );
}

#[test]
fn an_empty_turn_still_finishes() {
    let chunks = stream(&reply().no_usage());
    assert_eq!(
        chunks,
        [
            "data: {\"candidates\":[{\"content\":{\"role\":\"model\"},\"index\":0,\"finishReason\":\"STOP\"}]}\r\n\r\n"
        ]
    );
}

#[test]
fn raw_chunks_stay_as_given() {
    let response = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    assert_eq!(event(&stream(&reply().chunks(vec![response.clone()]))[0]), response);
    assert_eq!(stream(&reply().sse_bytes(vec![b"da".to_vec(), b"ta".to_vec()])), ["da", "ta"]);
}

#[test]
fn one_object_joins_the_parts() {
    let rendered = reply().text("a").text("b").render(Some(Endpoint::GenerateContent), false);
    let value: Value = serde_json::from_slice(&rendered.chunks[0]).unwrap();
    assert_eq!(value["candidates"][0]["content"]["parts"], json!([{"text": "a"}, {"text": "b"}]));
    assert!(!rendered.streamed);
}

#[test]
fn truncation_and_splitting_work_on_the_wire_bytes() {
    let whole = stream(&reply().text("hello")).concat();
    let cut = stream(&reply().text("hello").truncated_json()).concat();
    assert_eq!(cut, whole[..whole.len() / 2]);
    let rendered =
        reply().text("ü").split_every(1).render(Some(Endpoint::StreamGenerateContent), false);
    assert!(rendered.chunks.iter().all(|chunk| chunk.len() == 1));
}

#[test]
fn a_turn_becomes_a_message_of_anthropics_api() {
    let turn = reply().thought("hm").text("grüße").call("glob", json!({"pattern": "*"}));
    let rendered = turn.render(Some(Endpoint::Messages), true);
    assert!(rendered.streamed);
    let text = String::from_utf8(rendered.chunks.concat()).unwrap();
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    let block = |deltas: usize| {
        let deltas = vec!["content_block_delta"; deltas];
        [vec!["content_block_start"], deltas, vec!["content_block_stop"]].concat()
    };
    let expected = [
        vec!["message_start"],
        block(4),
        block(2),
        block(2),
        vec!["message_delta", "message_stop"],
    ];
    assert_eq!(names, expected.concat());
    assert!(text.contains(r#""stop_reason":"tool_use""#), "{text}");

    let whole = turn.render(Some(Endpoint::Messages), false);
    let message: Value = serde_json::from_slice(&whole.chunks.concat()).unwrap();
    assert!(!whole.streamed);
    let call =
        json!({"type": "tool_use", "id": "toolu_2", "name": "glob", "input": {"pattern": "*"}});
    assert_eq!(message["content"][2], call);
    assert_eq!(message["usage"]["input_tokens"], 10);
}
