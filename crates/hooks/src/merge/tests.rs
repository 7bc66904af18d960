use pretty_assertions::assert_eq;

use super::*;

fn merged(event: HookEvent, replies: &[Value]) -> (HookResult, Value) {
    let replies: Vec<HookReply> =
        replies.iter().map(|reply| HookReply(reply.as_object().unwrap().clone())).collect();
    merge(event, &replies.iter().collect::<Vec<_>>())
}

fn result(event: HookEvent, replies: &[Value]) -> HookResult {
    merged(event, replies).0
}

#[test]
fn nobody_replied() {
    assert_eq!(merged(HookEvent::BeforeTool, &[]), (HookResult::default(), Value::Null));
}

#[test]
fn one_that_blocks_blocks_all() {
    let table = [
        (vec![json!({})], None, false),
        (vec![json!({"decision": "allow"}), json!({"decision": "approve"})], None, false),
        (
            vec![json!({"decision": "deny", "reason": "r"}), json!({"decision": "allow"})],
            Some("r"),
            false,
        ),
        (vec![json!({"decision": "block"})], Some(NO_REASON), false),
        (
            vec![
                json!({"decision": "deny", "reason": "a"}),
                json!({"decision": "deny", "reason": "b"}),
            ],
            Some("a\nb"),
            false,
        ),
        (vec![json!({"decision": "ask"})], None, true),
        (vec![json!({"decision": "ask"}), json!({"decision": "deny"})], Some(NO_REASON), false),
        (vec![json!({"decision": "deny"}), json!({"decision": "ask"})], Some(NO_REASON), false),
        (vec![json!({"decision": "DENY"})], None, false),
        (vec![json!({"decision": 5, "reason": {"x": 1}})], None, false),
    ];
    for (replies, block, ask) in table {
        let result = result(HookEvent::BeforeTool, &replies);
        assert_eq!((result.block.as_deref(), result.ask), (block, ask), "{replies:?}");
    }
}

#[test]
fn stopping_has_its_own_reason() {
    let stop = |replies: &[Value]| result(HookEvent::BeforeAgent, replies).stop;
    assert_eq!(stop(&[json!({"continue": false})]).as_deref(), Some(NO_REASON));
    assert_eq!(
        stop(&[json!({"continue": false, "stopReason": "s", "reason": "r"})]).as_deref(),
        Some("s")
    );
    assert_eq!(stop(&[json!({"continue": false, "reason": "r"})]).as_deref(), Some("r"));
    assert_eq!(stop(&[json!({"continue": "false"})]), None);
    assert_eq!(stop(&[json!({"continue": true, "stopReason": "s"})]), None);
}

#[test]
fn words_are_joined_and_the_rest_replaced() {
    let specific = |context: &str, input: Value| json!({"systemMessage": context, "hookSpecificOutput": {"additionalContext": context, "tool_input": input}});
    let (result, object) = merged(
        HookEvent::BeforeTool,
        &[specific("a", json!({"x": 1, "y": 1})), specific("b", json!({"x": 2}))],
    );
    assert_eq!(result.additional_context.as_deref(), Some("a\nb"));
    assert_eq!(result.system_message.as_deref(), Some("a\nb"));
    assert_eq!(Value::from(result.tool_input.unwrap()), json!({"x": 2}));
    assert_eq!(
        object,
        json!({"continue": true, "suppressOutput": false, "systemMessage": "a\nb", "decision": "allow",
            "hookSpecificOutput": {"additionalContext": "a\nb", "tool_input": {"x": 2}}})
    );
}

#[test]
fn context_cannot_leave_its_fence() {
    assert_eq!(
        fenced("</hook_context> & <b>"),
        "<hook_context>&lt;/hook_context&gt; & &lt;b&gt;</hook_context>"
    );
}

#[test]
fn tail_calls_and_cleared_contexts() {
    let specific = json!({"hookSpecificOutput": {"tailToolCallRequest": {"name": "glob", "args": {"pattern": "*"}}}});
    let tail = result(HookEvent::AfterTool, &[specific]).tail_call.unwrap();
    assert_eq!((tail.name.as_str(), Value::from(tail.args)), ("glob", json!({"pattern": "*"})));
    for bad in [json!({"name": ""}), json!({"args": {}}), json!("glob"), json!({"name": 5})] {
        let specific = json!({"hookSpecificOutput": {"tailToolCallRequest": bad}});
        assert_eq!(result(HookEvent::AfterTool, &[specific]).tail_call, None);
    }
    let clear = |value: Value| {
        let specific = json!({"hookSpecificOutput": {"clearContext": value}});
        result(HookEvent::AfterAgent, &[specific, json!({})]).clear_context
    };
    assert!(clear(json!(true)) && !clear(json!("true")));
}

#[test]
fn fields_of_model_events_are_replaced() {
    let (result, object) = merged(
        HookEvent::BeforeModel,
        &[
            json!({"decision": "deny", "reason": "r", "hookSpecificOutput": {"llm_request": {"model": "a"}, "llm_response": {"text": "x"}}}),
            json!({"reason": "q", "hookSpecificOutput": {"llm_request": {"config": {}}}}),
        ],
    );
    assert_eq!(result.block.as_deref(), Some("q"));
    assert_eq!(result.llm_response, Some(json!({"text": "x"})));
    assert_eq!(Value::from(result.llm_request.unwrap()), json!({"config": {}}));
    assert_eq!(object["hookSpecificOutput"]["llm_response"], json!({"text": "x"}));
}

#[test]
fn tools_are_united_under_the_strictest_mode() {
    let config = |mode: &str, names: &[&str]| json!({"decision": "deny", "hookSpecificOutput": {"toolConfig": {"mode": mode, "allowedFunctionNames": names}}});
    let choice = |replies: &[Value]| {
        let result = result(HookEvent::BeforeToolSelection, replies);
        assert_eq!((result.block, result.stop), (None, None), "everything else is dropped");
        result.tool_choice.map(|choice| (choice.mode, choice.allowed.join(" ")))
    };
    assert_eq!(
        choice(&[config("AUTO", &["b", "a"]), config("ANY", &["a", "c"])]),
        Some((ToolMode::Any, "a b c".into()))
    );
    assert_eq!(
        choice(&[config("ANY", &["b"]), config("NONE", &["a"])]),
        Some((ToolMode::None, String::new()))
    );
    assert_eq!(choice(&[json!({"systemMessage": "x"})]), Some((ToolMode::Auto, String::new())));
    assert_eq!(choice(&[config("weird", &["a"])]), Some((ToolMode::Auto, "a".into())));
}
