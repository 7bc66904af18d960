//! Names of events and instruments, which programs search for: letter for letter those of Gemini
//! CLI.

/// Value of `service.name`, and the scope of logs and metrics.
pub(crate) const SERVICE: &str = "gemini-cli";

/// Names of log events, the value of `event.name`.
pub(crate) mod event {
    pub(crate) const CONFIG: &str = "gemini_cli.config";
    pub(crate) const USER_PROMPT: &str = "gemini_cli.user_prompt";
    pub(crate) const TOOL_CALL: &str = "gemini_cli.tool_call";
    pub(crate) const HOOK_CALL: &str = "gemini_cli.hook_call";
    pub(crate) const CONSECA_POLICY: &str = "gemini_cli.conseca.policy_generation";
    pub(crate) const CONSECA_VERDICT: &str = "gemini_cli.conseca.verdict";
    pub(crate) const FILE_OPERATION: &str = "gemini_cli.file_operation";
    pub(crate) const TOOL_OUTPUT_MASKING: &str = "gemini_cli.tool_output_masking";
    pub(crate) const TOOL_OUTPUT_TRUNCATED: &str = "gemini_cli.tool_output_truncated";
    pub(crate) const CHAT_COMPRESSION: &str = "gemini_cli.chat_compression";
    pub(crate) const API_REQUEST: &str = "gemini_cli.api_request";
    pub(crate) const API_RESPONSE: &str = "gemini_cli.api_response";
    pub(crate) const API_ERROR: &str = "gemini_cli.api_error";
    pub(crate) const OPERATION_DETAILS: &str = "gen_ai.client.inference.operation.details";
    pub(crate) const MODEL_ROUTING: &str = "gemini_cli.model_routing";
    pub(crate) const SLASH_COMMAND: &str = "gemini_cli.slash_command";
    pub(crate) const INVALID_CHUNK: &str = "gemini_cli.chat.invalid_chunk";
    pub(crate) const CONTENT_RETRY: &str = "gemini_cli.chat.content_retry";
    pub(crate) const CONTENT_RETRY_FAILURE: &str = "gemini_cli.chat.content_retry_failure";
    pub(crate) const NETWORK_RETRY: &str = "gemini_cli.network_retry_attempt";
    pub(crate) const CONVERSATION_FINISHED: &str = "gemini_cli.conversation_finished";
    pub(crate) const END_SESSION: &str = "end_session";
    pub(crate) const STARTUP_STATS: &str = "gemini_cli.startup_stats";
    pub(crate) const PLAN_EXECUTION: &str = "gemini_cli.plan.execution";
    pub(crate) const EDIT_CORRECTION: &str = "gemini_cli.edit_correction";
    pub(crate) const MALFORMED_JSON: &str = "gemini_cli.malformed_json_response";
    pub(crate) const MODEL_COMMAND: &str = "gemini_cli.slash_command.model";
    pub(crate) const EDIT_STRATEGY: &str = "gemini_cli.edit_strategy";
    pub(crate) const WEB_FETCH_FALLBACK: &str = "gemini_cli.web_fetch_fallback_attempt";
    pub(crate) const LOOP_DETECTED: &str = "loop_detected";
    pub(crate) const LOOP_DETECTION_DISABLED: &str = "loop_detection_disabled";
    pub(crate) const LOOP_CHECK: &str = "gemini_cli.llm_loop_check";
    pub(crate) const NEXT_SPEAKER: &str = "gemini_cli.next_speaker_check";
    pub(crate) const MODE_SWITCH: &str = "gemini_cli.plan.approval_mode_switch";
    pub(crate) const MODE_DURATION: &str = "gemini_cli.plan.approval_mode_duration";
}

/// Aggregation of an instrument's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A sum that only grows.
    Counter,
    /// A distribution of whole numbers.
    Histogram,
    /// A distribution of fractions.
    FractionHistogram,
}

