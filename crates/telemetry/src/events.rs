//! Conversion of measurements to log events. Pure: no clock, no I/O.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use pollux_protocol::{
    ApprovalMode, Decision, FileOperation, FileOperationKind, Measurement, StreamRetryMeasure,
    ToolCallMeasure,
};
use serde_json::json;

use crate::process::{self, ProcessUsage};

use crate::attributes::{Attributes, Common, pairs, set};
use crate::names::event;
use crate::service::Asked;

mod conseca;
mod hooks;
mod languages;
mod loops;
mod requests;

pub(crate) use hooks::short_name;

#[cfg(test)]
mod tests;

/// A log event, without the attributes that all events have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogEvent {
    /// `event.name`.
    pub(crate) name: &'static str,
    /// Text for human readers.
    pub(crate) body: String,
    /// Attributes specific to this event.
    pub(crate) attributes: Attributes,
}

impl LogEvent {
    pub(crate) fn new(name: &'static str, body: impl Into<String>, attributes: Attributes) -> Self {
        Self { name, body: body.into(), attributes }
    }
}

/// Name of the only measured phase of the start: all of it.
pub(crate) const STARTUP_PHASE: &str = "cli_startup";

/// Setup of a run: the attributes of the first log event. Empty lists are written as empty strings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The requested model.
    pub model: String,
    /// The model for embeddings.
    pub embedding_model: String,
    /// True if calls run in a sandbox.
    pub sandbox: bool,
    /// Built-in tools that were allowed by name.
    pub core_tools: Vec<String>,
    /// The approval mode at the start (`default`).
    pub approval_mode: String,
    /// True if an API key for the Gemini API is in use.
    pub api_key: bool,
    /// True if Vertex AI is in use.
    pub vertex_ai: bool,
    /// True if `.gitignore` is respected.
    pub respect_git_ignore: bool,
    /// True if `--debug` was given.
    pub debug: bool,
    /// Names of MCP servers.
    pub mcp_servers: Vec<String>,
    /// Output format: `text`, `json` or `stream-json`.
    pub output_format: String,
    /// Time at which the start of the session began.
    pub began: Timestamp,
}

impl Configuration {
    pub(crate) fn event(&self, rules: &Rules<'_>) -> LogEvent {
        let mut attributes = pairs([
            ("model", json!(self.model)),
            ("embedding_model", json!(self.embedding_model)),
            ("sandbox_enabled", json!(self.sandbox)),
            ("core_tools_enabled", json!(self.core_tools.join(","))),
            ("approval_mode", json!(self.approval_mode)),
            ("api_key_enabled", json!(self.api_key)),
            ("vertex_ai_enabled", json!(self.vertex_ai)),
            ("log_user_prompts_enabled", json!(rules.log_prompts)),
            ("file_filtering_respect_git_ignore", json!(self.respect_git_ignore)),
            ("debug_mode", json!(self.debug)),
            ("mcp_servers", json!(self.mcp_servers.join(","))),
            ("mcp_servers_count", json!(self.mcp_servers.len())),
            ("output_format", json!(self.output_format)),
            ("extensions", json!("")),
            ("extensions_count", json!(0)),
            ("extension_ids", json!("")),
        ]);
        set(&mut attributes, "auth_type", rules.common.auth_type.clone());
        attributes.insert("worktree_active".to_owned(), json!(false));
        LogEvent::new(event::CONFIG, "CLI configuration loaded.", attributes)
    }

    /// Returns the duration of the start, which ended `now`.
    pub(crate) fn startup(&self, now: Timestamp) -> Duration {
        now.duration_since(self.began).unsigned_abs()
    }

    /// Returns the event about the start, which ended `now`.
    pub(crate) fn startup_event(&self, now: Timestamp, usage: ProcessUsage) -> LogEvent {
        let phases = json!([{
            "name": STARTUP_PHASE,
            "duration_ms": self.startup(now).as_secs_f64() * 1000.0,
            "cpu_usage_user_usec": usage.user.as_micros() as u64,
            "cpu_usage_system_usec": usage.system.as_micros() as u64,
            "start_time_usec": self.began.as_microsecond(),
            "end_time_usec": now.as_microsecond(),
        }]);
        let attributes = pairs([
            ("phases", json!(phases.to_string())),
            ("os_platform", json!(process::os_platform())),
            ("os_release", json!(process::os_release())),
            ("is_docker", json!(process::is_docker())),
        ]);
        LogEvent::new(event::STARTUP_STATS, "Startup stats: 1 phases.", attributes)
    }
}

