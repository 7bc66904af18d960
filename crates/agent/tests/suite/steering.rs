//! Input that arrives while the agent is working.

use pollux_protocol::{CommandReport, Op, ToolOutput};
use pollux_scripted::{FakeTool, Gate, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

/// True if one of the texts is a message that the user wrote while the model worked.
fn is_steered(texts: &[&str], text: &str) -> bool {
    texts.iter().any(|one| one.starts_with("# User steering") && one.contains(text))
}

#[tokio::test]
async fn it_goes_with_the_results_of_the_calls_under_way() {
    let (begun, gate) = (Gate::closed(), Gate::closed());
    let (tell, wait) = (begun.clone(), gate.clone());
    let look = FakeTool::new("look").runs(move |_, _| {
        let (tell, wait) = (tell.clone(), wait.clone());
        async move {
            tell.open();
            wait.pass().await;
            ToolOutput::quiet("seen")
        }
    });
    let stage = Stage::with([reply().call("look", json!({})), reply().text("done")]);
    let talk = stage.tool(look).start();
    let id = talk.begin("go");
    begun.pass().await;
    talk.send(Op::Steer("use tabs".to_owned()));
    talk.send(Op::Report(CommandReport::ForModel("a build has ended".to_owned())));
    // A report for the user is shown immediately. It was sent last, so the other two have arrived,
    // too.
    talk.send(Op::Report(CommandReport::ForUser("it has ended".to_owned())));
    talk.log
        .first(|event| matches!(event, pollux_protocol::Event::Notice { .. }).then_some(()))
        .await;
    gate.open();
    talk.ended(&id).await;
    let last = talk.models.last();
    let texts = last.last_texts();
    assert!(is_steered(&texts, "use tabs"), "{texts:?}");
    assert!(texts[0].contains("a build has ended"), "programs first: {texts:?}");
    assert_eq!(last.responses(), [json!({"output": "seen"})]);
}

#[tokio::test]
async fn it_is_work_of_its_own_when_the_model_is_done() {
    let gate = Gate::closed();
    let stage = Stage::with([reply().text("one").held_by(&gate), reply().text("two")]);
    let talk = stage.start();
    let id = talk.begin("go");
    talk.models.wait_for(1).await;
    talk.send(Op::Steer("and the rest".to_owned()));
    talk.send(Op::Report(CommandReport::ForUser("noted".to_owned())));
    talk.log
        .first(|event| matches!(event, pollux_protocol::Event::Notice { .. }).then_some(()))
        .await;
    gate.open();
    talk.ended(&id).await;
    assert_eq!(talk.log.text(), "onetwo");
    assert!(is_steered(&talk.models.last().last_texts(), "and the rest"));
}

#[tokio::test]
async fn output_of_programs_alone_begins_no_work_and_goes_with_the_next_prompt() {
    let gate = Gate::closed();
    let stage = Stage::with([reply().text("one").held_by(&gate), reply().text("two")]);
    let talk = stage.start();
    let id = talk.begin("go");
    talk.models.wait_for(1).await;
    talk.send(Op::Report(CommandReport::ForModel("a build has ended".to_owned())));
    talk.send(Op::Report(CommandReport::ForUser("noted".to_owned())));
    talk.log
        .first(|event| matches!(event, pollux_protocol::Event::Notice { .. }).then_some(()))
        .await;
    gate.open();
    talk.ended(&id).await;
    assert_eq!(talk.models.streamed().len(), 1);
    talk.done("more").await;
    let last = talk.models.last();
    let texts = last.last_texts();
    assert!(texts[0].contains("a build has ended") && texts[1] == "more", "{texts:?}");
}
