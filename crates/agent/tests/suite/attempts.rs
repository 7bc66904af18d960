//! Answers that break off, are empty, or are refused: they are requested again or reported.

use std::time::Duration;

use pollux_agent::Spending;
use pollux_protocol::{
    Ceilings, Event, FinishReason, InvalidStream, Limit, Measurement, ModelError, ModelErrorKind,
    PromptOutcome, Resource, RetryNotice,
};
use pollux_scripted::{ScriptedReply, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, Talk};

fn broken() -> ModelError {
    ModelError { retryable: true, ..ModelError::new(ModelErrorKind::Broken, "cut") }
}

fn half() -> ScriptedReply {
    reply().text("half ").text("an").breaks(broken())
}

/// Returns the measurements of requests and their attempts, in order.
fn measured(talk: &Talk) -> Vec<String> {
    talk.log.measured(|measurement| match measurement {
        Measurement::ApiRequest(_) => Some("request".to_owned()),
        Measurement::ApiResponse(_) => Some("response".to_owned()),
        Measurement::ApiError(error) => Some(format!("error {}", error.error_type)),
        Measurement::NetworkRetry { attempt, .. } => Some(format!("network retry {attempt}")),
        Measurement::ContentRetry(_) => Some("content retry".to_owned()),
        Measurement::ContentRetryFailure(_) => Some("given up".to_owned()),
        Measurement::InvalidStream { reason, .. } => Some(format!("invalid {reason:?}")),
        _ => None,
    })
}

fn restarts(talk: &Talk) -> usize {
    talk.log.all(|event| matches!(event, Event::StreamRestarted).then_some(())).len()
}

fn unusable(outcome: &PromptOutcome) -> InvalidStream {
    let PromptOutcome::InvalidStream(error) = outcome else { panic!("{outcome:?}") };
    let ModelErrorKind::Unusable(reason) = error.kind else { panic!("{error:?}") };
    reason
}

