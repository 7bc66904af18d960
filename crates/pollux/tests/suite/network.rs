//! Network: the address of each request, the proxy, and the model.

use std::time::Duration;

use pollux_testkit::{ModelServer, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{MODEL, Stage};

/// The client returns a connection to its pool on a separate task: on a busy machine the next
/// request may come earlier and open a second connection. One connection per request would be a
/// bug.
#[test]
fn connections_serve_many_requests() {
    let call = || reply().call("glob", json!({"pattern": "*"}));
    let calls = std::iter::repeat_with(call).take(9);
    let stage = Stage::with(calls.chain([reply().text("done")]));
    stage.prompt("text", "go").assert_code(0);
    assert_eq!(stage.server.requests().len(), 10);
    let connections = stage.server.connections();
    assert!(connections <= 5, "{connections} connections for 10 requests");
}

#[test]
fn a_proxy_of_the_environment_is_used() {
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"] {
        let stage = Stage::with([reply().text("hi")]);
        let program = stage.alone().env("GOOGLE_GEMINI_BASE_URL", "http://model.internal");
        let run = program.env(name, stage.server.url()).args(["-m", MODEL, "-p", "go"]).run();
        assert_eq!(run.code, Some(0), "{name}\n{}", run.report());
        assert_eq!(stage.server.requests()[0].header("host"), Some("model.internal"), "{name}");
    }
}

#[test]
fn no_proxy_is_kept() {
    let proxy = ModelServer::start();
    let stage = Stage::with([reply().text("hi")]);
    let program = stage.pollux(&["-p", "go"]).env("HTTP_PROXY", proxy.url());
    program.env("NO_PROXY", "127.0.0.1").run().assert_code(0);
    assert_eq!(proxy.connections(), 0);
}

#[test]
fn models_are_chosen_by_flag_environment_and_settings() {
    let settings = json!({"model": {"name": "gemini-2.5-flash"}});
    let table: [(&[&str], Option<&str>, Value, &str); 6] = [
        (
            &["-m", "gemini-2.5-flash-lite"],
            Some("gemini-2.5-pro"),
            settings.clone(),
            "gemini-2.5-flash-lite",
        ),
        (&["-m", "models/gemini-2.5-pro"], None, settings.clone(), "gemini-2.5-pro"),
        (&[], Some("gemini-2.5-pro"), settings.clone(), "gemini-2.5-pro"),
        (&[], None, settings, "gemini-2.5-flash"),
        (&[], None, json!({}), "gemini-3.1-pro-preview"),
        (&["-m", "pro"], None, json!({}), "gemini-3.1-pro-preview"),
    ];
    for (arguments, environment, settings, expected) in table {
        let stage = Stage::with([reply().text("hi")]);
        stage.home.settings(&settings);
        let mut program = stage.program().args(arguments).args(["-p", "go"]);
        if let Some(model) = environment {
            program = program.env("GEMINI_MODEL", model);
        }
        program.run().assert_code(0);
        assert_eq!(stage.requests()[0].model(), Some(expected), "{arguments:?} {environment:?}");
    }
}

#[test]
fn sign_ins_without_credentials_say_what_to_do() {
    for (kind, variable) in [
        ("oauth-personal", "GEMINI_API_KEY"),
        ("vertex-ai", "GOOGLE_CLOUD_PROJECT"),
        ("compute-default-credentials", "GOOGLE_APPLICATION_CREDENTIALS"),
    ] {
        let stage = Stage::new();
        stage.home.settings(&json!({"security": {"auth": {"selectedType": kind}}}));
        let program = stage.pollux(&["-o", "json", "-p", "go"]).env_remove("GEMINI_API_KEY");
        let run = program.run();
        run.assert_code(41);
        assert!(
            run.json()["error"]["message"].as_str().unwrap().contains(variable),
            "{}",
            run.report()
        );
        assert_eq!(stage.server.requests().len(), 0);
    }
    let stage = Stage::new();
    stage.home.settings(&json!({"security": {"auth": {"enforcedType": "vertex-ai"}}}));
    let run = stage.pollux(&["-p", "go"]).run();
    run.assert_code(41);
    let message = "The enforced authentication type is 'vertex-ai', but the current type is 'gemini-api-key'. Please re-authenticate with the correct type.";
    assert!(run.stderr_text().contains(message), "{}", run.report());
}

#[test]
fn debugging_tells_more_on_standard_error() {
    let stage = Stage::with([reply().text("hi"), reply().text("hi")]);
    stage.home.settings(&json!({"general": {"nosuchKey": 1}, "another": true}));
    let quiet = stage.prompt("text", "go");
    assert_eq!((quiet.stdout_text().as_str(), quiet.stderr_text().as_str()), ("hi\n", ""));
    let run = stage.pollux(&["--debug", "-p", "go"]).run();
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "hi\n");
    for key in ["general.nosuchKey", "another"] {
        assert_eq!(run.stderr_text().matches(key).count(), 1, "{key}\n{}", run.report());
    }
    assert!(run.stderr_text().contains("Session ID: "), "{}", run.report());
}

#[test]
fn debug_mode_reports_the_files_and_the_requests() {
    for debug in [true, false] {
        let stage = Stage::with([reply().text("Hi.").delay_before(Duration::from_millis(200))]);
        stage.home.settings(&json!({"general": {"vimMode": false}}));
        stage.home.user_file("policies/mine.toml", "").project_file("GEMINI.md", "Be brief.");
        let flags: &[&str] = if debug { &["-d", "-p", "go"] } else { &["-p", "go"] };
        let run = stage.pollux(flags).run();
        run.assert_code(0);
        assert_eq!(run.stdout_text(), "Hi.\n");
        let stderr = run.stderr_text();
        let (home, project) = (stage.home.gemini(), stage.home.project());
        for line in [
            format!("Read settings: {}\n", home.join("settings.json").display()),
            format!("Read policies: {}\n", home.join("policies/mine.toml").display()),
            format!("Read context: {}\n", project.join("GEMINI.md").display()),
            format!(
                "POST {}/v1beta/models/{MODEL}:streamGenerateContent: status 200, first byte after ",
                stage.server.url()
            ),
        ] {
            assert_eq!(stderr.contains(&line), debug, "{line}{}", run.report());
        }
        if let Some((_, first_byte)) = stderr.split_once("first byte after ") {
            let seconds: f64 = first_byte.split_once(" s").unwrap().0.parse().unwrap();
            assert!(seconds >= 0.2, "{seconds}");
        }
        assert!(!stderr.contains("alt=sse") && !stderr.contains("key="), "{}", run.report());
    }
}
