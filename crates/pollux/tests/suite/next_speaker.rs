//! An answer that is none yet: a model may be asked whose turn it is, and the work goes on by itself.

use pollux_testkit::{CapturedRequest, Endpoint, Reply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, texts};

fn verdict(speaker: &str) -> Reply {
    let answer = json!({"reasoning": "It says so.", "next_speaker": speaker});
    reply().text(answer.to_string())
}

/// What the last content of a request says in words.
fn words(request: &CapturedRequest) -> String {
    let contents = request.body["contents"].as_array().unwrap();
    texts(contents.last().unwrap()).concat()
}

fn asking(replies: impl IntoIterator<Item = Reply>) -> Stage {
    let stage = Stage::with(replies);
    stage.home.settings(&json!({"model": {"skipNextSpeakerCheck": false}}));
    stage
}

#[test]
fn nobody_is_asked_unless_somebody_wants_it() {
    let stage = Stage::with([reply().text("Now I'll run the tests.")]);
    stage.prompt("text", "go").assert_code(0);
    assert_eq!(stage.server.requests().len(), 1);
}

#[test]
fn a_model_that_paused_goes_on() {
    let stage = asking([
        reply().call("list_directory", json!({"dir_path": "."})),
        reply().text("I will now read the file."),
        reply().text("It is empty."),
    ]);
    stage.server.generate(verdict("model"));
    stage.server.generate(verdict("user"));
    let run = stage
        .pollux(&["-o", "text", "-p", "go"])
        .env("GEMINI_TELEMETRY_ENABLED", "true")
        .env("GEMINI_TELEMETRY_OUTFILE", stage.home.project().join("telemetry.log"))
        .run();
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "I will now read the file.It is empty.\n");
    let requests = stage.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(words(&requests[2]), "Please continue.");
    let asked = stage.server.requests_to(Endpoint::GenerateContent);
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].model(), Some("gemini-3-flash-preview"));
    let schema = &asked[0].body["generationConfig"]["responseJsonSchema"];
    assert_eq!(schema["required"], json!(["reasoning", "next_speaker"]));
    assert_eq!(schema["properties"]["next_speaker"]["enum"], json!(["user", "model"]));
    let contents = asked[0].body["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 5, "the whole conversation, and the question");
    assert_eq!(asked[0].body["tools"], Value::Null);
    let told = stage.home.read_project_file("telemetry.log");
    assert_eq!(told.matches("gemini_cli.next_speaker_check").count(), 2, "{told}");
    assert!(told.contains("\"finish_reason\": \"STOP\"") && told.contains("\"result\": \"user\""));
    assert!(told.contains("utility_next_speaker"));
}

#[test]
fn an_answer_to_results_that_says_nothing_is_followed_up_without_a_judge() {
    let stage = asking([
        reply().call("list_directory", json!({"dir_path": "."})),
        reply().text(""),
        reply().text("There is nothing."),
    ]);
    stage.server.generate(verdict("user"));
    stage.prompt("text", "go").assert_code(0);
    assert_eq!(stage.requests().len(), 3);
    assert_eq!(stage.server.requests_to(Endpoint::GenerateContent).len(), 1);
}

#[test]
fn a_judge_that_fails_ends_the_prompt_as_if_there_were_none() {
    for answer in [reply().text("I cannot say."), reply().status(400, json!({}))] {
        let stage = asking([reply().text("Well.")]);
        let answer = std::sync::Mutex::new(answer);
        stage
            .server
            .answer_with(Endpoint::GenerateContent, move |_| answer.lock().unwrap().clone());
        let run = stage.pollux(&["-p", "go"]).env("POLLUX_RETRY_BASE_MS", "1").run();
        run.assert_code(0);
        assert_eq!(stage.requests().len(), 1);
    }
}

#[test]
fn a_model_that_never_ends_meets_the_limit_of_turns() {
    let stage = asking([]);
    stage.home.settings(
        &json!({"model": {"skipNextSpeakerCheck": false, "maxSessionTurns": 7, "disableLoopDetection": true}}),
    );
    let next = std::sync::atomic::AtomicU64::new(0);
    stage.server.answer_with(Endpoint::StreamGenerateContent, move |_| {
        let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        reply().text(format!("Step {number} comes next."))
    });
    stage.server.answer_with(Endpoint::GenerateContent, |_| verdict("model"));
    stage.prompt("text", "go").assert_code(53);
    assert_eq!(stage.requests().len(), 7);
}

#[test]
fn the_same_announcement_twice_is_not_waited_for_again() {
    let stage = asking([reply().text("Now I go."), reply().text("Now I go.")]);
    stage.server.answer_with(Endpoint::GenerateContent, |_| verdict("model"));
    stage.prompt("text", "go").assert_code(0);
    assert_eq!(stage.requests().len(), 2);
}

#[test]
fn plain_cases_need_no_judge() {
    for asks in [false, true] {
        let stage = Stage::with([
            reply().text("I found the cause. Now I'll fix it."),
            reply().text("It is half do").finish("MAX_TOKENS"),
            reply().text("Fixed. Shall I commit it?"),
        ]);
        stage.home.settings(
            &json!({"model": {"skipNextSpeakerCheck": !asks}, "pollux": {"continueUnfinished": true}}),
        );
        stage.prompt("text", "go").assert_code(0);
        assert_eq!(stage.server.requests().len(), 3);
    }
    // What is not plain is the judge's, where there is one.
    let stage = asking([reply().text("The capital is Paris.")]);
    stage.home.settings(
        &json!({"model": {"skipNextSpeakerCheck": false}, "pollux": {"continueUnfinished": true}}),
    );
    stage.server.generate(verdict("user"));
    stage.prompt("text", "go").assert_code(0);
    assert_eq!(stage.server.requests().len(), 2);
}