/// Context of an event, and the rule for the content it may contain.
pub(crate) struct Rules<'a> {
    /// True if the text of prompts, answers and arguments may be logged.
    pub(crate) log_prompts: bool,
    /// Attributes of all records.
    pub(crate) common: &'a Common,
    /// The latest request.
    pub(crate) asked: &'a Asked,
}

/// Returns the log events of one measurement. Measurements that only serve statistics have no
/// event.
pub(crate) fn log_events(measurement: &Measurement, rules: &Rules<'_>) -> Vec<LogEvent> {
    match measurement {
        Measurement::ApiRequest(measure) => requests::api_request(measure, rules),
        Measurement::ApiResponse(measure) => requests::api_response(measure, rules),
        Measurement::ApiError(measure) => requests::api_error(measure, rules),
        Measurement::InvalidStream { .. } => Vec::new(),
        other => vec![log_event(other, rules)].into_iter().flatten().collect(),
    }
}

/// Returns the log event of a measurement that has at most one.
fn log_event(measurement: &Measurement, rules: &Rules<'_>) -> Option<LogEvent> {
    Some(match measurement {
        Measurement::UserPrompt { prompt_id, prompt } => user_prompt(prompt_id, prompt, rules),
        Measurement::ModelRouting { .. } => model_routing(measurement)?,
        Measurement::InvalidChunk { message } => invalid_chunk(message),
        Measurement::ContentRetry(measure) => content_retry(measure),
        Measurement::ContentRetryFailure(measure) => content_retry_failure(measure),
        Measurement::NetworkRetry { .. } => network_retry(measurement)?,
        Measurement::ToolCall(measure) => tool_call(measure, rules),
        Measurement::HookCall(measure) => hooks::hook_call(measure, rules),
        Measurement::ConsecaPolicy(measure) => conseca::policy(measure, rules),
        Measurement::ConsecaVerdict(measure) => conseca::verdict(measure, rules),
        Measurement::File(operation) => file_operation(operation),
        Measurement::ToolOutputTruncated { .. } => truncated(measurement)?,
        Measurement::WebFetchFallback(reason) => LogEvent::new(
            event::WEB_FETCH_FALLBACK,
            format!("Web fetch fallback: {}.", reason.as_str()),
            pairs([("reason", json!(reason.as_str()))]),
        ),
        Measurement::ToolOutputMasked { .. } => masked(measurement)?,
        Measurement::ChatCompression { before, after } => compressed(*before, *after),
        Measurement::EditStrategy(strategy) => LogEvent::new(
            event::EDIT_STRATEGY,
            format!("Edit Tool Strategy: {strategy}"),
            pairs([("strategy", json!(strategy))]),
        ),
        Measurement::EditCorrection { success } => edit_correction(*success),
        Measurement::MalformedJson { model } => malformed_json(model),
        Measurement::PlanExecution { mode } => plan_execution(*mode),
        Measurement::ModelCommand { model } => model_command(model),
        Measurement::SlashCommand { command, subcommand, success } => {
            slash_command(command, subcommand.clone(), *success)
        }
        Measurement::ModeSwitch { from, to } => LogEvent::new(
            event::MODE_SWITCH,
            format!("Approval mode switched from {from} to {to}."),
            pairs([("from_mode", json!(from.as_str())), ("to_mode", json!(to.as_str()))]),
        ),
        Measurement::ModeDuration { mode, duration } => mode_duration(*mode, *duration),
        Measurement::LoopDetected(found) => loops::detected(found),
        Measurement::LoopDetectionDisabled { prompt_id } => loops::disabled(prompt_id),
        Measurement::LoopCheck { prompt_id, confidence, second_model, second_confidence } => {
            loops::checked(prompt_id, *confidence, second_model, *second_confidence)
        }
        Measurement::NextSpeaker(found) => loops::next_speaker(found),
        Measurement::ConversationFinished { mode, turns } => LogEvent::new(
            event::CONVERSATION_FINISHED,
            "Conversation finished.",
            pairs([("approvalMode", json!(mode.as_str())), ("turnCount", json!(turns))]),
        ),
        Measurement::ApiRequest(_)
        | Measurement::ApiResponse(_)
        | Measurement::ApiError(_)
        | Measurement::InvalidStream { .. }
        | Measurement::ToolQueue { .. } => return None,
    })
}

fn invalid_chunk(message: &str) -> LogEvent {
    LogEvent::new(
        event::INVALID_CHUNK,
        "Invalid chunk received from stream.",
        pairs([("error.message", json!(message))]),
    )
}

