//! Old results become short in the conversation: through the log, like every change of it.

use pollux_protocol::Record;
use pollux_scripted::{FakeTool, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

/// A session that masks results behind the newest 3,000 tokens, and what its model does: it reads six
/// results of 2,000 tokens each.
fn stage() -> Stage {
    let calls = (0..6).map(|number| reply().call("look", json!({ "number": number })));
    let stage = Stage::with(calls.chain([reply().text("done")]));
    let stage = stage.tool(FakeTool::new("look").answers(&"some words\n".repeat(700)));
    Stage { masking: (3000.0, 2000.0), ..stage }
}

fn masked(outputs: &[&str]) -> Vec<bool> {
    outputs.iter().map(|output| output.starts_with("<tool_output_masked>\n")).collect()
}

#[tokio::test]
async fn a_log_gives_back_the_masked_conversation() {
    let talk = stage().start();
    talk.done("look around").await;
    assert_eq!(masked(&talk.models.last().outputs()), [true, true, true, true, false, false]);
    talk.assert_replays();
    let compressed = |record: &Record| match record {
        Record::Compressed(compression) => Some(compression.shortened.len()),
        _ => None,
    };
    let records = talk.journal.records();
    let shortened: usize = records.iter().filter_map(compressed).sum();
    assert_eq!(shortened, 4, "each result is made short once");
}

#[tokio::test]
async fn a_conversation_that_goes_on_stays_masked() {
    let talk = stage().start();
    talk.done("look around").await;
    let before = talk.models.last();
    let talk = talk.resume().await;
    talk.models.stream(reply().text("again"));
    talk.done("go on").await;
    let after = talk.models.last();
    assert_eq!(after.outputs()[..4], before.outputs()[..4]);
}
