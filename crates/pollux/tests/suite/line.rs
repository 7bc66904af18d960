//! Line mode at a terminal.

use std::time::{Duration, Instant};

use pollux_testkit::{
    Key, ModelReply, ModelServer, Pollux, ReplyGate, Signal, Terminal, errors, reply, timed_test,
};
use rustix::process::Pid;
use serde_json::json;

use super::stage::{MODEL, Stage, is_alive, texts, wait_until};

/// Timeout for all steps whose time is not measured.
const SOON: Duration = Duration::from_secs(10);

/// A conversation that has printed its greeting.
pub(super) struct Talk {
    pub(super) stage: Stage,
    pub(super) terminal: Terminal,
}

impl Talk {
    /// Stops the work with Ctrl-C, checks that this takes no time, and sends another prompt, whose
    /// answer is `answer`.
    pub(super) fn interrupt_and_go_on(self, answer: &str) {
        let _alone = timed_test();
        let asked = Instant::now();
        self.terminal.send_key(Key::Ctrl('c'));
        self.wait_for_text("Request cancelled.");
        // The documented promise is a time, here with a margin for a busy machine.
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(3), "took {took:?}");
        self.wait_for_prompt();
        self.type_line("again");
        self.wait_for_text(answer);
        self.end();
    }

    pub(super) fn with(replies: impl IntoIterator<Item = ModelReply>) -> Self {
        Self::start(Stage::with(replies), |program| program)
    }

    pub(super) fn start(stage: Stage, change: impl FnOnce(Pollux) -> Pollux) -> Self {
        let terminal = change(stage.pollux(&[])).in_terminal(40, 100);
        let talk = Self { stage, terminal };
        talk.wait_for_text("Ctrl-D quits.");
        talk.wait_for_prompt();
        talk
    }

    pub(super) fn wait_for_text(&self, text: &str) {
        self.terminal.wait_for_text(text, SOON);
    }

    /// Waits until the last line on the screen is an empty prompt, with any model and mode.
    pub(super) fn wait_for_prompt(&self) {
        self.terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
    }

    pub(super) fn type_line(&self, line: &str) {
        self.terminal.send(line);
        self.terminal.send_key(Key::Enter);
    }

    /// Ends a conversation whose input had several rows, among which the cursor moved.
    pub(super) fn quit(self) {
        self.terminal.send_key(Key::Ctrl('d'));
        self.over();
    }

    /// Ends the conversation and returns the whole output.
    pub(super) fn end(self) -> String {
        self.leave().1
    }

    /// Waits for the end of a conversation that was asked to end.
    pub(super) fn over(mut self) -> Stage {
        let code = self.terminal.wait_exit(SOON).exit_code();
        assert_eq!(code, 0, "{}", self.terminal.screen());
        self.stage
    }

    /// Ends the conversation; another may follow on the same stage.
    pub(super) fn leave(mut self) -> (Stage, String) {
        self.terminal.send_key(Key::Ctrl('d'));
        let code = self.terminal.wait_exit(SOON).exit_code();
        assert_eq!(code, 0, "{}", self.terminal.screen());
        let transcript = String::from_utf8(self.terminal.transcript()).unwrap();
        let transcript = without_colours(&transcript);
        assert_linear(&transcript);
        (self.stage, transcript)
    }
}

/// Returns these last lines and the label of the prompt that follows them.
pub(super) fn at_prompt(lines: &str) -> String {
    format!("{lines}\n{MODEL}>")
}

/// Removes the colours of lines.
fn without_colours(transcript: &str) -> String {
    let codes = ["0", "2", "31", "32", "33"].map(|code| format!("\u{1b}[{code}m"));
    codes.iter().fold(transcript.to_owned(), |text, code| text.replace(code, ""))
}

/// Asserts that the output never positions the cursor: apart from the marks of pastes it contains
/// no escape sequences.
fn assert_linear(transcript: &str) {
    let rest = transcript.replace("\u{1b}[?2004h", "").replace("\u{1b}[?2004l", "");
    let is_simple = |letter: char| !letter.is_control() || "\n\r\u{8}\t".contains(letter);
    assert!(rest.chars().all(is_simple), "{transcript:?}");
}

