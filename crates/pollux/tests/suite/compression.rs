//! A conversation that has become too long goes on, shorter; nothing of it is lost.

use std::time::{Duration, Instant};

use pollux_testkit::{Endpoint, Finished, Reply, Signal, errors, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{MODEL, Stage, texts};

/// More than half of what the model takes.
const MUCH: u64 = 600_000;

const SNAPSHOT: &str = "<scratchpad>hm</scratchpad><state_snapshot><overall_goal>Mend it.</overall_goal></state_snapshot>";
const CHECKED: &str =
    "<state_snapshot><overall_goal>Mend all of it.</overall_goal></state_snapshot>";

const PROMPT: &str = "Never touch db/. Read the files.";

/// A stage whose model reads files and is then at half of what it takes; `rest` is what it says from then on.
fn full(rest: impl IntoIterator<Item = Reply>) -> Stage {
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

/// Without what only calls of the turn at work have.
fn unsigned(mut contents: Vec<Value>) -> Vec<Value> {
    let parts = contents.iter_mut().flat_map(|content| content["parts"].as_array_mut().unwrap());
    parts.for_each(|part| drop(part.as_object_mut().unwrap().remove("thoughtSignature")));
    contents
}

fn compressed_lines(stage: &Stage) -> Vec<Value> {
    let lines = stage.session_lines().into_iter();
    lines.filter_map(|line| line["$pollux"].get("compressed").cloned()).collect()
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
        ["is data", "<scratchpad>", "<state_snapshot>", "<active_constraints>", "call no tools"]
    {
        assert!(system.contains(words), "{words}: {system}");
    }
    assert!(summary.declared_tools().is_empty());
    assert!(all_text(summary.contents()).contains(PROMPT));
    // The second question is asked behind the first answer.
    assert_eq!(check.contents().len(), summary.contents().len() + 2);
    assert_eq!(texts(&check.contents()[check.contents().len() - 2]), [SNAPSHOT]);

    let contents = contents(&stage);
    let told = all_text(&contents);
    assert!(told.contains("<session_context>") && told.contains("Mend all of it."), "{told}");
    assert!(told.contains(">Never touch db/. Read the files.</prompt>"), "{told}");
    assert!(told.contains(">read a.txt (sha256 55fce7bdb393)</did>"), "{told}");
    assert!(!told.contains("First.") && told.contains("Third."), "{told}");
    // The latest call keeps its result.
    let last = contents.last().unwrap();
    let words = last["parts"][0]["functionResponse"]["response"]["output"].as_str().unwrap();
    assert!(words.contains("the words of c"));

    let stats = &run.json()["stats"]["models"][MODEL];
    assert_eq!(stats["api"]["totalRequests"], 6);
    assert_eq!(stats["roles"]["utility_compressor"]["totalRequests"], 2, "{stats}");
    let told = run.stderr_text();
    let line = told.lines().find(|line| line.contains("Chat history compressed")).unwrap();
    assert!(line.starts_with(&format!("[INFO] Chat history compressed from {MUCH} to ")), "{line}");
    assert!(line.contains("Kept word for word: prompts (1); listed: deeds ("), "{line}");
}

#[test]
fn what_is_compressed_stays_so_when_the_session_goes_on_and_the_log_keeps_all() {
    let stage = full([reply().text("done").usage(3000, 5)]);
    stage.server.generate(reply().text(SNAPSHOT)).generate(reply().text("All is well."));
    stage.yolo(PROMPT);
    let before = unsigned(contents(&stage));
    assert_eq!(compressed_lines(&stage).len(), 1);
    let log = std::fs::read_to_string(stage.session_file()).unwrap();
    assert!(log.contains("First.") && log.contains("the words of a"));
    // What is told of a file is how it stood then.
    stage.home.project_file("a.txt", "other words\n");
    stage.server.stream(reply().text("again"));
    stage.pollux(&["-y", "--resume", "latest", "-p", "go on"]).run().assert_code(0);
    let after = unsigned(contents(&stage));
    assert_eq!(after[..before.len()], before[..]);
    assert!(all_text(&after).contains("read a.txt (sha256 55fce7bdb393)"));
    assert!(
        all_text(&after).contains("Mend it."),
        "what only says that all is well is no snapshot"
    );
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
    let told = all_text(&contents);
    assert!(told.contains("Mend all of it.") && !told.contains("Step 1."), "{told}");
    let parts = contents.iter().flat_map(|content| content["parts"].as_array().unwrap());
    let mut calls = parts.filter_map(|part| part["functionCall"]["name"].as_str());
    assert!(calls.all(|name| name == "read_file"), "the list itself is still there");
    let (_, list) = told.split_once("<open_todos>\n").unwrap();
    let (list, _) = list.split_once("</open_todos>").unwrap();
    let expected =
        "<todo bytes=\"20\">[in_progress] mend a</todo>\n<todo bytes=\"12\">[pending] b!</todo>\n";
    assert_eq!(list, expected);
    let (_, kept) = told.split_once("<approved_plan>\n").unwrap();
    let (named, kept) = kept.split_once('\n').unwrap();
    assert!(named.ends_with("/plans/plan.md"), "{named}");
    assert!(kept.starts_with(plan), "{kept}");
}

/// Runs with this answer to the question for a summary, and expects that the work is done all the same.
fn goes_on(summary: impl Fn(&Stage), settings: &Value) -> (Stage, Finished) {
    let stage = full([reply().text("done").usage(3000, 5)]);
    stage.home.settings(settings);
    summary(&stage);
    let run = stage.pollux(&["-y", "-p", PROMPT]).env("POLLUX_RETRY_BASE_MS", "1").run();
    run.assert_code(0);
    assert_eq!(run.stdout_text().lines().last(), Some("done"));
    assert_eq!(compressed_lines(&stage).len(), 0, "there was nothing to make shorter");
    assert!(all_text(&contents(&stage)).contains("First."));
    (stage, run)
}

#[test]
fn a_summary_that_cannot_be_had_ends_nothing() {
    let quick = json!({"pollux": {"compression": {"timeout": 1}}, "general": {"maxAttempts": 1}});
    let table: [(Reply, &str); 6] = [
        (reply().text(""), "The model gave no summary."),
        (reply().text("<scratchpad>only thoughts"), "The model gave no summary."),
        (reply().call("read_file", json!({"file_path": "a.txt"})), "The model gave no summary."),
        (errors::bad_request("no such thing"), "no such thing"),
        (reply().garbage(), ""),
        (reply().never_answer(), "No answer came within 1 s."),
    ];
    for (summary, why) in table {
        let (_stage, run) = goes_on(|stage| _ = stage.server.generate(summary.clone()), &quick);
        let told = run.stderr_text();
        let line = told.lines().find(|line| line.contains("could not be compressed:"));
        let line = line.unwrap_or_else(|| panic!("{why}: {told}"));
        assert!(line.starts_with("[WARNING] ") && line.contains(why), "{why}: {line}");
    }
}

#[test]
fn a_summary_longer_than_the_conversation_is_not_taken() {
    let long = format!("<state_snapshot>{}</state_snapshot>", "more and more ".repeat(250_000));
    let answer = move |stage: &Stage| {
        let long = long.clone();
        stage.server.answer_with(Endpoint::GenerateContent, move |_| reply().text(long.clone()));
    };
    let (_stage, run) = goes_on(answer, &json!({}));
    assert!(run.stderr_text().contains("The summary is longer than the conversation."));
}

/// A run that comes to its limit with these words and calls of each turn, and has no summary.
fn shortened_here(words: &str, lines: usize) -> (Stage, String) {
    let stage = Stage::new();
    // Nothing is masked otherwise.
    let masking = json!({"outputMasking": {"protectionThresholdTokens": 9e9}});
    stage.home.settings(&json!({
        "contextManagement": {"tools": masking},
        "model": {"disableLoopDetection": true},
    }));
    let line = "some words of a file that is long\n";
    let read = |name: &str| json!({"file_path": format!("{name}.txt")});
    for name in ["a", "b", "c"] {
        stage.home.project_file(&format!("{name}.txt"), format!("{name}\n{}", line.repeat(lines)));
    }
    for name in ["a", "b", "c", "a", "c"] {
        let said = format!("Look at {name}. {words}");
        stage.server.stream(reply().text(said).call("read_file", read(name)).usage(100, 9));
    }
    stage
        .server
        .stream(reply().text("Once more.").call("read_file", read("b")).usage(1_040_000, 9));
    stage.server.stream(reply().text("done").usage(3000, 5));
    stage.server.generate(errors::bad_request("no"));
    let run = stage.yolo(PROMPT);
    let told = run.stderr_text();
    let line = told.lines().find(|line| line.contains("could not be summarised"));
    let line = line.unwrap_or_else(|| panic!("{told}")).to_owned();
    assert_eq!(compressed_lines(&stage).len(), 1);
    assert!(all_text(&contents(&stage)).contains("Once more."));
    (stage, line)
}

#[test]
fn without_a_summary_old_results_become_short() {
    let (stage, line) = shortened_here("", 1900);
    assert!(
        line.contains("Results of tools became short: ") && !line.contains("left out"),
        "{line}"
    );
    let contents = contents(&stage);
    assert!(all_text(&contents).contains("Look at a."));
    let answer = &contents[2]["parts"][0]["functionResponse"]["response"]["output"];
    let answer = answer.as_str().unwrap();
    let (_, named) = answer.split_once("Full output available at: ").unwrap();
    let whole = std::fs::read_to_string(named.lines().next().unwrap()).unwrap();
    assert!(whole.starts_with("a\n"), "{whole:.80}");
    // The session goes on with what is short.
    stage.server.stream(reply().text("again"));
    stage.pollux(&["-y", "--resume", "latest", "-p", "go on"]).run().assert_code(0);
    let resumed = stage.requests().pop().unwrap();
    let again = &resumed.contents()[2]["parts"][0]["functionResponse"]["response"]["output"];
    assert_eq!(again.as_str().unwrap(), answer);
}

#[test]
fn without_a_summary_the_oldest_messages_go_where_they_must() {
    let (stage, line) = shortened_here(&"A long thought. ".repeat(8000), 1);
    assert!(
        line.contains("The oldest messages are left out (")
            && line.contains("Kept word for word: prompts (1)"),
        "{line}"
    );
    let text = all_text(&contents(&stage));
    assert!(text.contains(">Never touch db/. Read the files.</prompt>"), "{text:.4000}");
    assert!(
        text.contains("could not be summarised and is left out") && text.contains("read a.txt")
    );
    assert!(!text.contains("Look at b."));
}

#[test]
fn a_conversation_that_the_model_refuses_is_made_shorter_until_it_takes_it() {
    let refusal =
        "The input token count (1148577) exceeds the maximum number of tokens allowed (1048576).";
    for works in [true, false] {
        let stage = Stage::new();
        let read = |name: &str| json!({"file_path": name});
        stage.home.project_file("a.txt", "a\n".repeat(1500));
        for _ in 0..5 {
            stage
                .server
                .stream(reply().text("Look.").call("read_file", read("a.txt")).usage(100, 9));
        }
        stage.server.stream(errors::bad_request(refusal));
        if works {
            stage.server.stream(errors::bad_request(refusal));
        }
        stage.server.stream(reply().text("done"));
        stage.server.answer_with(Endpoint::GenerateContent, move |_| {
            if works { reply().text(CHECKED) } else { errors::bad_request("no") }
        });
        let run = stage.yolo(PROMPT);
        assert_eq!(run.stdout_text().lines().last(), Some("done"), "{}", run.report());
        assert!(all_text(&contents(&stage)).contains("Never touch db/."));
        stage.server.assert_script_done();
    }
}

#[test]
fn a_cancel_leaves_everything_as_it_was() {
    let stage = full([]);
    stage.server.generate(reply().never_answer());
    let running = stage.pollux(&["-y", "-p", PROMPT]).spawn();
    let began = Instant::now();
    while stage.server.requests_to(Endpoint::GenerateContent).is_empty() {
        assert!(began.elapsed() < Duration::from_mins(1), "no summary was asked for");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::INT);
    let run = running.wait();
    run.assert_code(130);
    assert_eq!(compressed_lines(&stage).len(), 0);
    stage.server.stream(reply().text("done"));
    stage.pollux(&["-y", "--resume", "latest", "-p", "go on"]).run().assert_code(0);
    assert!(all_text(&contents(&stage)).contains("First."));
}

#[test]
fn a_constraint_survives_twenty_compressions() {
    let stage = Stage::new();
    stage.home.settings(&json!({"model": {"compressionThreshold": 0.1}}));
    stage.home.project_file("a.txt", "a\n");
    let mut asked = 0;
    let limit = 46;
    stage.server.answer_with(Endpoint::GenerateContent, |_| reply().text("Some work was done."));
    let count = std::sync::atomic::AtomicUsize::new(0);
    stage.server.answer_with(Endpoint::StreamGenerateContent, move |_| {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if number >= limit {
            return reply().text("done").usage(10, 1);
        }
        // Full and empty by turns, as conversations are that are compressed.
        let tokens = if number % 2 == 1 { 200_000 } else { 1000 };
        let path = json!({"file_path": format!("{number}.txt"), "content": "x"});
        reply().text(format!("Step {number}.")).call("write_file", path).usage(tokens, 9)
    });
    stage.yolo(PROMPT);
    for _ in compressed_lines(&stage) {
        asked += 1;
    }
    assert!(asked >= 20, "{asked}");
    let text = all_text(&contents(&stage));
    assert_eq!(text.matches(">Never touch db/. Read the files.</prompt>").count(), 1, "{text}");
    assert!(text.contains("changed 0.txt") && text.contains("changed 40.txt"), "{text}");
    assert!(!text.contains("Step 20."));
}

#[test]
fn results_for_which_there_is_no_room_become_short_and_the_work_goes_on() {
    let stage = Stage::new();
    let words = "some words of a file\n".repeat(400);
    stage.home.project_file("a.txt", words);
    let path = json!({"file_path": "a.txt"});
    stage.server.stream(reply().call("read_file", path).usage(255_500, 10));
    stage.server.stream(reply().text("done").usage(1000, 5));
    stage.server.generate(reply().text(SNAPSHOT)).generate(reply().text(CHECKED));
    let run = stage.program().args(["-m", "gemma-4-31b-it", "-y", "-p", PROMPT]).run();
    run.assert_code(0);
    let contents = contents(&stage);
    let last = &contents.last().unwrap()["parts"][0]["functionResponse"]["response"]["output"];
    assert!(last.as_str().unwrap().starts_with("<tool_output_masked>"), "{last}");
    stage.server.take_failures();
}
