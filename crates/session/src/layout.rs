//! Records of a session file, with their keys in the order of Gemini CLI.
//!
//! Lines that Gemini CLI does not know have the single key `$pollux`. Gemini CLI ignores such
//! lines, and also the key `$pollux` inside a message.

use pollux_protocol::{
    Body, CallRecord, Display, Effects, Opaque, Part, Severity, Thought, ToolKind, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// First line of a session file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Header<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) project_hash: &'a str,
    pub(crate) start_time: &'a str,
    pub(crate) last_updated: &'a str,
    pub(crate) kind: &'a str,
    /// Folders of a subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) directories: Option<Vec<String>>,
}

/// Facts about the session of a subagent.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct SubagentLine {
    /// Name of the subagent.
    pub(crate) agent: String,
    /// Call that runs it.
    pub(crate) call_id: String,
}

/// Message of the user or the model, or a notice.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message<'a> {
    pub(crate) id: &'a str,
    pub(crate) timestamp: &'a str,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) content: Words<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) display_content: Option<Words<'a>>,
    #[serde(flatten)]
    pub(crate) answer: Option<Answer<'a>>,
    #[serde(rename = "$pollux", skip_serializing_if = "Option::is_none")]
    pub(crate) extra: Option<Extra>,
}

/// Fields that only a message of the model has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer<'a> {
    pub(crate) thoughts: Vec<StampedThought<'a>>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_calls: Option<Vec<ToolCall<'a>>>,
}

/// Content of a message: a bare string or parts.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Words<'a> {
    Text(&'a str),
    Parts(Vec<&'a Part>),
    Owned(Vec<Part>),
}

#[derive(Serialize)]
pub(crate) struct StampedThought<'a> {
    #[serde(flatten)]
    pub(crate) thought: &'a Thought,
    pub(crate) timestamp: &'a str,
}

/// Token counts of a model response, under the names used in the file.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Tokens {
    input: u64,
    output: u64,
    cached: u64,
    thoughts: u64,
    tool: u64,
    total: u64,
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.prompt,
            output: usage.candidates,
            cached: usage.cached,
            thoughts: usage.thoughts,
            tool: usage.tool,
            total: usage.total,
        }
    }
}

impl Tokens {
    /// Returns the usage, including the cache-write tokens, which the file stores separately.
    pub(crate) fn usage(self, cache_write: u64) -> Usage {
        let tokens = self;
        Usage {
            cache_write,
            prompt: tokens.input,
            candidates: tokens.output,
            total: tokens.total,
            cached: tokens.cached,
            thoughts: tokens.thoughts,
            tool: tokens.tool,
        }
    }
}

/// Call inside a message of the model.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolCall<'a> {
    id: &'a str,
    name: &'a str,
    args: &'a Value,
    result: Words<'a>,
    status: &'static str,
    timestamp: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_display: Option<Value>,
    description: &'a str,
    display_name: &'a str,
    render_output_as_markdown: bool,
    #[serde(rename = "$pollux", skip_serializing_if = "CallExtra::is_empty")]
    extra: CallExtra,
}

/// Fields that Pollux adds to a call.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallExtra {
    /// Kind of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<ToolKind>,
    /// Paths that the call touches; one that is not valid Unicode is recorded as well as possible.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) locations: Vec<String>,
}

impl CallExtra {
    fn new(call: &CallRecord) -> Self {
        let locations = call.locations.iter();
        let locations = locations.map(|path| path.to_string_lossy().into_owned()).collect();
        Self { kind: call.kind, locations }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl<'a> ToolCall<'a> {
    /// Creates the record of a call. A call without a result is recorded as interrupted: if the
    /// process dies now, Gemini CLI would otherwise resume with an unanswered call, which vendors
    /// refuse.
    pub(crate) fn new(call: &'a CallRecord, timestamp: &'a str) -> Self {
        let result = match &call.result {
            Some(parts) => Words::Parts(parts.iter().collect()),
            None => Words::Owned(vec![interrupted(call.id.as_str(), &call.name, INTERRUPTED)]),
        };
        Self {
            id: call.id.as_str(),
            name: &call.name,
            args: &call.args,
            result,
            status: call.status.as_str(),
            timestamp,
            result_display: call.result_display.as_ref().and_then(display),
            description: &call.description,
            display_name: if call.display_name.is_empty() {
                &call.name
            } else {
                &call.display_name
            },
            render_output_as_markdown: call.render_output_as_markdown,
            extra: CallExtra::new(call),
        }
    }
}

/// Converts the display data of a call to JSON. A path that is not valid Unicode has no JSON form;
/// the call is then recorded without its display data.
fn display(display: &Display) -> Option<Value> {
    serde_json::to_value(display).ok()
}

/// Reason given for an interrupted call if no details are known.
pub(crate) const INTERRUPTED: &str = "The call was interrupted.";

/// Reason given for a call that was interrupted after its start.
pub(crate) const INTERRUPTED_RUNNING: &str =
    "The call was interrupted while it ran; it may have taken effect in part.";

/// Returns the error response for a call that did not finish.
pub(crate) fn interrupted(id: &str, name: &str, reason: &str) -> Part {
    Part::error(id, name, &format!("[Operation Cancelled] Reason: {reason}"))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

/// Fields that Pollux adds to a message.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Extra {
    /// Exact parts, if `content` had to omit data that only another vendor understands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parts: Option<Vec<Part>>,
    /// True if the model's message was cut short.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) interrupted: bool,
    /// Tokens that were written to the vendor's cache; `tokens` has no key for them.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) cache_write: u64,
    /// True for a message of the user or the context that Gemini CLI would ignore because of its
    /// first characters.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) said: bool,
    /// True for a message of the user's side that the user does not see, because the program wrote
    /// it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) hidden: bool,
    /// True if this message's text belongs to the turn with call results that has the same id.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) with_results: bool,
}

/// One part of a turn with results: a reference to a part of a call's result, or the part itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum ResultPart {
    Of { call: String, part: usize },
    Literal(Part),
}

/// Turn in which the results are sent to the model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Responses {
    pub(crate) id: String,
    pub(crate) parts: Vec<ResultPart>,
}

