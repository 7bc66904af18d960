use serde_json::{Value, json};

use super::validate_contents;

fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"text": text}]})
}

fn content(role: &str, parts: Value) -> Value {
    let mut content = json!({"role": role});
    content["parts"] = parts;
    content
}

fn model(parts: Value) -> Value {
    content("model", parts)
}

fn call(id: &str, name: &str) -> Value {
    json!({"functionCall": {"id": id, "name": name, "args": {}}})
}

fn response(id: &str, name: &str) -> Value {
    json!({"functionResponse": {"id": id, "name": name, "response": {"output": ""}}})
}

fn answers(parts: Value) -> Value {
    content("user", parts)
}

/// Checks that each conversation is refused with a message that starts with the given text.
fn assert_refused(table: impl IntoIterator<Item = (Value, &'static str)>) {
    for (contents, expected) in table {
        let problem = validate_contents(&contents).expect_err(&contents.to_string());
        assert!(problem.starts_with(expected), "{contents}\n{problem}\n{expected}");
    }
}

#[test]
fn conversations_that_the_service_takes() {
    let unnamed_call = json!({"functionCall": {"name": "a", "args": {}}});
    let unnamed_response = json!({"functionResponse": {"name": "a", "response": {}}});
    let table = [
        json!([user("hi")]),
        json!([user("hi"), model(json!([{"text": "yes"}])), user("go on")]),
        json!([user("hi"), model(json!([{"text": "", "thoughtSignature": "QQ=="}])), user("on")]),
        json!([
            user("hi"),
            model(json!([call("1", "a"), call("2", "a")])),
            answers(json!([response("2", "a"), {"text": "and hurry"}, response("1", "a")]))
        ]),
        json!([
            user("hi"),
            model(json!([unnamed_call, unnamed_call])),
            answers(json!([unnamed_response, unnamed_response]))
        ]),
        json!([
            user("hi"),
            model(json!([call("1", "a")])),
            answers(json!([response("1", "a")])),
            model(json!([call("1", "a")])),
            answers(json!([response("1", "a")]))
        ]),
    ];
    for contents in table {
        assert_eq!(validate_contents(&contents), Ok(()), "{contents}");
    }
}

#[test]
fn malformed_conversations_are_refused() {
    let hi = || user("hi");
    assert_refused([
        (json!(null), "contents: not an array"),
        (json!([]), "contents: empty"),
        (json!([model(json!([{"text": "a"}]))]), "contents[0]: role"),
        (json!([hi(), hi()]), "contents[1]: role"),
        (json!([hi(), {"role": "function", "parts": [{"text": "a"}]}]), "contents[1]: role"),
        (json!([{"role": "user", "parts": []}]), "contents[0]: no parts"),
        (json!([{"role": "user"}]), "contents[0]: no parts"),
        (json!([user("")]), "contents[0].parts[0]: text: empty"),
        (json!([answers(json!([{}]))]), "contents[0].parts[0]: 0 payloads"),
        (json!([answers(json!(["a"]))]), "contents[0].parts[0]: not an object"),
        (
            json!([answers(json!([{"text": "a", "inlineData": {}}]))]),
            "contents[0].parts[0]: 2 payloads",
        ),
        (
            json!([hi(), model(json!([{"text": "a", "thoughtSignature": ""}]))]),
            "contents[1].parts[0]: thoughtSignature",
        ),
    ]);
}

#[test]
fn calls_and_responses_that_do_not_pair_are_refused() {
    let hi = || user("hi");
    assert_refused([
        (json!([answers(json!([call("1", "a")]))]), "contents[0].parts[0]: a call by the user"),
        (
            json!([hi(), model(json!([response("1", "a")]))]),
            "contents[1].parts[0]: a response by the model",
        ),
        (json!([hi(), model(json!([call("1", "a")]))]), "contents: a call without"),
        (
            json!([hi(), model(json!([call("1", "a")])), user("never mind")]),
            "contents[2]: a call without its response: a (1)",
        ),
        (
            json!([hi(), model(json!([call("1", "a")])), answers(json!([response("2", "a")]))]),
            "contents[2].parts[0]: a response to no open call: a (2)",
        ),
        (
            json!([hi(), model(json!([call("1", "a")])), answers(json!([response("1", "b")]))]),
            "contents[2].parts[0]: a response to no open call",
        ),
        (
            json!([
                hi(),
                model(json!([call("1", "a")])),
                answers(json!([response("1", "a"), response("1", "a")]))
            ]),
            "contents[2].parts[1]: a response to no open call",
        ),
        (
            json!([hi(), model(json!([call("1", "a"), call("1", "b")]))]),
            "contents[1].parts[1]: a second call",
        ),
        (
            json!([hi(), model(json!([{"functionCall": {"name": "a", "args": []}}]))]),
            "contents[1].parts[0]: args: not an object",
        ),
        (
            json!([answers(json!([{"functionResponse": {"name": "a"}}]))]),
            "contents[0].parts[0]: no response",
        ),
    ]);
}
