//! Old results of tools are shortened in the conversation, and stay complete on disk.

use std::path::Path;

use pollux_protocol::{Record, ToolOutput};
use pollux_scripted::{FakeTool, SentRequest, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

fn masked(sent: &SentRequest) -> Vec<bool> {
    let outputs = sent.outputs().into_iter();
    outputs.map(|output| output.starts_with("<tool_output_masked>\n")).collect()
}

#[tokio::test]
async fn old_results_become_short_and_stay_whole_on_disk() {
    let lines = "some words of a file\n".repeat(380);
    let text = move |n: u64| format!("file {n}\n{lines}");
    let whole = text(0);
    let look = FakeTool::new("look").runs(move |args, _| {
        std::future::ready(ToolOutput::quiet(text(args["n"].as_u64().unwrap())))
    });
    let calls = (0..6).map(|n| reply().call("look", json!({"n": n})));
    let mut stage = Stage::with(calls.chain([reply().text("done")])).tool(look);
    stage.masking = (3000.0, 2000.0);
    let talk = stage.start();
    talk.done("read them").await;
    let last = talk.models.last();
    assert_eq!(masked(&last), [true, true, true, true, false, false]);
    let short = last.outputs()[0].to_owned();
    let (_, named) = short.split_once("Full output available at: ").unwrap();
    let file = Path::new(named.strip_suffix("\n</tool_output_masked>").unwrap());
    assert_eq!(std::fs::read_to_string(file).unwrap(), whole);

    // Each result is shortened once, through the log. The log has the complete results, too.
    talk.assert_replays();
    let records = talk.journal.records();
    let shortened = records.iter().map(|record| match record {
        Record::Compressed(compression) => compression.shortened.len(),
        _ => 0,
    });
    assert_eq!(shortened.sum::<usize>(), 4);
    assert!(format!("{records:?}").contains("file 0\\n"));

    // A resumed conversation is masked in the same way.
    let files = || std::fs::read_dir(file.parent().unwrap()).unwrap().count();
    let before = files();
    talk.models.stream(reply().text("again"));
    let talk = talk.resume().await;
    talk.done("go on").await;
    assert_eq!(talk.models.last().outputs()[..4], last.outputs()[..4]);
    assert_eq!(files(), before + 1, "one more has become old");
}
