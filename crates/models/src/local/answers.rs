//! Identification of a server from its responses. Pure, and accepts any JSON.

use serde_json::Value;

use super::server::{LocalModel, LocalServer, ServerKind};
use crate::names::converses;

/// Maximum number of models of one server that are listed.
const MAX_MODELS: usize = 500;

/// Maximum length of a model name; longer names are ignored.
const MAX_NAME: usize = 300;

/// Responses of one address; `None` for a missing response or one that is not JSON.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Response of `/v1/models`: all models.
    pub(super) models: Option<Value>,
    /// Response of `/api/tags`: Ollama's models.
    pub(super) tags: Option<Value>,
    /// Response of `/api/ps`: Ollama's loaded models.
    pub(super) loaded: Option<Value>,
    /// Response of `/props`: llama.cpp's settings.
    pub(super) props: Option<Value>,
    /// Response of `/api/v0/models`: LM Studio's models.
    pub(super) studio: Option<Value>,
}

impl Answers {
    /// Returns the server that sent the responses, if it is a model server.
    pub(super) fn read(&self, address: String) -> Option<LocalServer> {
        let listed = list(self.models.as_ref(), "data");
        let tags = list(self.tags.as_ref(), "models");
        let studio = list(self.studio.as_ref(), "data").filter(|models| is_studio(models));
        let props = self.props.as_ref().and_then(|props| {
            props.get("default_generation_settings")?.get("n_ctx").and_then(Value::as_u64)
        });
        let owned_by = |owner: &str| {
            let mut models = listed.into_iter().flatten();
            models.any(|model| model.get("owned_by").and_then(Value::as_str) == Some(owner))
        };
        let kind = match (tags, studio, props) {
            (Some(_), _, _) => ServerKind::Ollama,
            (None, Some(_), _) => ServerKind::LmStudio,
            (None, None, Some(_)) => ServerKind::LlamaCpp,
            (None, None, None) if owned_by("llamacpp") => ServerKind::LlamaCpp,
            (None, None, None) if owned_by("vllm") => ServerKind::Vllm,
            (None, None, None) => ServerKind::Other,
        };
        let models: Vec<LocalModel> = match kind {
            ServerKind::Ollama => named(tags?, "name", |model| {
                let name = model.get("name")?.as_str()?;
                loaded_context(self.loaded.as_ref()?, name)
            }),
            ServerKind::LmStudio => named(studio?, "id", |model| {
                let number = |key: &str| model.get(key).and_then(Value::as_u64);
                number("loaded_context_length").or_else(|| number("max_context_length"))
            }),
            ServerKind::LlamaCpp => named(listed?, "id", |_| props),
            ServerKind::Vllm | ServerKind::Other => {
                named(listed?, "id", |model| model.get("max_model_len").and_then(Value::as_u64))
            }
        };
        Some(LocalServer { kind, address, models })
    }
}

/// True for a list of models with keys that only LM Studio has. Other servers may answer every path
/// with their list.
fn is_studio(models: &[Value]) -> bool {
    let keys = ["compatibility_type", "max_context_length", "state"];
    models.iter().any(|model| keys.iter().any(|key| model.get(*key).is_some()))
}

/// Returns the context size of a model in Ollama's list of loaded models.
pub(super) fn loaded_context(loaded: &Value, model: &str) -> Option<u64> {
    let same = |name: &str| name == model || name.strip_suffix(":latest") == Some(model);
    let models = list(Some(loaded), "models")?;
    let found =
        models.iter().find(|one| one.get("name").and_then(Value::as_str).is_some_and(same))?;
    found.get("context_length").and_then(Value::as_u64).filter(|context| *context > 0)
}

/// Returns the context size of a model that Ollama has not loaded, from its definition: the
/// parameter `num_ctx`, and at most the size that the model was trained with.
pub(super) fn defined_context(shown: &Value) -> Option<u64> {
    let parameters = shown.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let set = parameters.lines().find_map(|line| {
        let value = line.trim().strip_prefix("num_ctx")?;
        value.starts_with(char::is_whitespace).then(|| value.trim().parse().ok())?
    });
    let information = shown.get("model_info").and_then(Value::as_object);
    let trained = information
        .into_iter()
        .flatten()
        .find_map(|(key, value)| value.as_u64().filter(|_| key.ends_with(".context_length")));
    set.into_iter().chain(trained).filter(|size: &u64| *size > 0).min()
}