/// True if opaque data belongs to a vendor other than Gemini. It must not be in `content`: Gemini
/// CLI sends every unknown key on to Gemini, which refuses it.
fn is_foreign(opaque: &Opaque) -> bool {
    opaque.dialect != Opaque::GEMINI
}

/// Returns the parts without data that only vendors other than Gemini understand, including signed
/// thoughts; `None` if there is no such data.
pub(crate) fn without_foreign(parts: &[Part]) -> Option<Vec<Part>> {
    if !parts.iter().any(|part| part.opaque.as_ref().is_some_and(is_foreign)) {
        return None;
    }
    let stripped = parts.iter().cloned().map(|mut part| {
        part.opaque = part.opaque.filter(|opaque| !is_foreign(opaque));
        part
    });
    let is_kept = |part: &Part| !part.is_empty() && (!part.thought || part.is_signed_thought());
    Some(stripped.filter(is_kept).collect())
}

/// Returns the text of parts, joined as Gemini CLI does to classify a message.
pub(crate) fn words(parts: &[Part]) -> String {
    parts.iter().map(part_words).collect()
}

fn part_words(part: &Part) -> String {
    match &part.body {
        _ if part.thought => "[Thought: true]".to_owned(),
        Body::Text(text) => text.clone(),
        Body::Inline(blob) => format!("[Media: {}]", blob.mime_type),
        Body::File(_) => "[File Data]".to_owned(),
        Body::Call(call) => format!("[Function Call: {}]", call.name),
        Body::Response(response) => format!("[Function Response: {}]", response.name),
        Body::Other(_) => "[Other]".to_owned(),
    }
}

/// True if Gemini CLI treats a user message with this text as not addressed to the model.
pub(crate) fn is_ignorable(words: &str) -> bool {
    let words = words.trim();
    words.is_empty()
        || ["/", "?", SESSION_CONTEXT, HOOK_CONTEXT].iter().any(|start| words.starts_with(start))
}

/// Beginning of the context message that opens a conversation.
pub(crate) const SESSION_CONTEXT: &str = "<session_context>";

/// Beginning of a message with the text of hooks.
pub(crate) const HOOK_CONTEXT: &str = "<hook_context>";

/// Returns the message type of a notice.
pub(crate) fn notice_kind(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// Returns effects as JSON; a path that is not valid Unicode is recorded as well as possible. The
/// field that says whether the call ran alone is omitted, because it is not needed later.
pub(crate) fn effects(effects: &Effects) -> Value {
    let Effects {
        unknown, reads, searches, writes, deletes, command, folder, network, hosts, ..
    } = effects;
    let mut value = serde_json::Map::new();
    let mut put = |name: &str, field: Value| value.insert(name.to_owned(), field);
    for (name, is_so) in [("unknown", unknown), ("network", network)] {
        if *is_so {
            put(name, json!(true));
        }
    }
    let lists =
        [("reads", reads), ("searches", searches), ("writes", writes), ("deletes", deletes)];
    for (name, paths) in lists {
        let paths: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
        if !paths.is_empty() {
            put(name, json!(paths));
        }
    }
    if let Some(command) = command {
        put("command", json!(command));
    }
    if let Some(folder) = folder {
        put("folder", json!(folder.to_string_lossy()));
    }
    if !hosts.is_empty() {
        put("hosts", json!(hosts));
    }
    Value::Object(value)
}
