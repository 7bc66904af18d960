//! Masking: old tool results are shortened in the conversation, and stay complete on disk.

use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::Stage;

/// Returns the results that the model gets, in the order of the conversation.
fn reported(contents: &[Value]) -> Vec<String> {
    let parts = contents.iter().flat_map(|content| content["parts"].as_array().unwrap());
    let outputs = parts.filter_map(|part| part["functionResponse"]["response"]["output"].as_str());
    outputs.map(str::to_owned).collect()
}

#[test]
fn the_model_can_read_what_was_masked() {
    let stage = Stage::new();
    stage.home.settings(&json!({"contextManagement": {"tools": {"outputMasking": {
        "protectionThresholdTokens": 0, "minPrunableThresholdTokens": 100
    }}}}));
    stage.server.stream(reply().call("run_shell_command", json!({"command": "seq 1 2000"})));
    stage.server.stream(reply().call("glob", json!({"pattern": "*"})));
    stage.server.answer_with(pollux_testkit::Endpoint::StreamGenerateContent, |request| {
        let outputs = reported(request.contents());
        let Some((_, named)) = outputs[0].split_once("Full output available at: ") else {
            return reply().text("nothing was masked");
        };
        if outputs.len() > 2 {
            return reply().text("read it");
        }
        let path = named.lines().next().unwrap();
        reply().call("read_file", json!({ "file_path": path }))
    });
    let run = stage.yolo("go");
    assert_eq!(run.stdout_text(), "read it\n");
    let last = reported(stage.requests().pop().unwrap().contents());
    let shown = "Output: 1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n... [1980 lines omitted] ...\n1991\n";
    assert!(last[0].contains(shown), "{}", last[0]);
    assert!(last[2].contains("\n1500\n"), "{}", &last[2][..300]);
}
