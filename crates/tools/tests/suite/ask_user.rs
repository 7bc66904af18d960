use pollux_protocol::{CallId, ConfirmationKind, Modification, ToolErrorKind};
use serde_json::{Value, json};

use super::session::{Session, side_models, text};

fn choice(labels: &[&str]) -> Value {
    let options: Vec<Value> =
        labels.iter().map(|label| json!({"label": label, "description": "d"})).collect();
    json!({"question": "Which?\\nSay.", "header": "H", "type": "choice", "options": options})
}

#[tokio::test]
async fn answers_reach_the_model() {
    let session = Session::new();
    let args = json!({"questions": [choice(&["a", "b"]), {"question": "Why?", "header": "W", "type": "text"}]});
    let invocation = session.prepare("ask_user", &args).unwrap();
    let confirmation = invocation.confirmation(&CallId::new("c"), &side_models()).await.unwrap();
    let ConfirmationKind::Questions(questions) = confirmation.kind else { panic!() };
    assert_eq!(questions[0].question, "Which?\nSay.");
    let answers = Modification::Answers(vec!["b".to_owned(), "because".to_owned()]);
    let answered = Value::Object(invocation.modify(&answers).unwrap());
    let output = session.call("ask_user", answered).await;
    assert_eq!(text(&output), r#"{"answers":{"0":"b","1":"because"}}"#);
    for (given, expected) in
        [(["", "because"], r#"{"answers":{"1":"because"}}"#), (["", ""], r#"{"answers":{}}"#)]
    {
        let answers = Modification::Answers(given.map(str::to_owned).to_vec());
        let answered = Value::Object(invocation.modify(&answers).unwrap());
        assert_eq!(text(&session.call("ask_user", answered).await), expected);
    }
    let dismissed = session.ok("ask_user", args).await;
    assert_eq!(dismissed, "User dismissed ask_user dialog without answering.");
}

#[tokio::test]
async fn questions_that_are_none_are_refused() {
    let session = Session::new();
    let many: Vec<Value> = (0..5).map(|_| choice(&["a", "b"])).collect();
    for (args, words) in [
        (json!({}), "must have required property 'questions'"),
        (json!({"questions": []}), "must NOT have fewer than 1 items"),
        (json!({"questions": many}), "must NOT have more than 4 items"),
        (json!({"questions": [choice(&["a"])]}), "Question 1: type='choice' requires 'options'"),
        (json!({"questions": [choice(&["a", " "])]}), "'label' of an option"),
        (json!({"questions": [{"question": " ", "header": "h", "type": "text"}]}), "non-empty"),
        (
            json!({"questions": [{"question": "q", "header": "h", "type": "other"}]}),
            "allowed values",
        ),
    ] {
        let (kind, message) = session.err("ask_user", args).await;
        assert_eq!(kind, ToolErrorKind::InvalidToolParams);
        assert!(message.contains(words), "{message}");
    }
}
