//! Context files in a conversation: sent once, shown, reloaded, extended.

use std::fs;

use pollux_testkit::{CapturedRequest, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::line::Talk;
use super::stage::{Stage, texts};

fn system(request: &CapturedRequest) -> String {
    texts(&request.body["systemInstruction"]).concat()
}

fn words(request: &CapturedRequest) -> String {
    texts(request.contents().last().unwrap()).join("\n---\n")
}

#[test]
fn what_is_loaded_is_reported_with_its_origin() {
    let stage = Stage::with([
        reply().call("read_file", json!({"file_path": "sub/a.txt"})),
        reply().text("Read."),
    ]);
    stage.home.user_file("AGENTS.md", "Mine.");
    stage.home.project_file("GEMINI.md", "Project rule. @more.md").project_file("more.md", "More.");
    stage.home.project_file("sub/a.txt", "alpha").project_file("sub/GEMINI.md", "Sub rule.");
    let talk = Talk::start(stage, |program| program);
    talk.type_line("go");
    talk.wait_for_text("Read.");
    talk.wait_for_prompt();
    talk.type_line("/memory list");
    talk.wait_for_text("Subfolders:\n");
    talk.wait_for_prompt();
    talk.type_line("/memory");
    talk.wait_for_text("Sub rule.");
    talk.wait_for_prompt();
    talk.type_line("/memory lose");
    talk.wait_for_text("Usage: /memory list,");
    let transcript = talk.end().replace("\r\n", "\n");
    for reported in [
        "Global:\n  ",
        "/AGENTS.md (",
        " tokens)\nProject:\n  ",
        "--- Subfolders ---\n--- Context from: ",
    ] {
        assert!(transcript.contains(reported), "{reported:?} in {transcript}");
    }
    assert!(transcript.contains("<!-- Imported from: more.md -->\nMore.\n"), "{transcript}");
}

#[test]
fn what_has_changed_is_reported_with_the_next_prompt() {
    let stage = Stage::with([reply().text("One."), reply().text("Two."), reply().text("Three.")]);
    stage.home.user_file("GEMINI.md", "Mine.");
    stage.home.project_file("GEMINI.md", "Old rule.").project_file("AGENTS.md", "Lasting rule.");
    let talk = Talk::start(stage, |program| program);
    talk.type_line("one");
    talk.wait_for_text("One.");
    talk.wait_for_prompt();
    talk.stage.home.user_file("GEMINI.md", "Mine anew.");
    talk.stage.home.project_file("GEMINI.md", "New rule.");
    talk.type_line("/memory refresh");
    talk.wait_for_text("3 context files loaded,");
    talk.wait_for_prompt();
    talk.type_line("two");
    talk.wait_for_text("Two.");
    talk.wait_for_prompt();
    talk.type_line("three");
    talk.wait_for_text("Three.");
    let requests = talk.stage.requests();
    assert!(system(&requests[0]).contains("Mine.") && !system(&requests[0]).contains("anew"));
    assert!(system(&requests[1]).contains("Mine anew."));
    let reported = words(&requests[1]);
    assert!(
        reported.starts_with("<context_update>\n") && reported.ends_with("\n---\ntwo"),
        "{reported}"
    );
    assert!(reported.contains("New rule.") && !reported.contains("Lasting rule."), "{reported}");
    assert_eq!(words(&requests[2]), "three");
    assert_eq!(system(&requests[1]), system(&requests[2]));
    talk.end();
}

#[test]
fn a_fact_is_kept_and_reported_at_once() {
    let stage = Stage::with([reply().text("One.")]);
    stage.home.user_file("GEMINI.md", "# Mine\r\n");
    let talk = Talk::start(stage, |program| program);
    talk.type_line("/memory add   Likes   tea. ");
    talk.wait_for_text("Added to ");
    talk.wait_for_prompt();
    talk.type_line("one");
    talk.wait_for_text("One.");
    let kept = fs::read_to_string(talk.stage.home.gemini().join("GEMINI.md")).unwrap();
    assert_eq!(kept, "# Mine\r\n\r\n## Gemini Added Memories\r\n- Likes tea.\r\n");
    assert!(system(&talk.stage.requests()[0]).contains("- Likes tea."));
    talk.end();
}

#[test]
fn a_conversation_that_goes_on_is_not_reported_twice() {
    let call = reply().call("read_file", json!({"file_path": "sub/a.txt"}));
    let stage = Stage::with([call.clone(), reply().text("one"), call, reply().text("two")]);
    stage.home.project_file("sub/a.txt", "alpha").project_file("sub/GEMINI.md", "Sub rule.");
    stage.prompt("text", "go").assert_code(0);
    assert!(stage.response().contains("Sub rule."));
    stage.pollux(&["--resume", "latest", "-p", "again"]).run().assert_code(0);
    assert_eq!(stage.response(), "alpha");
}
