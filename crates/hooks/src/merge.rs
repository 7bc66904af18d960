//! Combination of the decisions of all programs of one event. Pure.

use pollux_protocol::{HookEvent, ToolChoice, ToolMode};
use serde_json::{Map, Value, json};

use crate::output::HookReply;

/// Reason that is reported if a program gives none.
const NO_REASON: &str = "No reason provided";

/// Combined decision of the programs of one event. The event determines which fields have a
/// meaning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookResult {
    /// Reason for stopping the work, if the work must stop.
    pub stop: Option<String>,
    /// Reason for blocking the event's subject (a call, prompt or request), if it is blocked.
    pub block: Option<String>,
    /// True if the user must be asked.
    pub ask: bool,
    /// Messages for the user, of all programs.
    pub system_message: Option<String>,
    /// Additional context for the model, of all programs, unmodified.
    pub additional_context: Option<String>,
    /// True if the conversation must be cleared.
    pub clear_context: bool,
    /// Arguments that replace those of the tool call.
    pub tool_input: Option<Map<String, Value>>,
    /// Call whose result replaces the result of this call.
    pub tail_call: Option<TailCall>,
    /// Changes to the request: an object with some of `model`, `messages` and `config`.
    pub llm_request: Option<Map<String, Value>>,
    /// Response that replaces the model's response.
    pub llm_response: Option<Value>,
    /// Tools that the model may call.
    pub tool_choice: Option<ToolChoice>,
}

/// A call that replaces another.
#[derive(Debug, Clone, PartialEq)]
pub struct TailCall {
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub args: Map<String, Value>,
}

impl HookResult {
    /// Returns the context as the model receives it: with angle brackets escaped, and enclosed in a
    /// tag.
    pub fn fenced_context(&self) -> Option<String> {
        self.additional_context.as_deref().map(fenced)
    }
}

/// Encloses a program's text in a tag that tells the model the source of the text, with angle
/// brackets escaped.
pub fn fenced(context: &str) -> String {
    let harmless = context.replace('<', "&lt;").replace('>', "&gt;");
    format!("<hook_context>{harmless}</hook_context>")
}

/// Combines replies in the planning order of their hooks. Also returns the object that Gemini CLI
/// builds from these replies; null if no program replied.
pub(crate) fn merge(event: HookEvent, replies: &[&HookReply]) -> (HookResult, Value) {
    if replies.is_empty() {
        return (HookResult::default(), Value::Null);
    }
    let merged = match event {
        HookEvent::BeforeTool
        | HookEvent::AfterTool
        | HookEvent::BeforeAgent
        | HookEvent::AfterAgent
        | HookEvent::SessionStart => any_decides(replies),
        HookEvent::BeforeModel | HookEvent::AfterModel => later_replaces(replies),
        HookEvent::BeforeToolSelection => tools_united(replies),
        HookEvent::SessionEnd | HookEvent::PreCompress | HookEvent::Notification => {
            replies.iter().flat_map(|reply| reply.0.clone()).collect()
        }
    };
    let merged = HookReply(merged);
    (decision(event, &merged), Value::Object(merged.0))
}

/// Combines replies so that one reply is enough to stop the work or to block the event.
fn any_decides(replies: &[&HookReply]) -> Map<String, Value> {
    let mut merged = Map::new();
    let mut specific: Map<String, Value> = Map::new();
    let (mut stop_reasons, mut reasons, mut messages, mut contexts) =
        (vec![], vec![], vec![], vec![]);
    let (mut stops, mut suppresses, mut clears) = (false, false, false);
    let mut decision = None;
    for reply in replies {
        if reply.stops() {
            stops = true;
            stop_reasons.extend(reply.text("stopReason"));
        }
        if reply.blocks() {
            decision = reply.text("decision");
        } else if reply.asks() && decision.is_none() {
            decision = Some("ask");
        }
        reasons.extend(reply.text("reason"));
        messages.extend(reply.text("systemMessage"));
        suppresses |= reply.0.get("suppressOutput") == Some(&Value::Bool(true));
        if let Some(theirs) = reply.specific() {
            clears |= theirs.get("clearContext") == Some(&Value::Bool(true));
            contexts.extend(theirs.get("additionalContext").and_then(Value::as_str));
            specific.extend(theirs.clone());
        }
    }
    merged.insert("continue".to_owned(), json!(!stops));
    merged.insert("suppressOutput".to_owned(), json!(suppresses));
    let mut join = |key: &str, words: &[&str]| {
        if !words.is_empty() {
            merged.insert(key.to_owned(), words.join("\n").into());
        }
    };
    join("stopReason", &stop_reasons);
    join("reason", &reasons);
    join("systemMessage", &messages);
    if let Some(decision) = decision.or((!stops).then_some("allow")) {
        merged.insert("decision".to_owned(), decision.into());
    }
    if clears {
        specific.insert("clearContext".to_owned(), true.into());
    }
    if !contexts.is_empty() {
        specific.insert("additionalContext".to_owned(), contexts.join("\n").into());
    }
    if !specific.is_empty() {
        merged.insert("hookSpecificOutput".to_owned(), specific.into());
    }
    merged
}

