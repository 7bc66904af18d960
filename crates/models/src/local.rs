//! Model servers on the user's own machine: Ollama, LM Studio, llama.cpp, vLLM.
//!
//! The search checks the default ports on loopback with GET requests only, all in parallel and for
//! 150 ms in total. The responses are not trusted: the size of lists is limited, and names cannot
//! write control characters to a terminal.

use std::time::Duration;

use futures::future::{join, join_all};
use pollux_config::Environment;
use pollux_config::environment::names;
use pollux_net::{ClientOptions, HttpClient, HttpRequest};
use pollux_protocol::CancellationToken;
use tokio::time::{Instant, timeout_at};
use url::Url;

mod answers;
mod server;

pub(crate) use server::select;
pub use server::{LocalModel, LocalServer, ServerKind, selectable};

use answers::Answers;

/// Dialect of all these servers.
pub(crate) const DIALECT: &str = "openai";

/// Time limit for servers to respond to the search.
pub const SEARCH_TIME: Duration = Duration::from_millis(150);

/// Default ports of Ollama, LM Studio, llama.cpp, vLLM.
pub const PORTS: [u16; 4] = [11434, 1234, 8080, 8000];

/// Maximum size of a response that is read, in bytes.
const ANSWER_LIMIT: usize = 4 * 1024 * 1024;

/// Maximum number of ports that are checked.
const MAX_PORTS: usize = 32;

/// Returns the ports to check: those of `POLLUX_LOCAL_PORTS`, otherwise the default ones.
pub fn ports(environment: &Environment) -> Vec<u16> {
    match environment.get(names::POLLUX_LOCAL_PORTS) {
        Some(text) => {
            text.split(',').filter_map(|port| port.trim().parse().ok()).take(MAX_PORTS).collect()
        }
        None => PORTS.to_vec(),
    }
}

/// Searches for servers at these ports of loopback, for [`SEARCH_TIME`] in total, and returns them
/// in the order of the ports. Only GET requests are made, and no proxy is used.
pub async fn discover(ports: &[u16]) -> Vec<LocalServer> {
    let deadline = Instant::now() + SEARCH_TIME;
    let addresses = ports.iter().map(|port| format!("http://127.0.0.1:{port}"));
    let found = join_all(addresses.map(|address| inspect_until(address, deadline))).await;
    found.into_iter().flatten().collect()
}

/// Returns the current context size of a model, in tokens. Ollama chooses the size when it loads
/// the model, and reports it only then; before that, the size is that of the model's definition.
pub(crate) async fn refreshed_context(
    server: &LocalServer,
    model: &str,
    http: &HttpClient,
    cancel: &CancellationToken,
) -> Option<u64> {
    if server.kind != ServerKind::Ollama {
        return server.context(model);
    }
    let url = Url::parse(&server.address).ok()?;
    let deadline = Instant::now() + SEARCH_TIME;
    let loaded = get(http, &url, "/api/ps", deadline, cancel).await?;
    if let Some(context) = answers::loaded_context(&loaded, model) {
        return Some(context);
    }
    let body = serde_json::json!({ "model": model }).to_string();
    let request = HttpRequest::post_json(url.join("/api/show").ok()?, vec![body.into()]);
    answers::defined_context(&json(http, request, deadline, cancel).await?)
}

/// Completes what the search found about a model that the user has chosen: the context size of a
/// model that Ollama has not loaded.
pub(crate) async fn complete(server: &mut LocalServer, model: &str) {
    if server.kind != ServerKind::Ollama || server.context(model).is_some() {
        return;
    }
    let Ok(http) = client() else { return };
    let context = refreshed_context(server, model, &http, &CancellationToken::new()).await;
    for known in server.models.iter_mut().filter(|known| known.name == model) {
        known.context = context;
    }
}

/// Inspects one address (scheme, host and port) for [`SEARCH_TIME`].
pub(crate) async fn inspect(address: String) -> Option<LocalServer> {
    inspect_until(address, Instant::now() + SEARCH_TIME).await
}

async fn inspect_until(address: String, deadline: Instant) -> Option<LocalServer> {
    let url = Url::parse(&address).ok()?;
    let http = client().ok()?;
    let cancel = CancellationToken::new();
    let ask = |path| get(&http, &url, path, deadline, &cancel);
    let ((models, tags), (loaded, (props, studio))) = join(
        join(ask("/v1/models"), ask("/api/tags")),
        join(ask("/api/ps"), join(ask("/props"), ask("/api/v0/models"))),
    )
    .await;
    Answers { models, tags, loaded, props, studio }.read(address)
}

/// Creates the client of the search, which uses no proxy.
fn client() -> Result<HttpClient, pollux_net::Error> {
    HttpClient::new(ClientOptions { connect_timeout: SEARCH_TIME, ..ClientOptions::default() })
}

/// Returns the JSON at a path; `None` if no JSON arrives in time.
async fn get(
    http: &HttpClient,
    address: &Url,
    path: &str,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Option<serde_json::Value> {
    json(http, HttpRequest::get(address.join(path).ok()?), deadline, cancel).await
}

/// Returns the JSON that answers a request; `None` if no JSON arrives in time.
async fn json(
    http: &HttpClient,
    request: HttpRequest,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Option<serde_json::Value> {
    let asking = async {
        let response = http.send(request, cancel).await.ok()?;
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
}
