//! The quota matrix: for each way in which a service refuses work, the number of attempts, the
//! waits, the models on the wire, and the exit codes.

#![expect(clippy::print_stdout, reason = "the matrix is shown with --nocapture")]

use std::time::{Duration, Instant};

use pollux_testkit::{ModelReply, errors, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{SOON, Stage, terminal_result};

const PRO: &str = "gemini-2.5-pro";
const FLASH: &str = "gemini-2.5-flash";

/// One row of the matrix.
struct Row {
    name: &'static str,
    refusal: fn() -> ModelReply,
    /// Number of requests to the first model.
    attempts: usize,
    /// Number of requests to it while another model can answer.
    attempts_in_chain: usize,
    /// Exit code in text and in JSON.
    codes: (i32, i32),
    /// Waits that the messages announce, in seconds. Empty for those of the program itself.
    waits: &'static [&'static str],
    /// Reason of the warning when another model answers.
    reason: &'static str,
}

const ROWS: [Row; 8] = [
    Row {
        name: "per day",
        refusal: errors::per_day_quota,
        attempts: 1,
        attempts_in_chain: 1,
        codes: (60, 173),
        waits: &[],
        reason: "the daily quota is used up",
    },
    Row {
        name: "RetryInfo",
        refusal: || errors::retry_info("10ms"),
        attempts: 4,
        attempts_in_chain: 3,
        codes: (61, 173),
        waits: &["0"],
        reason: "the quota per minute is used up",
    },
    Row {
        name: "RetryInfo, too long",
        refusal: || errors::retry_info("900s"),
        attempts: 1,
        attempts_in_chain: 1,
        codes: (60, 173),
        waits: &[],
        reason: "the quota is used up",
    },
    Row {
        name: "no details",
        refusal: || errors::plain(429),
        attempts: 4,
        attempts_in_chain: 3,
        codes: (61, 173),
        waits: &[],
        reason: "the quota per minute is used up",
    },
    Row {
        name: "capacity",
        refusal: errors::capacity,
        attempts: 4,
        attempts_in_chain: 3,
        codes: (61, 173),
        waits: &[],
        reason: "the service has no capacity left for this model",
    },
    Row {
        name: "Code Assist",
        refusal: errors::rate_limit_exceeded,
        attempts: 1,
        attempts_in_chain: 1,
        codes: (60, 173),
        waits: &[],
        reason: "the quota is used up",
    },
    Row {
        name: "overloaded",
        refusal: || errors::plain(503),
        attempts: 4,
        attempts_in_chain: 3,
        codes: (61, 247),
        waits: &[],
        reason: "the service is overloaded or has an error",
    },
    Row {
        name: "no such model",
        refusal: || errors::not_found(PRO),
        attempts: 1,
        attempts_in_chain: 1,
        codes: (1, 1),
        waits: &[],
        reason: "the model does not exist",
    },
];

fn stage(mode: &str) -> Stage {
    let stage = Stage::new();
    stage.home.settings(&json!({
        "general": {"maxAttempts": 4},
        "pollux": {"fallback": {"mode": mode}},
    }));
    stage
}

/// Returns the models of the requests, in order.
fn on_the_wire(stage: &Stage) -> Vec<String> {
    let model = |path: &str| {
        let (_, rest) = path.split_once("/models/").unwrap();
        rest.split_once(':').unwrap().0.to_owned()
    };
    stage.server.requests().iter().map(|request| model(&request.path)).collect()
}

fn prompt(stage: &Stage, format: &str) -> pollux_testkit::Finished {
    stage
        .program()
        .args(["-m", PRO, "-o", format, "-p", "go"])
        .env("POLLUX_RETRY_BASE_MS", "1")
        .run()
}

#[test]
fn the_quota_matrix() {
    println!(
        "{:20} {:8} {:>8}  {:>9}  models on the wire",
        "refusal", "fallback", "attempts", "exit codes"
    );
    for row in &ROWS {
        for mode in ["never", "ask"] {
            let mut exits = Vec::new();
            for format in ["text", "json"] {
                let stage = stage(mode);
                for _ in 0..row.attempts {
                    stage.server.stream((row.refusal)());
                }
                let run = prompt(&stage, format);
                assert_eq!(on_the_wire(&stage), vec![PRO; row.attempts], "{}", row.name);
                let announced = run.stderr_text().matches(" in ").count();
                assert!(announced + 1 >= row.attempts, "{}: {}", row.name, run.report());
                for wait in row.waits {
                    let wait = format!(" in {wait} s.");
                    assert!(run.stderr_text().contains(&wait), "{}", run.report());
                }
                exits.push(run.code.unwrap());
            }
            assert_eq!(exits, [row.codes.0, row.codes.1], "{} {mode}", row.name);
            print_row(row, mode, row.attempts, &exits, &vec![PRO.to_owned(); row.attempts]);
        }
        let stage = stage("chain");
        for _ in 0..row.attempts_in_chain {
            stage.server.stream((row.refusal)());
        }
        stage.server.stream(reply().text("from another"));
        let run = prompt(&stage, "json");
        run.assert_code(0);
        let wire = on_the_wire(&stage);
        let mut expected = vec![PRO; row.attempts_in_chain];
        expected.push(FLASH);
        assert_eq!(wire, expected, "{}", row.name);
        let warning = format!("{PRO} is not available: {}. Continuing with {FLASH}.", row.reason);
        assert!(run.stderr_text().contains(&warning), "{}\n{}", row.name, run.report());
        let models = &run.json()["stats"]["models"];
        assert_eq!(models[FLASH]["api"]["totalErrors"], 0, "{}", run.report());
        assert_eq!(models[PRO]["api"]["totalErrors"], row.attempts_in_chain, "{}", run.report());
        print_row(row, "chain", wire.len(), &[0], &wire);
    }
}

