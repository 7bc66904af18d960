use pollux_models::{ModelsOptions, ReplaySource, assemble, sign_in_notice};
use pollux_protocol::{ModelError, ModelErrorKind};
use pollux_testkit::{ModelServer, ReplyContent, reply};
use serde_json::json;

use super::harness::{answer, model, options, select, text};

const SCRIPT: &str = r#"{"method":"generateContentStream","response":[{"candidates":[{"content":{"role":"model","parts":[{"text":"recorded"}]},"finishReason":"STOP","index":0}]}]}"#;

fn refused(options: &ModelsOptions) -> ModelError {
    assemble(options).err().expect("no models can be put together")
}

#[test]
fn what_is_wrong_is_said_before_any_request() {
    let error = refused(&options(&[]));
    assert_eq!((error.kind, error.type_name), (ModelErrorKind::Auth, "FatalAuthenticationError"));
    assert!(error.message.starts_with("No API key is set. Get one at https://"), "{error}");

    let error = refused(&options(&[("GEMINI_API_KEY", "k"), ("GOOGLE_GEMINI_BASE_URL", "nope")]));
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ModelErrorKind::Config, "Invalid custom base URL: nope")
    );

    let error = refused(&options(&[("GEMINI_API_KEY", "k"), ("HTTPS_PROXY", "gopher://x")]));
    assert_eq!(error.kind, ModelErrorKind::Config);
    assert!(error.message.contains("HTTPS_PROXY"), "{error}");

    let error = refused(&options(&[("GOOGLE_GENAI_USE_VERTEXAI", "true")]));
    assert!(error.message.contains("Vertex AI"), "{error}");
}

#[test]
fn a_key_instead_of_the_sign_in_is_reported_for_models_of_gemini() {
    let variables = [("GEMINI_API_KEY", "k"), ("OPENAI_API_KEY", "k")];
    let oauth = [("GOOGLE_GENAI_USE_GCA", "true")];
    for (variables, model, is_reported) in [
        (&[&variables[..], &oauth].concat(), "auto", true),
        (&[&variables[..], &oauth].concat(), "openai/gpt-5", false),
        (&variables.to_vec(), "auto", false),
    ] {
        let options =
            ModelsOptions { startup_model: model.to_owned(), ..options(variables.as_slice()) };
        assert!(assemble(&options).is_ok(), "{model}");
        let notice = sign_in_notice(&options);
        assert_eq!(notice.is_some(), is_reported, "{model} {notice:?}");
        assert!(notice.is_none_or(|notice| notice.contains("the Google sign-in")));
    }
}

#[tokio::test]
async fn a_web_page_instead_of_an_answer_is_named() {
    let server = ModelServer::start();
    let page = || reply().status(200, ReplyContent::html("\n<!DOCTYPE html><p>Log in</p>"));
    server.stream(page());
    let model = model(&server, "gemini-2.5-pro").await;
    let (_, error) = answer(&model).await.unwrap_err();
    assert!(error.message.contains("received a web page instead of a response"), "{error}");
    assert!(error.message.contains("GOOGLE_GEMINI_BASE_URL") && error.retryable, "{error}");
}

#[tokio::test]
async fn json_instead_of_a_stream_is_named() {
    let chunk = json!({"candidates": [{"content": {"parts": [{"text": "hi"}]}}]});
    for (body, what) in [(json!([chunk]), "a JSON array"), (chunk.clone(), "a JSON object")] {
        let server = ModelServer::start();
        server.stream(reply().json(body));
        let model = model(&server, "gemini-2.5-pro").await;
        let (_, error) = answer(&model).await.unwrap_err();
        let expected = format!("received {what} instead of a stream of events");
        assert!(error.message.contains(&expected) && !error.retryable, "{error}");
    }
    let server = ModelServer::start();
    let error =
        json!([{"error": {"code": 404, "message": "No such model.", "status": "NOT_FOUND"}}]);
    server.stream(reply().json(error));
    let model = model(&server, "gemini-2.5-pro").await;
    let (_, error) = answer(&model).await.unwrap_err();
    assert!(error.message.contains("No such model."), "{error}");
}

#[tokio::test]
async fn a_recorded_file_answers_once_a_sign_in_is_chosen() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("script.jsonl");
    pollux_fs::AppendLog::open(&path).unwrap().append(SCRIPT.as_bytes()).unwrap();
    let replay = Some(ReplaySource::File { path: "script.jsonl".into(), strict: true });
    let with = |variables: &[(&str, &str)]| ModelsOptions {
        replay: replay.clone(),
        cwd: directory.path().to_owned(),
        ..options(variables)
    };
    assert_eq!(refused(&with(&[])).kind, ModelErrorKind::Auth);
    // Sign-in methods that Pollux does not support yet are accepted too, because no service is
    // used.
    for variable in [("GEMINI_API_KEY", "x"), ("GOOGLE_GENAI_USE_GCA", "true")] {
        let models = assemble(&with(&[variable])).unwrap();
        let chunks = answer(&select(&models, "any-model").await).await.unwrap();
        assert_eq!(text(&chunks), "recorded");
    }
    let missing = ReplaySource::File { path: "missing.jsonl".into(), strict: true };
    let error =
        refused(&ModelsOptions { replay: Some(missing), ..with(&[("GEMINI_API_KEY", "x")]) });
    assert!(error.message.contains("missing.jsonl"), "{error}");
}

#[tokio::test]
async fn a_bundled_recording_needs_no_credentials() {
    let replay = Some(ReplaySource::Text(SCRIPT.to_owned()));
    let models = assemble(&ModelsOptions { replay, ..options(&[]) }).unwrap();
    let chunks = answer(&select(&models, "auto").await).await.unwrap();
    assert_eq!(text(&chunks), "recorded");
}

#[tokio::test]
async fn what_the_service_said_can_be_recorded_and_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let server = ModelServer::start();
    server.stream(reply().thought("hm").text("grüße").call("glob", serde_json::json!({"p": 1})));
    let url = server.url();
    let recording = ModelsOptions {
        record: Some("recorded.jsonl".into()),
        cwd: directory.path().to_owned(),
        ..options(&[("GEMINI_API_KEY", "k"), ("GOOGLE_GEMINI_BASE_URL", &url)])
    };
    let models = assemble(&recording).unwrap();
    let live = answer(&select(&models, "m").await).await.unwrap();

    let replay = ReplaySource::File { path: directory.path().join("recorded.jsonl"), strict: true };
    let replaying = ModelsOptions { replay: Some(replay), ..options(&[("GEMINI_API_KEY", "k")]) };
    let again = answer(&select(&assemble(&replaying).unwrap(), "m").await).await.unwrap();
    let parts = |chunks: &[pollux_protocol::ResponseChunk]| {
        chunks.iter().map(|chunk| (chunk.parts.clone(), chunk.usage)).collect::<Vec<_>>()
    };
    assert_eq!(parts(&live), parts(&again));
}
