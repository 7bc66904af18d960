//! Conversion of measurements to values of instruments. Pure.

use pollux_protocol::{
    ApiErrorMeasure, ApiResponseMeasure, Decision, Measurement, ToolCallMeasure,
};
use serde_json::json;

use crate::attributes::{Attributes, pairs, set};
use crate::events::{describe_file, milliseconds, operation_name, short_name};
use crate::names::{Instrument, instrument};
use crate::service::Asked;

/// One value of one instrument.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    pub(crate) instrument: &'static Instrument,
    pub(crate) value: f64,
    pub(crate) attributes: Attributes,
}

impl Point {
    pub(crate) fn new(instrument: &'static Instrument, value: f64, attributes: Attributes) -> Self {
        Self { instrument, value, attributes }
    }

    fn one(instrument: &'static Instrument, attributes: Attributes) -> Self {
        Self::new(instrument, 1.0, attributes)
    }
}

/// Returns the values of one measurement.
pub(crate) fn points(measurement: &Measurement, asked: &Asked) -> Vec<Point> {
    match measurement {
        Measurement::ToolCall(measure) => tool_call(measure),
        Measurement::ApiResponse(measure) => api_response(measure, asked),
        Measurement::ApiError(measure) => api_error(measure, asked),
        Measurement::ModelRouting { .. } => model_routing(measurement),
        Measurement::HookCall(measure) => {
            let attributes = pairs([
                ("hook_event_name", json!(measure.event.as_str())),
                ("hook_name", json!(short_name(&measure.name))),
                ("success", json!(measure.success)),
            ]);
            let latency = milliseconds(measure.duration) as f64;
            vec![
                Point::one(&instrument::HOOK_CALLS, attributes.clone()),
                Point::new(&instrument::HOOK_LATENCY, latency, attributes),
            ]
        }
        Measurement::File(operation) => {
            let mut attributes = pairs([("operation", json!(operation_name(operation.kind)))]);
            describe_file(&mut attributes, operation);
            vec![Point::one(&instrument::FILE_OPERATIONS, attributes)]
        }
        Measurement::ChatCompression { before, after } => {
            let attributes =
                pairs([("tokens_before", json!(before)), ("tokens_after", json!(after))]);
            vec![Point::one(&instrument::CHAT_COMPRESSIONS, attributes)]
        }
        Measurement::InvalidChunk { .. } => {
            vec![Point::one(&instrument::INVALID_CHUNKS, Attributes::new())]
        }
        Measurement::ContentRetry(_) => {
            vec![Point::one(&instrument::CONTENT_RETRIES, Attributes::new())]
        }
        Measurement::ContentRetryFailure(_) => {
            vec![Point::one(&instrument::CONTENT_RETRY_FAILURES, Attributes::new())]
        }
        Measurement::ToolQueue { depth } => {
            vec![Point::new(&instrument::TOOL_QUEUE, *depth as f64, Attributes::new())]
        }
        Measurement::PlanExecution { mode } => {
            let attributes = pairs([("approval_mode", json!(mode.as_str()))]);
            vec![Point::one(&instrument::PLAN_EXECUTIONS, attributes)]
        }
        Measurement::ModelCommand { model } => {
            let attributes = pairs([("slash_command.model.model_name", json!(model))]);
            vec![Point::one(&instrument::MODEL_COMMANDS, attributes)]
        }
        Measurement::NetworkRetry { model, attempt, .. } => {
            let attributes = pairs([("model", json!(model)), ("attempt", json!(attempt))]);
            vec![Point::one(&instrument::NETWORK_RETRIES, attributes)]
        }
        _ => Vec::new(),
    }
}

fn tool_call(measure: &ToolCallMeasure) -> Vec<Point> {
    let name = ("function_name", json!(measure.name));
    let mut attributes = pairs([name.clone(), ("success", json!(measure.success))]);
    set(&mut attributes, "decision", measure.decision.map(Decision::as_str));
    set(&mut attributes, "tool_type", Some("native"));
    let latency = milliseconds(measure.duration) as f64;
    let mut points = vec![
        Point::one(&instrument::TOOL_CALLS, attributes),
        Point::new(&instrument::TOOL_LATENCY, latency, pairs([name.clone()])),
        Point::new(
            &instrument::TOOL_BREAKDOWN,
            latency,
            pairs([name.clone(), ("phase", json!("execution"))]),
        ),
    ];
    if let Some(diff) = measure.diff {
        let changes = [("added", diff.model_added_lines), ("removed", diff.model_removed_lines)];
        for (kind, lines) in changes.into_iter().filter(|(_, lines)| *lines > 0) {
            let attributes = pairs([("type", json!(kind)), name.clone()]);
            points.push(Point::new(&instrument::LINES, lines as f64, attributes));
        }
    }
    points
}

