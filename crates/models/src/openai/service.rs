//! Service of one vendor in a run of the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::USER_AGENT;
use pollux_net::Response;
use pollux_protocol::{CancellationToken, ModelError, ModelErrorKind, RetryListener};
use serde::Deserialize;
use serde_json::json;

use super::refusal::{Refusals, sharpened};
use super::request::Encodings;
use super::wire::Words;
use crate::catalog::UNKNOWN_CONTEXT;
use crate::dialect::Connection;
use crate::exchange::{self, Call};
use crate::local::refreshed_context;
use crate::names::converses;

/// Maximum number of texts that are embedded in one request.
const BATCH: usize = 100;

/// Maximum number of attempts to get the list of models. Small, because the list is not worth a
/// long wait.
const LIST_ATTEMPTS: u32 = 3;

/// State that is shared by all models of the vendor.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) connection: Connection,
    pub(super) refusals: Arc<Refusals>,
    pub(super) encodings: Encodings,
    /// True if the service does not accept `stream_options`.
    refuses_stream_options: AtomicBool,
}

impl Service {
    pub(super) fn new(connection: Connection) -> Self {
        let refusals = Arc::new(Refusals::new(&connection));
        let refuses_stream_options = AtomicBool::new(!connection.vendor.quirks.stream_usage);
        Self { connection, refusals, encodings: Encodings::default(), refuses_stream_options }
    }

    /// True if a streamed response can report its usage.
    pub(super) fn accepts_stream_options(&self) -> bool {
        !self.refuses_stream_options.load(Ordering::Relaxed)
    }

    /// Learns from the error for a request with `stream_options`. Returns true if the error is
    /// about them, which are then left out.
    pub(super) fn learn_stream_options(&self, error: &ModelError) -> bool {
        let refusal = error.refusal.as_ref().filter(|refusal| matches!(refusal.status, 400 | 422));
        let is_about = refusal.is_some_and(|refusal| refusal.message.contains("stream_options"));
        self.refuses_stream_options.fetch_or(is_about, Ordering::Relaxed);
        is_about
    }

    /// Returns the known context size of a model, in tokens: the user's own value, that of the
    /// server on this machine, or that of the catalog.
    pub(super) fn context(&self, model: &str) -> u64 {
        let Connection { vendor, server, .. } = &self.connection;
        let served = server.as_ref().and_then(|server| server.context(model));
        let own = vendor.own_facts(model).context;
        own.or(served).or(vendor.facts(model).context).unwrap_or(UNKNOWN_CONTEXT)
    }

    /// Checks that a prompt fits. Local servers cut a prompt that is too long without an error.
    ///
    /// # Errors
    /// [`ModelErrorKind::Invalid`] for a prompt that is larger than the context of the server.
    pub(super) async fn check_size(
        &self,
        model: &str,
        tokens: u64,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        let Connection { server, exchange, .. } = &self.connection;
        let Some(server) = server else { return Ok(()) };
        match refreshed_context(server, model, &exchange.http, cancel).await {
            Some(context) if tokens > context => {
                let message = server.too_small(model, context, tokens);
                Err(ModelError::new(ModelErrorKind::Invalid, message))
            }
            _ => Ok(()),
        }
    }

