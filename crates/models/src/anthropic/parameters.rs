//! Parameters of a request, from the configuration of the model. Pure.

use serde_json::{Map, Value, json};

use crate::catalog::ModelFacts;

/// Parameter names in a configuration and in a request. Only parameters that the user configured
/// for the model are sent: newer models refuse those that influence sampling.
const PARAMETERS: [(&str, &str); 4] = [
    ("temperature", "temperature"),
    ("topP", "top_p"),
    ("topK", "top_k"),
    ("stopSequences", "stop_sequences"),
];

/// Parameters that influence sampling. Models that think refuse them.
const SAMPLING: [&str; 3] = ["temperature", "top_p", "top_k"];

/// Maximum size of a response, in tokens, if neither the configuration nor the catalog contains a
/// smaller one. The service requires one and counts it as part of the context.
const MAX_TOKENS: u64 = 32_000;

/// Minimum number of tokens for thoughts that the service accepts.
const MIN_BUDGET: u64 = 1024;

/// Parameters of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameters {
    pub(super) max_tokens: u64,
    /// Configuration of thoughts; `None` uses the default of the model.
    pub(super) thinking: Option<Value>,
    /// Effort of the model: `low`, `medium` or `high`.
    pub(super) effort: Option<&'static str>,
    /// Other parameters.
    pub(super) others: Map<String, Value>,
}

impl Parameters {
    /// Converts the parameters of a `generateContentConfig`.
    pub(super) fn new(config: &Map<String, Value>, facts: ModelFacts) -> Self {
        let mut parameters = Self {
            max_tokens: facts.max_output.unwrap_or(MAX_TOKENS).min(MAX_TOKENS),
            thinking: facts.adaptive_thinking.then(adaptive),
            effort: None,
            others: Map::new(),
        };
        parameters.extend(config);
        parameters
    }

    /// Replaces the parameters that the configuration contains.
    pub(super) fn extend(&mut self, config: &Map<String, Value>) {
        for (theirs, ours) in PARAMETERS {
            if let Some(value) = config.get(theirs).filter(|value| !value.is_null()) {
                self.others.insert(ours.to_owned(), value.clone());
            }
        }
        let count = |key: &str| config.get(key).and_then(Value::as_u64);
        if let Some(limit) = count("maxOutputTokens").filter(|limit| *limit > 0) {
            self.max_tokens = limit;
        }
        if let Some(Value::Object(thinking)) = config.get("thinkingConfig") {
            self.think(thinking);
        }
    }

    /// Reads a `thinkingConfig`: a budget of 0 means none, and -1 means that the model decides.
    fn think(&mut self, config: &Map<String, Value>) {
        match config.get("thinkingBudget").and_then(Value::as_i64) {
            Some(0) => self.thinking = Some(json!({"type": "disabled"})),
            Some(budget) => {
                self.thinking = Some(match u64::try_from(budget) {
                    Ok(budget) => {
                        let budget = budget.max(MIN_BUDGET);
                        // The budget is part of the response.
                        self.max_tokens = self.max_tokens.max(budget.saturating_add(MIN_BUDGET));
                        json!({"type": "enabled", "budget_tokens": budget})
                    }
                    Err(_) => adaptive(),
                });
            }
            None => {}
        }
        let level = config.get("thinkingLevel").and_then(Value::as_str).unwrap_or_default();
        self.effort = match level.to_ascii_uppercase().as_str() {
            "MINIMAL" | "LOW" => Some("low"),
            "MEDIUM" => Some("medium"),
            "HIGH" => Some("high"),
            _ => self.effort,
        };
    }

    /// True if the model was asked to think.
    fn thinks(&self) -> bool {
        self.thinking.as_ref().is_some_and(|thinking| thinking["type"] != "disabled")
    }

    /// Prevents thoughts, with which no call of a tool can be required.
    pub(super) fn require_call(&mut self) {
        if self.thinks() {
            self.thinking = Some(json!({"type": "disabled"}));
        }
    }

    /// Limits the response. Thoughts get at most half of it, or none if that is too little.
    pub(super) fn limit_output(&mut self, limit: u64) {
        self.max_tokens = self.max_tokens.min(limit);
        let budget = self.thinking.as_ref().and_then(|thinking| thinking["budget_tokens"].as_u64());
        if budget.is_some_and(|budget| budget >= self.max_tokens) {
            let budget = self.max_tokens / 2;
            self.thinking = Some(match budget {
                MIN_BUDGET.. => json!({"type": "enabled", "budget_tokens": budget}),
                _ => json!({"type": "disabled"}),
            });
        }
    }

    /// Removes the parameters that influence sampling.
    pub(super) fn forget_sampling(&mut self) {
        self.others.retain(|key, _| !SAMPLING.contains(&key.as_str()));
    }

