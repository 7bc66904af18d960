//! Old results of tools become short in the conversation, and stay whole on disk.

use std::path::Path;

use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::Stage;

/// What the model is told of each call, in the order of the conversation.
fn told(contents: &[Value]) -> Vec<String> {
    let parts = contents.iter().flat_map(|content| content["parts"].as_array().unwrap());
    let outputs = parts.filter_map(|part| part["functionResponse"]["response"]["output"].as_str());
    outputs.map(str::to_owned).collect()
}

fn is_masked(output: &str) -> bool {
    output.starts_with("<tool_output_masked>\n")
}

#[test]
fn old_results_become_short_and_stay_whole_on_disk() {
    let stage = Stage::new();
    stage.home.settings(&json!({"contextManagement": {"tools": {"outputMasking": {
        "protectionThresholdTokens": 3000, "minPrunableThresholdTokens": 2000
    }}}}));
    let line = "some words of a file\n";
    for number in 0..6 {
        let text = format!("file {number}\n{}", line.repeat(380));
        stage.home.project_file(&format!("f{number}.txt"), text);
        let path = json!({"file_path": format!("f{number}.txt")});
        stage.server.stream(reply().call("read_file", path));
    }
    stage.server.stream(reply().text("done"));
    assert_eq!(stage.yolo("read them").stdout_text(), "done\n");
    let last = stage.requests().pop().unwrap().contents().to_vec();
    let told_last = told(&last);
    let masked: Vec<bool> = told_last.iter().map(|output| is_masked(output)).collect();
    assert_eq!(masked, [true, true, true, true, false, false]);
    let (_, named) = told_last[0].split_once("Full output available at: ").unwrap();
    let file = Path::new(named.strip_suffix("\n</tool_output_masked>").unwrap());
    let whole = std::fs::read_to_string(file).unwrap();
    assert_eq!(whole, format!("file 0\n{}", line.repeat(380)));

    // The log has the whole results, and a conversation that goes on is masked the same way.
    let log = std::fs::read_to_string(stage.session_file()).unwrap();
    assert!(log.matches("file 0\\n").count() > 0);
    let before = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
    stage.server.stream(reply().text("again"));
    stage.pollux(&["-y", "--resume", "latest", "-p", "go on"]).run().assert_code(0);
    let resumed = told(stage.requests().pop().unwrap().contents());
    assert_eq!(resumed[..4], told_last[..4]);
    // One more has become old.
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), before + 1);
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
        let outputs = told(request.contents());
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
    let last = told(stage.requests().pop().unwrap().contents());
    let shown = "Output: 1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n... [1980 lines omitted] ...\n1991\n";
    assert!(last[0].contains(shown), "{}", last[0]);
    assert!(last[2].contains("\n1500\n"), "{}", &last[2][..300]);
}