#[test]
fn a_prompt_is_answered() {
    let talk = Talk::with([reply().text("Hello ").text("there."), reply().text("Again.")]);
    talk.wait_for_text(&format!("Model: {MODEL}. Mode: default."));
    talk.wait_for_text("project (trusted).");
    talk.type_line("hi");
    talk.wait_for_text(&at_prompt("> hi\nHello there."));
    talk.type_line("more");
    talk.wait_for_text("Again.");
    talk.wait_for_prompt();
    let contents = talk.stage.server.last_request().contents().to_vec();
    assert_eq!(texts(contents.last().unwrap()), ["more"]);
    let id = talk.stage.session_lines()[0]["sessionId"].as_str().unwrap().to_owned();
    let transcript = talk.end();
    assert!(transcript.contains(&format!("To resume this session: pollux --resume {id}")));
}

#[test]
fn a_session_goes_on() {
    let stage = Stage::with([reply().text("One.")]);
    stage.prompt("text", "first").assert_code(0);
    stage.server.stream(reply().text("Two."));
    let talk = Talk::start(stage, |program| program.args(["--resume"]));
    talk.wait_for_text("Resumed session ");
    talk.wait_for_text(&at_prompt(": first\n  > first\n  One."));
    talk.type_line("second");
    talk.wait_for_text("Two.");
    let contents = talk.stage.server.last_request().contents().to_vec();
    assert!(texts(&contents[0]).contains(&"first"), "{contents:?}");
    talk.end();
}

#[test]
fn a_prompt_of_the_command_line_begins_it() {
    for arguments in [&["-i", "go on"][..], &["go", "on"], &["-o", "text", "-y", "go", "on"]] {
        let stage = Stage::with([reply().text("Begun.")]);
        let terminal = stage.pollux(arguments).in_terminal(40, 100);
        let talk = Talk { stage, terminal };
        talk.wait_for_text("> go on\nBegun.");
        talk.wait_for_prompt();
        talk.end();
    }
}

#[test]
fn a_prompt_of_the_command_line_can_be_asked_for_an_approval() {
    let write = json!({"file_path": "a.txt", "content": "a\n"});
    let stage = Stage::with([reply().call("write_file", write), reply().text("Written.")]);
    let terminal = stage.pollux(&["write", "a.txt"]).in_terminal(40, 100);
    let talk = Talk { stage, terminal };
    talk.wait_for_text("Apply this change?");
    talk.wait_for_text("Choose 1-");
    talk.type_line("1");
    talk.wait_for_text(&at_prompt("Written."));
    assert!(talk.stage.home.project().join("a.txt").exists());
    talk.end();
}

/// Starts a server on this machine with one model, which answers "From here." in Chat Completions.
fn local_server() -> ModelServer {
    let server = ModelServer::start();
    for path in ["/api/ps", "/props", "/api/v0/models"] {
        server.route(path, |_| reply().status(404, "not found"));
    }
    server.route("/v1/models", |_| reply().json(json!({"data": [{"id": "small:latest"}]})));
    let tags = json!({"models": [{"name": "small:latest"}, {"name": "big:7b"}]});
    server.route("/api/tags", move |_| reply().json(tags.clone()));
    server.route("/v1/chat/completions", |_| {
        let chunk = json!({
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": "From here."}, "finish_reason": "stop"}]
        });
        reply().status(200, format!("data: {chunk}\n\ndata: [DONE]\n\n").into_bytes())
    });
    server
}

/// Starts line mode for a user without any key, next to this server.
fn without_a_key(stage: &Stage, server: &ModelServer) -> Terminal {
    let program = stage.alone().env_remove("GEMINI_API_KEY");
    let program = program.env("POLLUX_LOCAL_PORTS", server.address().port().to_string());
    program.in_terminal(40, 100)
}

