//! Models that are not available, and those that replace them.

use std::sync::Arc;

use pollux_agent::{FallbackMode, FallbackOptions, Spending};
use pollux_protocol::{
    CancellationToken, Ceilings, Event, Limit, Measurement, ModelError, ModelErrorKind,
    ModelRequest, Op, Price, Prices, PromptOutcome, QuestionOutcome, QuestionSubject, Resource,
    ToolOutput, VendorLimit,
};
use pollux_scripted::{FakeTool, ScriptedReply, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, Talk};

fn refused(kind: ModelErrorKind) -> ScriptedReply {
    reply()
        .fails(ModelError { limit: Some(VendorLimit::PerDay), ..ModelError::new(kind, "Used up.") })
}

fn stage(mode: FallbackMode, replies: impl IntoIterator<Item = ScriptedReply>) -> Stage {
    let chain = ["main", "second", "third"].map(str::to_owned).to_vec();
    Stage { fallback: FallbackOptions { mode, chain }, ..Stage::with(replies) }
}

/// Returns the models that were asked, in order.
fn asked(talk: &Talk) -> Vec<String> {
    talk.models.streamed().into_iter().map(|sent| sent.model).collect()
}

fn changes(talk: &Talk) -> Vec<(String, String)> {
    talk.log.all(|event| match event {
        Event::ModelChanged { model, reason } => Some((model.clone(), reason.clone())),
        _ => None,
    })
}

fn notices(talk: &Talk) -> Vec<String> {
    talk.log.all(|event| match event {
        Event::Notice { text, .. } => Some(text.clone()),
        _ => None,
    })
}

#[tokio::test]
async fn the_chain_answers_in_the_middle_of_a_prompt_and_stays() {
    let look = reply().call("look", json!({}));
    let replies =
        [look, refused(ModelErrorKind::Quota), reply().text("from the second"), reply().text("ok")];
    let talk = stage(FallbackMode::Chain, replies).start();
    talk.done("go").await;
    talk.done("again").await;
    assert_eq!(asked(&talk), ["main", "main", "second", "second"]);
    let fallback = "agent-router/fallback".to_owned();
    assert_eq!(
        changes(&talk),
        [("main".to_owned(), "script".to_owned()), ("second".to_owned(), fallback)]
    );
    assert_eq!(
        notices(&talk),
        ["main is not available: the daily quota is used up. Continuing with second."]
    );
    // The request of the second model is that of the first, and is measured as its own.
    let sent = talk.models.streamed();
    assert_eq!(sent[1].contents(), sent[2].contents());
    let measured = talk.log.measured(|measurement| match measurement {
        Measurement::ApiResponse(response) => Some(response.model.clone()),
        Measurement::ApiError(error) => Some(format!("{} failed", error.model)),
        _ => None,
    });
    assert_eq!(measured, ["main", "main failed", "second", "second"]);
    talk.assert_replays();
}

#[tokio::test]
async fn attempts_are_few_while_another_model_can_answer() {
    let replies = [refused(ModelErrorKind::Quota), reply().text("ok")];
    let talk = stage(FallbackMode::Chain, replies).start();
    talk.done("go").await;
    let talk = Talk::resume(talk).await;
    talk.models.stream(refused(ModelErrorKind::Quota));
    talk.models.stream(refused(ModelErrorKind::Quota));
    talk.models.stream(refused(ModelErrorKind::Quota));
    let outcome = talk.prompt("go").await;
    assert!(matches!(outcome, PromptOutcome::Failed(_)), "{outcome:?}");
    let attempts: Vec<_> =
        talk.models.streamed().iter().map(|sent| sent.request.max_attempts).collect();
    let (few, all) = (Some(3), None);
    assert_eq!(attempts, [few, few, few, few, all], "the last model has all attempts");
}