fn print_row(row: &Row, mode: &str, attempts: usize, exits: &[i32], wire: &[String]) {
    let exits: Vec<String> = exits.iter().map(i32::to_string).collect();
    let mut models: Vec<&str> = wire.iter().map(String::as_str).collect();
    models.dedup();
    println!(
        "{:20} {mode:8} {attempts:>8}  {:>9}  {}",
        row.name,
        exits.join("/"),
        models.join(", ")
    );
}

#[test]
fn a_chain_may_lead_to_another_vendor_and_back_to_none() {
    let stage = Stage::new();
    stage.home.settings(&json!({
        "general": {"maxAttempts": 1},
        "pollux": {"fallback": {"mode": "chain", "chain": ["openai/gpt-5", "mistral/x", FLASH]}},
    }));
    stage.server.stream(errors::per_day_quota());
    stage.server.route("/v1/chat/completions", |_| {
        reply().status(429, json!({"error": {"message": "No.", "code": "insufficient_quota"}}))
    });
    stage.server.stream(errors::per_day_quota());
    let program = stage.program().env("OPENAI_API_KEY", "k");
    let program = program.env("OPENAI_BASE_URL", format!("{}/v1", stage.server.url()));
    let run = program.args(["-m", PRO, "-o", "stream-json", "-p", "go"]).run();
    stage.server.take_failures();
    run.assert_code(173);
    assert_eq!(terminal_result(&run)["error"]["type"], "TerminalQuotaError");
    let paths: Vec<String> = stage.server.requests().into_iter().map(|one| one.path).collect();
    assert_eq!(paths.len(), 3, "{paths:?}");
    assert!(paths[1].ends_with("/chat/completions"), "mistral has no key: {paths:?}");
    assert!(paths[2].contains(FLASH), "{paths:?}");
}

#[test]
fn a_wait_that_is_too_long_is_not_begun() {
    let stage = Stage::with([errors::retry_info("20s")]);
    stage.home.settings(&json!({"pollux": {"retry": {"maxWait": 10}}}));
    let began = Instant::now();
    let run = stage.prompt("json", "go");
    run.assert_code(173);
    assert!(began.elapsed() < SOON.min(Duration::from_secs(15)), "{}", run.report());
    assert_eq!(stage.server.requests().len(), 1);
}

#[test]
fn plan_mode_uses_the_strongest_model_and_a_classifier_is_asked_only_if_wanted() {
    let classified = |score: u64| {
        reply().text(json!({"complexity_reasoning": "r", "complexity_score": score}).to_string())
    };
    for (on, score, expected) in [
        (false, 0, vec!["gemini-3.1-pro-preview"]),
        (true, 10, vec!["gemini-3.5-flash-lite", "gemini-3.8-flash"]),
        (true, 95, vec!["gemini-3.5-flash-lite", "gemini-3.1-pro-preview"]),
    ] {
        let stage = Stage::with([reply().text("ok")]);
        if on {
            stage.server.generate(classified(score));
        }
        stage.home.settings(&json!({"pollux": {"routing": {"classifier": on}}}));
        let run = stage.program().args(["-m", "auto", "-o", "json", "-p", "go"]).run();
        run.assert_code(0);
        assert_eq!(on_the_wire(&stage), expected, "{score}");
        let roles = &run.json()["stats"]["models"]["gemini-3.5-flash-lite"]["roles"];
        assert_eq!(roles["utility_router"]["totalRequests"] == 1, on, "{roles}");
    }
    let stage = Stage::with([reply().text("ok")]);
    stage.home.settings(&json!({"pollux": {"routing": {"classifier": true}}}));
    let run = stage.program().args(["-m", "auto", "--approval-mode", "plan", "-p", "go"]).run();
    run.assert_code(0);
    assert_eq!(on_the_wire(&stage), ["gemini-3.1-pro-preview"]);
}
