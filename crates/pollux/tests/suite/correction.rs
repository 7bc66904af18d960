//! A model mends edits whose text is not found, where the settings say so.

use pollux_testkit::{Endpoint, Reply, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

/// A run with one edit that does not match; `answer` is what the mending model says.
fn run(file: &str, enabled: bool, answer: Reply) -> (Stage, String) {
    let stage = Stage::new();
    stage.home.settings(&json!({"tools": {"disableLLMCorrection": !enabled}}));
    stage.home.project_file(file, "fn total() {\n    sum(prices)\n}\n");
    let edit = json!({
        "file_path": file, "instruction": "count taxes too",
        "old_string": "return sum_of_all(the_prices_that_are_there);", "new_string": "    sum(prices) + taxes"
    });
    stage.server.stream(reply().call("replace", edit)).stream(reply().text("done"));
    stage.server.answer_with(Endpoint::GenerateContent, move |_| answer.clone());
    stage.yolo("go");
    let told = stage.response();
    (stage, told)
}

fn says(search: &str, done: bool) -> Reply {
    let value = json!({
        "search": search, "replace": "    sum(prices) + taxes", "noChangesRequired": done,
        "explanation": "The call has other words."
    });
    reply().text(value.to_string())
}

#[test]
fn a_mended_edit_is_made_and_told() {
    let (stage, told) = run("a.rs", true, says("    sum(prices)", false));
    assert!(told.starts_with("Successfully modified file: "), "{told}");
    let remark = "old_string did not match and was corrected by a model: The call has other words.";
    assert!(told.ends_with(remark), "{told}");
    assert_eq!(stage.home.read_project_file("a.rs"), "fn total() {\n    sum(prices) + taxes\n}\n");
    let asked = stage.server.requests_to(Endpoint::GenerateContent);
    assert_eq!(asked.len(), 1);
    let question = asked[0].last_parts()[0].to_string();
    for words in ["count taxes too", "sum_of_all", "0 occurrences found", "fn total()"] {
        assert!(question.contains(words), "{words}: {question}");
    }
}

#[test]
fn what_cannot_be_mended_fails_as_it_did_at_first() {
    let garbage = reply().text("no json");
    let table = [
        ("a.rs", true, says("nothing like this stands in the file", false), 1),
        ("a.rs", true, says("", false), 1),
        ("a.rs", true, garbage, 1),
        ("a.json", true, says("    sum(prices)", false), 0),
        ("a.rs", false, says("    sum(prices)", false), 0),
    ];
    for (file, enabled, answer, requests) in table {
        let (stage, told) = run(file, enabled, answer);
        assert!(told.starts_with("Failed to edit, 0 occurrences found"), "{told}");
        assert_eq!(stage.server.requests_to(Endpoint::GenerateContent).len(), requests);
        assert!(stage.home.read_project_file(file).contains("    sum(prices)\n"));
    }
}

#[test]
fn an_edit_that_is_made_already_is_told_as_such() {
    let (stage, told) = run("a.rs", true, says("", true));
    assert!(
        told.contains("already is as the change wants it: The call has other words."),
        "{told}"
    );
    assert!(stage.home.read_project_file("a.rs").contains("    sum(prices)\n"));
}