#[tokio::test]
async fn without_permission_the_failure_stands() {
    for (mode, interactive) in
        [(FallbackMode::Never, true), (FallbackMode::Never, false), (FallbackMode::Ask, false)]
    {
        let stage = stage(mode, [refused(ModelErrorKind::Quota)]);
        let talk = if interactive { stage.interactive() } else { stage }.start();
        let outcome = talk.prompt("go").await;
        let PromptOutcome::Failed(error) = outcome else { panic!("{mode:?}: {outcome:?}") };
        assert_eq!((error.message.as_str(), asked(&talk).len()), ("Used up.", 1), "{mode:?}");
        assert_eq!(talk.models.streamed()[0].request.max_attempts, None);
    }
    // Nor does another model help against a request that is wrong.
    let talk = stage(FallbackMode::Chain, [refused(ModelErrorKind::Invalid)]).start();
    assert!(matches!(talk.prompt("go").await, PromptOutcome::Failed(_)));
}

async fn answer(talk: &Talk, choice: usize) {
    let question =
        talk.question(|asked| matches!(asked.subject, QuestionSubject::Request { .. })).await;
    assert_eq!(
        question.subject.to_string(),
        "main is not available: the daily quota is used up.\nUsed up."
    );
    assert_eq!(question.choices[0].label, "Use second for this session");
    talk.reply(&question.reply(QuestionOutcome::Option(choice)));
}

#[tokio::test]
async fn the_user_decides() {
    let quota = || refused(ModelErrorKind::Quota);
    let ok = || reply().text("ok");
    for (choice, replies, expected) in [
        (0, vec![quota(), ok(), ok()], vec!["main", "second", "second"]),
        (1, vec![quota(), ok(), ok()], vec!["main", "second", "main"]),
        (2, vec![quota(), ok(), ok()], vec!["main", "main", "main"]),
    ] {
        let talk = stage(FallbackMode::Ask, replies).interactive().start();
        let id = talk.begin("go");
        answer(&talk, choice).await;
        let outcome = talk.ended(&id).await;
        assert!(matches!(outcome, PromptOutcome::Done), "{choice}: {outcome:?}");
        talk.done("again").await;
        assert_eq!(asked(&talk), expected, "{choice}");
    }
    let talk = stage(FallbackMode::Ask, [quota()]).interactive().start();
    let id = talk.begin("go");
    answer(&talk, 3).await;
    assert!(matches!(talk.ended(&id).await, PromptOutcome::Failed(_)));
}

#[tokio::test]
async fn a_cancel_withdraws_the_question() {
    let talk = stage(FallbackMode::Ask, [refused(ModelErrorKind::Quota)]).interactive().start();
    let id = talk.begin("go");
    talk.question(|_| true).await;
    talk.send(Op::Cancel);
    assert!(matches!(talk.ended(&id).await, PromptOutcome::Cancelled));
}

#[tokio::test]
async fn a_model_that_the_user_requests_is_asked_again() {
    let ok = || reply().text("ok");
    let replies = [refused(ModelErrorKind::Quota), ok(), ok(), ok()];
    let talk = stage(FallbackMode::Ask, replies).interactive().start();
    let id = talk.begin("go");
    answer(&talk, 0).await;
    talk.ended(&id).await;
    talk.done("again").await;
    talk.send(Op::SetModel("main".to_owned()));
    talk.done("and now").await;
    assert_eq!(asked(&talk), ["main", "second", "second", "main"]);
}

#[tokio::test]
async fn side_calls_use_the_replacement_too() {
    let tool = FakeTool::new("ask").runs(|_, context| async move {
        let names = async || context.models.select("helper").await.unwrap().name;
        let before = names().await;
        let choice = context.models.select("helper").await.unwrap();
        let cancel = CancellationToken::new();
        choice.model.generate(ModelRequest::default(), cancel).await.unwrap_err();
        ToolOutput::quiet(format!("{before}, then {}", names().await))
    });
    let stage = stage(FallbackMode::Chain, [reply().call("ask", json!({})), reply().text("ok")]);
    stage.models.generate(refused(ModelErrorKind::Quota));
    let talk = stage.tool(tool).start();
    talk.done("go").await;
    assert_eq!(talk.models.last().outputs(), ["helper, then main"]);
}

#[tokio::test]
async fn the_budget_counts_the_requests_of_all_models() {
    let quota = || refused(ModelErrorKind::Quota);
    let mut prompt = Ceilings::default();
    prompt.set(Resource::Turns, Limit { amount: 2, by_flag: true });
    let spending = Spending { prompt, ..Spending::default() };
    let stage = stage(FallbackMode::Chain, [quota(), quota()]);
    let talk = Stage { spending, ..stage }.start();
    let outcome = talk.prompt("go").await;
    assert!(matches!(outcome, PromptOutcome::Budget(_)), "{outcome:?}");
    assert_eq!(asked(&talk), ["main", "second"], "the third would exceed the budget");
}

