//! `/compress` at the terminal.

use pollux_testkit::{Endpoint, reply};
use serde_json::{Value, json};

use super::line::Talk;
use super::stage::{Stage, texts};

const SNAPSHOT: &str = "<state_snapshot><overall_goal>Mend it.</overall_goal></state_snapshot>";

fn words(contents: &[Value]) -> Vec<&str> {
    contents.iter().flat_map(texts).collect()
}

#[test]
fn a_conversation_is_compressed_and_brought_back() {
    let stage = Stage::with([
        reply().text("One.").usage(9000, 5),
        reply().text("Two.").usage(9500, 5),
        reply().text("Three.").usage(9900, 5),
        reply().text("Four.").usage(9900, 5),
    ]);
    stage.home.settings(&json!({"hooks": {"PreCompress": [
        {"matcher": "manual", "hooks": [{"type": "command", "command": "echo >> \"$HOME/manual\""}]}
    ]}}));
    stage.server.answer_with(Endpoint::GenerateContent, |_| reply().text(SNAPSHOT));
    let talk = Talk::start(stage, |program| program);
    talk.type_line("/compress");
    talk.wait_for_text("Nothing to compress.");
    talk.wait_for_prompt();
    for (prompt, answer) in [("use tabs", "One."), ("and hurry", "Two.")] {
        talk.type_line(prompt);
        talk.wait_for_text(answer);
        talk.wait_for_prompt();
    }
    talk.type_line("/summarize");
    talk.wait_for_text("Compressing chat history...");
    talk.wait_for_text("Chat history compressed from ");
    talk.wait_for_text("Kept verbatim: prompts (2).");
    talk.wait_for_prompt();
    assert!(talk.stage.home.home().join("manual").exists());
    talk.type_line("more");
    talk.wait_for_text("Three.");
    talk.wait_for_prompt();
    let request = talk.stage.server.last_request();
    let reported = words(request.contents());
    assert!(reported.iter().any(|text| text.contains("Mend it.")), "{reported:?}");
    assert!(!reported.contains(&"One.") && reported.contains(&"more"), "{reported:?}");
    talk.type_line("/compress undo");
    talk.wait_for_text("The whole conversation is restored: 7 messages");
    talk.wait_for_prompt();
    talk.type_line("/compress undo");
    talk.wait_for_text("The conversation is not compressed.");
    talk.wait_for_prompt();
    talk.type_line("and now");
    talk.wait_for_text("Four.");
    talk.wait_for_prompt();
    let request = talk.stage.server.last_request();
    let reported = words(request.contents());
    assert_eq!(
        reported[1..],
        ["use tabs", "One.", "and hurry", "Two.", "more", "Three.", "and now"]
    );
    let (stage, _) = talk.leave();

    // The log contains the restored conversation.
    stage.server.stream(reply().text("Five."));
    stage.pollux(&["--resume", "latest", "-p", "again"]).run().assert_code(0);
    let request = stage.server.last_request();
    let resumed = words(request.contents());
    assert_eq!(resumed[1..4], ["use tabs", "One.", "and hurry"]);
}

#[test]
fn a_summary_that_would_be_longer_is_not_taken() {
    let talk = Talk::with([reply().text("One."), reply().text("Two.")]);
    talk.stage.server.answer_with(Endpoint::GenerateContent, |_| {
        reply().text("<state_snapshot>".to_owned() + &"words ".repeat(50_000))
    });
    talk.type_line("hi");
    talk.wait_for_text("One.");
    talk.wait_for_prompt();
    talk.type_line("/compress");
    talk.wait_for_text("was not beneficial");
    talk.wait_for_prompt();
    talk.type_line("more");
    talk.wait_for_text("Two.");
    let request = talk.stage.server.last_request();
    assert_eq!(words(request.contents())[1..], ["hi", "One.", "more"]);
    talk.end();
}

#[test]
fn a_wrong_word_is_reported() {
    let talk = Talk::with([]);
    talk.type_line("/compress now");
    talk.wait_for_text("Error: Usage: /compress, or /compress undo");
    talk.end();
}
