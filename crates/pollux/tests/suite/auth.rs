//! `pollux auth`, and runs with Google credentials.

use std::fs;
use std::path::PathBuf;

use pollux_testkit::{Pollux, reply};
use serde_json::{Value, json};
use url::Url;

use super::stage::Stage;

/// Returns the program without a key and without a machine in Google Cloud.
fn bare(stage: &Stage, arguments: &[&str]) -> Pollux {
    let program = stage.alone().args(arguments).env_remove("GEMINI_API_KEY");
    program.env("NO_GCE_CHECK", "true")
}

/// Writes a user's credentials, which get their token from the stage's server.
fn credentials(stage: &Stage) -> PathBuf {
    stage
        .server
        .route("/token", |_| reply().json(json!({"access_token": "T", "expires_in": 3599})));
    let path = stage.home.home().join("adc.json");
    let url = format!("{}/token", stage.server.url());
    let file = json!({"type": "authorized_user", "client_id": "i", "client_secret": "SECRET",
        "refresh_token": "SECRET", "token_uri": url});
    fs::write(&path, file.to_string()).unwrap();
    path
}

/// Returns the file of the sign-in to Google.
fn signed_in(stage: &Stage) -> PathBuf {
    stage.home.gemini().join("oauth_creds.json")
}

#[test]
fn the_status_on_a_bare_machine_says_what_is_missing() {
    let stage = Stage::new();
    let run = bare(&stage, &["auth", "status"]).run();
    let text = run.assert_code(41).stdout_text();
    assert!(text.starts_with("No sign-in is configured.\n"), "{text}");
    for part in [
        "Gemini API with a key (gemini-api-key): not ready; When using Gemini API, you must",
        "Vertex AI (vertex-ai): not ready; When using Vertex AI, you must specify either:",
        "Gemini Code Assist (oauth-personal): not ready; No Google credentials were found.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = bare(&stage, &["auth", "status", "--json"]).run().assert_code(41).stdout_text();
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["used"], Value::Null);
    assert!(report["ways"].as_array().unwrap().len() > 10);
}

#[test]
fn the_status_names_the_credentials_and_why_others_are_not_used() {
    let stage = Stage::new();
    let file = credentials(&stage);
    let run = bare(&stage, &["auth", "status"])
        .env("GOOGLE_APPLICATION_CREDENTIALS", &file)
        .env("GOOGLE_GENAI_USE_VERTEXAI", "true")
        .env("GOOGLE_CLOUD_PROJECT", "p")
        .env("GOOGLE_CLOUD_LOCATION", "global")
        .env("GEMINI_API_KEY", "SECRET")
        .env("OPENAI_API_KEY", "SECRET")
        .run();
    let text = run.assert_code(0).stdout_text();
    let first = "Vertex AI (vertex-ai) is used: GOOGLE_GENAI_USE_VERTEXAI is set.";
    assert_eq!(text.lines().next(), Some(first));
    for part in [
        &*format!("Credentials: the Google credentials in {} (authorized user)", file.display()),
        "(gemini-api-key): ready; GOOGLE_GENAI_USE_VERTEXAI is set, which takes precedence",
        "OpenAI (openai): ready; used with --model openai/NAME",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("SECRET"), "{text}");
    assert!(stage.server.requests().is_empty(), "nothing was requested");
}

#[test]
fn the_status_of_an_enforced_sign_in_is_that_of_a_run() {
    let stage = Stage::new();
    stage.home.settings(&json!({"security": {"auth": {"enforcedType": "vertex-ai"}}}));
    let run = bare(&stage, &["auth", "status"]).env("GEMINI_API_KEY", "k").run();
    let text = run.assert_code(41).stdout_text();
    assert!(text.contains("Problem: The enforced authentication type is 'vertex-ai'"), "{text}");
}

#[test]
fn a_run_uses_vertex_with_google_credentials() {
    let stage = Stage::with([reply().text("Hello.")]);
    let file = credentials(&stage);
    let run = bare(&stage, &["-m", "gemini-2.5-pro", "-p", "go"])
        .env("GOOGLE_APPLICATION_CREDENTIALS", &file)
        .env("GOOGLE_GENAI_USE_VERTEXAI", "true")
        .env("GOOGLE_CLOUD_PROJECT", "p")
        .env("GOOGLE_CLOUD_LOCATION", "europe-west4")
        .env("GOOGLE_VERTEX_BASE_URL", stage.server.url())
        .run();
    assert_eq!(run.assert_code(0).stdout_text(), "Hello.\n");
    let request = stage.server.last_request();
    assert_eq!(request.header("authorization"), Some("Bearer T"));
    let path = "/v1beta1/projects/p/locations/europe-west4/publishers/google/models/";
    assert!(request.path.starts_with(path), "{}", request.path);
}