    /// Returns the keys of the request.
    pub(super) fn keys(&self) -> Map<String, Value> {
        let mut keys = Map::new();
        keys.insert("max_tokens".to_owned(), self.max_tokens.into());
        if let Some(thinking) = &self.thinking {
            keys.insert("thinking".to_owned(), thinking.clone());
        }
        if let Some(effort) = self.effort {
            keys.insert("output_config".to_owned(), json!({ "effort": effort }));
        }
        let is_refused = |key: &str| self.thinks() && SAMPLING.contains(&key);
        let others = self.others.iter().filter(|(key, _)| !is_refused(key));
        keys.extend(others.map(|(key, value)| (key.clone(), value.clone())));
        keys
    }
}

/// Returns the configuration of a model that decides itself how much it thinks. The user sees a
/// summary of the thoughts.
fn adaptive() -> Value {
    json!({"type": "adaptive", "display": "summarized"})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(config: &Value, facts: ModelFacts) -> Value {
        Parameters::new(config.as_object().unwrap(), facts).keys().into()
    }

    fn facts(max_output: u64, adaptive_thinking: bool) -> ModelFacts {
        ModelFacts { max_output: Some(max_output), adaptive_thinking, ..ModelFacts::default() }
    }

    #[test]
    fn a_response_has_a_limit() {
        for (config, facts, expected) in [
            (json!({}), ModelFacts::default(), MAX_TOKENS),
            (json!({}), facts(4096, false), 4096),
            (json!({}), facts(128_000, false), MAX_TOKENS),
            (json!({"maxOutputTokens": 100_000}), facts(128_000, false), 100_000),
            (json!({"maxOutputTokens": 0}), facts(4096, false), 4096),
        ] {
            assert_eq!(keys(&config, facts), json!({ "max_tokens": expected }));
        }
    }

    #[test]
    fn thoughts_as_configured() {
        let adaptive = json!({"type": "adaptive", "display": "summarized"});
        for (config, expected) in [
            (json!({}), adaptive.clone()),
            (json!({"thinkingBudget": -1}), adaptive.clone()),
            (json!({"thinkingBudget": 0}), json!({"type": "disabled"})),
            (json!({"thinkingBudget": 9}), json!({"type": "enabled", "budget_tokens": 1024})),
            (json!({"thinkingBudget": 2048}), json!({"type": "enabled", "budget_tokens": 2048})),
        ] {
            let keys = keys(&json!({ "thinkingConfig": config }), facts(64_000, true));
            assert_eq!(keys["thinking"], expected, "{config}");
        }
        let low = keys(&json!({"thinkingConfig": {"thinkingLevel": "LOW"}}), facts(64_000, true));
        assert_eq!((&low["thinking"], &low["output_config"]["effort"]), (&adaptive, &json!("low")));
        let large =
            keys(&json!({"thinkingConfig": {"thinkingBudget": 50_000}}), facts(9000, false));
        assert_eq!(large["max_tokens"], 50_000 + MIN_BUDGET);
    }

    #[test]
    fn a_limited_response_has_room_for_more_than_thoughts() {
        for (limit, budget, expected) in [
            (50_000, 0, json!({"max_tokens": 32_000, "thinking": {"type": "disabled"}})),
            (300, 0, json!({"max_tokens": 300, "thinking": {"type": "disabled"}})),
            (9000, 2048, json!({"max_tokens": 9000, "thinking": enabled(2048)})),
            (9000, 9000, json!({"max_tokens": 9000, "thinking": enabled(4500)})),
            (2000, 2048, json!({"max_tokens": 2000, "thinking": {"type": "disabled"}})),
        ] {
            let config = json!({"thinkingConfig": {"thinkingBudget": budget}});
            let mut parameters = Parameters::new(config.as_object().unwrap(), facts(64_000, true));
            parameters.limit_output(limit);
            assert_eq!(Value::Object(parameters.keys()), expected, "{limit} {budget}");
        }
    }

    fn enabled(budget: u64) -> Value {
        json!({"type": "enabled", "budget_tokens": budget})
    }

    #[test]
    fn a_model_that_thinks_gets_no_sampling_parameters() {
        let config = json!({"temperature": 0.2, "topK": 3, "stopSequences": ["x"]});
        let thinking = keys(&config, facts(9000, true));
        assert_eq!((thinking.get("temperature"), thinking.get("top_k")), (None, None));
        assert_eq!(thinking["stop_sequences"], json!(["x"]));
        let plain = keys(&config, facts(9000, false));
        assert_eq!((&plain["temperature"], &plain["top_k"]), (&json!(0.2), &json!(3)));

        let mut parameters = Parameters::new(config.as_object().unwrap(), facts(9000, true));
        parameters.require_call();
        let keys = parameters.keys();
        assert_eq!((&keys["thinking"]["type"], &keys["top_k"]), (&json!("disabled"), &json!(3)));
        parameters.forget_sampling();
        assert_eq!(parameters.keys().get("top_k"), None);
    }
}