    /// Returns the call that requests a response at this path.
    pub(super) fn ask_model<'a>(
        &'a self,
        path: &str,
        model: &'a str,
        body: Vec<Bytes>,
        on_retry: Option<&'a RetryListener>,
        cancel: &'a CancellationToken,
    ) -> Call<'a> {
        let call = self.call(http::Method::POST, path, body, model, cancel);
        Call { on_retry, ..call }
    }

    /// Sends a call; returns the response as soon as it begins.
    pub(super) async fn open(&self, call: Call<'_>) -> Result<Response, ModelError> {
        self.connection.exchange.open(call).await.map_err(sharpened)
    }

    /// Sends a call; returns what `read` makes of the whole body.
    pub(super) async fn ask<T>(
        &self,
        call: Call<'_>,
        read: impl FnOnce(&[u8]) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        self.connection.exchange.ask(call, read).await.map_err(sharpened)
    }

    /// Returns the first model in the service's list that is for conversations.
    ///
    /// # Errors
    /// The errors of [`first_model`].
    pub(super) async fn first_model(
        &self,
        cancel: &CancellationToken,
    ) -> Result<String, ModelError> {
        let call = self.call(http::Method::GET, "models", Vec::new(), "", cancel);
        first_model(&self.connection, &self.refusals, call).await
    }

    /// Returns one vector for each text, in their order.
    ///
    /// # Errors
    /// The errors of the exchange; [`ModelErrorKind::Config`] if the vendor has no embedding model,
    /// [`ModelErrorKind::Broken`] if vectors are missing or empty.
    pub(super) async fn embed(
        &self,
        texts: &[String],
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let model = self.connection.vendor.embedding_model.as_deref().ok_or_else(|| {
            let message =
                format!("{} is not known to support embeddings.", self.connection.vendor.name);
            ModelError::new(ModelErrorKind::Config, message)
        })?;
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let body = json!({"model": model, "input": batch, "encoding_format": "float"});
            let body = vec![Bytes::from(body.to_string())];
            let call = self.call(http::Method::POST, "embeddings", body, model, cancel);
            let read = |body: &[u8]| exchange::decode(body);
            let answer = self.connection.exchange.ask(call, read).await?;
            vectors.extend(ordered(answer, batch.len())?);
        }
        Ok(vectors)
    }

    fn call<'a>(
        &'a self,
        method: http::Method,
        path: &str,
        body: Vec<Bytes>,
        model: &'a str,
        cancel: &'a CancellationToken,
    ) -> Call<'a> {
        let mut request = self.connection.endpoint.request(method, path, body);
        if let Some(agent) = self.connection.user_agent.naming(model) {
            request.headers.insert(USER_AGENT, agent);
        }
        let max_attempts = self.connection.exchange.max_attempts;
        Call { request, refusals: &*self.refusals, model, max_attempts, on_retry: None, cancel }
    }
}

/// Returns the first model for conversations in a list of models, which `call` requests.
///
/// # Errors
/// The errors of the exchange; [`ModelErrorKind::NotFound`] if there is no such model.
pub(crate) async fn first_model(
    connection: &Connection,
    refusals: &Refusals,
    call: Call<'_>,
) -> Result<String, ModelError> {
    let read = |body: &[u8]| Ok(exchange::decode(body).unwrap_or_default());
    let list = match connection.exchange.ask(call.at_most(LIST_ATTEMPTS), read).await {
        Ok(list) => list,
        Err(error) if matches!(error.status(), Some(404 | 405 | 501)) => WireList::default(),
        Err(error) => return Err(error),
    };
    let mut names = list.data.into_iter().map(|one| one.id.text);
    names.find(|name| !name.is_empty() && converses(name)).ok_or_else(|| {
        let Refusals { id, name, .. } = refusals;
        let variable = connection.vendor.model_variable.as_deref();
        let variable = variable.map(|variable| format!(", or set {variable}"));
        let message = format!(
            "{name} lists no model for conversations (GET /models). Name one with --model {id}/NAME{}.",
            variable.unwrap_or_default()
        );
        ModelError::new(ModelErrorKind::NotFound, message)
    })
}

#[derive(Deserialize, Default)]
struct WireList {
    #[serde(default)]
    data: Vec<WireModel>,
}

#[derive(Deserialize)]
struct WireModel {
    #[serde(default)]
    id: Words,
}

#[derive(Deserialize)]
struct WireVectors {
    #[serde(default)]
    data: Vec<WireVector>,
}

#[derive(Deserialize)]
struct WireVector {
    index: Option<usize>,
    #[serde(default)]
    embedding: Vec<f32>,
}

fn ordered(answer: WireVectors, expected: usize) -> Result<Vec<Vec<f32>>, ModelError> {
    let broken = |message: String| Err(ModelError::new(ModelErrorKind::Broken, message));
    let count = answer.data.len();
    if count != expected {
        return broken(format!("The service returned {count} embeddings for {expected} texts."));
    }
    let mut vectors = vec![Vec::new(); expected];
    for (position, vector) in answer.data.into_iter().enumerate() {
        if let Some(place) = vectors.get_mut(vector.index.unwrap_or(position)) {
            *place = vector.embedding;
        }
    }
    if vectors.iter().any(Vec::is_empty) {
        return broken("The service returned an empty embedding.".to_owned());
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_put_in_order() {
        let read = |value: serde_json::Value, count| {
            ordered(serde_json::from_value(value).unwrap(), count).map_err(|error| error.message)
        };
        let swapped =
            json!({"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]});
        assert_eq!(read(swapped, 2), Ok(vec![vec![1.0], vec![2.0]]));
        for wrong in [
            json!({}),
            json!({"data": [{"embedding": []}]}),
            json!({"data": [{"index": 9, "embedding": [1]}]}),
        ] {
            assert!(read(wrong, 1).is_err());
        }
    }
}
