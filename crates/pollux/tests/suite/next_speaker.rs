//! Next-speaker check: a model decides whether an answer is complete, and otherwise the work
//! continues.

use pollux_testkit::{CapturedRequest, Endpoint, ModelReply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, texts};

fn verdict(speaker: &str) -> ModelReply {
    let answer = json!({"reasoning": "It says so.", "next_speaker": speaker});
    reply().text(answer.to_string())
}

/// Returns the text of the last content of a request.
fn words(request: &CapturedRequest) -> String {
    let contents = request.body["contents"].as_array().unwrap();
    texts(contents.last().unwrap()).concat()
}

fn asking(replies: impl IntoIterator<Item = ModelReply>) -> Stage {
    let stage = Stage::with(replies);
    stage.home.settings(&json!({"model": {"skipNextSpeakerCheck": false}}));
    stage
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
    let reported = stage.home.read_project_file("telemetry.log");
    assert_eq!(reported.matches("gemini_cli.next_speaker_check").count(), 2, "{reported}");
    assert!(
        reported.contains("\"finish_reason\": \"STOP\"")
            && reported.contains("\"result\": \"user\"")
    );
    assert!(reported.contains("utility_next_speaker"));
}