/// Description of an instrument.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Instrument {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) unit: &'static str,
    pub(crate) description: &'static str,
}

macro_rules! instruments {
    ($($constant:ident = $name:literal, $kind:ident, $unit:literal, $description:literal;)*) => {
        $(pub(crate) const $constant: Instrument = Instrument {
            name: $name,
            kind: Kind::$kind,
            unit: $unit,
            description: $description,
        };)*
    };
}

/// The instruments.
pub(crate) mod instrument {
    use super::{Instrument, Kind};

    instruments! {
        SESSIONS = "gemini_cli.session.count", Counter, "", "Sessions begun.";
        TOOL_CALLS = "gemini_cli.tool.call.count", Counter, "", "Tool calls, by tool and outcome.";
        TOOL_LATENCY = "gemini_cli.tool.call.latency", Histogram, "ms", "Duration of tool calls.";
        HOOK_CALLS = "gemini_cli.hook_call.count", Counter, "", "Hooks that ran, by event and outcome.";
        HOOK_LATENCY = "gemini_cli.hook_call.latency", Histogram, "ms", "Duration of hooks.";
        API_REQUESTS = "gemini_cli.api.request.count", Counter, "", "Requests to models, by model and status.";
        API_LATENCY = "gemini_cli.api.request.latency", Histogram, "ms", "Duration of requests to models.";
        TOKENS = "gemini_cli.token.usage", Counter, "", "Tokens, by model and type.";
        FILE_OPERATIONS = "gemini_cli.file.operation.count", Counter, "", "Files created, read and updated.";
        LINES = "gemini_cli.lines.changed", Counter, "", "Lines added to and removed from files.";
        CHAT_COMPRESSIONS = "gemini_cli.chat_compression", Counter, "", "Conversations that were compressed.";
        INVALID_CHUNKS = "gemini_cli.chat.invalid_chunk.count", Counter, "", "Invalid pieces of an answer.";
        CONTENT_RETRIES = "gemini_cli.chat.content_retry.count", Counter, "", "Retries of requests with unusable answers.";
        CONTENT_RETRY_FAILURES = "gemini_cli.chat.content_retry_failure.count", Counter, "", "Requests that failed after all retries with unusable answers.";
        NETWORK_RETRIES = "gemini_cli.network_retry.count", Counter, "", "Retries of connections.";
        ROUTING_LATENCY = "gemini_cli.model_routing.latency", Histogram, "ms", "Duration of choosing a model.";
        ROUTING_FAILURES = "gemini_cli.model_routing.failure.count", Counter, "", "Models that could not be chosen.";
        PLAN_EXECUTIONS = "gemini_cli.plan.execution.count", Counter, "", "Approved plans.";
        MODEL_COMMANDS = "gemini_cli.slash_command.model.call_count", Counter, "", "Models chosen with a slash command.";
        STARTUP = "gemini_cli.startup.duration", FractionHistogram, "ms", "Duration of the start, by phase.";
        MEMORY = "gemini_cli.memory.usage", Histogram, "bytes", "Memory of the process.";
        CPU = "gemini_cli.cpu.usage", FractionHistogram, "percent", "Processor time of the process.";
        TOOL_QUEUE = "gemini_cli.tool.queue.depth", Histogram, "count", "Calls that wait in the queue.";
        TOOL_BREAKDOWN = "gemini_cli.tool.execution.breakdown", Histogram, "ms", "Duration of tool calls, by phase.";
        API_BREAKDOWN = "gemini_cli.api.request.breakdown", Histogram, "ms", "Duration of requests to models, by phase.";
        TOKEN_EFFICIENCY = "gemini_cli.token.efficiency", FractionHistogram, "ratio", "Share of the tokens of a request that were cached.";
        GEN_AI_TOKENS = "gen_ai.client.token.usage", Histogram, "token", "Tokens of one request, by type.";
        GEN_AI_DURATION = "gen_ai.client.operation.duration", FractionHistogram, "s", "Duration of one request.";
    }
}
