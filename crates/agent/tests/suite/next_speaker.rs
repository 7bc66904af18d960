//! Answers after which the model continues by itself.

use pollux_agent::NextSpeakerOptions;
use pollux_protocol::{
    FinishReason, Measurement, ModelError, ModelErrorKind, PromptOutcome, Speaker, TurnLimit,
};
use pollux_scripted::{ScriptedReply, SentAs, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

fn verdict(speaker: &str) -> ScriptedReply {
    let answer = json!({"reasoning": "It says so.", "next_speaker": speaker});
    reply().text(answer.to_string())
}

fn asking(replies: impl IntoIterator<Item = ScriptedReply>) -> Stage {
    let next_speaker = NextSpeakerOptions { asks_model: true, plain_cases: false };
    Stage { next_speaker, ..Stage::with(replies) }
}

#[tokio::test]
async fn nobody_is_asked_unless_somebody_wants_it() {
    let talk = Stage::with([reply().text("Now I'll run the tests.")]).start();
    talk.done("go").await;
    assert_eq!(talk.models.all_sent().len(), 1);
}

#[tokio::test]
async fn a_model_that_paused_goes_on() {
    let stage = asking([
        reply().call("look", json!({})),
        reply().text("I will now read the file."),
        reply().text("It is empty."),
    ]);
    stage.models.generate(verdict("model"));
    stage.models.generate(verdict("user"));
    let talk = stage.start();
    talk.done("go").await;
    assert_eq!(talk.log.text(), "I will now read the file.It is empty.");
    assert_eq!(talk.models.last().last_texts(), ["Please continue."]);
    let [asked, _] = &talk.models.generated()[..] else { panic!("not two side calls") };
    assert_eq!(asked.model, "next-speaker-checker");
    let SentAs::Json(schema) = &asked.kind else { panic!("{:?}", asked.kind) };
    assert_eq!(schema["required"], json!(["reasoning", "next_speaker"]));
    assert_eq!(schema["properties"]["next_speaker"]["enum"], json!(["user", "model"]));
    assert_eq!(asked.contents().len(), 6, "the whole conversation, and the question");
    assert!(asked.tools().is_empty());
    let measured = talk.log.measured(|measured| match measured {
        Measurement::NextSpeaker(measure) => Some((measure.finish_reason.clone(), measure.next)),
        _ => None,
    });
    let stop = || Some("STOP".to_owned());
    assert_eq!(measured, [(stop(), Some(Speaker::Model)), (stop(), Some(Speaker::User))]);
}

#[tokio::test]
async fn an_answer_to_results_that_says_nothing_is_followed_up_without_a_judge() {
    let calls = [reply().call("look", json!({})), reply().text(""), reply().text("Nothing.")];
    let stage = asking(calls);
    stage.models.generate(verdict("user"));
    let talk = stage.start();
    talk.done("go").await;
    assert_eq!((talk.models.streamed().len(), talk.models.generated().len()), (3, 1));
}

#[tokio::test]
async fn a_judge_that_fails_ends_the_prompt_as_if_there_were_none() {
    let refused = ModelError::new(ModelErrorKind::Invalid, "no");
    for answer in [reply().text("I cannot say."), reply().fails(refused)] {
        let stage = asking([reply().text("Well.")]);
        stage.models.generate_with(move |_| answer.clone());
        let talk = stage.start();
        talk.done("go").await;
        assert_eq!(talk.models.streamed().len(), 1);
    }
}

#[tokio::test]
async fn a_model_that_never_ends_meets_the_limit_of_turns() {
    let stage = Stage { max_turns: Some(7), loop_detection: false, ..asking([]) };
    stage
        .models
        .stream_with(|sent| reply().text(format!("Step {} comes next.", sent.contents().len())));
    stage.models.generate_with(|_| verdict("model"));
    let talk = stage.start();
    let outcome = talk.prompt("go").await;
    assert!(matches!(outcome, PromptOutcome::TurnLimit(TurnLimit::Session)), "{outcome:?}");
    assert_eq!(talk.models.streamed().len(), 7);
}

#[tokio::test]
async fn the_same_announcement_twice_is_not_waited_for_again() {
    let stage = asking([reply().text("Now I go."), reply().text("Now I go.")]);
    stage.models.generate_with(|_| verdict("model"));
    let talk = stage.start();
    talk.done("go").await;
    assert_eq!(talk.models.streamed().len(), 2);
}

#[tokio::test]
async fn plain_cases_need_no_judge() {
    for asks_model in [false, true] {
        let next_speaker = NextSpeakerOptions { asks_model, plain_cases: true };
        let replies = [
            reply().text("I found the cause. Now I'll fix it."),
            reply().text("It is half do").finish(FinishReason::MaxTokens),
            reply().text("Fixed. Shall I commit it?"),
        ];
        let talk = Stage { next_speaker, ..Stage::with(replies) }.start();
        talk.done("go").await;
        assert_eq!(talk.models.all_sent().len(), 3);
    }
    // In cases that are not clear the judge decides, if there is one.
    let next_speaker = NextSpeakerOptions { asks_model: true, plain_cases: true };
    let stage = Stage { next_speaker, ..Stage::with([reply().text("The capital is Paris.")]) };
    stage.models.generate(verdict("user"));
    let talk = stage.start();
    talk.done("go").await;
    assert_eq!(talk.models.all_sent().len(), 2);
}