#[test]
fn without_a_key_it_asks_which_local_model_answers() {
    let (stage, server) = (Stage::new(), local_server());
    let terminal = without_a_key(&stage, &server);
    let talk = Talk { stage, terminal };
    let found = format!("  1. small:latest (Ollama at {})\n  2. big:7b (Ollama at ", server.url());
    talk.wait_for_text(&found);
    talk.wait_for_text("Choose 1-2:");
    talk.type_line("3");
    talk.wait_for_text("Type a number from 1 to 2 and press Enter.\nChoose 1-2:");
    talk.type_line("1");
    talk.wait_for_text("Model: local/small:latest. Mode: default.");
    talk.wait_for_prompt();
    talk.type_line("hi");
    talk.wait_for_text("From here.");
    talk.wait_for_prompt();
    let requests = server.requests();
    let sent = requests.iter().find(|request| request.path.ends_with("completions")).unwrap();
    assert_eq!(sent.body["model"], "small:latest");
    talk.end();
}

#[test]
fn the_question_can_be_left() {
    let (stage, server) = (Stage::new(), local_server());
    for (key, code, words) in [
        (Key::Ctrl('c'), 130, "Operation cancelled."),
        (Key::Ctrl('d'), 41, "--model local/small:latest."),
    ] {
        let mut terminal = without_a_key(&stage, &server);
        terminal.wait_for_text("Choose 1-2:", SOON);
        terminal.send_key(key);
        assert_eq!(terminal.wait_exit(SOON).exit_code(), code, "{}", terminal.screen());
        let transcript = String::from_utf8(terminal.transcript()).unwrap();
        assert!(transcript.contains(words), "{transcript}");
    }
}

#[test]
fn without_a_terminal_it_does_not_begin() {
    let run = Stage::new().pollux(&["-i", "go"]).run();
    run.assert_code(42);
    let message = "The --prompt-interactive flag cannot be used when input is piped from stdin.";
    assert!(run.stderr_text().contains(message), "{}", run.report());
}

#[test]
fn lines_are_edited_and_called_back() {
    let talk = Talk::with([reply().text("One."), reply().text("Two.")]);
    talk.terminal.send("wrld");
    for _ in 0..3 {
        talk.terminal.send_key(Key::Left);
    }
    talk.terminal.send("o");
    talk.terminal.send_key(Key::Home);
    talk.terminal.send("grüße 漢 ");
    talk.wait_for_text("> grüße 漢 world");
    talk.terminal.send_key(Key::Enter);
    talk.wait_for_text("One.");
    talk.wait_for_prompt();
    talk.terminal.send_key(Key::Up);
    talk.type_line("!");
    talk.wait_for_text("Two.");
    let contents = talk.stage.server.last_request().contents().to_vec();
    assert!(texts(&contents[0]).contains(&"grüße 漢 world"), "{contents:?}");
    assert_eq!(texts(&contents[2]), ["grüße 漢 world!"]);
    talk.end();
}

#[test]
fn lines_are_called_back_in_the_next_conversation() {
    let talk = Talk::with([reply().text("One."), reply().text("Two.")]);
    talk.type_line("first");
    talk.wait_for_text("One.");
    talk.wait_for_prompt();
    talk.type_line("/about");
    talk.wait_for_text("\nMemory in use ");
    let (stage, _) = talk.leave();
    let talk = Talk::start(stage, |program| program);
    for _ in 0..2 {
        talk.terminal.send_key(Key::Up);
    }
    talk.type_line("!");
    talk.wait_for_text("> first!\nTwo.");
    let contents = talk.stage.server.last_request().contents().to_vec();
    assert_eq!(texts(contents.last().unwrap()).last(), Some(&"first!"));
    let (stage, _) = talk.leave();
    let text = std::fs::read_to_string(stage.project_temporary().join("logs.json")).unwrap();
    let entries: serde_json::Value = serde_json::from_str(&text).unwrap();
    let reported: Vec<_> =
        entries.as_array().unwrap().iter().map(|entry| &entry["message"]).collect();
    assert_eq!(reported, ["first", "/about", "first!"]);
    assert_eq!((&entries[1]["messageId"], &entries[2]["messageId"]), (&json!(1), &json!(0)));
}

