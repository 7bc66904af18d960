//! Commands about stored conversations: other sessions, saved and shared conversations, and the way
//! back to an earlier prompt.

use std::fs;

use pollux_testkit::{CapturedRequest, Endpoint, Key, ModelReply, Pollux, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::line::Talk;
use super::stage::{SOON, Stage, texts};

/// Command line of a hook that stores its input in the home directory.
const KEEP: &str = "cat >> \"$HOME/events\"; echo >> \"$HOME/events\"";

/// Model that answers each prompt by its text.
fn echo(request: &CapturedRequest) -> ModelReply {
    let content = request.contents().last().unwrap();
    reply().text(format!("Heard {}.", texts(content).last().unwrap()))
}

fn stage() -> Stage {
    let stage = Stage::new();
    stage.server.answer_with(Endpoint::StreamGenerateContent, echo);
    stage
}

/// Rows of the terminal: nothing leaves the screen.
const ROWS: u16 = 400;

fn talk() -> Talk {
    start(stage(), |program| program)
}

pub(super) fn start(stage: Stage, change: impl FnOnce(Pollux) -> Pollux) -> Talk {
    let terminal = change(stage.pollux(&[])).in_terminal(ROWS, 100);
    let talk = Talk { stage, terminal };
    talk.wait_for_text("Ctrl-D quits.");
    talk.wait_for_prompt();
    talk
}

impl Talk {
    /// Types a line, and waits for a text that it prints, and then for the next prompt.
    pub(super) fn say(&self, line: &str, expected: &str) {
        self.say_until(line, expected, |last| last.ends_with('>'));
    }

    /// Types a line, waits for a question with this text, and answers it.
    pub(super) fn say_and_answer(&self, line: &str, question: &str, answer: &str) {
        self.say_until(line, question, |last| last.starts_with("Choose 1-") && last.ends_with(':'));
        self.type_line(answer);
    }

    /// Types a line, and waits until one more `expected` is on the screen, and the last row is as
    /// wanted.
    fn say_until(&self, line: &str, expected: &str, is_last: impl Fn(&str) -> bool) {
        let before = self.terminal.screen().matches(expected).count();
        self.type_line(line);
        self.wait_for_more(expected, before, is_last);
    }

    pub(super) fn wait_for_more(
        &self,
        expected: &str,
        before: usize,
        is_last: impl Fn(&str) -> bool,
    ) {
        self.terminal.wait_for(
            |screen| {
                let text = screen.contents();
                let last = text.trim_end().lines().last().unwrap_or_default();
                text.matches(expected).count() > before && is_last(last)
            },
            SOON,
        );
    }

    /// Answers the question that is the last on the screen, and has this text.
    fn choose(&self, question: &str, answer: &str) {
        self.terminal.wait_for(
            |screen| {
                let text = screen.contents();
                let last = text.rsplit(question).next().filter(|_| text.contains(question));
                last.is_some_and(|rest| rest.trim_end().ends_with(':') && !rest.contains('>'))
            },
            SOON,
        );
        self.type_line(answer);
    }

    /// Waits for the end of the present command.
    pub(super) fn wait_for_end(&self, expected: &str) {
        self.wait_for_more(expected, 0, |last| last.ends_with('>'));
    }

    /// Waits for the end of the present command, which has put a text into the input.
    fn wait_for_input(&self, expected: &str, input: &str) {
        let end = format!("> {input}");
        self.wait_for_more(expected, 0, |last| last.ends_with(&end));
    }

    /// Returns the prompts and answers of the last request, without its context.
    pub(super) fn last_conversation(&self) -> Vec<String> {
        let contents = self.stage.server.last_request().contents().to_vec();
        let texts = contents.iter().flat_map(texts).map(str::to_owned);
        texts.filter(|text| !text.starts_with("<session_context>")).collect()
    }
}

/// Returns all text of the session files.
fn recorded(stage: &Stage) -> String {
    let files = stage.session_files().into_iter();
    files.map(|file| fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn clear_begins_a_session_and_keeps_the_one_before() {
    let hook = json!([{"hooks": [{"type": "command", "command": KEEP}]}]);
    let stage = stage();
    stage.home.settings(&json!({"hooks": {"SessionStart": hook, "SessionEnd": hook}}));
    let talk = start(stage, |program| program);
    talk.say("one", "Heard one.");
    talk.type_line("/clear");
    // Typed before the next session is open: it is a prompt of that session.
    talk.type_line("two");
    talk.wait_for_text("To resume this session: pollux --resume ");
    talk.wait_for_end("Heard two.");
    assert_eq!(talk.last_conversation(), ["two"]);
    let (stage, _) = talk.leave();
    assert_eq!(stage.session_files().len(), 2);
    let text = fs::read_to_string(stage.home.home().join("events")).unwrap();
    let events: Vec<Value> = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |event: &Value| {
        let why = event["source"].as_str().or(event["reason"].as_str()).unwrap();
        (event["hook_event_name"].as_str().unwrap().to_owned(), why.to_owned())
    };
    let named = |name: &str, why: &str| (name.to_owned(), why.to_owned());
    let expected = [
        named("SessionStart", "startup"),
        named("SessionEnd", "clear"),
        named("SessionStart", "clear"),
        named("SessionEnd", "exit"),
    ];
    assert_eq!(events.iter().map(of).collect::<Vec<_>>(), expected);
    assert_ne!(events[1]["session_id"], events[2]["session_id"]);
    assert_eq!(events[0]["session_id"], events[1]["session_id"]);
    let run = stage.pollux(&["--list-sessions"]).run();
    assert!(run.stdout_text().contains("(2):"), "{}", run.report());
}

#[test]
fn another_session_is_chosen_from_the_list_and_both_go_on() {
    let stage = stage();
    stage.prompt("text", "apples").assert_code(0);
    stage.prompt("text", "pears").assert_code(0);
    let talk = start(stage, |program| program);
    talk.say("plums", "Heard plums.");
    talk.say_and_answer("/resume", "(3), the newest first.", "3");
    talk.wait_for_end("  > apples\n  Heard apples.");
    talk.wait_for_text("1. plums (Just now, messages: 2, current)");
    talk.wait_for_text("  4. Stay in this session");
    talk.wait_for_text("Resumed session ");
    talk.say("more", "Heard more.");
    assert_eq!(talk.last_conversation(), ["apples", "Heard apples.", "more"]);
    // A text that only one session contains still shows the list.
    talk.say_and_answer("/chat PEAR", "(1), the newest first.", "1");
    talk.wait_for_end("  > pears\n  Heard pears.");
    talk.say("/resume 3", "  > plums\n  Heard plums.");
    talk.say("last", "Heard last.");
    assert_eq!(talk.last_conversation(), ["plums", "Heard plums.", "last"]);
    talk.say("/resume 3", "This session is open already.");
    talk.say("/resume nothing like it", "No session of this project contains");
    talk.say_and_answer("/resume", "the newest first.", "n");
    talk.wait_for_end("Choose 1-4: n");
    let (stage, _) = talk.leave();
    assert_eq!(stage.session_files().len(), 3, "no session was copied");
}

#[test]
fn a_session_of_another_process_is_not_taken() {
    let stage = stage();
    stage.prompt("text", "apples").assert_code(0);
    let other = start(stage, |program| program.args(["--resume"]));
    other.wait_for_text("Resumed session ");
    let terminal = other.stage.pollux(&[]).in_terminal(40, 100);
    terminal.wait_for_text("Ctrl-D quits.", SOON);
    terminal.send("/resume apples\r");
    terminal.wait_for_text("Choose 1-", SOON);
    terminal.send("1\r");
    terminal.wait_for_text("is open in another process", SOON);
    terminal.send("still here\r");
    terminal.wait_for_text("Heard still here.", SOON);
    drop(terminal);
    other.end();
}

#[test]
fn a_conversation_is_saved_resumed_and_deleted_under_a_tag() {
    let talk = talk();
    talk.say("/chat save", "Error: Missing tag. Usage: /chat save TAG");
    talk.say("/chat list", "No saved conversations.");
    talk.say("/chat save early", "Error: No conversation found to save.");
    talk.say("one", "Heard one.");
    talk.say("/chat save a/../b c", "Conversation checkpoint saved with tag: a/../b c.");
    let state = talk.stage.project_temporary();
    let path = state.join("checkpoint-a%2F..%2Fb%20c.json");
    let saved: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(texts(&saved["history"][0])[1], "one");
    assert_eq!(saved["history"][1], json!({"role": "model", "parts": [{"text": "Heard one."}]}));

    talk.say("two", "Heard two.");
    talk.say_and_answer("/resume save a/../b c", "Do you want to overwrite it?", "n");
    talk.wait_for_end("Choose 1-2: n");
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{saved:#}"), "it was not replaced");
    talk.say("/chat list", "the newest last:\n  - a/../b c (2");
    talk.terminal.send("/chat resume \t");
    talk.wait_for_text("/chat resume a/../b c");
    talk.type_line("");
    talk.wait_for_end("  > one\n  Heard one.");
    talk.wait_for_text("Resumed session ");
    talk.say("three", "Heard three.");
    assert_eq!(talk.last_conversation(), ["one", "Heard one.", "three"]);

    talk.say("/chat resume nosuch", "Error: No checkpoint found with tag 'nosuch'.");
    talk.say_and_answer("/chat checkpoints delete a/../b c", "Delete the saved conversation", "n");
    talk.wait_for_more("Choose 1-2: n", 1, |last| last.ends_with('>'));
    talk.say("/chat list", "the newest last:\n  - a/../b c (2");
    assert!(path.exists());
    talk.say_and_answer("/chat delete a/../b c", "Delete the saved conversation", "y");
    talk.wait_for_end("Conversation checkpoint 'a/../b c' has been deleted.");
    assert!(!path.exists());
    let (stage, _) = talk.leave();
    let recorded = recorded(&stage);
    for text in ["Heard one.", "Heard two.", "Heard three."] {
        assert!(recorded.contains(text), "{text}");
    }
}

#[test]
fn a_hostile_saved_conversation_changes_nothing() {
    let talk = talk();
    let state = talk.stage.project_temporary();
    for (tag, text) in [("a", "[1, 2"), ("b", "{\"history\": []}"), ("c", "\u{0}\u{0}")] {
        fs::write(state.join(format!("checkpoint-{tag}.json")), text).unwrap();
        talk.say(&format!("/chat resume {tag}"), "File not found or invalid format");
        talk.say(&format!("hello {tag}"), &format!("Heard hello {tag}."));
        talk.say("/clear", "To resume this session");
    }
    talk.end();
}

#[test]
fn a_conversation_is_shared_and_exported() {
    let talk = talk();
    let project = talk.stage.home.project();
    talk.say("one", "Heard one.");
    talk.say("/chat share a.txt", "Error: Invalid file format. Only .md and .json are supported.");
    talk.say("/chat share ../a.md", "is not a place in the workspace.");
    talk.say("/chat share notes/a.md", "Conversation shared to ");
    let text = fs::read_to_string(project.join("notes/a.md")).unwrap();
    assert!(text.ends_with("one\n\n---\n\n## MODEL ✨\n\nHeard one.\n"), "{text}");
    talk.say("/chat share a.json", "Conversation shared to ");
    let shared: Value =
        serde_json::from_str(&fs::read_to_string(project.join("a.json")).unwrap()).unwrap();
    assert_eq!(texts(&shared[1]), ["Heard one."]);

    talk.say("/export-session", "Error: Usage: /export-session FILE");
    let elsewhere = talk.stage.home.root().join("e.json");
    talk.say(&format!("/export-session {}", elsewhere.display()), "Successfully exported session");
    let exported = fs::read_to_string(&elsewhere).unwrap();
    talk.say_and_answer("/export-session a.json", "a.json exists. Replace it?", "n");
    talk.wait_for_end("Choose 1-2: n");
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(project.join("a.json")).unwrap()).unwrap();
    assert_eq!(kept, shared);
    let (stage, _) = talk.leave();

    let exported: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(exported["kind"], "main");
    let kinds = exported["messages"].as_array().unwrap().iter();
    assert_eq!(
        kinds.map(|one| one["type"].as_str().unwrap()).collect::<Vec<_>>(),
        ["user", "user", "gemini"]
    );
    for file in [elsewhere, project.join("a.json")] {
        let file = file.to_str().unwrap();
        let run = stage.pollux(&["--session-file", file, "-p", "again"]).run();
        run.assert_code(0);
        let contents = stage.server.last_request().contents().to_vec();
        assert_eq!(texts(&contents[1]), ["Heard one."], "{file}");
    }
}

#[test]
fn quit_can_delete_the_session() {
    let stage = stage();
    stage.prompt("text", "stays").assert_code(0);
    let talk = start(stage, |program| program);
    talk.say("goes", "Heard goes.");
    assert_eq!(talk.stage.session_files().len(), 2);
    talk.say("/quit --all", "Error: Usage: /quit, or /quit --delete");
    talk.type_line("/quit --delete");
    let stage = talk.over();
    assert!(recorded(&stage).contains("stays") && !recorded(&stage).contains("goes"));
    assert_eq!(stage.session_files().len(), 1);
}

/// Model that writes a file for a prompt such as `write TEXT`.
fn writer(request: &CapturedRequest) -> ModelReply {
    let said = texts(request.contents().last().unwrap());
    match said.last().and_then(|said| said.strip_prefix("write ")) {
        Some(text) => {
            let args = json!({"file_path": "a.txt", "content": format!("{text}\n")});
            reply().call("write_file", args)
        }
        None if request.last_parts().iter().any(|part| part.get("functionResponse").is_some()) => {
            reply().text("Written.")
        }
        None => echo(request),
    }
}

#[test]
fn rewinding_takes_back_messages_and_files_as_wanted() {
    let stage = Stage::new();
    stage.server.answer_with(Endpoint::StreamGenerateContent, writer);
    let talk = start(stage, |program| program.args(["--approval-mode", "auto_edit"]));
    let file = talk.stage.home.project().join("a.txt");
    talk.say("/rewind", "Nothing to rewind to.");
    talk.say("zero", "Heard zero.");
    talk.say("write one", "Written.");
    talk.say("write two", "Written.");
    talk.say("three", "Heard three.");
    talk.say_and_answer("/rewind", "before which prompt?", "2");
    talk.wait_for_text(
        "  1. three\n  2. write two (files changed since: 1)\n  3. write one (files changed since: 1)\n  \
         4. zero (files changed since: 1)\n  5. Stay at the current position",
    );
    talk.choose("Confirm Rewind: write two", "1");
    talk.wait_for_input("The conversation continues before: write two", "write two");
    talk.wait_for_text("  4. Do nothing");
    talk.wait_for_text("Reverted:\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\n");
    talk.terminal.send_key(Key::Ctrl('u'));
    talk.say("four", "Heard four.");
    let said = talk.last_conversation();
    assert_eq!(said, ["zero", "Heard zero.", "write one", "Written.", "four"]);

    // What the user has written since is not lost.
    fs::write(&file, "mine\n").unwrap();
    talk.say_and_answer("/rewind", "before which prompt?", "2");
    talk.choose("Confirm Rewind: write one", "3");
    talk.wait_for_end("Not reverted, because something else has changed them since:");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");

    fs::write(&file, "one\n").unwrap();
    talk.say_and_answer("/rewind", "before which prompt?", "2");
    talk.choose("Confirm Rewind: write one", "1");
    talk.wait_for_input("The conversation continues before: write one", "write one");
    assert!(!file.exists(), "the file did not exist before");
    talk.say(" again", "Written.");
    assert_eq!(fs::read_to_string(&file).unwrap(), "one again\n");
    let (stage, _) = talk.leave();
    let recorded = recorded(&stage);
    for text in ["Heard three.", "Heard four.", "two\\n"] {
        assert!(recorded.contains(text), "{text} is still in the file");
    }
    let run = stage.pollux(&["-r", "latest", "-p", "end"]).run();
    run.assert_code(0);
    let contents = stage.server.last_request().contents().to_vec();
    assert_eq!(texts(&contents[1]), ["Heard zero."]);
    assert_eq!(texts(&contents[2]), ["write one again"]);
}

#[test]
fn a_report_has_an_address_and_the_conversation() {
    let stage = stage();
    let template = "https://bugs.example/new?t={title}&i={info}";
    stage.home.settings(&json!({"advanced": {"bugCommand": {"urlTemplate": template}}}));
    let talk = start(stage, |program| program);
    talk.say("/bug it fails", "https://bugs.example/new?t=it%20fails&i=%2A%20%2A%2AVersion");
    talk.say("one", "Heard one.");
    talk.say("/bug", "it contains everything");
    let (stage, _) = talk.leave();
    let files = fs::read_dir(stage.project_temporary()).unwrap();
    let reports: Vec<_> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.to_str().unwrap().contains("bug-report-history-"))
        .collect();
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert!(fs::read_to_string(report).unwrap().contains("Heard one."));
}
