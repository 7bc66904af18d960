//! Log events of requests to models, of their responses and of their failures.

use pollux_protocol::{ApiErrorMeasure, ApiRequestMeasure, ApiResponseMeasure};
use serde_json::json;

use super::{LogEvent, Rules, milliseconds};
use crate::attributes::{pairs, set};
use crate::names::event;

pub(super) fn api_request(measure: &ApiRequestMeasure, rules: &Rules<'_>) -> Vec<LogEvent> {
    let model = &measure.model;
    let mut attributes = pairs([("model", json!(model)), ("prompt_id", json!(measure.prompt_id))]);
    let text = measure.request_text.clone().filter(|_| rules.log_prompts);
    set(&mut attributes, "request_text", text);
    set(&mut attributes, "role", Some(measure.role.as_str()));
    let details = rules.asked.details(model, rules.log_prompts);
    vec![
        LogEvent::new(event::API_REQUEST, format!("API request to {model}."), attributes),
        LogEvent::new(
            event::OPERATION_DETAILS,
            format!("GenAI operation request details from {model}."),
            details,
        ),
    ]
}

pub(super) fn api_response(measure: &ApiResponseMeasure, rules: &Rules<'_>) -> Vec<LogEvent> {
    let ApiResponseMeasure { model, usage, .. } = measure;
    let duration = milliseconds(measure.duration);
    let reasons = finish_reasons(&measure.finish_reasons);
    let mut attributes = pairs([
        ("model", json!(model)),
        ("duration_ms", json!(duration)),
        ("input_token_count", json!(usage.prompt)),
        ("output_token_count", json!(usage.candidates)),
        ("cached_content_token_count", json!(usage.cached)),
        ("thoughts_token_count", json!(usage.thoughts)),
        ("tool_token_count", json!(usage.tool)),
        ("total_token_count", json!(usage.total)),
        ("prompt_id", json!(measure.prompt_id)),
    ]);
    set(&mut attributes, "auth_type", rules.common.auth_type.clone());
    set(&mut attributes, "status_code", Some(200));
    set(&mut attributes, "http.status_code", Some(200));
    attributes.insert("finish_reasons".to_owned(), json!(reasons));
    set(&mut attributes, "role", Some(measure.role.as_str()));
    let text = measure.response_text.clone().filter(|_| rules.log_prompts);
    set(&mut attributes, "response_text", text);
    let mut details = rules.asked.details(model, rules.log_prompts);
    set(&mut details, "gen_ai.response.model", Some(model.as_str()));
    set(&mut details, "gen_ai.response.id", measure.response_id.clone());
    details.insert("gen_ai.response.finish_reasons".to_owned(), json!(reasons));
    set(&mut details, "gen_ai.usage.input_tokens", Some(usage.prompt));
    set(&mut details, "gen_ai.usage.output_tokens", Some(usage.candidates));
    let outcome = format!("{model}. Status: 200. Duration: {duration}ms.");
    vec![
        LogEvent::new(event::API_RESPONSE, format!("API response from {outcome}"), attributes),
        LogEvent::new(
            event::OPERATION_DETAILS,
            format!("GenAI operation details from {outcome}"),
            details,
        ),
    ]
}

pub(super) fn api_error(measure: &ApiErrorMeasure, rules: &Rules<'_>) -> Vec<LogEvent> {
    let ApiErrorMeasure { model, message, .. } = measure;
    let duration = milliseconds(measure.duration);
    let mut attributes = pairs([
        ("model", json!(model)),
        ("model_name", json!(model)),
        ("error", json!(message)),
        ("error.message", json!(message)),
        ("error.type", json!(measure.error_type)),
    ]);
    set(&mut attributes, "status_code", measure.status);
    set(&mut attributes, "http.status_code", measure.status);
    set(&mut attributes, "duration", Some(duration));
    set(&mut attributes, "duration_ms", Some(duration));
    set(&mut attributes, "prompt_id", Some(measure.prompt_id.as_str()));
    set(&mut attributes, "auth_type", rules.common.auth_type.clone());
    set(&mut attributes, "role", Some(measure.role.as_str()));
    let mut details = rules.asked.details(model, rules.log_prompts);
    set(&mut details, "gen_ai.response.model", Some(model.as_str()));
    let outcome = format!("{model}. Error: {message}. Duration: {duration}ms.");
    vec![
        LogEvent::new(event::API_ERROR, format!("API error for {outcome}"), attributes),
        LogEvent::new(
            event::OPERATION_DETAILS,
            format!("GenAI operation error details from {outcome}"),
            details,
        ),
    ]
}

/// Returns the finish reasons in the terms of OpenTelemetry's conventions. As in Gemini CLI, a
/// response without a finish reason counts as `stop`.
fn finish_reasons(vendors: &[String]) -> Vec<&'static str> {
    let words: Vec<_> = vendors.iter().map(|reason| finish_reason(reason)).collect();
    if words.is_empty() { vec![DONE] } else { words }
}

const DONE: &str = "stop";

fn finish_reason(vendors: &str) -> &'static str {
    match vendors {
        "MAX_TOKENS" => "length",
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" => "content_filter",
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => "error",
        _ => DONE,
    }
}