#[test]
fn a_backslash_and_a_paste_make_several_lines() {
    let talk = Talk::with([reply().text("One."), reply().text("Two.")]);
    talk.type_line("first\\");
    talk.wait_for_text("> first\n.");
    talk.type_line("second");
    talk.wait_for_text("One.");
    talk.wait_for_prompt();
    talk.terminal.paste("a\nb");
    talk.terminal.send_key(Key::Enter);
    talk.wait_for_text("Two.");
    let contents = talk.stage.server.last_request().contents().to_vec();
    assert!(texts(&contents[0]).contains(&"first\nsecond"), "{contents:?}");
    assert_eq!(texts(&contents[2]), ["a\nb"]);
    talk.quit();
}

#[test]
fn an_escape_key_swallows_nothing() {
    let talk = Talk::with([reply().text("One.")]);
    for (text, shown) in [("a", "> a"), ("[b]", "> a[b]"), ("Oc", "> a[b]Oc"), ("d", "> a[b]Ocd")] {
        talk.terminal.send(text);
        talk.wait_for_text(shown);
        // The end of a search shows that the Esc key is recognised: it takes a time without input.
        talk.terminal.send_key(Key::Ctrl('r'));
        talk.wait_for_text("(reverse-i-search)");
        talk.terminal.send("\u{1b}");
        talk.terminal.wait_for(|screen| !screen.contents().contains("(reverse-i-search)"), SOON);
        talk.wait_for_text(shown);
    }
    talk.type_line("\u{1b}e");
    talk.wait_for_text("> a[b]Ocde\nOne.");
    talk.end();
}

#[test]
fn files_are_brought_along() {
    let stage = Stage::with([reply().text("Read.")]);
    stage.home.project_file("note.txt", "remember the milk\n");
    let talk = Talk::start(stage, |program| program);
    talk.type_line("what is in @note.txt and @gone.txt");
    talk.wait_for_text(
        "@gone.txt: no such file; sent as text.\nIncluded: note.txt, 1 line.\nRead.",
    );
    let contents = talk.stage.server.last_request().contents().to_vec();
    assert!(texts(&contents[0]).concat().contains("remember the milk"), "{contents:?}");
    talk.end();
}

pub(super) fn edit(old: &str, new: &str) -> ModelReply {
    let arguments = json!({"file_path": "a.txt", "instruction": "change", "old_string": old, "new_string": new});
    reply().call("replace", arguments)
}

pub(super) fn editing(replies: impl IntoIterator<Item = ModelReply>) -> Talk {
    let stage = Stage::with(replies);
    stage.home.project_file("a.txt", "one\ntwo\nthree\n");
    Talk::start(stage, |program| program)
}

#[test]
fn a_change_is_shown_and_made_after_a_yes() {
    let talk = editing([edit("two", "zwei"), reply().text("Done.")]);
    talk.type_line("go");
    talk.wait_for_text("Change of a.txt (+1 -1):");
    talk.wait_for_text("  -two\n  +zwei\n");
    talk.wait_for_text(
        "  1. Allow once\n  2. Allow all edits for this session (mode auto_edit)\n  3. Modify with external editor\n  4. No, suggest changes\nChoose 1-4:",
    );
    assert_eq!(talk.stage.home.read_project_file("a.txt"), "one\ntwo\nthree\n");
    talk.type_line("maybe");
    talk.wait_for_text("Type a number from 1 to 4");
    talk.type_line("1");
    talk.wait_for_text("Done.");
    assert_eq!(talk.stage.home.read_project_file("a.txt"), "one\nzwei\nthree\n");
    talk.wait_for_text("  > replace a.txt");
    talk.end();
}

