//! `pollux doctor`.

use std::fs;

use pollux_testkit::{Finished, ReplyContent, errors, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::Stage;

/// Returns the culprit and the states of the checks, by name.
fn checked(run: &Finished) -> (Value, Vec<(String, String)>) {
    let report = run.json();
    let checks = report["checks"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let states = checks.map(|check| (text(&check["name"]), text(&check["state"])));
    (report["culprit"].clone(), states.collect())
}

fn list(stage: &Stage, status: u16) {
    stage.server.route("/v1beta/models", move |_| match status {
        200 => reply().json(json!({"models": []})),
        status => errors::plain(status),
    });
}

#[test]
fn a_machine_on_which_everything_works() {
    let stage = Stage::new();
    list(&stage, 200);
    let run = stage.program().args(["doctor"]).run();
    run.assert_code(0);
    let text = run.stdout_text();
    for line in ["ok       sign-in ", "ok       service ", "ok       state "] {
        assert!(text.contains(line), "{line}\n{}", run.report());
    }
    assert!(text.ends_with("\nNo problem found.\n"), "{text}");
    assert!(!text.contains("test-key"), "{text}");
    assert_eq!(stage.server.requests().len(), 1, "no model is called");
}

#[test]
fn a_bare_machine_has_no_sign_in() {
    let stage = Stage::new();
    let program = stage.alone().env_remove("GEMINI_API_KEY").env("POLLUX_LOCAL_PORTS", "");
    let run = program.args(["doctor", "--json"]).run();
    run.assert_code(1);
    let (culprit, states) = checked(&run);
    assert_eq!(culprit, "sign-in");
    assert!(states.contains(&("service".to_owned(), "skipped".to_owned())), "{states:?}");
}

#[test]
fn a_broken_proxy_is_named() {
    // Nothing listens on the discard port.
    for (proxy, message) in
        [("http://127.0.0.1:9", "through the proxy"), ("nonsense://x", "HTTPS_PROXY")]
    {
        let stage = Stage::new();
        let run = stage.alone().env("HTTPS_PROXY", proxy).args(["doctor", "--json"]).run();
        run.assert_code(1);
        let (culprit, _) = checked(&run);
        assert_eq!(culprit, "proxy", "{}", run.report());
        assert!(run.stdout_text().contains(message), "{}", run.report());
    }
}

#[test]
fn refusals_of_the_service_name_the_part() {
    for (status, culprit) in [(401, "key"), (403, "key"), (429, "quota"), (503, "service")] {
        let stage = Stage::new();
        list(&stage, status);
        let run = stage.program().args(["doctor", "--json"]).run();
        run.assert_code(1);
        assert_eq!(checked(&run).0, culprit, "{}", run.report());
        assert_eq!(stage.server.requests().len(), 1, "one attempt");
    }
    // A gateway without a list of models.
    let stage = Stage::new();
    list(&stage, 404);
    stage.program().args(["doctor", "--json"]).run().assert_code(0);
    // Something else at the address.
    for status in [200, 404] {
        let stage = Stage::new();
        stage.server.route("/v1beta/models", move |_| {
            reply().status(status, ReplyContent::html("<html>Welcome"))
        });
        let run = stage.program().args(["doctor", "--json"]).run();
        run.assert_code(1);
        assert_eq!(checked(&run).0, "service", "{}", run.report());
        assert!(run.stdout_text().contains("a web page instead of"), "{}", run.report());
    }
}

#[test]
fn a_broken_table_of_prices_is_reported() {
    let stage = Stage::new();
    list(&stage, 200);
    for (content, code) in [("{\"models\": {}}", 0), ("{\"models\": {\"m\": 1}}", 1)] {
        stage.home.user_file("pollux/prices.json", content);
        let run = stage.program().args(["doctor", "--json"]).run();
        run.assert_code(code);
        let state = if code == 0 { "ok" } else { "problem" };
        let (_, states) = checked(&run);
        assert!(states.contains(&("prices".to_owned(), state.to_owned())), "{states:?}");
    }
}

#[test]
fn a_wrong_clock_certificates_and_servers_are_reported() {
    let stage = Stage::new();
    stage.server.route("/v1beta/models", |_| {
        reply().json(json!({})).header("date", "Thu, 01 Jan 1970 00:00:00 GMT")
    });
    let file = stage.home.project().join("empty.pem");
    fs::write(&file, "nothing").unwrap();
    stage.home.settings(&json!({"mcpServers": {"gone": {"command": "/no/such/program"}}}));
    let program = stage.program().env("NODE_EXTRA_CA_CERTS", &file);
    let run = program.args(["doctor", "--json"]).run();
    run.assert_code(1);
    let (culprit, states) = checked(&run);
    assert_eq!(culprit, "certificates", "{}", run.report());
    for (name, state) in
        [("clock", "problem"), ("certificates", "problem"), ("MCP server", "warning")]
    {
        assert!(states.contains(&(name.to_owned(), state.to_owned())), "{name}: {states:?}");
    }
}

#[test]
fn broken_settings_are_the_culprit() {
    let stage = Stage::new();
    fs::write(stage.home.gemini().join("settings.json"), "{").unwrap();
    let run = stage.program().args(["doctor", "--json"]).run();
    run.assert_code(1);
    assert_eq!(checked(&run).0, "settings");
}

#[test]
fn the_configured_model_decides_which_service_is_checked() {
    let stage = Stage::new();
    stage.home.settings(&json!({"model": {"name": "local/qwen3"}}));
    let program = stage.alone().env_remove("GEMINI_API_KEY").env("POLLUX_LOCAL_PORTS", "");
    let run = program.args(["doctor", "--json"]).run();
    run.assert_code(0);
    let (_, states) = checked(&run);
    for (name, state) in [("sign-in", "ok"), ("service", "skipped")] {
        assert!(states.contains(&(name.to_owned(), state.to_owned())), "{states:?}");
    }
    stage.home.settings(&json!({"model": {"name": "anthropic/sonnet"}}));
    let run = stage.program().args(["auth", "status"]).run();
    run.assert_code(41);
    let status = "Anthropic (anthropic) is selected: the model is anthropic/sonnet.\nProblem: ANTHROPIC_API_KEY is not set\n";
    assert!(run.stdout_text().starts_with(status), "{}", run.report());
}
