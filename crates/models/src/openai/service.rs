//! One vendor's service as a run of the program reaches it.

use std::sync::Arc;

use bytes::Bytes;
use pollux_net::{Backoff, Request, Response};
use pollux_protocol::{CancellationToken, ModelError, ModelErrorKind, RetryListener};
use serde::Deserialize;
use serde_json::json;

use super::endpoint::Endpoint;
use super::messages::MessagesCache;
use super::refusal::{Refusals, sharpened};
use super::wire::Words;
use crate::catalog::{OPENAI, Vendor};
use crate::exchange::{self, Call, Exchange};
use crate::local::LocalServer;
use crate::prices;
use crate::wiring::Wiring;

/// The most texts that are embedded at once.
const BATCH: usize = 100;

/// A list that does not come soon is not worth the wait.
const LIST_ATTEMPTS: u32 = 3;

/// Shared by all models of the vendor.
#[derive(Debug)]
pub(crate) struct Service {
    pub(super) exchange: Exchange,
    endpoint: Endpoint,
    pub(super) vendor: Vendor,
    pub(super) refusals: Arc<Refusals>,
    /// The delays between unusable answers.
    pub(super) content: Backoff,
    pub(super) messages: MessagesCache,
    /// What is known of a server on this machine.
    pub(super) server: Option<LocalServer>,
}

impl Service {
    /// The service of a vendor; `server` is what was found out about one on this machine.
    ///
    /// # Errors
    /// [`ModelErrorKind::Config`] for a wrong address or proxy, [`ModelErrorKind::Auth`] for a key that
    /// is missing or cannot be sent.
    pub(crate) fn new(
        wiring: &Wiring,
        mut vendor: Vendor,
        server: Option<LocalServer>,
    ) -> Result<Self, ModelError> {
        if let Some(server) = &server {
            vendor.base_url = server.base_url();
        }
        let endpoint = Endpoint::new(&vendor, &wiring.environment, &wiring.user_agent)?;
        let exchange = wiring.exchange(endpoint.base(), endpoint.is_loopback())?;
        let by_variable = vendor.id == OPENAI;
        let address = if by_variable { "OPENAI_BASE_URL" } else { endpoint.base().as_str() };
        let refusals = Refusals {
            id: if server.is_some() { "local".to_owned() } else { vendor.id.clone() },
            name: server
                .as_ref()
                .map_or(vendor.name.as_str(), |server| server.kind.name())
                .to_owned(),
            key_variable: vendor.key_variable.clone(),
            key_page: vendor.key_page.clone(),
            address: address.to_owned(),
        };
        let refusals = Arc::new(refusals);
        let (content, messages) = (wiring.content, MessagesCache::default());
        Ok(Self { exchange, endpoint, vendor, refusals, content, messages, server })
    }

    /// Who bills it: a server on this machine is nobody's.
    pub(super) fn vendor_id(&self) -> &str {
        let is_local = self.server.is_some() || self.vendor.quirks.local;
        if is_local { prices::LOCAL } else { &self.vendor.id }
    }

    /// Asks for an answer; gives it as soon as it begins.
    pub(super) async fn open(
        &self,
        model: &str,
        body: Vec<Bytes>,
        on_retry: Option<&RetryListener>,
        cancel: &CancellationToken,
    ) -> Result<Response, ModelError> {
        let request = self.endpoint.request(http::Method::POST, "chat/completions", body);
        let call = Call { on_retry, ..self.call(request, model, cancel) };
        self.exchange.open(call).await.map_err(sharpened)
    }

    /// Asks for an answer as a whole.
    pub(super) async fn ask(
        &self,
        model: &str,
        body: Vec<Bytes>,
        on_retry: Option<&RetryListener>,
        max_attempts: u32,
        cancel: &CancellationToken,
    ) -> Result<Bytes, ModelError> {
        let request = self.endpoint.request(http::Method::POST, "chat/completions", body);
        let call = Call { on_retry, ..self.call(request, model, cancel) };
        let max_attempts = max_attempts.min(call.max_attempts);
        self.exchange.ask(Call { max_attempts, ..call }).await.map_err(sharpened)
    }

