//! `pollux models list`.

use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::Stage;

#[test]
fn the_models_of_all_keys_are_listed() {
    let stage = Stage::new();
    let list = |arguments: &[&str]| {
        let program = stage.alone().env("GROQ_API_KEY", "k").env_remove("GEMINI_API_KEY");
        let program = program.env("OPENAI_API_KEY", "k").env("POLLUX_LOCAL_PORTS", "");
        let run = program.args(arguments).run();
        run.assert_code(0);
        run
    };
    let run = list(&["models", "list", "--json"]);
    let models: Value = serde_json::from_str(&run.stdout_text()).unwrap();
    let models = models["models"].as_array().unwrap();
    let named = |name: &str| models.iter().find(|model| model["name"] == name);
    let openai = named("openai/gpt-5").unwrap();
    assert_eq!(openai["vendor"], "OpenAI");
    assert_eq!((&openai["context"], &openai["images"]), (&json!(400_000), &json!(true)));
    assert_eq!(openai["price"]["output"], 10.0);
    assert!(named("groq/llama-3.1-8b-instant").is_some());
    assert!(named("gemini-2.5-pro").is_none() && named("mistral/x").is_none());

    let text = list(&["models", "list"]).stdout_text();
    assert!(text.starts_with("NAME "), "{text}");
    assert_eq!(text.lines().count(), models.len() + 1);
    assert_eq!(stage.server.requests().len(), 0, "nothing leaves this machine");
}

#[test]
fn without_a_key_local_models_are_listed() {
    let stage = Stage::new();
    stage.server.route("/v1/models", |_| {
        reply().json(json!({"object": "list", "data": [{"id": "qwen3:8b", "owned_by": "vllm"}]}))
    });
    for path in ["/api/tags", "/api/version", "/props", "/health", "/version", "/api/v0/models"] {
        stage.server.route(path, |_| reply().status(404, "no"));
    }
    let port = stage.server.address().port().to_string();
    let program = |ports: &str| {
        let program = stage.alone().env_remove("GEMINI_API_KEY").env("POLLUX_LOCAL_PORTS", ports);
        program.args(["models", "list"]).run()
    };
    let run = program(&port);
    run.assert_code(0);
    stage.server.take_failures();
    assert!(run.stdout_text().contains("\nlocal/qwen3:8b "), "{}", run.report());
    let run = program("");
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "");
    assert!(run.stderr_text().starts_with("No key is set"), "{}", run.report());
}

#[test]
fn the_users_own_table_completes_the_list_and_its_faults_are_named() {
    let stage = Stage::new();
    let list = |more: &[&str]| {
        let program = stage.alone().env("POLLUX_LOCAL_PORTS", "").env("GROQ_API_KEY", "k");
        let run = program.args(["models", "list"]).args(more).run();
        run.assert_code(0);
        run
    };
    let entry = json!({"context": 5000, "tools": false, "retires": "2027-01-31"});
    let table = json!({"models": {"groq/own": entry}});
    stage.home.user_file("pollux/prices.json", table.to_string());
    let models: Value = serde_json::from_str(&list(&["--json"]).stdout_text()).unwrap();
    let models = models["models"].as_array().unwrap();
    let named = |name: &str| models.iter().find(|model| model["name"] == name).unwrap();
    let own = named("groq/own");
    assert_eq!((&own["context"], &own["tools"]), (&json!(5000), &json!(false)));
    assert_eq!((&own["retires"], &own["origin"]), (&json!("2027-01-31"), &json!("user")));
    assert_eq!(named("gemini-2.5-pro")["origin"], "built-in");

    stage.home.user_file("pollux/prices.json", "{\"models\": {\n\"a\": {\"context\": \"x\"}}}");
    let run = list(&[]);
    assert!(run.stdout_text().contains("\ngemini-2.5-pro "), "{}", run.report());
    let text = run.stderr_text();
    for part in ["prices.json", "models.a.context", "line 2 column"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn an_unknown_vendor_is_refused_before_anything_is_sent() {
    let stage = Stage::new();
    let suggestion = "Did you mean anthropic/claude-opus-5-5?";
    let run = stage.alone().args(["-m", "antropic/claude-opus-5-5", "-p", "hi"]).run();
    run.assert_code(1);
    assert!(run.stderr_text().contains(suggestion), "{}", run.report());
    for (settings, key) in [
        (json!({"fallback": {"chain": ["pro", "antropic/claude-opus-5-5"]}}), "fallback.chain"),
        (json!({"roles": {"judge": "antropic/claude-opus-5-5"}}), "roles.judge"),
    ] {
        stage.home.settings(&json!({"pollux": settings}));
        let run = stage.alone().args(["-p", "hi"]).run();
        run.assert_code(52);
        let text = run.stderr_text();
        assert!(text.contains(&format!("pollux.{key}: ")) && text.contains(suggestion), "{text}");
    }
}
