//! Gateways whose tokens a command of the user prints.

use std::sync::{Arc, Mutex};

use pollux_testkit::{CapturedRequest, errors, reply};
use serde_json::json;

use super::stage::{FORMATS, Stage};

/// A stage whose command prints `token-1`, then `token-2` and so on.
fn stage() -> Stage {
    let stage = Stage::new();
    let command = "echo x >> calls; echo token-$(wc -l < calls)";
    stage.home.settings(&json!({"pollux": {"auth": {"tokenCommand": command}}}));
    stage
}

/// Lets the server refuse all requests to a path; returns them.
fn refused_at(stage: &Stage, path: &str) -> Arc<Mutex<Vec<CapturedRequest>>> {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    stage.server.route(path, move |request| {
        seen.lock().unwrap().push(request.clone());
        errors::plain(404)
    });
    requests
}

#[test]
fn a_refused_token_is_asked_for_again() {
    let stage = stage();
    stage.server.stream(errors::unauthenticated());
    stage.server.stream(reply().text("Hello."));
    let run = stage.pollux(&["-p", "hi"]).run();
    run.assert_code(0);
    let sent: Vec<_> = stage
        .requests()
        .iter()
        .map(|request| {
            assert_eq!(request.header("x-goog-api-key"), None);
            request.header("authorization").unwrap().to_owned()
        })
        .collect();
    assert_eq!(sent, ["Bearer token-1", "Bearer token-2"]);
    // The command runs beside the settings, never in a project.
    assert!(stage.home.home().join(".gemini/calls").exists());
}

#[test]
fn each_vendor_at_an_address_of_the_user_gets_the_token() {
    for (variable, path, model) in [
        ("OPENAI_BASE_URL", "/v1/chat/completions", "openai/x"),
        ("ANTHROPIC_BASE_URL", "/v1/messages", "anthropic/x"),
    ] {
        let stage = stage();
        let requests = refused_at(&stage, path);
        let program = stage.program().args(["-m", model, "-p", "hi"]);
        program.env(variable, format!("{}/v1", stage.server.url())).run().assert_code(1);
        let request = &requests.lock().unwrap()[0];
        assert_eq!(request.header("authorization"), Some("Bearer token-1"), "{model}");
        assert_eq!(request.header("x-api-key"), None);
    }
}

#[test]
fn a_failed_command_is_explained() {
    let stage = Stage::new();
    let settings =
        json!({"pollux": {"auth": {"tokenCommand": "echo 'sign in first' >&2; exit 3"}}});
    stage.home.settings(&settings);
    let run = stage.pollux(&["-p", "hi"]).run();
    run.assert_code(41);
    let message = "The command in pollux.auth.tokenCommand failed with exit code 3: sign in first.";
    assert!(run.stderr_text().contains(message), "{}", run.stderr_text());
    let status = stage.program().args(["auth", "status"]).run();
    let text = status.stdout_text();
    assert!(text.contains("the command in pollux.auth.tokenCommand"), "{text}");
}

#[test]
fn a_project_cannot_name_the_command_or_another_vendor() {
    let stage = Stage::with([reply().text("Hello.")]);
    let settings = json!({"pollux": {
        "auth": {"tokenCommand": "touch ran"},
        "fallback": {"mode": "chain", "chain": ["openai/x"]},
        "roles": {"compressor": "openai/x"},
    }});
    stage.home.project_settings(&settings);
    stage.pollux(&["-p", "hi"]).run().assert_code(0);
    for (key, value) in [
        ("pollux.auth.tokenCommand", json!(null)),
        ("pollux.fallback.mode", json!("ask")),
        ("pollux.roles", json!({})),
    ] {
        let explained = stage.program().args(["config", "explain", key, "--json"]).run().json();
        assert_eq!(explained["value"], value, "{key}");
    }
    assert_eq!(stage.requests()[0].header("authorization"), None);
    assert!(!stage.home.project().join("ran").exists());
    assert!(!stage.home.home().join(".gemini/ran").exists());
}

#[test]
fn the_version_and_the_header_of_an_azure_deployment_are_sent() {
    let stage = Stage::new();
    let path = "/openai/deployments/d/chat/completions";
    let requests = refused_at(&stage, path);
    let base = format!("{}/openai/deployments/d?api-version=2024-10-21", stage.server.url());
    let program = stage.program().args(["-m", "openai/d", "-p", "hi"]);
    program
        .env("OPENAI_BASE_URL", base)
        .env("OPENAI_CUSTOM_HEADERS", "api-key: k")
        .run()
        .assert_code(1);
    let request = &requests.lock().unwrap()[0];
    assert_eq!(request.query, "api-version=2024-10-21");
    assert_eq!(request.header("api-key"), Some("k"));
    assert_eq!(request.header("authorization"), None);
}

#[test]
fn a_key_that_a_gateway_repeats_is_neither_shown_nor_stored() {
    let key = "sk-very-secret-key";
    let stage = Stage::new();
    for path in ["/v1/chat/completions", "/v1/models"] {
        let body = json!({"error": {"message": format!("bad key {key}"), "code": "unauthorized"}});
        stage.server.route(path, move |_| reply().status(401, body.clone()));
    }
    let program = || {
        let program = stage.program().env_remove("GEMINI_API_KEY").env("OPENAI_API_KEY", key);
        program.env("OPENAI_BASE_URL", format!("{}/v1", stage.server.url()))
    };
    let prompt = ["-m", "openai/m", "-p", "hi", "-o"];
    for format in FORMATS {
        let run = program().args(prompt).args([format]).run();
        // The formats for programs exit with the status, which has eight bits here.
        run.assert_code(if format == "text" { 1 } else { 401 - 256 });
        let shown = run.stdout_text() + &run.stderr_text();
        assert!(shown.contains("bad key ***") && !shown.contains(key), "{}", run.report());
    }
    for flags in [&["doctor"][..], &["doctor", "--json"]] {
        let run = program().env("GEMINI_MODEL", "openai/m").args(flags).run();
        let shown = run.stdout_text() + &run.stderr_text();
        assert!(shown.contains("bad key ***") && !shown.contains(key), "{}", run.report());
    }
    let files = stage.session_files();
    assert_eq!(files.len(), FORMATS.len());
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(!text.contains(key), "{text}");
    }
}
