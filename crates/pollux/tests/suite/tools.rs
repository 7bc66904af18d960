//! The file tools, called by the model. The tests of each tool are in the crate of the tools.

use pollux_testkit::{Tree, reply, samples};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

#[test]
fn the_sample_projects_mistake_is_mended() {
    let stage = Stage::new();
    samples::rust_like_project(stage.home.project());
    let before = Tree::of(stage.home.project());
    let check = json!({"command": "sh check.sh"});
    stage.server.stream(reply().call("run_shell_command", check.clone()));
    let edit = json!({"file_path": "src/lib.rs", "instruction": "mend it",
        "old_string": "left - right", "new_string": "left + right"});
    stage.server.stream(reply().call("replace", edit));
    stage.server.stream(reply().call("run_shell_command", check));
    stage.server.stream(reply().text("Mended."));
    let run = stage.yolo("fix the failing check");
    assert_eq!(run.stdout_text(), "Mended.\n");
    let requests = stage.requests();
    assert!(requests[1].last_parts()[0].to_string().contains("Exit Code: 1"));
    assert!(requests[3].last_parts()[0].to_string().contains("Output: ok"));
    let after = Tree::of(stage.home.project());
    assert_eq!(after.changes_since(&before), ["~ src/lib.rs"]);
}
