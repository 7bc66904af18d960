//! Sign-in methods of settings files that are shared with Gemini CLI, and a missing key.

use pollux_testkit::reply;
use serde_json::json;

use super::stage::Stage;

#[test]
fn a_key_works_although_the_settings_select_another_sign_in() {
    for selected in ["oauth-personal", "vertex-ai", "cloud-shell"] {
        let stage = Stage::with([reply().text("Hello.")]);
        stage.home.settings(&json!({"security": {"auth": {"selectedType": selected}}}));
        let run = stage.pollux(&["-p", "go"]).run();
        run.assert_code(0);
        assert_eq!(run.stdout_text(), "Hello.\n");
        let stderr = run.stderr_text();
        let notice = "which Pollux does not support yet. GEMINI_API_KEY is used instead.";
        assert_eq!(stderr.matches(notice).count(), 1, "{}", run.report());
        assert_eq!(stderr.lines().count(), 1, "{}", run.report());
    }
}

#[test]
fn an_enforced_sign_in_is_not_replaced() {
    for enforced in ["oauth-personal", "gemini-api-key"] {
        let stage = Stage::new();
        let auth = json!({"selectedType": "oauth-personal", "enforcedType": enforced});
        stage.home.settings(&json!({"security": {"auth": auth}}));
        let run = stage.pollux(&["-p", "go"]).run();
        run.assert_code(41);
        assert!(run.stderr_text().contains("enforce"), "{}", run.report());
    }
}

#[test]
fn the_remedies_for_a_missing_key_work() {
    let stage = Stage::new();
    let program = || stage.pollux(&["-p", "go"]).env_remove("GEMINI_API_KEY");
    // Without the address of a server, which alone would select a gateway.
    let run = program().env_remove("GOOGLE_GEMINI_BASE_URL").run();
    run.assert_code(41);
    let path = stage.home.gemini().join(".env");
    let remedy = format!("write the line GEMINI_API_KEY=KEY to {}", path.display());
    assert!(run.stderr_text().contains(&remedy), "{}", run.report());

    std::fs::write(path, "GEMINI_API_KEY=KEY\n").unwrap();
    stage.server.stream(reply().text("Hello."));
    let run = program().run();
    run.assert_code(0);
    let key = stage.server.last_request().header("x-goog-api-key").map(str::to_owned);
    assert_eq!(key.as_deref(), Some("KEY"));
}
