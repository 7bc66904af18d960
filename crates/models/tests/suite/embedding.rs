//! Embeddings: the request body, batches and their order, and failures, for each dialect.

use std::sync::Arc;

use pollux_models::assemble;
use pollux_protocol::{CancellationToken, Model, ModelError, ModelErrorKind};
use pollux_testkit::{Endpoint, ModelReply, ModelServer, errors, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::harness::{model, openai, openai_options, script, select};

/// Path of the requests in OpenAI's dialect.
const EMBEDDINGS: &str = "/v1/embeddings";

/// Embeds this number of texts: `0`, `1`, ….
async fn embed(model: &Arc<dyn Model>, count: usize) -> Result<Vec<Vec<f32>>, ModelError> {
    let texts = (0..count).map(|number| number.to_string()).collect();
    model.embed(texts, CancellationToken::new()).await
}

/// Returns the vectors that the texts of [`embed`] have in these tests: each contains the number of
/// its text.
fn numbered(range: std::ops::Range<usize>) -> Vec<Vec<f64>> {
    range.map(|number| vec![number as f64, 0.5]).collect()
}

fn is_in_order(vectors: &[Vec<f32>], count: usize) -> bool {
    vectors.len() == count
        && vectors.iter().enumerate().all(|(number, vector)| *vector == [number as f32, 0.5])
}

#[tokio::test]
async fn gemini_embeds_in_batches_of_a_hundred_in_their_order() {
    let server = ModelServer::start();
    for batch in [0..100, 100..200, 200..201] {
        server.enqueue(Endpoint::BatchEmbedContents, reply().embeddings(&numbered(batch)));
    }
    let model = model(&server, "gemini-2.5-pro").await;
    let vectors = embed(&model, 201).await.unwrap();
    assert!(is_in_order(&vectors, 201), "{vectors:?}");
    let sent = server.requests();
    let sizes = sent.iter().map(|one| one.body["requests"].as_array().unwrap().len());
    assert_eq!(sizes.collect::<Vec<_>>(), [100, 100, 1]);
    assert_eq!(sent[2].path, "/v1beta/models/gemini-embedding-001:batchEmbedContents");
    let request =
        json!({"model": "models/gemini-embedding-001", "content": {"parts": [{"text": "200"}]}});
    assert_eq!(sent[2].body, json!({ "requests": [request] }));
    assert_eq!(sent[1].body["requests"][0]["content"]["parts"][0]["text"], "100");
}

#[tokio::test]
async fn gemini_reports_refusals_and_broken_vectors() {
    let server = ModelServer::start();
    let model = model(&server, "gemini-2.5-pro").await;
    let embeddings = |count: usize| reply().embeddings(&numbered(0..count));
    for (answer, kind) in [
        (errors::invalid_key(), ModelErrorKind::Auth),
        (errors::per_day_quota(), ModelErrorKind::Quota),
        (errors::bad_request("no"), ModelErrorKind::Invalid),
        (embeddings(2), ModelErrorKind::Broken),
        (reply().json(json!({"embeddings": [{}]})), ModelErrorKind::Broken),
        (reply().json(json!({})), ModelErrorKind::Broken),
    ] {
        server.enqueue(Endpoint::BatchEmbedContents, answer);
        assert_eq!(embed(&model, 1).await.unwrap_err().kind, kind);
    }
    assert_eq!(server.requests().len(), 6, "these errors are not retried");
    server.enqueue(Endpoint::BatchEmbedContents, errors::plain(503));
    server.enqueue(Endpoint::BatchEmbedContents, embeddings(1));
    assert!(is_in_order(&embed(&model, 1).await.unwrap(), 1));
}

/// Returns a response in OpenAI's dialect with the vectors in reverse order, so that only their
/// index is correct.
fn backwards(vectors: Vec<Vec<f64>>) -> ModelReply {
    let data = vectors.into_iter().enumerate().rev();
    let data: Vec<Value> =
        data.map(|(index, vector)| json!({"index": index, "embedding": vector})).collect();
    reply().json(json!({ "data": data }))
}

#[tokio::test]
async fn openai_embeds_in_batches_in_the_order_of_the_indices() {
    let server = ModelServer::start();
    let model = openai(&server, "gpt-x").await;
    script(&server, EMBEDDINGS, vec![backwards(numbered(0..2))]);
    assert!(is_in_order(&embed(&model, 2).await.unwrap(), 2));
    let body =
        json!({"model": "text-embedding-3-small", "input": ["0", "1"], "encoding_format": "float"});
    assert_eq!(server.last_request().body, body);

    script(&server, EMBEDDINGS, vec![backwards(numbered(0..100)), backwards(numbered(100..101))]);
    let vectors = embed(&model, 101).await.unwrap();
    assert!(is_in_order(&vectors, 101), "{vectors:?}");
    assert_eq!(server.last_request().body["input"], json!(["100"]));
}

#[tokio::test]
async fn openai_reports_refusals_and_broken_vectors() {
    let server = ModelServer::start();
    let model = openai(&server, "gpt-x").await;
    let refused = |status: u16, code: &str| {
        reply().status(status, json!({"error": {"message": "no", "code": code}}))
    };
    for (answer, kind) in [
        (refused(401, "invalid_api_key"), ModelErrorKind::Auth),
        (refused(404, "model_not_found"), ModelErrorKind::NotFound),
        (refused(429, "insufficient_quota"), ModelErrorKind::Quota),
        (backwards(numbered(0..2)), ModelErrorKind::Broken),
        (reply().json(json!({"data": [{"index": 0, "embedding": []}]})), ModelErrorKind::Broken),
        (reply().json(json!({})), ModelErrorKind::Broken),
    ] {
        script(&server, EMBEDDINGS, vec![answer]);
        assert_eq!(embed(&model, 1).await.unwrap_err().kind, kind);
    }
    assert_eq!(server.requests().len(), 6, "these errors are not retried");
    script(&server, EMBEDDINGS, vec![refused(503, "busy"), backwards(numbered(0..1))]);
    assert!(is_in_order(&embed(&model, 1).await.unwrap(), 1));

    let url = format!("{}/v1", server.url());
    let variables = [("DEEPSEEK_API_KEY", "k"), ("DEEPSEEK_BASE_URL", url.as_str())];
    let models = assemble(&openai_options(&server, &variables)).unwrap();
    let before = server.requests().len();
    let error = embed(&select(&models, "deepseek/deepseek-chat").await, 1).await.unwrap_err();
    assert_eq!((error.kind, server.requests().len()), (ModelErrorKind::Config, before), "{error}");
}