#[test]
fn a_no_leaves_everything_as_it_is() {
    let talk = editing([edit("two", "zwei"), reply().text("Understood.")]);
    talk.type_line("go");
    talk.wait_for_text("Choose 1-4:");
    talk.type_line("4");
    talk.wait_for_text("Not applied. Type what to do instead.");
    talk.wait_for_prompt();
    assert_eq!(talk.stage.home.read_project_file("a.txt"), "one\ntwo\nthree\n");
    talk.type_line("leave it");
    talk.wait_for_text("Understood.");
    talk.end();
}

#[test]
fn a_yes_for_the_session_asks_no_more() {
    let talk = editing([edit("two", "zwei"), edit("one", "eins"), reply().text("Done.")]);
    talk.type_line("go");
    talk.wait_for_text("Choose 1-4:");
    talk.type_line("2");
    talk.wait_for_text("Mode: auto_edit");
    talk.wait_for_text("Done.");
    assert_eq!(talk.stage.home.read_project_file("a.txt"), "eins\nzwei\nthree\n");
    let transcript = talk.end();
    assert_eq!(transcript.matches("Apply this change?").count(), 1);
}

#[test]
fn it_holds_for_the_changes_that_came_with_it() {
    let change = |old: &str, new: &str| json!({"file_path": "a.txt", "instruction": "change", "old_string": old, "new_string": new});
    let both =
        reply().call("replace", change("one", "eins")).call("replace", change("two", "zwei"));
    let talk = editing([both, reply().text("Done.")]);
    talk.type_line("go");
    talk.wait_for_text("Choose 1-4:");
    talk.type_line("2");
    talk.wait_for_text("Done.");
    assert_eq!(talk.stage.home.read_project_file("a.txt"), "eins\nzwei\nthree\n");
    assert_eq!(talk.end().matches("Apply this change?").count(), 1);
}

#[test]
fn a_yes_for_the_session_is_for_the_line_or_for_its_program() {
    let run = |command: &str| reply().call("run_shell_command", json!({ "command": command }));
    let talk = Talk::with([
        run("mkdir first"),
        run("mkdir first-too"),
        run("mkdir second"),
        run("mkdir third; frob ridden"),
        reply().text("Done."),
    ]);
    let question = |line: &str, programs: &str| format!("  {line}\nRuns: {programs}\n");
    talk.type_line("go");
    talk.wait_for_text(&question("mkdir first", "mkdir"));
    talk.wait_for_text(
        "If allowed for longer, later runs cannot change start-up files, Git hooks or Pollux's own state.\nAllow execution of [Shell]?\n  \
         1. Allow once\n  2. Allow this line for this session\n  3. Allow `mkdir …` for this session",
    );
    talk.type_line("2");
    talk.wait_for_text(&question("mkdir first-too", "mkdir"));
    talk.type_line("3");
    talk.wait_for_text(&question("mkdir third; frob ridden", "mkdir, frob"));
    talk.wait_for_text("Asked because: the effects of frob are not known");
    talk.wait_for_text("  > run_shell_command mkdir second");
    talk.type_line("4");
    talk.wait_for_text("Not applied. Type what to do instead.");
    assert!(!talk.stage.home.project().join("ridden").exists());
    talk.stage.server.discard_replies();
    talk.end();
}

#[test]
fn without_trust_nothing_is_allowed_for_good() {
    let stage = Stage::with([edit("two", "zwei"), reply().text("Done.")]);
    stage.home.project_file("a.txt", "two\n");
    let talk = Talk::start(stage, |program| program.env("GEMINI_CLI_TRUST_WORKSPACE", "false"));
    talk.wait_for_text("(not trusted)");
    talk.type_line("/mode yolo");
    talk.wait_for_text("the current folder is not trusted");
    talk.type_line("go");
    talk.wait_for_text(
        "  1. Allow once\n  2. Modify with external editor\n  3. No, suggest changes\nChoose 1-3:",
    );
    talk.type_line("1");
    talk.wait_for_text("Done.");
    talk.end();
}

