//! Budgets of a run: it ends at each limit with exit code 57, before a request or a call that would
//! exceed the limit.

use std::fs;

use pollux_testkit::{Endpoint, Finished, ModelReply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::line::Talk;
use super::stage::{FORMATS, Stage, terminal_result};

/// Makes the model call a tool in every answer, and report this number of tokens each time.
fn busy(stage: &Stage, prompt: u64, candidates: u64) {
    let next = std::sync::atomic::AtomicU64::new(0);
    stage.server.answer_with(Endpoint::StreamGenerateContent, move |_| {
        let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        reply().call("glob", json!({"pattern": format!("*.{number}")})).usage(prompt, candidates)
    });
}

/// Returns the `error.budget` of a run that a limit has ended.
fn stopped_by(run: &Finished) -> Value {
    run.assert_code(57);
    let output = run.json();
    assert_eq!(output["error"]["type"], "FatalBudgetExceededError", "{}", run.report());
    assert_eq!(output["error"]["code"], 57);
    output["error"]["budget"].clone()
}

fn ledger(stage: &Stage) -> Value {
    let text = fs::read_to_string(stage.home.gemini().join("pollux/spending.json")).unwrap();
    let ledger: Value = serde_json::from_str(&text).unwrap();
    ledger["days"].as_object().unwrap().values().next_back().unwrap().clone()
}

#[test]
fn each_limit_ends_the_prompt_before_the_request_that_would_pass_it() {
    for (flag, limit, resource, requests, spent) in [
        ("--max-turns", "3", "turns", 3, json!(3.0)),
        ("--max-tool-calls", "2", "toolCalls", 3, json!(2.0)),
        ("--max-tokens", "202500", "tokens", 2, json!(202_000.0)),
        // 100,000 tokens in and 1,000 out cost 0.135.
        ("--max-cost", "0.271", "usd", 2, json!(0.27)),
    ] {
        let stage = Stage::new();
        busy(&stage, 100_000, 1000);
        let run = stage.pollux(&["-o", "json", flag, limit, "-p", "go"]).run();
        let number: f64 = limit.parse().unwrap();
        assert_eq!(
            stopped_by(&run),
            json!({"period": "prompt", "resource": resource, "limit": number, "spent": spent, "source": flag})
        );
        assert_eq!(stage.requests().len(), requests, "{flag}");
        let output = run.json();
        let made = output["stats"]["models"]["gemini-2.5-pro"]["api"]["totalRequests"].as_u64();
        assert_eq!(made, Some(requests as u64));
        assert!(run.stderr_text().contains(&format!("({flag})")), "{}", run.report());
        assert!(run.stderr_text().contains(&format!("Raise {flag}")), "{}", run.report());
        // The work is available after a resume, and the log contains the reason for the end.
        let log = fs::read_to_string(stage.session_file()).unwrap();
        assert!(log.contains("\"content\":\"The prompt's budget of "), "{log}");
        stage.server.answer_with(Endpoint::StreamGenerateContent, |_| reply().text("well then"));
        stage.pollux(&["--resume", "latest", "-p", "go on"]).run().assert_code(0);
    }
}

#[test]
fn every_format_says_which_limit_it_was() {
    for format in FORMATS {
        let stage = Stage::new();
        busy(&stage, 10, 5);
        let run = stage.pollux(&["-o", format, "--max-turns", "1", "-p", "go"]).run();
        run.assert_code(57);
        assert_eq!(stage.requests().len(), 1);
        assert!(run.stderr_text().contains("budget of 1 turn (--max-turns)"), "{}", run.report());
        if format == "stream-json" {
            let result = terminal_result(&run);
            assert_eq!(result["status"], "error");
            assert_eq!(result["error"]["budget"]["resource"], "turns");
            assert_eq!(result["stats"]["total_tokens"], 15);
        }
    }
}

#[test]
fn when_the_time_is_up_whatever_runs_is_stopped() {
    let command = json!({"command": "echo begun > begun; exec sleep 300"});
    let stage = Stage::with([reply().call("run_shell_command", command)]);
    // A limit in seconds takes seconds; the command would outlast the limit of the test.
    let run = stage.pollux(&["-o", "json", "--yolo", "--timeout", "3", "-p", "go"]).run();
    assert_eq!(stopped_by(&run)["resource"], "seconds");
    assert!(stage.home.project().join("begun").exists(), "{}", run.report());
    assert!(run.stderr_text().contains("budget of 3 s (--timeout) is used up"), "{}", run.report());
    stage.server.stream(reply().text("done"));
    stage.pollux(&["--resume", "latest", "-p", "go on"]).run().assert_code(0);

    let stage = Stage::with([reply().text("so").stall_after(1)]);
    let run = stage.pollux(&["-o", "json", "--timeout", "1.5", "-p", "go"]).run();
    assert_eq!(stopped_by(&run)["limit"], 1.5);
    assert_eq!(stage.requests().len(), 1);
}

fn searches(count: usize) -> ModelReply {
    (0..count).fold(reply().usage(1000, 10), |reply, number| {
        reply.call("google_web_search", json!({"query": format!("question {number}")}))
    })
}

#[test]
fn the_cost_is_that_of_all_requests_and_of_the_cache() {
    let usage = json!({"promptTokenCount": 10_000, "candidatesTokenCount": 100, "thoughtsTokenCount": 900, "cachedContentTokenCount": 8000, "totalTokenCount": 11_000});
    let stage = Stage::with([searches(1), reply().text("There.").usage_metadata(usage)]);
    stage.home.user_file(
        "pollux/prices.json",
        json!({"models": {"gemini-3*": {"input": 2, "output": 10}}}).to_string(),
    );
    stage.server.generate(reply().text("found").usage(500_000, 0));
    let run = stage.pollux(&["-o", "json", "--yolo", "-p", "go"]).run();
    run.assert_code(0);
    let stats = run.json()["stats"].clone();
    // 1,000 in and 10 out; then 2,000 uncached, 8,000 cached, and 1,000 out including thoughts.
    let pro = (1000.0 * 1.25 + 10.0 * 10.0 + 2000.0 * 1.25 + 8000.0 * 0.125 + 1000.0 * 10.0) / 1e6;
    let close = |value: &Value, usd: f64| {
        assert!((value.as_f64().unwrap() - usd).abs() < 1e-12, "{value} is not {usd}");
    };
    close(&stats["models"]["gemini-2.5-pro"]["cost"], pro);
    close(&stats["cost"], pro + 1.0);
    assert_eq!(stats["models"]["gemini-2.5-pro"]["tokens"]["cached"], 8000);
    let day = ledger(&stage);
    close(&day["usd"], pro + 1.0);
    assert_eq!(day["tokens"], 1010 + 500_000 + 11_000);
    assert_eq!((&day["turns"], &day["toolCalls"]), (&json!(3), &json!(1)));
}

#[test]
fn a_price_that_nobody_knows_is_unknown_and_never_zero() {
    let stage = Stage::with([reply().text("hi")]);
    let run = stage.program().args(["-m", "gemini-99-ultra", "-o", "json", "-p", "go"]).run();
    run.assert_code(0);
    assert_eq!(run.json()["stats"]["models"]["gemini-99-ultra"]["cost"], Value::Null);
    assert_eq!(run.json()["stats"]["cost"], Value::Null);

    let arguments = ["-m", "gemini-99-ultra", "-o", "json", "--max-cost", "5", "-p", "go"];
    let run = stage.program().args(arguments).run();
    run.assert_code(52);
    assert_eq!(stage.requests().len(), 1, "nothing was sent");
    assert!(run.stderr_text().contains("gemini-99-ultra"), "{}", run.report());
    assert!(run.stderr_text().contains("prices.json"), "{}", run.report());

    let prices = json!({"as_of": "2030-01-01", "models": {"gemini-99-ultra": {"input": 1_000_000, "output": 0}}});
    stage.home.user_file("pollux/prices.json", prices.to_string());
    let run = stage.program().args(arguments).run();
    assert_eq!(stopped_by(&run)["spent"], 0.0, "the estimate alone is too dear");
    assert_eq!(stage.requests().len(), 1);
}

#[test]
fn broken_prices_are_named_and_end_a_run_with_a_limit_in_dollars() {
    let stage = Stage::with([reply().text("hi")]);
    stage.home.user_file("pollux/prices.json", "{\"models\": {\n  \"a\": {\"input\": -1}}}");
    let run = stage.pollux(&["-p", "go"]).run();
    run.assert_code(0);
    assert!(run.stderr_text().contains("line 2 column"), "{}", run.report());
    let run = stage.pollux(&["--max-cost", "1", "-p", "go"]).run();
    run.assert_code(52);
    assert!(run.stderr_text().contains("prices.json"), "{}", run.report());
    assert_eq!(stage.requests().len(), 1);
}

#[test]
fn a_ledger_that_cannot_be_understood_is_set_aside_and_reported() {
    let stage = Stage::with([reply().text("hi")]);
    stage.home.settings(&json!({"pollux": {"budget": {"day": {"turns": 3}}}}));
    stage.home.user_file("pollux/spending.json", "{\"days\": 7}");
    let run = stage.pollux(&["-p", "go"]).run();
    run.assert_code(0);
    assert!(run.stderr_text().contains("It was renamed to"), "{}", run.report());
    let aside = stage.home.gemini().join("pollux/spending.json.broken");
    assert_eq!(fs::read_to_string(aside).unwrap(), "{\"days\": 7}");
    assert_eq!(ledger(&stage)["turns"], 1);
}

#[test]
fn a_session_counts_what_it_did_before_it_was_resumed() {
    let stage = Stage::with([reply().text("one"), reply().text("two")]);
    stage.home.settings(&json!({"pollux": {"budget": {"session": {"turns": 2}}}}));
    stage.pollux(&["-p", "go"]).run().assert_code(0);
    stage.pollux(&["--resume", "latest", "-p", "go on"]).run().assert_code(0);
    let run = stage.pollux(&["-o", "json", "--resume", "latest", "-p", "go on"]).run();
    assert_eq!(stopped_by(&run)["source"], "pollux.budget.session.turns");
    assert_eq!(stage.requests().len(), 2);
}

#[test]
fn a_flag_beats_the_setting_and_neither_may_be_nonsense() {
    let stage = Stage::new();
    busy(&stage, 10, 5);
    stage.home.settings(&json!({"pollux": {"budget": {"prompt": {"turns": 9}}}}));
    let run = stage.pollux(&["-o", "json", "--max-turns=2", "-p", "go"]).run();
    assert_eq!(stopped_by(&run)["limit"], 2.0);
    for (flag, value) in [
        ("--max-turns", "0"),
        ("--max-turns", "1.5"),
        ("--max-tool-calls", "-3"),
        ("--max-tokens", "many"),
        ("--max-cost", "NaN"),
        ("--max-cost", "inf"),
        ("--timeout", "0"),
        ("--timeout", ""),
    ] {
        let run = stage.pollux(&[flag, value, "-p", "go"]).run();
        run.assert_code(1);
        assert!(run.stderr_text().contains("above zero"), "{flag} {value}\n{}", run.report());
    }
    for value in [json!(0), json!(-1), json!("soon"), json!(2.5)] {
        stage.home.settings(&json!({"pollux": {"budget": {"day": {"turns": value}}}}));
        let run = stage.pollux(&["-p", "go"]).run();
        run.assert_code(52);
        assert!(run.stderr_text().contains("pollux.budget.day.turns"), "{}", run.report());
    }
}

#[test]
fn a_conversation_goes_on_after_a_prompt_that_a_limit_ended() {
    let look = || reply().call("list_directory", json!({"dir_path": "."}));
    let stage = Stage::with([look(), reply().text("Hello again.")]);
    stage.home.settings(&json!({"pollux": {"budget": {"prompt": {"turns": 1}}}}));
    let talk = Talk::start(stage, |program| program);
    talk.type_line("go");
    talk.wait_for_text("The prompt's budget of 1 turn (pollux.budget.prompt.turns) is used up");
    talk.wait_for_prompt();
    talk.type_line("and now?");
    talk.wait_for_text("Hello again.");
    talk.wait_for_prompt();
    talk.type_line("/stats");
    talk.wait_for_text("$0.000125");
    talk.wait_for_prompt();
    talk.end();
}

/// Returns the limit of the answer in the last request.
fn output_limit(stage: &Stage) -> u64 {
    stage.server.last_request().body["generationConfig"]["maxOutputTokens"].as_u64().unwrap()
}

#[test]
fn an_answer_that_ends_at_the_limit_ends_the_run() {
    for (flag, limit, most) in [("--max-tokens", "60000", 60_000), ("--max-cost", "0.10", 10_000)] {
        let stage = Stage::new();
        stage.server.answer_with(Endpoint::StreamGenerateContent, |request| {
            let limit = request.body["generationConfig"]["maxOutputTokens"].as_u64().unwrap();
            reply().text("so far").finish("MAX_TOKENS").usage(5000, limit)
        });
        let run = stage.pollux(&["-o", "json", flag, limit, "-p", "go"]).run();
        stopped_by(&run);
        assert_eq!(stage.requests().len(), 1, "{}", run.report());
        assert!((256..most).contains(&output_limit(&stage)), "{flag}: {}", output_limit(&stage));
        assert!(fs::read_to_string(stage.session_file()).unwrap().contains("so far"));
    }
    // A limit of the user that is lower stays, and has nothing to do with the budget.
    let stage = Stage::with([reply().text("short").finish("MAX_TOKENS").usage(5000, 9)]);
    let own = json!({"modelConfigs": {"customOverrides": [
        {"match": {"model": "gemini-2.5-pro"}, "modelConfig": {"generateContentConfig": {"maxOutputTokens": 9}}}]}});
    stage.home.settings(&own);
    let run = stage.pollux(&["-o", "json", "--max-tokens", "60000", "-p", "go"]).run();
    run.assert_code(0);
    assert_eq!(output_limit(&stage), 9);
}

#[test]
fn a_request_without_room_for_an_answer_is_not_sent() {
    for (flag, limit) in [("--max-tokens", "200"), ("--max-cost", "0.0001")] {
        let stage = Stage::new();
        let run = stage.pollux(&["-o", "json", flag, limit, "-p", "go"]).run();
        assert_eq!(stopped_by(&run)["spent"], 0.0, "{}", run.report());
        assert_eq!(stage.requests().len(), 0, "{}", run.report());
    }
}