/// Prices of all models but one.
struct AllBut(&'static str);

impl Prices for AllBut {
    fn price(&self, _vendor: &str, model: &str) -> Option<Price> {
        (model != self.0).then_some(Price::FREE)
    }
}

#[tokio::test]
async fn a_model_that_the_limits_exclude_replaces_none() {
    let mut prompt = Ceilings::default();
    prompt.set(Resource::Usd, Limit { amount: 1, by_flag: true });
    let prices: Option<Arc<dyn Prices>> = Some(Arc::new(AllBut("second")));
    let spending = Spending { prompt, prices, ..Spending::default() };
    let quota = || refused(ModelErrorKind::Quota);
    let ok = || reply().text("ok");
    let stage = Stage { spending, ..stage(FallbackMode::Chain, [quota(), ok(), ok(), quota()]) };
    let talk = stage.start();
    talk.done("go").await;
    talk.done("again").await;
    let excluded = "second cannot replace another model: its price is not known, and dollars are limited. Add the model to ~/.gemini/pollux/prices.json.";
    let replaced = "main is not available: the daily quota is used up. Continuing with third.";
    assert_eq!(notices(&talk), [excluded, replaced]);
    // Without another model, the failure of the last one stands.
    let outcome = talk.prompt("once more").await;
    let PromptOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        (error.kind, asked(&talk)),
        (ModelErrorKind::Quota, ["main", "third", "third", "third"].map(str::to_owned).to_vec())
    );
}

#[tokio::test(start_paused = true)]
async fn the_text_of_a_broken_answer_is_void() {
    let overloaded = || {
        let error = ModelError::new(ModelErrorKind::Overloaded, "busy");
        reply().text("half").breaks(ModelError { retryable: true, ..error })
    };
    let replies = (0..4).map(|_| overloaded()).chain([reply().text("whole")]);
    let talk = stage(FallbackMode::Chain, replies).start();
    talk.done("go").await;
    let restarts = talk.log.all(|event| matches!(event, Event::StreamRestarted).then_some(()));
    assert_eq!(restarts.len(), 4);
    let history = talk.journal.history();
    let texts: Vec<_> = history.entries().iter().map(|entry| entry.content().text()).collect();
    assert_eq!(texts.last().unwrap(), "whole");
    assert!(!texts.iter().any(|text| text.contains("half")), "{texts:?}");
}

#[tokio::test]
async fn the_last_model_is_tried_again_if_the_user_wants_it() {
    let last = |replies: Vec<ScriptedReply>| Stage {
        fallback: FallbackOptions { mode: FallbackMode::Ask, chain: Vec::new() },
        ..Stage::with(replies)
    };
    let overloaded = || refused(ModelErrorKind::Overloaded);
    let talk = last(vec![overloaded(), overloaded(), reply().text("ok")]).interactive().start();
    let id = talk.begin("go");
    for _ in 0..2 {
        let question = talk.question(|_| true).await;
        let labels: Vec<&str> =
            question.choices.iter().map(|choice| choice.label.as_str()).collect();
        assert_eq!(labels, ["Try main again", "Stop"]);
        talk.reply(&question.choose(0).unwrap());
    }
    assert!(matches!(talk.ended(&id).await, PromptOutcome::Done));
    assert_eq!(asked(&talk), ["main", "main", "main"]);
    for kind in [ModelErrorKind::NotFound, ModelErrorKind::Network] {
        let talk = last(vec![refused(kind)]).interactive().start();
        assert!(matches!(talk.prompt("go").await, PromptOutcome::Failed(_)), "{kind:?}");
    }
    let talk = last(vec![refused(ModelErrorKind::Quota)]).interactive().start();
    let id = talk.begin("go");
    let question = talk.question(|_| true).await;
    talk.reply(&question.choose(1).unwrap());
    assert!(matches!(talk.ended(&id).await, PromptOutcome::Failed(_)));
}
