//! The router: the tier of the model that answers a prompt.

use std::time::Duration;

use pollux_agent::{RoutingOptions, Spending};
use pollux_protocol::{
    ApprovalMode, Ceilings, Event, Limit, Measurement, ModelError, ModelErrorKind, ModelRole,
    PromptOutcome, Resource,
};
use pollux_scripted::{ScriptedReply, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, Talk};

const CLASSIFIER: RoutingOptions = RoutingOptions { by_mode: true, classifier: true };

fn stage(model: &'static str, routing: RoutingOptions) -> Stage {
    Stage { routing, model, ..Stage::with([reply().text("ok")]) }
}

fn score(score: u64) -> ScriptedReply {
    reply().text(json!({"complexity_reasoning": "", "complexity_score": score}).to_string())
}

/// Returns the model that answered, and the reason.
fn chosen(talk: &Talk) -> (String, String) {
    let changes = talk.log.all(|event| match event {
        Event::ModelChanged { model, reason } => Some((model.clone(), reason.clone())),
        _ => None,
    });
    changes.last().unwrap().clone()
}

#[tokio::test]
async fn a_classifier_rates_the_prompt_once() {
    for (given, model) in [(95, "auto-pro"), (20, "auto-flash")] {
        let stage = stage("auto", CLASSIFIER);
        stage.models.generate(score(given));
        stage.models.discard_replies();
        stage.models.generate(score(given));
        stage.models.stream(reply().call("look", json!({})));
        stage.models.stream(reply().text("done"));
        let talk = stage.start();
        talk.done("make it faster").await;
        let expected = (model.to_owned(), "agent-router/numerical_classifier".to_owned());
        assert_eq!(chosen(&talk), expected);
        let side = talk.models.generated();
        assert_eq!(side.len(), 1, "not again for the results of calls");
        assert_eq!(
            (side[0].model.as_str(), side[0].request.role),
            ("classifier", ModelRole::UtilityRouter)
        );
        assert!(side[0].user_texts().iter().any(|text| text.contains("make it faster")));
        let roles = talk.log.measured(|measurement| match measurement {
            Measurement::ApiResponse(response) => Some(response.role),
            _ => None,
        });
        assert_eq!(roles, [ModelRole::UtilityRouter, ModelRole::Main, ModelRole::Main]);
    }
}

#[tokio::test]
async fn without_the_setting_no_model_is_asked() {
    for (model, routing) in
        [("auto", RoutingOptions { by_mode: true, classifier: false }), ("main", CLASSIFIER)]
    {
        let talk = stage(model, routing).start();
        talk.done("go").await;
        assert_eq!(talk.models.generated().len(), 0, "{model}");
        assert_eq!(chosen(&talk).0, model);
    }
}

#[tokio::test]
async fn plan_mode_uses_the_strongest_model() {
    let stage = Stage { mode: ApprovalMode::Plan, ..stage("auto", CLASSIFIER) };
    let talk = stage.start();
    talk.done("go").await;
    let expected = ("auto-pro".to_owned(), "agent-router/approval-mode".to_owned());
    assert_eq!((chosen(&talk), talk.models.generated().len()), (expected, 0));
}

#[tokio::test(start_paused = true)]
async fn a_classifier_that_fails_or_is_slow_decides_nothing() {
    let failed = reply().fails(ModelError::new(ModelErrorKind::Overloaded, "busy"));
    for answer in [failed, reply().text("[]"), score(0), reply().delayed(Duration::from_mins(1))] {
        let stage = stage("auto", CLASSIFIER);
        stage.models.generate(answer);
        let talk = stage.start();
        let began = tokio::time::Instant::now();
        talk.done("go").await;
        assert!(began.elapsed() <= Duration::from_secs(10), "{:?}", began.elapsed());
        assert_eq!(chosen(&talk), ("auto".to_owned(), "script".to_owned()));
    }
}

#[tokio::test]
async fn a_classifier_is_part_of_the_budget() {
    let mut prompt = Ceilings::default();
    prompt.set(Resource::Turns, Limit { amount: 1, by_flag: true });
    let spending = Spending { prompt, ..Spending::default() };
    let stage = Stage { spending, ..stage("auto", CLASSIFIER) };
    stage.models.generate(score(95));
    let talk = stage.start();
    let outcome = talk.prompt("go").await;
    assert!(matches!(outcome, PromptOutcome::Budget(_)), "{outcome:?}");
    talk.models.discard_replies();
}
