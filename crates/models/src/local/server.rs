//! A server on this machine, and its description for the user.

use std::collections::HashMap;

use url::Url;

/// Kind of server program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// llama.cpp's server.
    LlamaCpp,
    /// vLLM.
    Vllm,
    /// Another program that supports Chat Completions.
    Other,
}

impl ServerKind {
    /// Returns the display name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
            Self::Other => "A model server",
        }
    }

    /// Returns the id of the vendor whose catalog entry is used for the server.
    pub(crate) fn vendor(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::LmStudio => "lmstudio",
            Self::LlamaCpp => "llamacpp",
            Self::Vllm | Self::Other => "vllm",
        }
    }

    /// Returns the instruction for enlarging the context.
    fn enlarge(self) -> &'static str {
        match self {
            Self::Ollama => {
                "Restart it with a larger one (OLLAMA_CONTEXT_LENGTH=32768 ollama serve, or \"Context length\" in its settings)"
            }
            Self::LmStudio => "Load the model with a larger \"Context Length\"",
            Self::LlamaCpp => "Start llama-server with a larger --ctx-size",
            Self::Vllm => "Start vLLM with a larger --max-model-len",
            Self::Other => "Start it with a larger one",
        }
    }
}

/// Local server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Server program.
    pub kind: ServerKind,
    /// Address of the server, such as `http://127.0.0.1:11434`.
    pub address: String,
    /// Models for conversations on this server, in the server's order.
    pub models: Vec<LocalModel>,
}

/// Model on a local server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModel {
    /// Name of the model on the server.
    pub name: String,
    /// Context size of the model in tokens, if the server reports it.
    pub context: Option<u64>,
}

impl LocalServer {
    /// Returns the address that paths such as `/chat/completions` are appended to.
    pub(crate) fn base_url(&self) -> String {
        format!("{}/v1", self.address)
    }

    /// Returns the port of the server.
    fn port(&self) -> Option<u16> {
        Url::parse(&self.address).ok()?.port_or_known_default()
    }

    /// Returns the model of this name; `:latest` may be omitted.
    pub(crate) fn model(&self, name: &str) -> Option<&LocalModel> {
        let exact = self.models.iter().find(|model| model.name == name);
        exact.or_else(|| {
            self.models.iter().find(|model| model.name.strip_suffix(":latest") == Some(name))
        })
    }

    /// Returns the context size of a model in tokens, if the search found it.
    pub(crate) fn context(&self, model: &str) -> Option<u64> {
        self.model(model)?.context
    }

    /// Returns the message for a prompt that does not fit, with a remedy.
    pub(crate) fn too_small(&self, model: &str, context: u64, tokens: u64) -> String {
        format!(
            "The prompt is about {tokens} tokens long, but {} at {} gives \"{model}\" a context of {context} tokens. {}, or choose another model.",
            self.kind.name(),
            self.address,
            self.kind.enlarge()
        )
    }

    /// Returns a description of the server for the user, with at most three model names.
    pub fn describe(&self) -> String {
        const SHOWN: usize = 3;
        let names: Vec<&str> =
            self.models.iter().take(SHOWN).map(|model| model.name.as_str()).collect();
        let more = self.models.len().saturating_sub(SHOWN);
        let models = match (names.is_empty(), more) {
            (true, _) => "without any model".to_owned(),
            (false, 0) => format!("with {}", names.join(", ")),
            (false, more) => format!("with {} and {more} more", names.join(", ")),
        };
        format!("{} at {} {models}", self.kind.name(), self.address)
    }
}

/// Returns the models of all servers, each with the name that selects it after `local/`: the name
/// of the model, with `@PORT` if several servers have a model of this name.
pub fn selectable(servers: &[LocalServer]) -> Vec<(String, &LocalServer, &LocalModel)> {
    let all = || servers.iter().flat_map(|server| server.models.iter().map(move |m| (server, m)));
    let mut counts: HashMap<&str, usize> = HashMap::new();
    all().for_each(|(_, model)| *counts.entry(&model.name).or_default() += 1);
    let named = |(server, model): (&LocalServer, &LocalModel)| {
        let name = &model.name;
        match server.port().filter(|_| counts.get(name.as_str()).is_some_and(|count| *count > 1)) {
            Some(port) => format!("{name}@{port}"),
            None => name.clone(),
        }
    };
    all().map(|(server, model)| (named((server, model)), server, model)).collect()
}

/// Returns the model that a name after `local/` selects: the first one of this name, or with
/// `@PORT` the one of the server at this port.
pub(crate) fn select<'a>(
    servers: &'a [LocalServer],
    name: &str,
) -> Option<(&'a LocalServer, &'a LocalModel)> {
    let first = servers.iter().find_map(|server| Some((server, server.model(name)?)));
    first.or_else(|| {
        let (name, port) = name.rsplit_once('@')?;
        let port = port.parse().ok()?;
        let server = servers.iter().find(|server| server.port() == Some(port))?;
        Some((server, server.model(name)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_two_servers_have_is_selected_by_the_port() {
        let server = |port: u16, names: &[&str]| LocalServer {
            kind: ServerKind::LlamaCpp,
            address: format!("http://127.0.0.1:{port}"),
            models: names
                .iter()
                .map(|name| LocalModel { name: (*name).to_owned(), context: None })
                .collect(),
        };
        let servers =
            [server(8080, &["m.gguf", "b"]), server(8081, &["m.gguf"]), server(80, &["c@8080"])];
        let names: Vec<String> = selectable(&servers).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["m.gguf@8080", "b", "m.gguf@8081", "c@8080"]);
        let port = |name: &str| select(&servers, name).and_then(|(server, _)| server.port());
        for (name, expected) in [
            ("m.gguf", Some(8080)),
            ("m.gguf@8080", Some(8080)),
            ("m.gguf@8081", Some(8081)),
            ("m.gguf@80", None),
            ("b@8080", Some(8080)),
            ("c@8080", Some(80)),
            ("m.gguf@x", None),
        ] {
            assert_eq!(port(name), expected, "{name}");
        }
    }

    #[test]
    fn a_server_is_described_briefly() {
        let model = |name: &str| LocalModel { name: name.to_owned(), context: None };
        let mut server = LocalServer {
            kind: ServerKind::Ollama,
            address: "http://127.0.0.1:11434".to_owned(),
            models: vec![model("a:latest"), model("b"), model("c"), model("d")],
        };
        assert_eq!(
            server.describe(),
            "Ollama at http://127.0.0.1:11434 with a:latest, b, c and 1 more"
        );
        assert_eq!(server.model("a").unwrap().name, "a:latest");
        assert_eq!(server.model("e"), None);
        server.models.clear();
        assert!(server.describe().ends_with("without any model"));
        let message = server.too_small("a", 4096, 9000);
        assert!(message.contains("4096") && message.contains("OLLAMA_CONTEXT_LENGTH"), "{message}");
    }
}