fn edit_correction(success: bool) -> LogEvent {
    let correction = if success { "success" } else { "failure" };
    LogEvent::new(
        event::EDIT_CORRECTION,
        format!("Edit Tool Correction: {correction}"),
        pairs([("correction", json!(correction))]),
    )
}

fn malformed_json(model: &str) -> LogEvent {
    LogEvent::new(
        event::MALFORMED_JSON,
        format!("Malformed JSON response from {model}."),
        pairs([("model", json!(model))]),
    )
}

fn plan_execution(mode: ApprovalMode) -> LogEvent {
    LogEvent::new(
        event::PLAN_EXECUTION,
        format!("Plan executed with approval mode: {mode}"),
        pairs([("approval_mode", json!(mode.as_str()))]),
    )
}

fn model_command(model: &str) -> LogEvent {
    LogEvent::new(
        event::MODEL_COMMAND,
        format!("Model slash command. Model: {model}"),
        pairs([("model_name", json!(model))]),
    )
}

fn slash_command(command: &str, subcommand: Option<String>, success: bool) -> LogEvent {
    let mut attributes = pairs([("command", json!(command))]);
    set(&mut attributes, "subcommand", subcommand);
    set(&mut attributes, "status", Some(if success { "success" } else { "error" }));
    LogEvent::new(event::SLASH_COMMAND, format!("Slash command: {command}."), attributes)
}

fn mode_duration(mode: ApprovalMode, duration: Duration) -> LogEvent {
    let duration = duration.as_secs_f64() * 1000.0;
    LogEvent::new(
        event::MODE_DURATION,
        format!("Approval mode {mode} was active for {duration}ms."),
        pairs([("mode", json!(mode.as_str())), ("duration_ms", json!(duration))]),
    )
}

fn compressed(before: u64, after: u64) -> LogEvent {
    // Negative if the conversation became longer.
    let saved = i128::from(before) - i128::from(after);
    LogEvent::new(
        event::CHAT_COMPRESSION,
        format!("Chat compression (Saved {saved} tokens)"),
        pairs([("tokens_before", json!(before)), ("tokens_after", json!(after))]),
    )
}

fn masked(measurement: &Measurement) -> Option<LogEvent> {
    let Measurement::ToolOutputMasked { before, after, count, prunable } = measurement else {
        return None;
    };
    Some(LogEvent::new(
        event::TOOL_OUTPUT_MASKING,
        format!("Tool output masking. Masked {count} tool outputs."),
        pairs([
            ("tokens_before", json!(before)),
            ("tokens_after", json!(after)),
            ("masked_count", json!(count)),
            ("total_prunable_tokens", json!(prunable)),
        ]),
    ))
}

fn user_prompt(prompt_id: &str, prompt: &str, rules: &Rules<'_>) -> LogEvent {
    // JavaScript counts the length in UTF-16 units.
    let length = prompt.encode_utf16().count();
    let mut attributes = pairs([("prompt_length", json!(length)), ("prompt_id", json!(prompt_id))]);
    set(&mut attributes, "auth_type", rules.common.auth_type.clone());
    set(&mut attributes, "prompt", rules.log_prompts.then_some(prompt));
    LogEvent::new(event::USER_PROMPT, format!("User prompt. Length: {length}."), attributes)
}

fn model_routing(measurement: &Measurement) -> Option<LogEvent> {
    let Measurement::ModelRouting { model, source, latency, error, mode, .. } = measurement else {
        return None;
    };
    let mut attributes = pairs([
        ("decision_model", json!(model)),
        ("decision_source", json!(source)),
        ("routing_latency_ms", json!(milliseconds(*latency))),
        ("failed", json!(error.is_some())),
        ("approval_mode", json!(mode.as_str())),
    ]);
    set(&mut attributes, "error_message", error.clone());
    let body = format!("Model routing decision. Model: {model}, Source: {source}");
    Some(LogEvent::new(event::MODEL_ROUTING, body, attributes))
}

fn content_retry(measure: &StreamRetryMeasure) -> LogEvent {
    // Gemini CLI counts these attempts from 0.
    let attempt = measure.attempt.saturating_sub(1);
    let mut attributes =
        pairs([("attempt_number", json!(attempt)), ("error_type", json!(measure.error_type))]);
    set(&mut attributes, "retry_delay_ms", measure.delay.map(milliseconds));
    set(&mut attributes, "model", Some(measure.model.as_str()));
    let body = format!("Content retry attempt {attempt} due to {}.", measure.error_type);
    LogEvent::new(event::CONTENT_RETRY, body, attributes)
}

