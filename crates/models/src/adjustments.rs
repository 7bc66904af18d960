//! Per-request overrides of a model's settings, as fields of a `generateContentConfig`. Pure.

use pollux_protocol::{ToolChoice, ToolMode, Tuning};
use serde_json::{Map, Value, json};

const TEMPERATURE: &str = "temperature";
pub(crate) const MAX_OUTPUT_TOKENS: &str = "maxOutputTokens";
const TOP_P: &str = "topP";
const TOP_K: &str = "topK";

/// Returns the parameters that are set, with their keys.
pub(crate) fn figures(tuning: &Tuning) -> impl Iterator<Item = (&'static str, Value)> {
    let figures = [
        (TEMPERATURE, &tuning.temperature),
        (MAX_OUTPUT_TOKENS, &tuning.max_output_tokens),
        (TOP_P, &tuning.top_p),
        (TOP_K, &tuning.top_k),
    ];
    figures.into_iter().filter_map(|(key, figure)| Some((key, Value::Number(figure.clone()?))))
}

/// Sets the maximum number of tokens of the response under this key, unless a lower one is there.
pub(crate) fn limit_output(parameters: &mut Map<String, Value>, key: &str, limit: Option<u64>) {
    let Some(limit) = limit else { return };
    let configured = parameters.get(key).and_then(Value::as_u64);
    let limit = configured.map_or(limit, |configured| configured.min(limit));
    parameters.insert(key.to_owned(), limit.into());
}

/// Returns the sampling parameters of a configuration.
pub(crate) fn tuning(config: &Map<String, Value>) -> Tuning {
    let figure = |key: &str| match config.get(key) {
        Some(Value::Number(figure)) => Some(figure.clone()),
        _ => None,
    };
    Tuning {
        temperature: figure(TEMPERATURE),
        max_output_tokens: figure(MAX_OUTPUT_TOKENS),
        top_p: figure(TOP_P),
        top_k: figure(TOP_K),
    }
}

/// Returns a tool choice in the format of the Gemini API.
pub(crate) fn tool_config(choice: &ToolChoice) -> Value {
    let mut calling = json!({ "mode": choice.mode });
    // The service accepts names only in the mode in which a tool must be called.
    if choice.mode == ToolMode::Any && !choice.allowed.is_empty() {
        calling["allowedFunctionNames"] = json!(choice.allowed);
    }
    json!({ "functionCallingConfig": calling })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn figures_there_and_back() {
        let config = json!({"temperature": 0.5, "topK": 3, "topP": "x", "seed": 1});
        let read = tuning(config.as_object().unwrap());
        let written: Map<String, Value> =
            figures(&read).map(|(key, value)| (key.to_owned(), value)).collect();
        assert_eq!(Value::Object(written), json!({"temperature": 0.5, "topK": 3}));
    }

    #[test]
    fn choices_as_the_service_takes_them() {
        let config = |mode, allowed: &[&str]| {
            let allowed = allowed.iter().map(|name| (*name).to_owned()).collect();
            tool_config(&ToolChoice { mode, allowed })["functionCallingConfig"].clone()
        };
        assert_eq!(config(ToolMode::None, &[]), json!({"mode": "NONE"}));
        assert_eq!(
            config(ToolMode::Any, &["a"]),
            json!({"mode": "ANY", "allowedFunctionNames": ["a"]})
        );
        assert_eq!(config(ToolMode::Any, &[]), json!({"mode": "ANY"}));
    }
}
