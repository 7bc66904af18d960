//! Built-in safety checkers. The tests of external checker programs are in the agent's crate.

use pollux_testkit::reply;
use serde_json::json;

use super::stage::Stage;

#[test]
fn files_that_a_command_asks_for_outside_are_asked_about() {
    for (path, runs) in [("/etc", false), ("sub", true)] {
        let wanted = json!({"fileSystem": {"read": [path], "write": []}});
        let args = json!({"command": "touch a.txt", "additional_permissions": wanted});
        let stage = Stage::with([reply().call("run_shell_command", args), reply().text("done")]);
        stage.yolo("go");
        assert_eq!(stage.home.project().join("a.txt").exists(), runs, "{path}");
        let asks = stage.response().contains("requires user confirmation");
        assert_eq!(asks, !runs, "{}", stage.response());
    }
}
