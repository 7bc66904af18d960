//! Model servers on the person's own machine: Ollama, LM Studio, llama.cpp, vLLM.
//!
//! They are looked for on loopback, at the ports where they stand by default, with GET requests only, all
//! at once and for 150 ms in all. Nothing that they say is trusted: lists are bounded, and names cannot
//! write to a terminal.

use std::time::Duration;

use futures::future::{join, join_all};
use pollux_config::Environment;
use pollux_config::environment::names;
use pollux_net::{ClientOptions, HttpClient, Request};
use pollux_protocol::CancellationToken;
use tokio::time::{Instant, timeout_at};
use url::Url;

mod answers;

use answers::Answers;

/// How long servers have to say that they are there.
pub const SEARCH_TIME: Duration = Duration::from_millis(150);

/// Where servers stand by default: Ollama, LM Studio, llama.cpp, vLLM.
pub const PORTS: [u16; 4] = [11434, 1234, 8080, 8000];

/// The largest answer that is read, in bytes.
const ANSWER_LIMIT: usize = 4 * 1024 * 1024;

/// More ports than this are not looked at.
const MAX_PORTS: usize = 32;

/// Which program serves.
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
    /// Something else that speaks Chat Completions.
    Other,
}

impl ServerKind {
    /// Its name as a person knows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
            Self::Other => "A model server",
        }
    }

    /// The vendor whose entry in the catalog it is spoken to by.
    pub(crate) fn vendor(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::LmStudio => "lmstudio",
            Self::LlamaCpp => "llamacpp",
            Self::Vllm | Self::Other => "vllm",
        }
    }

    /// How it gets a larger context.
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

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Which program it is.
    pub kind: ServerKind,
    /// Where it is, such as `http://127.0.0.1:11434`.
    pub address: String,
    /// The models for conversations that it has, in its own order.
    pub models: Vec<LocalModel>,
}

/// A model of such a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModel {
    /// Its name as the server knows it.
    pub name: String,
    /// The tokens that the server gives it, if it says so.
    pub context: Option<u64>,
}

impl LocalServer {
    /// The address that paths such as `/chat/completions` are appended to.
    pub(crate) fn base_url(&self) -> String {
        format!("{}/v1", self.address)
    }

    /// The model of this name; `:latest` may be left out.
    pub(crate) fn model(&self, name: &str) -> Option<&LocalModel> {
        let exact = self.models.iter().find(|model| model.name == name);
        exact.or_else(|| {
            self.models.iter().find(|model| model.name.strip_suffix(":latest") == Some(name))
        })
    }

    /// The tokens that a model is given, as far as it was known at the beginning.
    pub(crate) fn context(&self, model: &str) -> Option<u64> {
        self.model(model)?.context
    }

    /// The tokens that a model is given now. Ollama decides when it loads the model, and says so then.
    pub(crate) async fn refreshed_context(
        &self,
        model: &str,
        http: &HttpClient,
        cancel: &CancellationToken,
    ) -> Option<u64> {
        if self.kind != ServerKind::Ollama {
            return self.context(model);
        }
        let url = Url::parse(&self.address).ok()?;
        let deadline = Instant::now() + SEARCH_TIME;
        let loaded = get(http, &url, "/api/ps", deadline, cancel).await?;
        answers::loaded_context(&loaded, model)
    }

    /// Says that a prompt does not fit, and what to do.
    pub(crate) fn too_small(&self, model: &str, context: u64, tokens: u64) -> String {
        format!(
            "The prompt is about {tokens} tokens long, but {} at {} gives \"{model}\" a context of {context}. {}, or choose another model.",
            self.kind.name(),
            self.address,
            self.kind.enlarge()
        )
    }

    /// What was found, for a person: at most three models by name.
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

/// The ports to look at: those of `POLLUX_LOCAL_PORTS`, else the usual ones.
pub fn ports(environment: &Environment) -> Vec<u16> {
    match environment.get(names::POLLUX_LOCAL_PORTS) {
        Some(text) => {
            text.split(',').filter_map(|port| port.trim().parse().ok()).take(MAX_PORTS).collect()
        }
        None => PORTS.to_vec(),
    }
}

/// Looks for servers at these ports of loopback, for [`SEARCH_TIME`] in all. They come in the order of
/// the ports. Only GET requests are made, and no proxy is asked.
pub async fn discover(ports: &[u16]) -> Vec<LocalServer> {
    let deadline = Instant::now() + SEARCH_TIME;
    let addresses = ports.iter().map(|port| format!("http://127.0.0.1:{port}"));
    let found = join_all(addresses.map(|address| inspect_until(address, deadline))).await;
    found.into_iter().flatten().collect()
}

/// Looks at one address (scheme, host and port) for [`SEARCH_TIME`].
pub(crate) async fn inspect(address: String) -> Option<LocalServer> {
    inspect_until(address, Instant::now() + SEARCH_TIME).await
}

async fn inspect_until(address: String, deadline: Instant) -> Option<LocalServer> {
    let url = Url::parse(&address).ok()?;
    let options = ClientOptions { connect_timeout: SEARCH_TIME, ..ClientOptions::default() };
    let http = HttpClient::new(options).ok()?;
    let cancel = CancellationToken::new();
    let ask = |path| get(&http, &url, path, deadline, &cancel);
    let ((models, tags), (loaded, (props, studio))) = join(
        join(ask("/v1/models"), ask("/api/tags")),
        join(ask("/api/ps"), join(ask("/props"), ask("/api/v0/models"))),
    )
    .await;
    Answers { models, tags, loaded, props, studio }.read(address)
}

/// The JSON at a path; none when there is none in time.
async fn get(
    http: &HttpClient,
    address: &Url,
    path: &str,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Option<serde_json::Value> {
    let url = address.join(path).ok()?;
    let asking = async {
        let response = http.send(Request::get(url), cancel).await.ok()?;
        let body = response.bytes(ANSWER_LIMIT).await.ok()?;
        serde_json::from_slice(&body).ok()
    };
    timeout_at(deadline, asking).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_can_be_chosen() {
        let ports = |value: &str| ports(&Environment::from_pairs([("POLLUX_LOCAL_PORTS", value)]));
        assert_eq!(ports("1, 65535,70000,x"), [1, 65535]);
        assert_eq!(ports(""), [0_u16; 0]);
        assert_eq!(super::ports(&Environment::from_pairs([("A", "b")])), PORTS);
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