#[test]
fn what_is_typed_during_work_comes_next() {
    let gate = ReplyGate::closed();
    let talk = Talk::with([reply().text("Slow").held_by(&gate), reply().text("Next.")]);
    talk.type_line("one");
    talk.type_line("two");
    talk.wait_for_text("queued: two");
    gate.open();
    talk.wait_for_text(&at_prompt(&format!("{} two\nNext.", at_prompt("Slow"))));
    talk.end();
}

#[test]
fn commands() {
    let talk = Talk::with([reply().text("Done.")]);
    for (line, answer) in [
        ("/help", "  /about  "),
        ("/about", "Pollux 0."),
        ("/help mode", "/mode [default|auto_edit|yolo|plan]\n"),
        ("/nosuch", "Unknown command: /nosuch"),
        ("/stats", "No requests yet."),
        ("/mode", "Mode: default"),
        ("/mode plan", "Mode: plan"),
        ("/model", "Model: gemini-2.5-pro"),
        ("/model gemini-2.5-flash", "Model: gemini-2.5-flash"),
    ] {
        talk.type_line(line);
        talk.wait_for_text(answer);
        talk.wait_for_prompt();
    }
    talk.type_line("go");
    talk.wait_for_text("gemini-2.5-flash plan> go\nDone.");
    talk.wait_for_prompt();
    talk.type_line("/stats");
    talk.wait_for_text("gemini-2.5-flash         1 ");
    talk.wait_for_prompt();
    let Talk { stage, mut terminal } = talk;
    terminal.send("/quit\r");
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0, "{}", terminal.screen());
    assert!(stage.server.last_request().path.contains("gemini-2.5-flash"));
}

#[test]
fn a_failure_is_reported_and_the_conversation_goes_on() {
    let talk = Talk::with([errors::bad_request("Not this."), reply().text("Better.")]);
    talk.type_line("one");
    talk.wait_for_text("Error: ");
    talk.wait_for_prompt();
    talk.type_line("two");
    talk.wait_for_text("Better.");
    talk.end();
}

#[test]
fn the_models_escape_sequences_are_taken_out() {
    let talk = Talk::with([reply().text("a\u{1b}[2Jb\u{1b}]0;t\u{7}c\u{8}d\rz")]);
    talk.type_line("go");
    talk.wait_for_text("abcdz");
    talk.end();
}

#[test]
fn a_large_paste_is_survived() {
    let talk = Talk::with([reply().text("Big."), reply().text("Small.")]);
    let paste = "ü漢x ".repeat(160 << 10);
    talk.terminal.paste(&paste);
    talk.terminal.send_key(Key::Enter);
    talk.wait_for_text("Big.");
    let contents = talk.stage.server.last_request().contents().to_vec();
    assert!(texts(&contents[0]).contains(&paste.as_str()), "the whole paste is sent");
    talk.wait_for_prompt();
    // Ten megabytes exceed the maximum size of a prompt.
    talk.terminal.paste(&"y".repeat(10 << 20));
    talk.terminal.send_key(Key::Enter);
    talk.terminal.wait_for_text("longer than 8 MiB", Duration::from_mins(1));
    talk.type_line("small");
    talk.wait_for_text("Small.");
    talk.quit();
}

#[test]
fn a_new_size_leaves_the_line_as_it_is() {
    let talk = Talk::with([reply().text("Done.")]);
    talk.terminal.send("half a line");
    talk.wait_for_text("> half a line");
    talk.terminal.resize(30, 50);
    talk.wait_for_text("\n> half a line");
    assert_eq!(talk.terminal.screen().matches("half a line").count(), 1);
    talk.type_line(" more");
    talk.wait_for_text("Done.");
    let contents = talk.stage.server.last_request().contents().to_vec();
    assert!(texts(&contents[0]).contains(&"half a line more"), "{contents:?}");
    talk.end();
}