/// Combines replies so that later fields replace earlier ones.
fn later_replaces(replies: &[&HookReply]) -> Map<String, Value> {
    let mut merged = Map::new();
    for reply in replies {
        let mut specific = merged
            .get("hookSpecificOutput")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        merged.extend(reply.0.clone());
        if let Some(theirs) = reply.specific() {
            specific.extend(theirs.clone());
        }
        if !specific.is_empty() {
            merged.insert("hookSpecificOutput".to_owned(), specific.into());
        }
    }
    merged
}

/// Combines tool selections: the union of all allowed tools, with the strictest mode.
fn tools_united(replies: &[&HookReply]) -> Map<String, Value> {
    let configs = || replies.iter().filter_map(|reply| reply.specific()?.get("toolConfig"));
    let has = |mode: &str| configs().any(|config| config.get("mode") == Some(&mode.into()));
    let mut names: Vec<&str> = configs()
        .filter_map(|config| config.get("allowedFunctionNames")?.as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    names.sort_unstable();
    names.dedup();
    let mode = match (has("NONE"), has("ANY")) {
        (true, _) => {
            names.clear();
            "NONE"
        }
        (false, true) => "ANY",
        (false, false) => "AUTO",
    };
    let config = json!({ "mode": mode, "allowedFunctionNames": names });
    let specific = json!({ "hookEventName": "BeforeToolSelection", "toolConfig": config });
    Map::from_iter([("hookSpecificOutput".to_owned(), specific)])
}

/// Converts a combined object to a result.
fn decision(event: HookEvent, merged: &HookReply) -> HookResult {
    let reason =
        merged.text("stopReason").or_else(|| merged.text("reason")).unwrap_or(NO_REASON).to_owned();
    let empty = Map::new();
    let specific = merged.specific().unwrap_or(&empty);
    let object = |key: &str| specific.get(key).and_then(Value::as_object).cloned();
    let context = specific.get("additionalContext").and_then(Value::as_str);
    HookResult {
        stop: merged.stops().then(|| reason.clone()),
        block: merged.blocks().then_some(reason),
        ask: event == HookEvent::BeforeTool && merged.asks(),
        system_message: merged.text("systemMessage").map(str::to_owned),
        additional_context: context.filter(|context| !context.is_empty()).map(str::to_owned),
        clear_context: specific.get("clearContext") == Some(&Value::Bool(true)),
        tool_input: object("tool_input"),
        tail_call: specific.get("tailToolCallRequest").and_then(tail_call),
        llm_request: object("llm_request"),
        llm_response: specific.get("llm_response").filter(|response| response.is_object()).cloned(),
        tool_choice: specific.get("toolConfig").map(tool_choice),
    }
}

fn tail_call(given: &Value) -> Option<TailCall> {
    let name = given.get("name")?.as_str().filter(|name| !name.is_empty())?.to_owned();
    let args = given.get("args").and_then(Value::as_object).cloned().unwrap_or_default();
    Some(TailCall { name, args })
}

fn tool_choice(config: &Value) -> ToolChoice {
    let mode = match config.get("mode").and_then(Value::as_str) {
        Some("NONE") => ToolMode::None,
        Some("ANY") => ToolMode::Any,
        _ => ToolMode::Auto,
    };
    let names = config.get("allowedFunctionNames").and_then(Value::as_array);
    let allowed = names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    ToolChoice { mode, allowed: allowed.collect() }
}

#[cfg(test)]
mod tests;
