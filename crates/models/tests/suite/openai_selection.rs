use std::time::Duration;

use pollux_models::{ModelsOptions, ReplaySource, assemble};
use pollux_protocol::{FIRST_LISTED, ModelError, ModelErrorKind, PromptFamily, SelectContext};
use pollux_testkit::{ModelServer, reply};
use serde_json::json;

use super::harness::{
    CHAT, answer, delta, events, finish, openai_options, options, script, select, settings, text,
};

fn refused(options: &ModelsOptions) -> ModelError {
    assemble(options).err().expect("no models can be put together")
}

fn asking(model: &str, variables: &[(&str, &str)]) -> ModelsOptions {
    ModelsOptions { startup_model: model.to_owned(), ..options(variables) }
}

#[tokio::test]
async fn without_a_name_the_variable_or_the_servers_first_is_taken() {
    let server = ModelServer::start();
    let list = json!({"object": "list", "data": [{"id": "text-embedding-3"}, {"id": "first"}, {"id": "second"}]});
    script(&server, "/v1/models", vec![reply().json(list)]);
    for (more, name, requests) in
        [(&[("OPENAI_MODEL", " named ")][..], "named", 0), (&[][..], "first", 1)]
    {
        let models = assemble(&openai_options(&server, more)).unwrap();
        for _ in 0..2 {
            let context =
                SelectContext { requested: "auto".to_owned(), ..SelectContext::default() };
            let choice = models.select(&context).await.unwrap();
            assert_eq!(choice.name, name);
            assert_eq!(choice.reason == FIRST_LISTED, name == "first", "{}", choice.reason);
        }
        assert_eq!(server.requests().len(), requests, "the list is asked for once");
    }
    script(&server, "/v1/models", vec![reply().json(json!({"data": []}))]);
    let models = assemble(&openai_options(&server, &[])).unwrap();
    let context = SelectContext { requested: "auto".to_owned(), ..SelectContext::default() };
    let error = models.select(&context).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::NotFound);
    assert!(error.message.contains("--model openai/NAME"), "{error}");
    // Some gateways have no list.
    script(&server, "/v1/models", vec![reply().status(404, "{\"detail\": \"Not Found\"}")]);
    let models = assemble(&openai_options(&server, &[])).unwrap();
    let error = models.select(&context).await.err().unwrap();
    let expected = format!(
        "{} lists no model for conversations (GET /models). Name one with --model openai/NAME, or set OPENAI_MODEL.",
        server.url().trim_start_matches("http://")
    );
    assert_eq!((error.kind, error.message), (ModelErrorKind::NotFound, expected));
}

#[tokio::test]
async fn a_list_of_models_that_never_comes_ends_the_search() {
    let server = ModelServer::start();
    script(&server, "/v1/models", vec![reply().never_answer()]);
    let models = assemble(&openai_options(&server, &[])).unwrap();
    let context = SelectContext { requested: "auto".to_owned(), ..SelectContext::default() };
    let selecting = tokio::spawn(async move { models.select(&context).await.err() });
    while server.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::pause();
    let error = selecting.await.unwrap().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(error.message.contains("within 30 s (GET /models)"), "{error}");
    assert!(error.message.contains("--model openai/NAME, or set OPENAI_MODEL"), "{error}");
}

#[tokio::test]
async fn hints_name_the_gateway_instead_of_the_vendor() {
    let server = ModelServer::start();
    let url = server.url();
    let host = url.trim_start_matches("http://");
    let google = [("GEMINI_API_KEY", "g"), ("GOOGLE_GEMINI_BASE_URL", url.as_str())];
    let models = assemble(&openai_options(&server, &google)).unwrap();
    for status in [401, 403, 404] {
        let body = json!({"error": {"message": "no", "code": status}}).to_string();
        let refused = || reply().status(status, body.clone().into_bytes());
        script(&server, CHAT, vec![refused()]);
        server.stream(refused());
        for requested in ["openai/x", "gemini-2.5-pro"] {
            let error = answer(&select(&models, requested).await).await.unwrap_err().1;
            for vendor in ["at OpenAI", "openai.com", "google.com", "Gemini API is enabled"] {
                assert!(!error.message.contains(vendor), "{status} {requested}: {error}");
            }
            let names_host =
                error.message.contains(host) || requested == "openai/x" && status == 401;
            assert!(names_host, "{status} {requested}: {error}");
        }
    }
}