#[test]
fn a_simple_terminal_edits_its_lines_itself() {
    let stage = Stage::with([reply().text("Hello."), reply().text("Done.")]);
    let talk = Talk::start(stage, |program| program.env("TERM", "dumb"));
    talk.type_line("hi");
    talk.wait_for_text(&at_prompt("Hello."));
    // The terminal sends a line feed for each Enter key.
    talk.type_line("hellp\u{7f}o");
    talk.wait_for_text(&at_prompt("Done."));
    let contents = talk.stage.server.last_request().contents().to_vec();
    assert_eq!(texts(&contents[2]), ["hello"], "{contents:?}");
    let transcript = String::from_utf8(talk.terminal.transcript()).unwrap();
    assert!(!transcript.contains('\u{1b}'), "{transcript:?}");
    talk.end();
}

/// Shell script that starts the program and stores its process id in a file.
const PROCESS: &str = "sh -c 'echo $$ > process; exec \"$0\" \"$@\"' \"$0\" \"$@\"";

/// Returns the process id of the program that [`PROCESS`] has started.
fn process(stage: &Stage) -> u32 {
    stage.home.read_project_file("process").trim().parse().unwrap()
}

/// Starts the program under a shell.
fn under_shell(stage: &Stage, script: &str) -> Terminal {
    stage.redirected(script).args(["-m", MODEL]).in_terminal(40, 100)
}

#[test]
fn the_terminal_is_given_back() {
    let script = format!("stty -a > before; {PROCESS}; echo \"code $?\"; stty -a > after");
    for (signal, code) in [(None, "code 0"), (Some(Signal::TERM), "code 143")] {
        let stage = Stage::new();
        let mut terminal = under_shell(&stage, &script);
        terminal.wait_for_text(&at_prompt("Ctrl-D quits."), SOON);
        match signal {
            None => terminal.send_key(Key::Ctrl('d')),
            Some(signal) => {
                let process = Pid::from_raw(process(&stage).cast_signed()).unwrap();
                rustix::process::kill_process(process, signal).unwrap();
            }
        }
        terminal.wait_for_text(code, SOON);
        terminal.wait_exit(SOON);
        let read = |name| stage.home.read_project_file(name);
        assert_eq!(read("before"), read("after"), "{code}");
    }
}

#[test]
fn it_stops_and_goes_on() {
    let stage = Stage::with([reply().text("Back.")]);
    let shell = Pollux::new("/bin/bash").home(&stage.home).server(&stage.server);
    let shell = shell.args(["--norc", "--noprofile", "-i"]).env("PS1", "shell: ");
    let shell = shell.env("PROGRAM", env!("CARGO_BIN_EXE_pollux"));
    let mut terminal = shell.in_terminal(40, 100);
    terminal.wait_for_text("shell:", SOON);
    terminal.send(&format!("$PROGRAM -m {MODEL}\r"));
    terminal.wait_for_text(&at_prompt("Ctrl-D quits."), SOON);
    terminal.send("half");
    terminal.wait_for_text("> half", SOON);
    terminal.send_key(Key::Ctrl('z'));
    terminal.wait_for_text("Stopped", SOON);
    terminal.send("stty -a | grep -o ' icanon'\r");
    terminal.wait_for_text("\n icanon", SOON);
    terminal.send("fg\r");
    terminal.wait_for(|screen| screen.contents().matches("> half").count() == 2, SOON);
    terminal.send(" done\r");
    terminal.wait_for_text("Back.", SOON);
    let contents = stage.server.last_request().contents().to_vec();
    assert!(texts(&contents[0]).contains(&"half done"), "{contents:?}");
    terminal.send_key(Key::Ctrl('d'));
    // Text that is typed before the shell is back goes to the program and is lost.
    terminal.wait_for(|screen| screen.contents().matches("shell:").count() == 4, SOON);
    terminal.send("exit\r");
    terminal.wait_exit(SOON);
}

