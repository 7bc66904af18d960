//! Compression: a conversation that has become too long continues in a shorter form, without data
//! loss.

use pollux_testkit::{Endpoint, ModelReply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{MODEL, Stage, texts};

/// More than half of the model's context window, in tokens.
const MUCH: u64 = 600_000;

const SNAPSHOT: &str = "<scratchpad>hm</scratchpad><state_snapshot><overall_goal>Mend it.</overall_goal></state_snapshot>";
const CHECKED: &str =
    "<state_snapshot><overall_goal>Mend all of it.</overall_goal></state_snapshot>";

const PROMPT: &str = "Never touch db/. Read the files.";

/// Creates a stage whose model reads files and then fills half of its context window; `rest` are
/// its further replies.
fn full(rest: impl IntoIterator<Item = ModelReply>) -> Stage {
    let stage = Stage::new();
    for name in ["a", "b", "c"] {
        stage.home.project_file(&format!("{name}.txt"), format!("the words of {name}\n"));
    }
    let read = |name: &str| json!({"file_path": format!("{name}.txt")});
    stage.server.stream(reply().text("First.").call("read_file", read("a")).usage(1000, 9));
    stage.server.stream(reply().text("Second.").call("read_file", read("b")).usage(2000, 9));
    stage.server.stream(reply().text("Third.").call("read_file", read("c")).usage(MUCH, 9));
    for reply in rest {
        stage.server.stream(reply);
    }
    stage
}

fn contents(stage: &Stage) -> Vec<Value> {
    stage.requests().pop().unwrap().contents().to_vec()
}

fn all_text(contents: &[Value]) -> String {
    contents.iter().flat_map(texts).collect::<Vec<_>>().join("\n")
}

#[test]
fn at_half_of_the_context_a_summary_takes_the_place_of_what_was_said() {
    let stage = full([reply().text("done").usage(3000, 5)]);
    stage.server.generate(reply().text(SNAPSHOT));
    stage.server.generate(reply().text(CHECKED));
    let run = stage.pollux(&["-y", "-o", "json", "-p", PROMPT]).run();
    run.assert_code(0);
    assert_eq!(run.json()["response"], "done");

    let asked = stage.server.requests_to(Endpoint::GenerateContent);
    let [summary, check] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((summary.model(), check.model()), (Some(MODEL), Some(MODEL)));
    let system = all_text(std::slice::from_ref(&summary.body["systemInstruction"]));
    for words in
        ["is data", "<scratchpad>", "<state_snapshot>", "<active_constraints>", "do not call tools"]
    {
        assert!(system.contains(words), "{words}: {system}");
    }
    assert!(summary.declared_tools().is_empty());
    assert!(all_text(summary.contents()).contains(PROMPT));
    // The second request appends its question to the first answer.
    assert_eq!(check.contents().len(), summary.contents().len() + 2);
    assert_eq!(texts(&check.contents()[check.contents().len() - 2]), [SNAPSHOT]);

    let contents = contents(&stage);
    let reported = all_text(&contents);
    assert!(
        reported.contains("<session_context>") && reported.contains("Mend all of it."),
        "{reported}"
    );
    assert!(reported.contains(">Never touch db/. Read the files.</prompt>"), "{reported}");
    assert!(reported.contains(">read a.txt (sha256 55fce7bdb393)</did>"), "{reported}");
    assert!(!reported.contains("First.") && reported.contains("Third."), "{reported}");
    // The latest call keeps its result.
    let last = contents.last().unwrap();
    let words = last["parts"][0]["functionResponse"]["response"]["output"].as_str().unwrap();
    assert!(words.contains("the words of c"));

    let stats = &run.json()["stats"]["models"][MODEL];
    assert_eq!(stats["api"]["totalRequests"], 6);
    assert_eq!(stats["roles"]["utility_compressor"]["totalRequests"], 2, "{stats}");
    let reported = run.stderr_text();
    let line = reported.lines().find(|line| line.contains("Chat history compressed")).unwrap();
    assert!(line.starts_with(&format!("[INFO] Chat history compressed from {MUCH} to ")), "{line}");
    assert!(line.contains("Kept verbatim: prompts (1); listed: actions ("), "{line}");
}

#[test]
fn open_todos_and_the_approved_plan_outlast_a_summary_that_forgets_them() {
    let plan = "# Goal\n\n1. Mend `a`;  then  b.\n</approved_plan>\n";
    let stage = Stage::with([
        reply().call("write_file", json!({"file_path": "plan.md", "content": plan})),
        reply().call("exit_plan_mode", json!({"plan_filename": "plan.md"})),
        reply().text("planned"),
    ]);
    stage.pollux(&["--approval-mode", "plan", "-p", "plan it"]).run().assert_code(0);
    let todo = |status: &str, words: &str| json!({"description": words, "status": status});
    let todos = [todo("completed", "look"), todo("in_progress", "mend a"), todo("pending", "b!")];
    let path = json!({"file_path": "a.txt"});
    stage.home.project_file("a.txt", "the words of a\n");
    stage.server.stream(reply().call("write_todos", json!({"todos": todos})).usage(1000, 9));
    for number in [1, 2, 3] {
        let call = reply().text(format!("Step {number}.")).call("read_file", path.clone());
        stage.server.stream(call.usage(if number == 3 { MUCH } else { 1000 }, 9));
    }
    stage.server.stream(reply().text("done").usage(3000, 5));
    stage.server.generate(reply().text(SNAPSHOT)).generate(reply().text(CHECKED));
    stage.pollux(&["-y", "--resume", "latest", "-p", "do it"]).run().assert_code(0);
    let contents = contents(&stage);
    let reported = all_text(&contents);
    assert!(reported.contains("Mend all of it.") && !reported.contains("Step 1."), "{reported}");
    let parts = contents.iter().flat_map(|content| content["parts"].as_array().unwrap());
    let mut calls = parts.filter_map(|part| part["functionCall"]["name"].as_str());
    assert!(calls.all(|name| name == "read_file"), "the list itself is still there");
    let (_, list) = reported.split_once("<open_todos>\n").unwrap();
    let (list, _) = list.split_once("</open_todos>").unwrap();
    let expected =
        "<todo bytes=\"20\">[in_progress] mend a</todo>\n<todo bytes=\"12\">[pending] b!</todo>\n";
    assert_eq!(list, expected);
    let (_, kept) = reported.split_once("<approved_plan>\n").unwrap();
    let (named, kept) = kept.split_once('\n').unwrap();
    assert!(named.ends_with("/plans/plan.md"), "{named}");
    assert!(kept.starts_with(plan), "{kept}");
}
