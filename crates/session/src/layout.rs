//! The records of a session file, with their keys in Gemini CLI's order.
//!
//! Lines that Gemini CLI does not know have the single key `$pollux`; it ignores them, as it ignores the same key
//! inside a message.

use pollux_protocol::{Body, CallRecord, Display, Effects, Opaque, Part, Severity, Thought, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The first line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Header<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) project_hash: &'a str,
    pub(crate) start_time: &'a str,
    pub(crate) last_updated: &'a str,
    pub(crate) kind: &'a str,
}

/// A message.
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

/// What only a message of the model has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer<'a> {
    pub(crate) thoughts: Vec<StampedThought<'a>>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_calls: Option<Vec<ToolCall<'a>>>,
}

/// Content: a bare string or parts.
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

/// Tokens of an answer under the names of the file.
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
    /// The usage with what the file keeps apart.
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

/// A call inside a message of the model.
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
}

impl<'a> ToolCall<'a> {
    /// A call that has no result yet says that it was interrupted: should the process die now, Gemini CLI would
    /// otherwise resume with a call that nobody answered, which vendors refuse.
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
        }
    }
}

/// A path that is no Unicode has no JSON form; the call is then recorded without its picture.
fn display(display: &Display) -> Option<Value> {
    serde_json::to_value(display).ok()
}

/// The reason of an interrupted call of which no more is known.
pub(crate) const INTERRUPTED: &str = "The call was interrupted.";

/// The answer to a call that never came to its end.
pub(crate) fn interrupted(id: &str, name: &str, reason: &str) -> Part {
    Part::error(id, name, &format!("[Operation Cancelled] Reason: {reason}"))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

/// What Pollux adds to a message.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Extra {
    /// The exact parts, when `content` had to leave out what only another vendor understands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parts: Option<Vec<Part>>,
    /// The answer was cut short.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) interrupted: bool,
    /// Tokens that were written to the vendor's cache; `tokens` has no key for them.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) cache_write: u64,
    /// Said by a person or the context, though Gemini CLI takes such a beginning for none of that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) said: bool,
    /// The words are part of the turn with the results of calls that has this message's id.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) with_results: bool,
}

/// One part of a turn with results: a part of a call's result, by reference, or the part itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum ResultPart {
    Of { call: String, part: usize },
    Literal(Part),
}

/// The turn in which the model is told the results.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Responses {
    pub(crate) id: String,
    pub(crate) parts: Vec<ResultPart>,
}

/// Where a vendor's own bytes may stand in `content`: Gemini CLI sends every other key on to Gemini, which refuses it.
fn is_foreign(opaque: &Opaque) -> bool {
    opaque.dialect != Opaque::GEMINI
}

/// Returns the parts without what only another vendor than Gemini understands, signed thoughts included;
/// `None` when there is nothing of the sort.
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

/// The words of parts as Gemini CLI joins them to decide what a message is about.
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

/// Whether Gemini CLI takes a user message with these words for something that nobody said to the model.
pub(crate) fn is_ignorable(words: &str) -> bool {
    let words = words.trim();
    words.is_empty()
        || ["/", "?", SESSION_CONTEXT, "<hook_context>"]
            .iter()
            .any(|start| words.starts_with(start))
}

/// How the context that opens a conversation begins.
pub(crate) const SESSION_CONTEXT: &str = "<session_context>";

/// The type of a notice.
pub(crate) fn notice_kind(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// Effects as data; a path that is no Unicode is recorded as well as it can be. Whether the call ran
/// alone is left out: nobody asks afterwards.
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