#[tokio::test]
async fn gemini_wins_when_no_model_is_named() {
    let both = [("GEMINI_API_KEY", "g"), ("OPENAI_API_KEY", "o")];
    let models = assemble(&asking("auto", &both)).unwrap();
    assert_eq!(select(&models, "auto").await.name(), "gemini-3.1-pro-preview");
    assert_eq!(select(&models, "gpt-5").await.name(), "gpt-5");
    let context =
        SelectContext { requested: "openai/gpt-4o".to_owned(), ..SelectContext::default() };
    let choice = models.select(&context).await.unwrap();
    assert_eq!(
        (choice.name.as_str(), choice.limits.context, choice.family),
        ("gpt-4o", 128_000, PromptFamily::Modern)
    );
    assert_eq!(choice.reason, "agent-router/override");
    // OpenAI's own address is used with Responses, which accept media inside of results.
    assert!(choice.limits.media_in_responses);
}

#[tokio::test]
async fn both_dialects_serve_one_run() {
    let server = ModelServer::start();
    let fine = events(&[delta(&json!({"content": "from openai"})), finish("stop")]);
    script(&server, CHAT, vec![reply().status(200, fine)]);
    server.stream(reply().text("from gemini"));
    let url = server.url();
    let both = [("GEMINI_API_KEY", "g"), ("GOOGLE_GEMINI_BASE_URL", url.as_str())];
    let models = assemble(&openai_options(&server, &both)).unwrap();
    for (requested, words) in [("auto", "from gemini"), ("openai/x", "from openai")] {
        let chunks = answer(&select(&models, requested).await).await.unwrap();
        assert_eq!(text(&chunks), words);
    }
}

#[tokio::test]
async fn a_missing_key_is_named_at_the_start() {
    let error = refused(&asking("groq/llama", &[("GEMINI_API_KEY", "g")]));
    assert_eq!(error.kind, ModelErrorKind::Auth);
    assert!(
        error.message.contains("GROQ_API_KEY") && error.message.contains("https://"),
        "{error}"
    );
    assert!(assemble(&asking("groq/llama", &[("GROQ_API_KEY", "k")])).is_ok());

    // Nothing is configured: the error names the available alternatives.
    let error = refused(&asking("auto", &[("MISTRAL_API_KEY", "k")]));
    assert!(error.message.starts_with("No API key is set. "), "{error}");
    assert!(
        error.message.ends_with(
            "\nMISTRAL_API_KEY is set: use a model of Mistral with --model mistral/NAME."
        ),
        "{error}"
    );

    // A model of the other vendor during the run.
    let models = assemble(&asking("auto", &[("OPENAI_API_KEY", "k")])).unwrap();
    let context = SelectContext { requested: "gemini/pro".to_owned(), ..SelectContext::default() };
    let error = models.select(&context).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Auth);
}

#[test]
fn an_enforced_sign_in_is_the_only_one() {
    let enforcing = |name: &str| ModelsOptions {
        settings: settings(&json!({"security": {"auth": {"enforcedType": name}}})),
        ..asking("openai/gpt-5", &[("GEMINI_API_KEY", "g"), ("OPENAI_API_KEY", "o")])
    };
    let error = refused(&enforcing("gemini-api-key"));
    assert_eq!(error.kind, ModelErrorKind::Auth);
    assert!(error.message.contains("'gemini-api-key' is enforced"), "{error}");
    assert!(assemble(&enforcing("openai")).is_ok());
}

#[tokio::test]
async fn the_sign_in_can_be_chosen_in_the_settings() {
    let options = ModelsOptions {
        settings: settings(&json!({"security": {"auth": {"selectedType": "openai"}}})),
        ..asking("auto", &[("GEMINI_API_KEY", "g"), ("OPENAI_API_KEY", "o"), ("OPENAI_MODEL", "m")])
    };
    assert_eq!(select(&assemble(&options).unwrap(), "auto").await.name(), "m");
}

#[tokio::test]
async fn a_recording_accepts_a_key_for_openai() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("script.jsonl");
    pollux_fs::AppendLog::open(&path).unwrap();
    let replay = Some(ReplaySource::File { path, strict: true });
    assert!(assemble(&ModelsOptions { replay, ..options(&[("OPENAI_API_KEY", "k")]) }).is_ok());
}
