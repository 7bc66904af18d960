use pollux_models::local::{ServerKind, discover, ports};
use pollux_models::{ModelsOptions, assemble, is_undecided, undecided};
use pollux_protocol::{Choice, ModelError, ModelErrorKind, SelectContext};
use pollux_testkit::{ModelServer, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::harness::{CHAT, answer, delta, events, finish, options, say, script, text};

/// Returns options for a user without any key, with these servers on the machine.
fn alone(servers: &[&ModelServer], model: &str) -> ModelsOptions {
    let ports: Vec<String> =
        servers.iter().map(|server| server.address().port().to_string()).collect();
    let ports = ports.join(",");
    let variables = [("POLLUX_LOCAL_PORTS", ports.as_str()), ("HTTPS_PROXY", "http://127.0.0.1:9")];
    ModelsOptions { startup_model: model.to_owned(), ..options(&variables) }
}

const PROBED: [&str; 5] = ["/v1/models", "/api/tags", "/api/ps", "/props", "/api/v0/models"];

/// Starts a server that answers none of the requests of the search.
fn stranger() -> ModelServer {
    let server = ModelServer::start();
    for path in PROBED {
        server.route(path, |_| reply().status(404, "not found"));
    }
    server
}

fn ollama(context: u64) -> ModelServer {
    let server = stranger();
    let fine = events(&[delta(&json!({"content": "ok"})), finish("stop")]);
    let loaded = json!({"models": [{"name": "small:latest", "context_length": context}]});
    for (path, answer) in [
        ("/v1/models", json!({"data": [{"id": "small:latest"}]})),
        ("/api/tags", json!({"models": [{"name": "small:latest"}, {"name": "big:7b"}]})),
        ("/api/ps", loaded),
    ] {
        script(&server, path, vec![reply().json(answer)]);
    }
    script(&server, CHAT, vec![reply().status(200, fine)]);
    server
}

async fn choose(options: &ModelsOptions) -> Result<Choice, ModelError> {
    let requested = options.startup_model.clone();
    let context = SelectContext { requested, ..SelectContext::default() };
    assemble(options)?.select(&context).await
}

#[tokio::test]
async fn a_local_model_answers_without_a_key_and_past_the_proxy() {
    let server = ollama(32_768);
    let choice = choose(&alone(&[&server], "local/small")).await.unwrap();
    assert_eq!((choice.name.as_str(), choice.limits.context), ("small:latest", 32_768));
    assert_eq!(text(&answer(&choice.model).await.unwrap()), "ok");
    let requests = server.requests();
    let sent = requests.iter().find(|request| request.path == CHAT).unwrap();
    assert_eq!(
        (sent.body["model"].as_str(), sent.header("authorization")),
        (Some("small:latest"), None)
    );
    assert!(requests.iter().all(|request| request.path == CHAT || request.method == "GET"));
}

#[tokio::test]
async fn a_context_that_is_too_small_is_named_as_the_cause() {
    let server = ollama(100);
    let choice = choose(&alone(&[&server], "local/small")).await.unwrap();
    let request = say(&"word ".repeat(200));
    let cancel = pollux_protocol::CancellationToken::new();
    let error = choice.model.stream(request, cancel).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Invalid);
    for words in ["about 250 tokens", "Ollama", "context of 100", "OLLAMA_CONTEXT_LENGTH"] {
        assert!(error.message.contains(words), "{error}");
    }
    assert!(server.requests().iter().all(|request| request.path != CHAT), "nothing is sent");
}

#[tokio::test]
async fn a_context_that_shows_only_after_loading_is_named_too() {
    let server = ollama(100);
    let empty = reply().json(json!({"models": []}));
    let loaded = json!({"models": [{"name": "small:latest", "context_length": 100}]});
    // The search, the choice, the first check, and the check after the model is loaded.
    let answers = vec![empty.clone(), empty.clone(), empty, reply().json(loaded)];
    script(&server, "/api/ps", answers);
    script(&server, "/api/show", vec![reply().json(json!({"parameters": "temperature 1"}))]);
    let choice = choose(&alone(&[&server], "local/small")).await.unwrap();
    let cancel = pollux_protocol::CancellationToken::new();
    let error = choice.model.stream(say(&"word ".repeat(200)), cancel).await.err().unwrap();
    assert!(error.message.contains("context of 100"), "{error}");
}

#[tokio::test]
async fn a_context_in_the_definition_of_a_model_is_known_before_loading() {
    let server = ollama(100);
    script(&server, "/api/ps", vec![reply().json(json!({"models": []}))]);
    let shown = json!({"parameters": "num_ctx 120", "model_info": {"llama.context_length": 8192}});
    script(&server, "/api/show", vec![reply().json(shown)]);
    let choice = choose(&alone(&[&server], "local/small")).await.unwrap();
    assert_eq!(choice.limits.context, 120);
    let cancel = pollux_protocol::CancellationToken::new();
    let error = choice.model.stream(say(&"word ".repeat(200)), cancel).await.err().unwrap();
    assert!(error.message.contains("context of 120"), "{error}");
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.path != CHAT), "nothing is sent");
    let show = requests.iter().find(|request| request.path == "/api/show").unwrap();
    assert_eq!(show.body, json!({"model": "small:latest"}));
}