    /// The first model that the service lists and that is one for conversations.
    ///
    /// # Errors
    /// Those of the exchange; [`ModelErrorKind::NotFound`] when there is none.
    pub(crate) async fn first_model(
        &self,
        cancel: &CancellationToken,
    ) -> Result<String, ModelError> {
        let request = self.endpoint.request(http::Method::GET, "models", Vec::new());
        let call = self.call(request, "", cancel);
        let max_attempts = LIST_ATTEMPTS.min(call.max_attempts);
        let answer = self.exchange.ask(Call { max_attempts, ..call }).await?;
        let list: WireList = exchange::decode(&answer)?;
        let mut names = list.data.into_iter().map(|one| one.id.text);
        names.find(|name| !name.is_empty() && converses(name)).ok_or_else(|| {
            let Refusals { id, name, .. } = &*self.refusals;
            let message = format!(
                "{name} lists no model for conversations. Name one with --model {id}/NAME."
            );
            ModelError::new(ModelErrorKind::NotFound, message)
        })
    }

    /// One vector for each text, in their order.
    ///
    /// # Errors
    /// Those of the exchange; [`ModelErrorKind::Config`] when the vendor embeds nothing,
    /// [`ModelErrorKind::Broken`] when vectors are missing or empty.
    pub(super) async fn embed(
        &self,
        texts: &[String],
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let model = self.vendor.embedding_model.as_deref().ok_or_else(|| {
            let message = format!("{} is not known to embed texts.", self.vendor.name);
            ModelError::new(ModelErrorKind::Config, message)
        })?;
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let body = json!({"model": model, "input": batch, "encoding_format": "float"});
            let body = vec![Bytes::from(body.to_string())];
            let request = self.endpoint.request(http::Method::POST, "embeddings", body);
            let answer = self.exchange.ask(self.call(request, model, cancel)).await?;
            vectors.extend(ordered(exchange::decode(&answer)?, batch.len())?);
        }
        Ok(vectors)
    }

    fn call<'a>(
        &'a self,
        request: Request,
        model: &'a str,
        cancel: &'a CancellationToken,
    ) -> Call<'a> {
        let max_attempts = self.exchange.max_attempts;
        Call { request, speaker: &*self.refusals, model, max_attempts, on_retry: None, cancel }
    }
}

#[derive(Deserialize)]
struct WireList {
    #[serde(default)]
    data: Vec<WireModel>,
}

#[derive(Deserialize)]
struct WireModel {
    #[serde(default)]
    id: Words,
}

/// Lists name models for other ends too; none of them is a good first choice.
pub(crate) fn converses(name: &str) -> bool {
    const OTHERS: [&str; 12] = [
        "embed",
        "whisper",
        "tts",
        "dall-e",
        "moderation",
        "image",
        "audio",
        "realtime",
        "rerank",
        "transcribe",
        "sora",
        "guard",
    ];
    let name = name.to_ascii_lowercase();
    !OTHERS.iter().any(|word| name.contains(word))
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
        return broken(format!("The service gave {count} embeddings for {expected} texts."));
    }
    let mut vectors = vec![Vec::new(); expected];
    for (position, vector) in answer.data.into_iter().enumerate() {
        if let Some(place) = vectors.get_mut(vector.index.unwrap_or(position)) {
            *place = vector.embedding;
        }
    }
    if vectors.iter().any(Vec::is_empty) {
        return broken("The service gave an empty embedding.".to_owned());
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_for_other_ends_are_no_first_choice() {
        for (name, expected) in [
            ("gpt-5", true),
            ("text-embedding-3-small", false),
            ("gpt-4o-realtime-preview", false),
            ("llama3.1:8b", true),
            ("nomic-embed-text", false),
        ] {
            assert_eq!(converses(name), expected, "{name}");
        }
    }

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
