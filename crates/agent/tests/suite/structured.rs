//! Answers that must satisfy a schema: valid immediately, repaired, or refused with a list of
//! problems.

use std::sync::Arc;

use pollux_agent::{AnswerForm, Spending};
use pollux_protocol::{
    AnswerSchema, Ceilings, Event, Limit, ModelError, ModelErrorKind, PromptOutcome, Resource,
    Unsatisfied,
};
use pollux_scripted::{ScriptedReply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, Talk};

const RIGHT: &str = r#"{"count":3}"#;

/// Schema of an object whose `count` is a number.
struct Count;

impl AnswerSchema for Count {
    fn document(&self) -> Arc<Value> {
        Arc::new(json!({"type": "object", "required": ["count"]}))
    }

    fn problems(&self, value: &Value) -> Vec<String> {
        if value["count"].is_u64() { Vec::new() } else { vec!["count is no number".to_owned()] }
    }
}

fn stage(replies: impl IntoIterator<Item = ScriptedReply>) -> Stage {
    let answer = Some(AnswerForm { schema: Arc::new(Count), repairs: 3 });
    Stage { answer, ..Stage::with(replies) }
}

fn says(texts: &[&str]) -> Stage {
    stage(texts.iter().map(|text| reply().text(*text)))
}

fn values(talk: &Talk) -> Vec<Value> {
    talk.log.all(|event| match event {
        Event::Answer(value) => Some(Value::clone(value)),
        _ => None,
    })
}

fn unsatisfied(outcome: PromptOutcome) -> Unsatisfied {
    let PromptOutcome::Unsatisfied(unsatisfied) = outcome else { panic!("{outcome:?}") };
    *unsatisfied
}

#[tokio::test]
async fn an_answer_that_is_right_at_once_costs_no_request_more() {
    let talk = says(&[RIGHT]).start();
    talk.done("how many?").await;
    assert_eq!(values(&talk), [json!({"count": 3})]);
    let [request] = &talk.models.streamed()[..] else { panic!("not one request") };
    assert!(request.system().contains("\"required\""), "the model knows the schema");
    assert_eq!(request.tools(), ["look"], "tools as usual");
    assert_eq!(request.request.adjustments.schema, None);
}

#[tokio::test]
async fn an_answer_that_is_wrong_is_asked_for_again_with_what_is_wrong() {
    for (wrong, problem) in
        [(r#"{"count": "three"}"#, "count is no number"), ("There are three.", "not JSON")]
    {
        let talk = says(&[wrong, RIGHT]).start();
        talk.done("how many?").await;
        assert_eq!(values(&talk), [json!({"count": 3})]);
        let again = talk.models.last();
        assert!(again.last_texts().concat().contains(problem), "{:?}", again.last_texts());
        let schema = again.request.adjustments.schema.clone().unwrap();
        assert_eq!(schema["required"], json!(["count"]), "the service is asked for JSON");
        assert!(again.tools().is_empty(), "JSON and tools do not go together");
    }
}

#[tokio::test]
async fn a_fence_around_the_answer_is_taken_off() {
    let talk = says(&["```json\n{\"count\": 3}\n```"]).start();
    talk.done("how many?").await;
    assert_eq!(values(&talk), [json!({"count": 3})]);
}

#[tokio::test]
async fn tools_run_as_ever_before_the_answer() {
    let look = reply().text("Looking.").call("look", json!({}));
    let talk = stage([look, reply().text(RIGHT)]).start();
    talk.done("how many?").await;
    assert_eq!((talk.models.streamed().len(), values(&talk).len()), (2, 1));
}

#[tokio::test]
async fn an_answer_that_is_never_right_is_reported_with_what_was_said() {
    let talk = says(&["no", "never", "[1]", "still not"]).start();
    let unsatisfied = unsatisfied(talk.prompt("how many?").await);
    assert_eq!((unsatisfied.text.as_str(), unsatisfied.repairs), ("still not", 3));
    assert!(unsatisfied.problems[0].contains("not JSON"), "{unsatisfied:?}");
    assert_eq!(talk.models.streamed().len(), 4, "the answer and three repairs");
    assert!(values(&talk).is_empty());
    // The conversation is still complete.
    talk.models.stream(reply().text(RIGHT));
    talk.done("go on").await;
    talk.assert_replays();
}

#[tokio::test]
async fn repairs_are_counted_and_paid_from_the_budget() {
    let mut stage = says(&["no"]);
    stage.answer = Some(AnswerForm { schema: Arc::new(Count), repairs: 0 });
    let talk = stage.start();
    unsatisfied(talk.prompt("go").await);
    assert_eq!(talk.models.streamed().len(), 1);

    let mut prompt = Ceilings::default();
    prompt.set(Resource::Turns, Limit { amount: 2, by_flag: true });
    let spending = Spending { prompt, ..Spending::default() };
    let talk = Stage { spending, ..says(&["no", "no"]) }.start();
    let outcome = talk.prompt("go").await;
    assert!(matches!(outcome, PromptOutcome::Budget(_)), "{outcome:?}");
    assert_eq!(talk.models.streamed().len(), 2);
}

#[tokio::test]
async fn a_service_that_refuses_the_schema_is_asked_in_words() {
    let refused = ModelError::new(ModelErrorKind::Invalid, "schema too complex");
    let talk = stage([reply().text("no"), reply().fails(refused), reply().text(RIGHT)]).start();
    talk.done("how many?").await;
    let requests = talk.models.streamed();
    assert_eq!(requests.len(), 3);
    let asks_for_json = |place: usize| requests[place].request.adjustments.schema.is_some();
    assert_eq!((asks_for_json(1), asks_for_json(2)), (true, false));
    assert_eq!(values(&talk), [json!({"count": 3})]);
}

#[tokio::test(start_paused = true)]
async fn no_answer_at_all_is_no_success() {
    let talk = stage((0..4).map(|_| reply().text(""))).start();
    let unsatisfied = unsatisfied(talk.prompt("how many?").await);
    assert_eq!(unsatisfied.text, "");
}