#[tokio::test]
async fn without_a_key_the_message_names_what_was_found() {
    let (first, second) = (ollama(4096), stranger());
    script(
        &second,
        "/v1/models",
        vec![reply().json(json!({"data": [{"id": "m", "owned_by": "vllm"}]}))],
    );
    let options = alone(&[&first, &second], "auto");
    assert!(is_undecided(&options));
    let error = undecided(&options, &discover(&ports(&options.environment)).await);
    assert_eq!((error.kind, error.type_name), (ModelErrorKind::Auth, "FatalAuthenticationError"));
    assert!(error.message.starts_with("No API key is set. "), "{error}");
    let lines: Vec<&str> = error.message.lines().collect();
    assert_eq!(
        lines[4..],
        [
            format!(
                "Ollama at {} with small:latest, big:7b was found on this machine: use it with --model local/small:latest.",
                first.url()
            ),
            format!(
                "vLLM at {} with m was found on this machine: use it with --model local/m.",
                second.url()
            ),
        ]
    );
}

#[tokio::test]
async fn a_base_url_that_leads_to_such_a_server_is_looked_at_too() {
    let server = ollama(100);
    let (url, port) = (format!("{}/v1", server.url()), server.address().port().to_string());
    let variables = [("POLLUX_LOCAL_PORTS", port.as_str()), ("OPENAI_BASE_URL", url.as_str())];
    let options = ModelsOptions { startup_model: "small".to_owned(), ..options(&variables) };
    let choice = choose(&options).await.unwrap();
    assert_eq!(choice.limits.context, 100);
    let cancel = pollux_protocol::CancellationToken::new();
    let error = choice.model.stream(say(&"word ".repeat(200)), cancel).await.err().unwrap();
    assert!(error.message.contains("context of 100"), "{error}");
}

#[test]
fn a_model_that_says_who_answers_leaves_nothing_open() {
    for (model, open) in [("auto", true), ("gemini-2.5-pro", true), ("local/m", false)] {
        assert_eq!(is_undecided(&alone(&[], model)), open, "{model}");
    }
}

#[tokio::test]
async fn nobody_is_looked_for_when_a_key_is_there() {
    let server = ollama(4096);
    let port = server.address().port().to_string();
    for key in ["GEMINI_API_KEY", "OPENAI_API_KEY"] {
        let variables = [("POLLUX_LOCAL_PORTS", port.as_str()), (key, "k"), ("OPENAI_MODEL", "m")];
        let options = ModelsOptions { startup_model: "auto".to_owned(), ..options(&variables) };
        assert!(!is_undecided(&options));
        choose(&options).await.unwrap();
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let server = ollama(4096);
    let error = choose(&alone(&[&server], "local/other")).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::NotFound);
    assert!(
        error.message.contains("\"other\"") && error.message.contains("small:latest"),
        "{error}"
    );
    let error = choose(&alone(&[], "local/any")).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(error.message.contains("because POLLUX_LOCAL_PORTS names no port"), "{error}");
    let nobody = [("POLLUX_LOCAL_PORTS", "9")];
    let options = ModelsOptions { startup_model: "local/any".to_owned(), ..options(&nobody) };
    let error = choose(&options).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(error.message.contains("responds on this machine (ports 9)"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_answers_does_not_hold_up_the_search() {
    let (slow, other, web) = (ModelServer::start(), ollama(4096), ModelServer::start());
    for path in PROBED {
        slow.route(path, |_| reply().never_answer());
        let answers: [Value; 2] = [json!({"data": 7}), json!("page")];
        script(&web, path, answers.into_iter().map(|answer| reply().json(answer)).collect());
    }
    let ports = [slow.address().port(), web.address().port(), other.address().port()];
    // The slow server never answers: the end of the search proves its time limit.
    let found = discover(&ports).await;
    let kinds: Vec<ServerKind> = found.iter().map(|server| server.kind).collect();
    assert_eq!(kinds, [ServerKind::Ollama]);
    assert!(other.requests().iter().all(|request| request.method == "GET"));
}

#[tokio::test]
async fn the_list_has_who_can_be_asked_with_limits_and_prices() {
    let server = ollama(4096);
    let keys = [("GEMINI_API_KEY", "k"), ("DEEPSEEK_API_KEY", "k")];
    let alone = alone(&[&server], "auto");
    let mut environment: Vec<(&str, &str)> = alone.environment.iter().collect();
    environment.extend(keys);
    let folder = tempfile::tempdir().unwrap();
    let prices = folder.path().join("prices.json");
    let own = json!({"models": {"deepseek/deepseek-chat": {"input": 1, "output": 2}}});
    std::fs::write(&prices, own.to_string()).unwrap();
    let environment = pollux_config::Environment::from_pairs(environment);
    let options = ModelsOptions { environment, prices: Some(prices), ..alone };
    let listed = assemble(&options).unwrap().list().await;
    let find = |name: &str| listed.iter().find(|model| model.name == name);
    let pro = find("gemini-2.5-pro").unwrap();
    assert_eq!((pro.vendor.as_str(), pro.limits.context), ("Google", 1_048_576));
    assert_eq!(pro.price.unwrap().rates.input, 1_250_000);
    let chat = find("deepseek/deepseek-chat").unwrap();
    assert_eq!((chat.abilities.max_output, chat.abilities.vision), (Some(8192), Some(false)));
    assert_eq!(chat.price.unwrap().rates.output, 2_000_000);
    let local = find("local/small:latest").unwrap();
    assert_eq!((local.vendor.as_str(), local.limits.context), ("Ollama", 4096));
    assert_eq!(local.price, Some(pollux_protocol::Price::FREE));
    assert!(listed.iter().all(|model| !model.name.starts_with("openai/")), "there is no key");
    assert!(server.requests().iter().all(|request| request.method == "GET"));
}
