//! Embeddings: texts as vectors.

use pollux_protocol::{CancellationToken, ModelError, ModelErrorKind};
use serde::{Deserialize, Serialize};

use super::refusal::Access;
use super::service::{Method, MethodCall, Service};
use crate::exchange::{self, not_encoded};
use crate::names::EMBEDDING_MODEL;

/// Maximum number of texts that the service accepts in one request.
const BATCH: usize = 100;

#[derive(Serialize)]
struct WireBatch<'a> {
    requests: Vec<WireRequest<'a>>,
}

#[derive(Serialize)]
struct WireRequest<'a> {
    model: String,
    content: WireContent<'a>,
}

#[derive(Serialize)]
struct WireContent<'a> {
    parts: [WireText<'a>; 1],
}

#[derive(Serialize)]
struct WireText<'a> {
    text: &'a str,
}

#[derive(Deserialize)]
struct WireAnswer {
    #[serde(default)]
    embeddings: Vec<WireVector>,
}

#[derive(Deserialize)]
struct WireVector {
    #[serde(default)]
    values: Vec<f32>,
}

/// Returns one vector for each text, in their order.
///
/// # Errors
/// The errors of the exchange; [`ModelErrorKind::Broken`] when vectors are missing or empty.
pub(super) async fn embed(
    service: &Service,
    texts: &[String],
    cancel: &CancellationToken,
) -> Result<Vec<Vec<f32>>, ModelError> {
    if service.refusals.access != Access::GeminiApi {
        let name = &service.connection.vendor.name;
        let message = format!("Pollux computes no embeddings with {name}.");
        return Err(ModelError::new(ModelErrorKind::Invalid, message));
    }
    let mut vectors = Vec::with_capacity(texts.len());
    for batch in texts.chunks(BATCH) {
        let body = encode(batch).map_err(|error| not_encoded(&error))?;
        let call = service.call(MethodCall {
            method: Method::BatchEmbedContents,
            model: EMBEDDING_MODEL,
            body: vec![body.into()],
            prompt: "",
            max_attempts: service.connection.exchange.max_attempts,
            on_retry: None,
            cancel,
        });
        let call = call.await?;
        let read = |body: &[u8]| exchange::decode::<WireAnswer>(body);
        let answer = service.connection.exchange.ask(call, read).await?;
        vectors.extend(checked(answer, batch.len())?);
    }
    Ok(vectors)
}

fn encode(texts: &[String]) -> Result<Vec<u8>, serde_json::Error> {
    let requests = texts
        .iter()
        .map(|text| WireRequest {
            model: format!("models/{EMBEDDING_MODEL}"),
            content: WireContent { parts: [WireText { text }] },
        })
        .collect();
    serde_json::to_vec(&WireBatch { requests })
}

fn checked(
    answer: WireAnswer,
    expected: usize,
) -> Result<impl Iterator<Item = Vec<f32>>, ModelError> {
    let broken = |message: String| Err(ModelError::new(ModelErrorKind::Broken, message));
    let count = answer.embeddings.len();
    if count != expected {
        return broken(format!("The service returned {count} embeddings for {expected} texts."));
    }
    if answer.embeddings.iter().any(|vector| vector.values.is_empty()) {
        return broken("The service returned an empty embedding.".to_owned());
    }
    Ok(answer.embeddings.into_iter().map(|vector| vector.values))
}
