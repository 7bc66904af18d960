use pretty_assertions::assert_eq;
use proptest::prelude::*;
use rmcp::model::{ClientRequest, ContentBlock, PingRequest};
use serde_json::json;

use super::*;

/// Returns a reader that waits for the response to a request with this method and id 1.
fn waiting(method: &str) -> Reader {
    let reader = Reader::default();
    reader.pending.lock().unwrap().insert(RequestId::Number(1), method.to_owned());
    reader
}

fn result_of(method: &str, result: &Value) -> ServerResult {
    let message = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
    match waiting(method).read(message.as_bytes()) {
        Ok(JsonRpcMessage::Response(response)) => response.result,
        other => panic!("{other:?}"),
    }
}

fn tools_of(list: &Value) -> ListToolsResult {
    match result_of("tools/list", list) {
        ServerResult::ListToolsResult(list) => list,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wrong_tool_costs_only_itself() {
    let list = tools_of(&json!({
        "tools": [
            {"name": "good", "inputSchema": {"type": "object"}},
            {"name": 5, "inputSchema": {"type": "object"}},
            {"description": "no name"},
            "no object",
            {"name": "bare"},
            {"name": "odd", "inputSchema": [], "outputSchema": 1, "icons": 7, "title": 3,
             "description": null, "_meta": "x"},
        ],
        "nextCursor": null,
    }));
    let names: Vec<&str> = list.tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["good", "bare", "odd"]);
    let schema = Value::Object((*list.tools[1].input_schema).clone());
    assert_eq!(schema, json!({"type": "object", "properties": {}}));
    assert_eq!(list.next_cursor, None);
    let dropped = list.meta.unwrap().0[DROPPED].clone();
    let dropped: Vec<String> = serde_json::from_value(dropped).unwrap();
    assert!(dropped[0].starts_with("5 of its tools cannot be used: "), "{dropped:?}");
    assert_eq!(dropped.len(), 3);
}

#[test]
fn annotations_are_kept_as_they_came() {
    let annotations = json!({"readOnlyHint": true, "ours": {"x": 1}});
    let list = tools_of(&json!({"tools": [
        {"name": "t", "annotations": annotations, "_meta": {ANNOTATIONS: "forged"}},
        {"name": "u", "annotations": 5, "_meta": {ANNOTATIONS: {"readOnlyHint": true}}},
    ]}));
    assert_eq!(list.tools[0].meta.as_ref().unwrap().0[ANNOTATIONS], annotations);
    assert_eq!(list.tools[1].meta, None);
}

#[test]
fn unknown_blocks_do_not_cost_the_result() {
    let result = result_of(
        "tools/call",
        &json!({"content": [
            {"type": "text", "text": "one", "annotations": {"audience": ["nobody"]}},
            {"type": "hologram", "data": "x"},
            {"type": "image", "data": 5, "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "u", "text": "t", "_meta": 5}},
            {"type": "resource_link", "uri": "u:l"},
            "bare",
        ], "tools": [], "isError": "true"}),
    );
    let ServerResult::CallToolResult(result) = result else { panic!("{result:?}") };
    let content = serde_json::to_value(&result.content).unwrap();
    assert_eq!(
        content,
        json!([
            {"type": "text", "text": "one"},
            {"type": "text", "text": "[Unknown content type: hologram]"},
            {"type": "text", "text": "[Unknown content type: image]"},
            {"type": "resource", "resource": {"uri": "u", "text": "t"}},
            {"type": "resource_link", "uri": "u:l", "name": "u:l"},
            {"type": "text", "text": "bare"},
        ])
    );
    assert_eq!(result.is_error, Some(true));
}

#[test]
fn results_of_any_shape_are_read() {
    for (result, text) in [
        (json!("plain"), Some("plain")),
        (json!({"content": "plain"}), Some("plain")),
        (json!({"content": {"type": "text", "text": "one"}}), Some("one")),
        (json!([1]), Some("[1]")),
        (json!({"content": null}), None),
        (json!({}), None),
    ] {
        let ServerResult::CallToolResult(read) = result_of("tools/call", &result) else {
            panic!("{result}")
        };
        let first = read.content.first().and_then(ContentBlock::as_text);
        assert_eq!(first.map(|block| block.text.as_str()), text, "{result}");
    }
}

#[test]
fn an_incomplete_introduction_is_completed() {
    for result in [
        json!({"protocolVersion": "2025-06-18"}),
        json!({"protocolVersion": "2025-06-18", "capabilities": null, "serverInfo": []}),
        json!({"protocolVersion": "2025-06-18", "instructions": 5,
               "capabilities": {"tools": true, "experimental": [], "prompts": false},
               "serverInfo": {"name": "n", "icons": 5}}),
    ] {
        let ServerResult::InitializeResult(read) = result_of("initialize", &result) else {
            panic!("{result}")
        };
        assert_eq!(read.capabilities.prompts, None);
        assert_eq!(read.capabilities.tools.is_some(), result["capabilities"]["tools"] == true);
    }
}

#[test]
fn what_is_no_answer_is_not_passed_on() {
    let reader = waiting("ping");
    for text in ["", "starting…", "[1]", "{}", "{\"id\":1}", "{\"jsonrpc\":\"2.0\",\"method\":5}"]
    {
        assert_eq!(reader.read(text.as_bytes()).unwrap_err(), Unusable::NoMessage, "{text}");
    }
    for text in ["{\"id\":2,\"result\":{}}", "{\"id\":\"x\",\"result\":{}}"] {
        assert_eq!(reader.read(text.as_bytes()).unwrap_err(), Unusable::NotAsked, "{text}");
    }
    assert!(reader.read(b"\xef\xbb\xbf{\"id\":1,\"result\":{}}\r").is_ok());
    let again = reader.read(b"{\"id\":1,\"result\":{}}");
    assert_eq!(again.unwrap_err(), Unusable::NotAsked, "each request has one answer");
}

#[test]
fn what_can_be_saved_of_an_answer_is_saved() {
    let invalid = b"{\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\xffb\"}]}}";
    let Ok(JsonRpcMessage::Response(response)) = waiting("tools/call").read(invalid) else {
        panic!()
    };
    let ServerResult::CallToolResult(result) = response.result else { panic!() };
    assert_eq!(result.content[0].as_text().unwrap().text, "a\u{fffd}b");
    let deep = format!("{{\"id\":1,\"result\":{}{}}}", "[".repeat(500), "]".repeat(500));
    let Ok(JsonRpcMessage::Error(error)) = waiting("tools/call").read(deep.as_bytes()) else {
        panic!()
    };
    assert!(error.error.message.contains("cannot be read"), "{error:?}");
    let nameless = b"{\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}";
    let Ok(JsonRpcMessage::Error(error)) = waiting("initialize").read(nameless) else { panic!() };
    assert_eq!((error.id, &*error.error.message), (Some(RequestId::Number(1)), "Parse error"));
    let odd = b"{\"id\":1,\"error\":\"broken\"}";
    let Ok(JsonRpcMessage::Error(error)) = waiting("ping").read(odd) else { panic!() };
    assert_eq!(&*error.error.message, "broken");
}

#[test]
fn the_id_of_an_answer_may_be_written_in_other_ways() {
    for id in ["1", "\"1\"", "1.0", "null"] {
        let message = format!(r#"{{"id":{id},"result":{{}}}}"#);
        let read = waiting("ping").read(message.as_bytes());
        assert!(matches!(read, Ok(JsonRpcMessage::Response(_))), "{id}: {read:?}");
    }
    for id in ["2", "\"x\"", "1.5", "true", "[1]", "{\"a\":1}", "1180591620717411303424"] {
        let message = format!(r#"{{"id":{id},"result":{{}}}}"#);
        let read = waiting("ping").read(message.as_bytes());
        assert_eq!(read.err(), Some(Unusable::NotAsked), "{id}");
    }
}

#[test]
fn cancelled_requests_are_forgotten() {
    let reader = Reader::default();
    let ping = ClientRequest::PingRequest(PingRequest::default());
    reader.sent(&JsonRpcMessage::request(ping, RequestId::Number(1)));
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1},
    });
    reader.sent(&serde_json::from_value(cancelled).unwrap());
    let late = reader.read(b"{\"id\":1,\"result\":{}}");
    assert_eq!(late.unwrap_err(), Unusable::NotAsked);
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in ".{0,200}", result in "[\\[\\]{}\",:a1-]{0,60}") {
        read_message(text.as_bytes());
        read_message(format!("{{\"id\":1,\"result\":{result}}}").as_bytes());
    }
}