fn list<'a>(answer: Option<&'a Value>, key: &str) -> Option<&'a Vec<Value>> {
    answer?.get(key)?.as_array()
}

fn named(models: &[Value], key: &str, context: impl Fn(&Value) -> Option<u64>) -> Vec<LocalModel> {
    let models = models.iter().filter_map(|model| {
        let name = model.get(key)?.as_str()?;
        let embeds = model.get("type").and_then(Value::as_str) == Some("embeddings");
        let legal =
            !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control);
        (legal && !embeds && converses(name))
            .then(|| LocalModel { name: name.to_owned(), context: context(model) })
    });
    models.take(MAX_MODELS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    type Named = Vec<(String, Option<u64>)>;

    fn read(answers: &Answers) -> Option<(ServerKind, Named)> {
        let server = answers.read("http://127.0.0.1:1".to_owned())?;
        let models = server.models.into_iter().map(|model| (model.name, model.context));
        Some((server.kind, models.collect()))
    }

    fn model(name: &str, context: Option<u64>) -> Named {
        vec![(name.to_owned(), context)]
    }

    #[test]
    fn servers_are_distinguished() {
        let models = |value: Value| Answers { models: Some(value), ..Answers::default() };
        let listed = || models(json!({"object": "list", "data": [{"id": "m"}]}));
        let ollama = Answers {
            tags: Some(json!({"models": [{"name": "m:latest"}, {"name": "nomic-embed-text"}]})),
            loaded: Some(json!({"models": [{"name": "m:latest", "context_length": 4096}]})),
            ..listed()
        };
        assert_eq!(read(&ollama), Some((ServerKind::Ollama, model("m:latest", Some(4096)))));
        let studio = Answers {
            studio: Some(json!({"data": [
                {"id": "m", "max_context_length": 32768, "loaded_context_length": 8192},
                {"id": "e", "type": "embeddings"}
            ]})),
            ..listed()
        };
        assert_eq!(read(&studio), Some((ServerKind::LmStudio, model("m", Some(8192)))));
        let props = Some(json!({"default_generation_settings": {"n_ctx": 2048}}));
        let llama = Answers { props, ..listed() };
        assert_eq!(read(&llama), Some((ServerKind::LlamaCpp, model("m", Some(2048)))));
        let vllm = json!({"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 16384}]});
        assert_eq!(read(&models(vllm)), Some((ServerKind::Vllm, model("m", Some(16384)))));
        let llama = json!({"data": [{"id": "m", "owned_by": "llamacpp"}]});
        assert_eq!(read(&models(llama)), Some((ServerKind::LlamaCpp, model("m", None))));
        assert_eq!(read(&listed()), Some((ServerKind::Other, model("m", None))));
        let list = listed().models;
        let same_everywhere = Answers {
            tags: list.clone(),
            loaded: list.clone(),
            props: list.clone(),
            studio: list,
            ..listed()
        };
        assert_eq!(read(&same_everywhere), Some((ServerKind::Other, model("m", None))));
    }

    #[test]
    fn the_definition_of_a_model_has_its_context() {
        let information = json!({"general.architecture": "qwen3", "qwen3.context_length": 40_960});
        for (parameters, information, expected) in [
            (json!("num_ctx                        8192\nstop \"x\""), &information, Some(8192)),
            (json!("stop \"num_ctx 7\"\nnum_ctx 99999"), &information, Some(40_960)),
            (json!("num_ctxs 5"), &information, Some(40_960)),
            (json!("num_ctx 4096"), &json!({}), Some(4096)),
            (json!("num_ctx -1"), &json!({"a.context_length": 0}), None),
            (json!(7), &json!([]), None),
        ] {
            let shown = json!({"parameters": parameters, "model_info": information});
            assert_eq!(defined_context(&shown), expected, "{shown}");
        }
    }

    #[test]
    fn other_services_are_no_model_servers() {
        for value in [json!(null), json!([]), json!({"data": 7}), json!({"models": []}), json!("x")]
        {
            let everything =
                Answers { models: Some(value.clone()), props: Some(value), ..Answers::default() };
            assert_eq!(read(&everything), None);
        }
        assert_eq!(read(&Answers::default()), None);
        let hostile =
            json!({"data": [{"id": "a\u{1b}[2J"}, {"id": "x".repeat(301)}, {"id": 7}, 7]});
        let read = read(&Answers { models: Some(hostile), ..Answers::default() });
        assert_eq!(read, Some((ServerKind::Other, Vec::new())));
    }
}