#[test]
fn a_terminal_that_is_gone_ends_it() {
    let stage = Stage::with([reply().never_answer()]);
    // The shell ends with the terminal, so only the system tells the program about the hang-up.
    let terminal = under_shell(&stage, &format!("trap '' HUP; {PROCESS}"));
    terminal.wait_for_text("Ctrl-D quits.", SOON);
    terminal.send("go\r");
    stage.server.wait_for_requests(1, SOON);
    let process = process(&stage);
    drop(terminal);
    wait_until("the program has ended", || !is_alive(process));
    let lines = stage.session_lines();
    assert!(lines.iter().any(|line| line["type"] == "user"), "{lines:?}");
}

#[test]
fn an_interrupt_stops_a_command() {
    let command = json!({"command": "touch on; sleep 60"});
    let stage = Stage::with([reply().call("run_shell_command", command), reply().text("Fresh.")]);
    let talk = Talk::start(stage, |program| program.args(["--yolo"]));
    talk.type_line("go");
    wait_until("the command runs", || talk.stage.home.project().join("on").exists());
    talk.interrupt_and_go_on("Fresh.");
}

#[test]
fn retries_are_reported_and_can_be_stopped() {
    let talk = Talk::with([errors::per_minute_quota()]);
    talk.type_line("go");
    talk.wait_for_text(" Attempt 2 of ");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait_for_text("Request cancelled.");
    talk.wait_for_prompt();
    talk.end();
}

#[test]
fn a_long_answer_comes_whole() {
    let talk = Talk::with([reply().many_text_chunks(5000)]);
    talk.type_line("go");
    talk.wait_for_text("4999");
    talk.wait_for_prompt();
    let numbers: Vec<String> = (0..5000).map(|number| number.to_string()).collect();
    let transcript = talk.end();
    assert!(transcript.replace("\r\n", "").contains(&numbers.join(" ")));
}

#[test]
fn a_terminal_that_has_stopped_holds_up_no_signal() {
    let gate = ReplyGate::closed();
    let stage = Stage::with([reply().many_text_chunks(50_000).held_by(&gate)]);
    let mut terminal = under_shell(&stage, PROCESS);
    terminal.wait_for_text(&at_prompt("Ctrl-D quits."), SOON);
    terminal.send("go\r");
    stage.server.wait_for_requests(1, SOON);
    terminal.send_key(Key::Ctrl('s'));
    gate.open();
    // The program must be stuck in a write to the terminal; no event reports that.
    std::thread::sleep(Duration::from_secs(1));
    let process = Pid::from_raw(process(&stage).cast_signed()).unwrap();
    rustix::process::kill_process(process, Signal::TERM).unwrap();
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 143);
    let shown = String::from_utf8(terminal.transcript()).unwrap();
    assert!(!shown.contains("49999"), "the terminal had stopped");
}

#[test]
fn a_yes_for_good_is_kept_and_matches_in_the_next_conversation() {
    let run = |command: &str| reply().call("run_shell_command", json!({ "command": command }));
    let stage = Stage::with([run("mkdir one"), reply().text("First.")]);
    stage.home.settings(&json!({"security": {"enablePermanentToolApproval": true}}));
    let talk = Talk::start(stage, |program| program);
    talk.type_line("go");
    talk.wait_for_text(
        "  4. Allow this line for all future sessions (policies/auto-saved.toml)\n  5. Allow `mkdir …` for all future sessions (policies/auto-saved.toml)\n  6. No, suggest changes",
    );
    talk.type_line("5");
    talk.wait_for_text("First.");
    let (stage, _) = talk.leave();
    let saved =
        std::fs::read_to_string(stage.home.gemini().join("policies/auto-saved.toml")).unwrap();
    assert!(saved.contains("polluxPrefix = [ \"mkdir\" ]"), "{saved}");
    for answer in [run("mkdir two"), run("rmdir two"), reply().text("Second.")] {
        stage.server.stream(answer);
    }
    let talk = Talk::start(stage, |program| program);
    talk.type_line("go");
    talk.wait_for_text("  rmdir two\nRuns: rmdir\n");
    assert!(talk.stage.home.project().join("two").exists());
    talk.type_line("6");
    talk.wait_for_text("Not applied. Type what to do instead.");
    talk.stage.server.discard_replies();
    talk.end();
}