fn content_retry_failure(measure: &StreamRetryMeasure) -> LogEvent {
    let attributes = pairs([
        ("total_attempts", json!(measure.attempt)),
        ("final_error_type", json!(measure.error_type)),
        ("model", json!(measure.model)),
    ]);
    let body = format!("All content retries failed after {} attempts.", measure.attempt);
    LogEvent::new(event::CONTENT_RETRY_FAILURE, body, attributes)
}

fn network_retry(measurement: &Measurement) -> Option<LogEvent> {
    let Measurement::NetworkRetry { model, attempt, max_attempts, error_type, delay } = measurement
    else {
        return None;
    };
    let delay = milliseconds(*delay);
    let attributes = pairs([
        ("attempt", json!(attempt)),
        ("max_attempts", json!(max_attempts)),
        ("error_type", json!(error_type)),
        ("delay_ms", json!(delay)),
        ("model", json!(model)),
    ]);
    let body = format!(
        "Network retry attempt {attempt}/{max_attempts} for {model}. Delay: {delay}ms. Error type: {error_type}"
    );
    Some(LogEvent::new(event::NETWORK_RETRY, body, attributes))
}

fn tool_call(measure: &ToolCallMeasure, rules: &Rules<'_>) -> LogEvent {
    let duration = milliseconds(measure.duration);
    let mut attributes = pairs([
        ("function_name", json!(measure.name)),
        ("duration_ms", json!(duration)),
        ("success", json!(measure.success)),
    ]);
    let decision = measure.decision.map(Decision::as_str);
    set(&mut attributes, "decision", decision);
    set(&mut attributes, "prompt_id", Some(measure.prompt_id.as_str()));
    set(&mut attributes, "tool_type", Some("native"));
    set(&mut attributes, "content_length", measure.content_length);
    if rules.log_prompts {
        set(&mut attributes, "function_args", serde_json::to_string_pretty(&measure.args).ok());
    }
    let metadata = measure.diff.and_then(|diff| serde_json::to_string_pretty(&diff).ok());
    set(&mut attributes, "metadata", metadata);
    if let Some((message, kind)) = &measure.error {
        for (key, value) in [
            ("error", message.as_str()),
            ("error.message", message.as_str()),
            ("error_type", *kind),
            ("error.type", *kind),
        ] {
            set(&mut attributes, key, Some(value));
        }
    }
    let decided = decision.map_or_else(String::new, |decision| format!(". Decision: {decision}"));
    let body = format!(
        "Tool call: {}{decided}. Success: {}. Duration: {duration}ms.",
        measure.name, measure.success
    );
    LogEvent::new(event::TOOL_CALL, body, attributes)
}

fn file_operation(operation: &FileOperation) -> LogEvent {
    let kind = operation_name(operation.kind);
    let mut attributes = pairs([("tool_name", json!(operation.tool)), ("operation", json!(kind))]);
    describe_file(&mut attributes, operation);
    let lines = operation.lines.map_or_else(String::new, |lines| format!(" Lines: {lines}."));
    LogEvent::new(event::FILE_OPERATION, format!("File operation: {kind}.{lines}"), attributes)
}

/// Returns the name of the operation in logs and metrics.
pub(crate) fn operation_name(kind: FileOperationKind) -> &'static str {
    match kind {
        FileOperationKind::Create => "create",
        FileOperationKind::Read => "read",
        FileOperationKind::Update => "update",
    }
}

/// Adds the attributes of a file in logs and metrics, which never include its path.
pub(crate) fn describe_file(attributes: &mut Attributes, operation: &FileOperation) {
    let extension = Path::new(&operation.path).extension().map(|name| name.to_string_lossy());
    let language = extension.as_deref().and_then(languages::language);
    set(attributes, "lines", operation.lines);
    set(attributes, "mimetype", operation.mime_type.clone());
    set(attributes, "extension", extension.map(|name| format!(".{name}")));
    set(attributes, "programming_language", language);
}

fn truncated(measurement: &Measurement) -> Option<LogEvent> {
    let Measurement::ToolOutputTruncated { tool, prompt_id, original, truncated, threshold } =
        measurement
    else {
        return None;
    };
    let attributes = pairs([
        ("eventName", json!("tool_output_truncated")),
        ("tool_name", json!(tool)),
        ("original_content_length", json!(original)),
        ("truncated_content_length", json!(truncated)),
        ("threshold", json!(threshold)),
        ("prompt_id", json!(prompt_id)),
    ]);
    let body = format!("Tool output truncated for {tool}.");
    Some(LogEvent::new(event::TOOL_OUTPUT_TRUNCATED, body, attributes))
}

pub(crate) fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}