#[tokio::test(start_paused = true)]
async fn after_a_fault_the_same_request_is_made_again() {
    let malformed = reply().finish(FinishReason::MalformedFunctionCall);
    let faults = [
        half(),
        reply().breaks(broken()),
        reply().text("half ").no_finish(),
        reply(),
        reply().thought("**T** hm"),
        malformed,
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        let talk = Stage::with([fault, reply().text("whole")]).start();
        talk.done("go").await;
        let sent = talk.models.streamed();
        assert_eq!(sent.len(), 2, "{number}");
        assert_eq!(sent[0].contents(), sent[1].contents(), "{number}");
        assert_eq!((sent[0].request.is_retry, sent[1].request.is_retry), (false, true));
        assert_eq!(restarts(&talk), 1, "the text so far is void: {number}");
        let history = talk.journal.history();
        assert_eq!(history.entries().last().unwrap().content().text(), "whole", "{number}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_asked_for_four_times_with_advice() {
    let talk = Stage::with((0..4).map(|_| reply())).start();
    let began = tokio::time::Instant::now();
    let outcome = talk.prompt("go").await;
    assert_eq!(unusable(&outcome), InvalidStream::NoResponseText);
    assert_eq!(began.elapsed(), Duration::from_secs(1 + 2 + 4), "the waits double");
    let requests = talk.models.streamed();
    assert_eq!(requests.len(), 4);
    let system = |number: usize| requests[number].system();
    assert!(system(1).len() > system(0).len() && system(1) == system(2));
    assert_eq!(talk.models.all_sent().len(), 4, "no other call");
}

#[tokio::test(start_paused = true)]
async fn the_reason_of_an_unusable_answer_is_reported() {
    let other = || FinishReason::Other("OTHER".to_owned());
    for (answer, reason) in [
        (reply().finish(FinishReason::MaxTokens), InvalidStream::MaxTokensExceeded),
        (reply().finish(FinishReason::Safety), InvalidStream::SafetyBlocked),
        (reply().finish(FinishReason::Recitation), InvalidStream::RecitationBlocked),
        (reply().finish(other()), InvalidStream::OtherBlocked),
        (reply().thought("**T** hm"), InvalidStream::ThinkingOnlyResponse),
    ] {
        let talk = Stage::with((0..4).map(|_| answer.clone())).start();
        assert_eq!(unusable(&talk.prompt("go").await), reason);
        let last = measured(&talk).pop().unwrap();
        assert_eq!(last, format!("invalid {reason:?}"));
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_short_is_an_answer() {
    for reason in [FinishReason::MaxTokens, FinishReason::Safety, FinishReason::Stop] {
        let talk = Stage::with([reply().text("some words").finish(reason)]).start();
        talk.done("go").await;
        assert_eq!((talk.log.text().as_str(), restarts(&talk)), ("some words", 0));
    }
}

#[tokio::test]
async fn a_refusal_that_waiting_cannot_mend_ends_the_prompt_at_once() {
    for kind in [ModelErrorKind::Invalid, ModelErrorKind::NotFound, ModelErrorKind::Overloaded] {
        let refused = ModelError::new(kind, "No.");
        let talk = Stage::with([reply().fails(refused)]).start();
        let outcome = talk.prompt("first").await;
        let PromptOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
        assert_eq!((error.kind, error.message.as_str()), (kind, "No."));
        assert_eq!(measured(&talk).len(), 2, "a request and its error: {:?}", measured(&talk));
        // A failed prompt stays in the conversation.
        talk.models.stream(reply().text("ok"));
        let talk = talk.resume().await;
        talk.done("second").await;
        assert_eq!(talk.models.last().user_texts()[1..], ["first", "second"]);
    }
}

#[tokio::test(start_paused = true)]
async fn each_attempt_at_a_connection_is_a_request() {
    let notice = RetryNotice {
        attempt: 1,
        max_attempts: 2,
        delay: Duration::from_secs(1),
        reason: "503 later".to_owned(),
        error_type: "ApiError".to_owned(),
    };
    let talk = Stage::with([reply().retried(notice).text("hi")]).start();
    talk.done("go").await;
    assert_eq!(measured(&talk), ["request", "error ApiError", "request", "response"]);
}

#[tokio::test(start_paused = true)]
async fn a_broken_answer_is_measured_as_an_error_of_the_network() {
    let talk = Stage::with([half(), reply().text("hi")]).start();
    talk.done("go").await;
    assert_eq!(
        measured(&talk),
        ["request", "error Error", "network retry 1", "request", "response"]
    );
    let invalid = talk.log.measured(|measurement| match measurement {
        Measurement::InvalidChunk { message } => Some(message.clone()),
        _ => None,
    });
    assert_eq!(invalid, ["cut"]);
    let talk = Stage::with([half(), half(), half(), half()]).start();
    talk.prompt("go").await;
    assert_eq!(measured(&talk).last().unwrap(), "given up");
    let attempts = talk.log.measured(|measurement| match measurement {
        Measurement::ContentRetryFailure(failure) => Some(failure.attempt),
        _ => None,
    });
    assert_eq!(attempts, [4]);
}

#[tokio::test(start_paused = true)]
async fn an_unusable_answer_is_measured_as_an_error_of_the_content() {
    let talk = Stage::with([reply().text("hi").no_finish(), reply().text("hi")]).start();
    talk.done("go").await;
    assert_eq!(measured(&talk), ["request", "response", "content retry", "request", "response"]);
}

#[tokio::test]
async fn an_answer_is_measured_with_the_model_that_gave_it() {
    let talk = Stage::with([reply().text("hi").answered_by("another-model")]).start();
    talk.done("go").await;
    let models = talk.log.measured(|measurement| match measurement {
        Measurement::ApiRequest(request) => Some(request.model.clone()),
        Measurement::ApiResponse(response) => Some(response.model.clone()),
        _ => None,
    });
    assert_eq!(models, ["main", "another-model"]);
}

#[tokio::test(start_paused = true)]
async fn attempts_at_an_answer_are_requests_of_the_budget() {
    let mut prompt = Ceilings::default();
    prompt.set(Resource::Turns, Limit { amount: 2, by_flag: true });
    let spending = Spending { prompt, ..Spending::default() };
    for answer in [reply(), half()] {
        let stage = Stage::with([answer.clone(), answer]);
        let talk = Stage { spending: spending.clone(), ..stage }.start();
        let outcome = talk.prompt("go").await;
        assert!(matches!(outcome, PromptOutcome::Budget(_)), "{outcome:?}");
        assert_eq!(talk.models.streamed().len(), 2);
        // The next prompt has its own budget.
        talk.models.stream(reply().text("Hello again."));
        talk.done("and now?").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_conversation_goes_on_after_every_bad_end() {
    let look = || reply().call("look", json!({}));
    let refused = || reply().fails(ModelError::new(ModelErrorKind::Invalid, "No."));
    let cut = || reply().text("half").breaks(ModelError::new(ModelErrorKind::Broken, "cut"));
    let endings = [
        ("nothing said", vec![reply(), reply(), reply(), reply()]),
        ("nothing said after a call", vec![look(), reply()]),
        ("refused", vec![refused()]),
        ("refused after a call", vec![look(), refused()]),
        ("the limit of turns", vec![look(), look()]),
        ("broken off", vec![cut()]),
        ("broken off in a call", vec![cut().call("look", json!({}))]),
    ];
    for (name, replies) in endings {
        let talk = Stage { max_turns: Some(2), ..Stage::with(replies) }.start();
        talk.prompt("one").await;
        talk.models.assert_done();
        talk.models.stream(reply().text("well then"));
        let talk = talk.resume().await;
        talk.done("two").await;
        let last = talk.models.last();
        let said = last.user_texts();
        assert!(said.contains(&"one") && said.contains(&"two"), "{name}: {said:?}");
        talk.assert_replays();
    }
}
