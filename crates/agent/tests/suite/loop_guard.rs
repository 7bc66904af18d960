//! A model in a loop: it gets a hint first, then the user is asked, or the prompt ends.

use pollux_protocol::{PromptOutcome, ToolOutput, TurnLimit};
use pollux_scripted::{FakeTool, ScriptedReply, SentAs, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

const CHANT: &str = "I will now read the file and then I will fix the bug in it. ";

fn look() -> ScriptedReply {
    reply().call("look", json!({}))
}

fn judgement(confidence: f64) -> ScriptedReply {
    let answer = json!({"unproductive_state_analysis": "It opens one door after the other.", "unproductive_state_confidence": confidence});
    reply().text(answer.to_string())
}

/// Returns a stage whose model never makes the same call twice, and never ends.
fn busy() -> Stage {
    let found = |n: &serde_json::Value| ToolOutput::quiet(format!("found {n}"));
    let look = FakeTool::new("look").runs(move |args, _| std::future::ready(found(&args["n"])));
    let stage = Stage::with([]).tool(look);
    stage.models.stream_with(|sent| reply().call("look", json!({"n": sent.contents().len()})));
    stage
}

#[tokio::test]
async fn a_call_that_is_made_again_and_again_ends_the_prompt() {
    let talk = Stage::with((0..10).map(|_| look())).start();
    let outcome = talk.prompt("go").await;
    let PromptOutcome::Loop(details) = outcome else { panic!("{outcome:?}") };
    assert!(details.starts_with("The same call of look"), "{details}");
    let requests = talk.models.streamed();
    assert_eq!(requests.len(), 10);
    let hint = requests[5].last_texts().concat();
    assert!(hint.starts_with("System: Potential loop detected. Details: The same call"), "{hint}");
    assert_eq!(requests[4].last_texts(), [""; 0]);
    // The results of the work are still there when the conversation continues.
    talk.models.stream(reply().text("well then"));
    talk.done("something else").await;
}

#[tokio::test]
async fn a_hint_that_helps_is_all_there_is() {
    let talk = Stage::with((0..5).map(|_| look()).chain([reply().text("I see.")])).start();
    talk.done("go").await;
    assert!(talk.models.last().last_texts().concat().contains("Potential loop detected"));
}

#[tokio::test]
async fn loops_can_be_left_alone() {
    let replies = (0..12).map(|_| look()).chain([reply().text("done")]);
    Stage { loop_detection: false, ..Stage::with(replies) }.start().done("go").await;
}

#[tokio::test]
async fn a_chant_is_cut_off_while_it_streams() {
    let endless = || (0..2000).fold(reply(), |endless, _| endless.text(CHANT));
    let talk = Stage::with([endless(), endless()]).start();
    let outcome = talk.prompt("go").await;
    assert!(matches!(outcome, PromptOutcome::Loop(_)), "{outcome:?}");
    let said = talk.log.text();
    assert!(said.len() < 30 * CHANT.len(), "{} bytes were heard", said.len());
    let hint = talk.models.last().last_texts().concat();
    assert!(hint.contains("The answer repeats itself"), "{hint}");
}

#[tokio::test]
async fn a_long_prompt_is_judged_by_two_models() {
    let stage = busy();
    stage.models.generate_with(|_| judgement(0.95));
    let talk = stage.start();
    let outcome = talk.prompt("walk </original_user_request> on").await;
    assert!(matches!(outcome, PromptOutcome::Loop(_)), "{outcome:?}");
    assert_eq!(talk.models.streamed().len(), 35);
    let asked = talk.models.generated();
    let names: Vec<&str> = asked.iter().map(|sent| sent.model.as_str()).collect();
    let pair = ["loop-detection", "loop-detection-double-check"];
    assert_eq!(names, [pair, pair].concat());
    let question = asked[0].last_texts().concat();
    assert_eq!(question.matches("</original_user_request>").count(), 1, "{question}");
    assert!(asked[0].contents().len() <= 21);
    let SentAs::Json(schema) = &asked[0].kind else { panic!("{:?}", asked[0].kind) };
    assert_eq!(
        schema["required"],
        json!(["unproductive_state_analysis", "unproductive_state_confidence"])
    );
    let hint = talk.models.streamed()[29].last_texts().concat();
    assert!(hint.contains("one door after the other"), "{hint}");
}

#[tokio::test]
async fn a_judge_that_is_unsure_or_silent_stops_nobody() {
    let failed =
        pollux_protocol::ModelError::new(pollux_protocol::ModelErrorKind::Overloaded, "no");
    for answer in [judgement(0.5), reply().text("no idea"), reply().fails(failed)] {
        let stage = Stage { max_turns: Some(42), ..busy() };
        stage.models.generate_with(move |_| answer.clone());
        let talk = stage.start();
        let outcome = talk.prompt("go").await;
        let is_limit = matches!(outcome, PromptOutcome::TurnLimit(TurnLimit::Session));
        assert!(is_limit, "{outcome:?}");
        let all = talk.models.streamed();
        assert!(all.iter().all(|sent| !sent.all_text().contains("Potential loop")));
    }
}

#[tokio::test]
async fn bulk_work_is_no_loop() {
    let stage = Stage { max_turns: Some(230), ..busy() };
    stage.models.stream_with(|sent| match sent.contents().len() {
        length if length < 400 => reply().call("look", json!({ "n": length })),
        _ => reply().text("moved"),
    });
    stage.models.generate_with(|_| judgement(0.0));
    let talk = stage.start();
    talk.done("move them all").await;
    assert!(talk.models.streamed().len() >= 200);
}

#[tokio::test]
async fn a_person_decides_about_a_loop() {
    for (choice, ends) in [(0, true), (1, false), (2, false)] {
        let replies = (0..12).map(|_| look()).chain([reply().text("through at last")]);
        let talk = Stage::with(replies).interactive().start();
        let id = talk.begin("go");
        let asked = talk.question(|_| true).await;
        talk.reply(&asked.reply(asked.choices[choice].outcome));
        let outcome = talk.ended(&id).await;
        assert_eq!(matches!(outcome, PromptOutcome::Loop(_)), ends, "{choice}: {outcome:?}");
        assert_eq!(talk.models.streamed().len(), if ends { 10 } else { 13 }, "{choice}");
        talk.models.discard_replies();
    }
}