fn api_response(measure: &ApiResponseMeasure, asked: &Asked) -> Vec<Point> {
    let ApiResponseMeasure { model, usage, .. } = measure;
    let request = pairs([("model", json!(model))]);
    let mut counted = request.clone();
    set(&mut counted, "status_code", Some(200));
    let latency = milliseconds(measure.duration) as f64;
    let mut points = vec![
        Point::one(&instrument::API_REQUESTS, counted),
        Point::new(&instrument::API_LATENCY, latency, request.clone()),
    ];
    let mut phase = request.clone();
    set(&mut phase, "phase", Some("network_latency"));
    points.push(Point::new(&instrument::API_BREAKDOWN, latency, phase));
    if usage.prompt > 0 {
        let mut attributes = request;
        set(&mut attributes, "metric", Some("cache_hit_rate"));
        let share = usage.cached as f64 / usage.prompt as f64;
        points.push(Point::new(&instrument::TOKEN_EFFICIENCY, share, attributes));
    }
    for (kind, tokens) in [
        ("input", usage.prompt),
        ("output", usage.candidates),
        ("thought", usage.thoughts),
        ("cache", usage.cached),
        ("tool", usage.tool),
    ] {
        let attributes = pairs([("model", json!(model)), ("type", json!(kind))]);
        points.push(Point::new(&instrument::TOKENS, tokens as f64, attributes));
    }
    for (kind, tokens) in [("input", usage.prompt), ("output", usage.candidates)] {
        let mut attributes = asked.operation(model);
        set(&mut attributes, "gen_ai.response.model", Some(model.as_str()));
        set(&mut attributes, "gen_ai.token.type", Some(kind));
        points.push(Point::new(&instrument::GEN_AI_TOKENS, tokens as f64, attributes));
    }
    let mut attributes = asked.operation(model);
    set(&mut attributes, "gen_ai.response.model", Some(model.as_str()));
    let seconds = measure.duration.as_secs_f64();
    points.push(Point::new(&instrument::GEN_AI_DURATION, seconds, attributes));
    points
}

fn api_error(measure: &ApiErrorMeasure, asked: &Asked) -> Vec<Point> {
    let request = pairs([("model", json!(measure.model))]);
    let latency = milliseconds(measure.duration) as f64;
    let mut counted = request.clone();
    // Gemini CLI's value for a request without a response.
    let status = measure.status.map_or_else(|| json!("error"), |status| json!(status));
    set(&mut counted, "status_code", Some(status));
    set(&mut counted, "error_type", Some(measure.error_type.as_str()));
    let mut attributes = asked.operation(&measure.model);
    set(&mut attributes, "gen_ai.response.model", Some(measure.model.as_str()));
    set(&mut attributes, "error.type", Some(measure.error_type.as_str()));
    vec![
        Point::one(&instrument::API_REQUESTS, counted),
        Point::new(&instrument::API_LATENCY, latency, request),
        Point::new(&instrument::GEN_AI_DURATION, measure.duration.as_secs_f64(), attributes),
    ]
}

fn model_routing(measurement: &Measurement) -> Vec<Point> {
    let Measurement::ModelRouting { model, source, latency, error, mode, .. } = measurement else {
        return Vec::new();
    };
    let mut attributes = pairs([
        ("routing.decision_model", json!(model)),
        ("routing.decision_source", json!(source)),
        ("routing.failed", json!(error.is_some())),
        ("routing.approval_mode", json!(mode.as_str())),
    ]);
    let latency = milliseconds(*latency) as f64;
    let mut points = vec![Point::new(&instrument::ROUTING_LATENCY, latency, attributes.clone())];
    if let Some(error) = error {
        set(&mut attributes, "routing.error_message", Some(error.as_str()));
        points.push(Point::one(&instrument::ROUTING_FAILURES, attributes));
    }
    points
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pollux_protocol::ModelRole;
    use pretty_assertions::assert_eq;
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_failure_is_counted_by_its_status_and_timed_by_its_model() {
        for (status, expected) in [(Some(503), json!(503)), (None, json!("error"))] {
            let failure = ApiErrorMeasure {
                model: "m".to_owned(),
                prompt_id: "p".to_owned(),
                role: ModelRole::Main,
                duration: Duration::from_millis(18),
                message: "no".to_owned(),
                error_type: "E".to_owned(),
                status,
                cost: None,
                is_cost_estimated: false,
            };
            let points = points(&Measurement::ApiError(failure), &Asked::default());
            let attributes: Vec<Value> =
                points.into_iter().map(|point| Value::Object(point.attributes)).collect();
            assert_eq!(
                attributes,
                [
                    json!({"model": "m", "status_code": expected, "error_type": "E"}),
                    json!({"model": "m"}),
                    json!({
                        "gen_ai.operation.name": "generate_content", "gen_ai.provider.name": "",
                        "gen_ai.request.model": "m", "gen_ai.response.model": "m", "error.type": "E",
                    }),
                ]
            );
        }
    }
}
