//! Loop detection: the model gets a hint first; then the user is asked, or the run ends.

use pollux_testkit::{CapturedRequest, ModelReply, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, lines_of, terminal_result, texts};

fn look() -> ModelReply {
    reply().call("list_directory", json!({"dir_path": "."}))
}

/// Returns the text of the last content of a request.
fn words(request: &CapturedRequest) -> String {
    let contents = request.body["contents"].as_array().unwrap();
    texts(contents.last().unwrap()).concat()
}

#[test]
fn a_call_that_is_made_again_and_again_ends_the_run_with_56() {
    for format in ["text", "json", "stream-json"] {
        let stage = Stage::with((0..10).map(|_| look()));
        let run = stage.prompt(format, "go");
        run.assert_code(56);
        let requests = stage.requests();
        assert_eq!(requests.len(), 10, "{}", run.report());
        let hint = words(&requests[5]);
        assert!(
            hint.starts_with(
                "System: Potential loop detected. Details: The same call of list_directory"
            ),
            "{hint}"
        );
        assert_eq!(words(&requests[4]), "");
        assert!(
            run.stderr_text().contains("Loop detected, stopping execution"),
            "{}",
            run.report()
        );
        if format == "stream-json" {
            let errors = lines_of(&run, "error");
            assert_eq!(errors[0]["message"], "Loop detected, stopping execution");
            assert_eq!(errors[0]["severity"], "warning");
        }
        match format {
            "json" => assert_eq!(run.json()["error"]["type"], "FatalLoopDetectedError"),
            "stream-json" => {
                assert_eq!(terminal_result(&run)["error"]["type"], "FatalLoopDetectedError");
            }
            _ => {}
        }
        // The work is available after a resume.
        stage.server.stream(reply().text("well then"));
        stage.pollux(&["--resume", "latest", "-p", "something else"]).run().assert_code(0);
    }
}

#[test]
fn loops_can_be_left_alone() {
    let stage = Stage::with((0..12).map(|_| look()).chain([reply().text("done")]));
    stage.home.settings(&json!({"model": {"disableLoopDetection": true}}));
    stage.prompt("text", "go").assert_code(0);
}