#[test]
fn missing_credentials_end_the_run_with_their_own_exit_code() {
    let stage = Stage::new();
    for format in ["text", "json"] {
        let run = bare(&stage, &["-m", "gemini-2.5-pro", "-o", format, "-p", "go"])
            .env("GOOGLE_GENAI_USE_VERTEXAI", "true")
            .env("GOOGLE_CLOUD_PROJECT", "p")
            .env("GOOGLE_CLOUD_LOCATION", "global")
            .run();
        run.assert_code(41);
        let text = run.stderr_text() + &run.stdout_text();
        assert!(text.contains("No Google credentials were found"), "{}", run.report());
    }
}

#[test]
fn signing_in_needs_a_client_and_names_the_other_ways() {
    let stage = Stage::new();
    let run = bare(&stage, &["auth", "login"]).run();
    let text = run.assert_code(41).stderr_text();
    for part in ["GEMINI_API_KEY", "gcloud auth application-default login", "OAUTH_CLIENT_ID"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_user_signs_in_through_an_own_client_and_out_again() {
    let stage = Stage::new();
    stage.server.route("/oauth", |_| {
        reply().json(json!({"access_token": "A", "refresh_token": "R", "expires_in": 3599,
            "scope": "s", "token_type": "Bearer", "id_token": "I", "other": "x"}))
    });
    let with_client = |arguments: &[&str]| {
        bare(&stage, arguments)
            .env("POLLUX_GOOGLE_OAUTH_CLIENT_ID", "cid")
            .env("POLLUX_GOOGLE_OAUTH_CLIENT_SECRET", "csecret")
            .env("POLLUX_GOOGLE_OAUTH_TOKEN_URL", format!("{}/oauth", stage.server.url()))
    };
    let mut run = with_client(&["auth", "login"]).env("NO_BROWSER", "1").stdin_held_open().spawn();
    let text = run.stderr_until("and press Enter.");
    let page = text.lines().find(|line| line.starts_with("https://accounts.google.com/")).unwrap();
    let page = Url::parse(page).unwrap();
    let parameter = |name: &str| {
        let found = page.query_pairs().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("{name} in {page}")).1.into_owned()
    };
    assert_eq!(
        (parameter("client_id"), parameter("access_type")),
        ("cid".into(), "offline".into())
    );
    assert_eq!(parameter("code_challenge_method"), "S256");
    let redirect = parameter("redirect_uri");
    assert!(redirect.starts_with("http://127.0.0.1:"), "{redirect}");
    run.write_stdin(format!("{redirect}?code=C&state={}\n", parameter("state")).as_bytes());
    let run = run.wait();
    let path = signed_in(&stage);
    let expected = format!("Signed in to Google. The tokens are in {}.\n", path.display());
    assert_eq!(run.assert_code(0).stdout_text(), expected);
    let form = String::from_utf8(stage.server.last_request().raw.to_vec()).unwrap();
    assert!(form.starts_with("grant_type=authorization_code&code=C&redirect_uri="), "{form}");
    assert!(form.contains("&code_verifier=") && form.contains("&client_secret=csecret"), "{form}");
    let file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let names: Vec<&str> = file.as_object().unwrap().keys().map(String::as_str).collect();
    let all = ["access_token", "refresh_token", "expiry_date", "scope", "token_type", "id_token"];
    assert_eq!(names, all);
    let status = |program: Pollux| {
        let run = program.env("GOOGLE_GENAI_USE_GCA", "true").run();
        run.assert_code(0).stdout_text()
    };
    let text = status(with_client(&["auth", "status"]));
    let stored = format!("the Google sign-in in {}", path.display());
    let client = |name: &str| format!("{stored}, renewed through the OAuth client in {name}");
    assert!(text.contains(&client("POLLUX_GOOGLE_OAUTH_CLIENT_ID")), "{text}");
    let auth = json!({"pollux": {"auth": {"googleClientId": "cid"}}});
    stage.home.project_file(".gemini/settings.json", auth.to_string());
    let text = status(bare(&stage, &["auth", "status"]));
    assert!(text.contains(&stored) && !text.contains("renewed through"), "{text}");
    stage.home.settings(&auth);
    let text = status(bare(&stage, &["auth", "status"]));
    assert!(text.contains(&client("pollux.auth.googleClientId")), "{text}");
    let out = with_client(&["auth", "logout", "--json"]).run().assert_code(0).stdout_text();
    let out: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(out["removed"], true);
    assert!(!path.exists());
    let again = with_client(&["auth", "logout"]).run().assert_code(0).stdout_text();
    assert!(again.starts_with("There is no sign-in to Google"), "{again}");
}
