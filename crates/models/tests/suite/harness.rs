use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use pollux_config::{Environment, LoadOptions, Places, Settings, load};
use pollux_models::{ModelsOptions, assemble};
use pollux_protocol::{
    CancellationToken, Content, HistoryEntry, Model, ModelError, ModelRequest, Models, Part,
    ResponseChunk, SelectContext,
};
use pollux_testkit::{ModelReply, ModelServer};

/// Returns options with only this environment; no server is searched for on the machine.
pub(crate) fn options(variables: &[(&str, &str)]) -> ModelsOptions {
    let alone = [("POLLUX_LOCAL_PORTS", "")];
    ModelsOptions {
        settings: Settings::defaults(),
        environment: Environment::from_pairs(alone.into_iter().chain(variables.iter().copied())),
        user_settings: PathBuf::from("/home/u/.gemini/settings.json"),
        cwd: std::env::temp_dir(),
        http: None,
        trace: None,
        replay: None,
        record: None,
        record_wire: None,
        prices: None,
        startup_model: "gemini-2.5-pro".to_owned(),
        client: "cli".to_owned(),
    }
}

/// Returns the models for a user with a key and this server; attempts follow each other
/// immediately.
pub(crate) fn models_with(server: &ModelServer, more: &[(&str, &str)]) -> Arc<dyn Models> {
    assemble(&options_for(server, more)).unwrap()
}

/// Returns the options of [`models_with`].
pub(crate) fn options_for(server: &ModelServer, more: &[(&str, &str)]) -> ModelsOptions {
    let url = server.url();
    let mut variables = vec![
        ("GEMINI_API_KEY", "the-key"),
        ("GOOGLE_GEMINI_BASE_URL", url.as_str()),
        ("POLLUX_RETRY_BASE_MS", "0"),
    ];
    variables.extend(more);
    options(&variables)
}

pub(crate) async fn model(server: &ModelServer, requested: &str) -> Arc<dyn Model> {
    select(&models_with(server, &[]), requested).await
}

pub(crate) async fn select(models: &Arc<dyn Models>, requested: &str) -> Arc<dyn Model> {
    let context = SelectContext { requested: requested.to_owned(), ..SelectContext::default() };
    models.select(&context).await.unwrap().model
}

/// Returns a request with one user message.
pub(crate) fn say(text: &str) -> ModelRequest {
    let entries = vec![HistoryEntry::detached(Content::user(vec![Part::text(text)]))];
    ModelRequest { entries, ..ModelRequest::default() }
}

/// Returns the whole response, or the first failure and the chunks before it.
pub(crate) async fn answer(
    model: &Arc<dyn Model>,
) -> Result<Vec<ResponseChunk>, (Vec<ResponseChunk>, ModelError)> {
    let stream = model.stream(say("hi"), CancellationToken::new()).await;
    let mut stream = stream.map_err(|error| (Vec::new(), error))?;
    let mut chunks = Vec::new();
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(chunk) => chunks.push(chunk),
            Err(error) => {
                assert!(stream.next().await.is_none(), "a stream ends with its first error");
                return Err((chunks, error));
            }
        }
    }
    Ok(chunks)
}

pub(crate) fn text(chunks: &[ResponseChunk]) -> String {
    chunks.iter().flat_map(|chunk| &chunk.parts).filter_map(Part::as_text).collect()
}

/// Returns settings as read from a user's file.
pub(crate) fn settings(file: &serde_json::Value) -> Settings {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::from_pairs([
        ("GEMINI_CLI_HOME", home.path().to_str().unwrap()),
        ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/nonexistent/settings.json"),
    ]);
    let places = Places::new(&environment);
    let path = places.user_settings();
    pollux_fs::AppendLog::open(&path).unwrap().append(file.to_string().as_bytes()).unwrap();
    let options = LoadOptions {
        ignore_env: true,
        ..LoadOptions::new(&places, home.path(), &environment, false)
    };
    load(&options).unwrap().settings
}

/// Returns options for a user with an OpenAI key and this server.
pub(crate) fn openai_options(server: &ModelServer, more: &[(&str, &str)]) -> ModelsOptions {
    let url = format!("{}/v1", server.url());
    let mut variables = vec![
        ("OPENAI_API_KEY", "the-key"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("POLLUX_RETRY_BASE_MS", "0"),
    ];
    variables.extend(more);
    ModelsOptions { startup_model: "auto".to_owned(), ..options(&variables) }
}

/// Returns one of OpenAI's models on this server.
pub(crate) async fn openai(server: &ModelServer, requested: &str) -> Arc<dyn Model> {
    select(&assemble(&openai_options(server, &[])).unwrap(), requested).await
}

/// Returns payloads as a stream of events; `[DONE]` is not added.
pub(crate) fn events(payloads: &[serde_json::Value]) -> Vec<u8> {
    payloads.iter().flat_map(|payload| format!("data: {payload}\n\n").into_bytes()).collect()
}

/// Returns a piece of a response.
pub(crate) fn delta(delta: &serde_json::Value) -> serde_json::Value {
    serde_json::json!({"id": "c1", "model": "gpt-x", "choices": [{"index": 0, "delta": delta}]})
}

/// Returns the last piece of a response.
pub(crate) fn finish(reason: &str) -> serde_json::Value {
    serde_json::json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// Sets the responses to one path, in this order; the last one is repeated.
pub(crate) fn script(server: &ModelServer, path: &str, replies: Vec<ModelReply>) {
    let replies = Mutex::new(VecDeque::from(replies));
    server.route(path, move |_| {
        let mut replies = replies.lock().unwrap();
        if replies.len() > 1 { replies.pop_front().unwrap() } else { replies[0].clone() }
    });
}

pub(crate) const CHAT: &str = "/v1/chat/completions";

pub(crate) const MESSAGES: &str = "/v1/messages";

/// Returns options for a user with an Anthropic key and this server.
pub(crate) fn anthropic_options(server: &ModelServer, more: &[(&str, &str)]) -> ModelsOptions {
    let url = server.url();
    let mut variables = vec![
        ("ANTHROPIC_API_KEY", "the-key"),
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("POLLUX_RETRY_BASE_MS", "0"),
    ];
    variables.extend(more);
    ModelsOptions { startup_model: "auto".to_owned(), ..options(&variables) }
}

/// Returns one of Anthropic's models on this server.
pub(crate) async fn anthropic(server: &ModelServer, requested: &str) -> Arc<dyn Model> {
    select(&assemble(&anthropic_options(server, &[])).unwrap(), requested).await
}
