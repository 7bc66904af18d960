//! Figures of a session, for users and for the `stats` of JSON output.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indexmap::IndexMap;
use pollux_protocol::{
    ApiErrorMeasure, ApiResponseMeasure, Decision, Measurement, ModelRole, Money, Observer, Origin,
    ToolCallMeasure, Usage,
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::figures::RecordedFigures;

#[cfg(test)]
mod tests;

/// Collector that turns the events of a session into figures. Safe to share; never blocks for
/// longer than an addition.
#[derive(Debug, Default)]
pub struct Statistics {
    figures: Mutex<Figures>,
}

/// The `stats` object, with its keys in the order of Gemini CLI; keys that Gemini CLI does not have
/// come last.
#[derive(Debug, Clone, Default, Serialize)]
struct Figures {
    models: IndexMap<String, Model>,
    tools: Tools,
    files: Files,
    #[serde(flatten)]
    cost: Cost,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Model {
    api: Requests,
    tokens: Tokens,
    roles: IndexMap<&'static str, Role>,
    #[serde(flatten)]
    cost: Cost,
}

/// Cost in dollars.
#[derive(Debug, Clone, Copy, Serialize)]
struct Cost {
    /// Sum; `null` as soon as the price of one request is not known.
    #[serde(rename = "cost", serialize_with = "dollars")]
    sum: Option<Money>,
    /// True if the tokens of one request were not counted by the vendor.
    #[serde(rename = "cost_estimated", skip_serializing_if = "std::ops::Not::not")]
    is_estimated: bool,
}

impl Default for Cost {
    fn default() -> Self {
        Self { sum: Some(Money::ZERO), is_estimated: false }
    }
}

#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn dollars<S: Serializer>(sum: &Option<Money>, serializer: S) -> Result<S::Ok, S::Error> {
    sum.map(Money::usd).serialize(serializer)
}

impl Cost {
    fn add(&mut self, cost: Option<Money>, is_estimated: bool) {
        self.sum = self.sum.zip(cost).map(|(sum, more)| sum.plus(more));
        self.is_estimated |= is_estimated && cost.is_some_and(|cost| cost != Money::ZERO);
    }

    /// Adds the keys of the cost to a flat object.
    fn put(self, stats: &mut Value) {
        stats["cost"] = json!(self.sum.map(Money::usd));
        if self.is_estimated {
            stats["cost_estimated"] = json!(true);
        }
    }
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names are those of the output")]
struct Requests {
    total_requests: u64,
    total_errors: u64,
    total_latency_ms: u64,
    errors_by_type: IndexMap<String, u64>,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Role {
    total_requests: u64,
    total_errors: u64,
    total_latency_ms: u64,
    tokens: Tokens,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Tokens {
    input: u64,
    prompt: u64,
    candidates: u64,
    total: u64,
    cached: u64,
    thoughts: u64,
    tool: u64,
}

impl Tokens {
    fn add(&mut self, usage: Usage) {
        self.prompt = self.prompt.saturating_add(usage.prompt);
        self.candidates = self.candidates.saturating_add(usage.candidates);
        self.total = self.total.saturating_add(usage.total);
        self.cached = self.cached.saturating_add(usage.cached);
        self.thoughts = self.thoughts.saturating_add(usage.thoughts);
        self.tool = self.tool.saturating_add(usage.tool);
        self.input = self.prompt.saturating_sub(self.cached);
    }
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools {
    total_calls: u64,
    total_success: u64,
    total_fail: u64,
    total_duration_ms: u64,
    total_decisions: Decisions,
    by_name: IndexMap<String, Tool>,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    count: u64,
    success: u64,
    fail: u64,
    duration_ms: u64,
    decisions: Decisions,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Decisions {
    accept: u64,
    reject: u64,
    modify: u64,
    auto_accept: u64,
}

impl Decisions {
    fn add(&mut self, decision: Decision) {
        match decision {
            Decision::Accept => self.accept += 1,
            Decision::Reject => self.reject += 1,
            Decision::Modify => self.modify += 1,
            Decision::AutoAccept => self.auto_accept += 1,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Files {
    total_lines_added: u64,
    total_lines_removed: u64,
}

impl Statistics {
    /// Creates empty statistics.
    pub fn new() -> Self {
        Self::default()
    }

    /// Continues from the figures of a session file: tokens and counts. The file contains no times,
    /// roles or decisions.
    pub fn hydrate(&self, recorded: &RecordedFigures) {
        let mut figures = Figures::default();
        for (name, recorded) in &recorded.models {
            let model = figures.models.entry(name.clone()).or_default();
            model.api.total_requests = recorded.requests;
            model.tokens.add(recorded.usage);
            // The file contains no prices.
            model.cost.sum = None;
            figures.cost.sum = None;
        }
        for (name, recorded) in &recorded.tools {
            figures.tools.total_calls += recorded.count;
            figures.tools.total_success += recorded.success;
            figures.tools.total_fail += recorded.fail;
            let tool = figures.tools.by_name.entry(name.clone()).or_default();
            (tool.count, tool.success, tool.fail) =
                (recorded.count, recorded.success, recorded.fail);
        }
        *self.lock() = figures;
    }

    /// Returns the `stats` of JSON output: `models`, `tools`, `files`, and `cost` in dollars.
    pub fn stats(&self) -> Value {
        serde_json::to_value(&*self.lock()).unwrap_or_default()
    }

    /// Returns the flat `stats` of a stream-json result. `duration` is the duration of the whole
    /// run; the result contains it in milliseconds.
    pub fn stream_stats(&self, duration: Duration) -> Value {
        let figures = self.lock();
        let mut all = Tokens::default();
        let mut models = Map::new();
        for (name, model) in &figures.models {
            let tokens = model.tokens;
            all.add(Usage {
                prompt: tokens.prompt,
                candidates: tokens.candidates,
                total: tokens.total,
                cached: tokens.cached,
                thoughts: tokens.thoughts,
                tool: tokens.tool,
                ..Usage::default()
            });
            let mut one = flat(tokens);
            model.cost.put(&mut one);
            models.insert(name.clone(), one);
        }
        // Sum of the input tokens that each model read uncached, equal to the sum of the per-model
        // lines.
        all.input = figures.models.values().map(|model| model.tokens.input).sum();
        let mut stats = flat(all);
        stats["duration_ms"] = json!(milliseconds(duration));
        stats["tool_calls"] = json!(figures.tools.total_calls);
        stats["models"] = Value::Object(models);
        figures.cost.put(&mut stats);
        stats
    }

    /// Returns the number of tool calls so far.
    pub fn tool_calls(&self) -> u64 {
        self.lock().tools.total_calls
    }

    /// Locks the figures. A panic in another thread cannot make the figures wrong, so a poisoned
    /// lock is used as it is.
    fn lock(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn flat(tokens: Tokens) -> Value {
    json!({
        "total_tokens": tokens.total,
        "input_tokens": tokens.prompt,
        "output_tokens": tokens.candidates,
        "cached": tokens.cached,
        "input": tokens.input,
    })
}

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

impl Figures {
    fn model(&mut self, name: &str) -> &mut Model {
        if !self.models.contains_key(name) {
            self.models.insert(name.to_owned(), Model::default());
        }
        &mut self.models[name]
    }

    fn response(&mut self, measure: &ApiResponseMeasure) {
        let latency = milliseconds(measure.duration);
        self.cost.add(measure.cost, measure.is_cost_estimated);
        let model = self.model(&measure.model);
        model.cost.add(measure.cost, measure.is_cost_estimated);
        model.api.total_requests += 1;
        model.api.total_latency_ms += latency;
        model.tokens.add(measure.usage);
        let role = model.role(measure.role);
        role.total_requests += 1;
        role.total_latency_ms += latency;
        role.tokens.add(measure.usage);
    }

    fn error(&mut self, measure: &ApiErrorMeasure) {
        let latency = milliseconds(measure.duration);
        self.cost.add(measure.cost, measure.is_cost_estimated);
        let model = self.model(&measure.model);
        model.cost.add(measure.cost, measure.is_cost_estimated);
        model.api.total_requests += 1;
        model.api.total_latency_ms += latency;
        model.api.add_error(&measure.error_type);
        let role = model.role(measure.role);
        role.total_requests += 1;
        role.total_errors += 1;
        role.total_latency_ms += latency;
    }

    fn call(&mut self, measure: &ToolCallMeasure) {
        let duration = milliseconds(measure.duration);
        let tools = &mut self.tools;
        if !tools.by_name.contains_key(&measure.name) {
            tools.by_name.insert(measure.name.clone(), Tool::default());
        }
        let tool = &mut tools.by_name[&measure.name];
        let (total, own) = if measure.success {
            (&mut tools.total_success, &mut tool.success)
        } else {
            (&mut tools.total_fail, &mut tool.fail)
        };
        *total += 1;
        *own += 1;
        tools.total_calls += 1;
        tool.count += 1;
        tools.total_duration_ms += duration;
        tool.duration_ms += duration;
        if let Some(decision) = measure.decision {
            tools.total_decisions.add(decision);
            tool.decisions.add(decision);
        }
        if let Some(diff) = measure.diff {
            self.files.total_lines_added += diff.model_added_lines;
            self.files.total_lines_removed += diff.model_removed_lines;
        }
    }
}

impl Model {
    fn role(&mut self, role: ModelRole) -> &mut Role {
        self.roles.entry(role.as_str()).or_default()
    }
}

impl Requests {
    fn add_error(&mut self, kind: &str) {
        self.total_errors += 1;
        let kind = if kind.is_empty() { "UNKNOWN" } else { kind };
        *self.errors_by_type.entry(kind.to_owned()).or_default() += 1;
    }
}

impl Observer for Statistics {
    fn measure(&self, _origin: &Origin, measurement: &Measurement) {
        match measurement {
            Measurement::ApiResponse(measure) => self.lock().response(measure),
            Measurement::ApiError(measure) => self.lock().error(measure),
            // The request itself was answered, so it is already counted.
            Measurement::InvalidStream { model, reason, .. } => {
                self.lock().model(model).api.add_error(reason.code());
            }
            Measurement::ToolCall(measure) => self.lock().call(measure),
            _ => {}
        }
    }
}
