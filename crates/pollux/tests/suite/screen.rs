//! The conversation on the screen of a terminal.

use std::time::{Duration, Instant};

use pollux_testkit::{Key, ModelReply, Pollux, Signal, Terminal, reply, timed_test};
use rustix::process::Pid;
use serde_json::json;

use super::stage::{MODEL, Stage, texts, wait_until};

/// Timeout for all steps whose time is not measured.
pub(crate) const SOON: Duration = Duration::from_secs(10);
/// Text of an empty input. Programs wait for it.
pub(crate) const PLACEHOLDER: &str = "  Type your message or @path/to/file";
/// Pause before the Enter key, which would otherwise be a line end of a pasted text.
const BEFORE_ENTER: Duration = Duration::from_millis(60);
/// Script that starts the program and writes the id of its process.
const RUN: &str = "sh -c 'echo $$ > process; exec \"$0\" \"$@\"' \"$0\" \"$@\"";

/// A conversation whose input is ready.
pub(crate) struct Talk {
    pub(crate) stage: Stage,
    pub(crate) terminal: Terminal,
}

impl Talk {
    pub(crate) fn with(replies: impl IntoIterator<Item = ModelReply>) -> Self {
        Self::sized(Stage::with(replies), 24, 80)
    }

    /// Begins a conversation in a window of the usual size.
    pub(crate) fn of(stage: Stage) -> Self {
        Self::sized(stage, 24, 80)
    }

    fn sized(stage: Stage, rows: u16, columns: u16) -> Self {
        let program = on_screen(stage.pollux(&[]));
        let terminal = program.in_terminal(rows, columns);
        let talk = Self { stage, terminal };
        talk.wait(PLACEHOLDER);
        talk
    }

    fn under_shell(stage: Stage) -> Self {
        // Prints 60 lines, and saves the modes of the terminal.
        let script =
            format!("seq 1001 1060; stty -a > before; {RUN}; echo \"code $?\"; stty -a > after");
        let program = on_screen(stage.redirected(&script)).args(["-m", MODEL]);
        let terminal = program.in_terminal(24, 80);
        let talk = Self { stage, terminal };
        talk.wait(PLACEHOLDER);
        talk
    }

    pub(crate) fn wait(&self, text: &str) {
        self.terminal.wait_for_text(text, SOON);
    }

    /// Types a line and presses Enter.
    pub(crate) fn line(&self, line: &str) {
        self.terminal.send(line);
        self.wait(line);
        self.enter();
    }

    /// Sends a signal to the program, which runs under a shell.
    pub(crate) fn signal(&self, signal: Signal) {
        let process = self.stage.home.read_project_file("process");
        let process = Pid::from_raw(process.trim().parse().unwrap()).unwrap();
        rustix::process::kill_process(process, signal).unwrap();
    }

    pub(crate) fn enter(&self) {
        std::thread::sleep(BEFORE_ENTER);
        self.terminal.send_key(Key::Enter);
    }

    /// Waits until there is no work.
    pub(crate) fn idle(&self) {
        self.terminal.wait_for(
            |screen| {
                let text = screen.contents();
                text.contains(PLACEHOLDER) && !text.contains("\u{b7} Esc stops")
            },
            SOON,
        );
    }

    /// Ends the conversation with Ctrl-C twice; returns its last screen.
    pub(crate) fn end(mut self) -> (Stage, String) {
        self.terminal.send_key(Key::Ctrl('c'));
        self.wait("Press Ctrl+C again to exit.");
        self.terminal.send_key(Key::Ctrl('c'));
        let code = self.terminal.wait_exit(SOON).exit_code();
        assert_eq!(code, 0, "{}", self.terminal.screen());
        (self.stage, self.terminal.screen())
    }
}

/// Runs the program on the screen. The emulator of the tests cuts rows as xterm does.
pub(crate) fn on_screen(program: Pollux) -> Pollux {
    program.env("POLLUX_TERMINAL", "screen").env("XTERM_VERSION", "XTerm(390)")
}

#[test]
fn a_conversation_stays_on_the_terminal() {
    let talk = Talk::with([reply().text("Here is *the* answer."), reply().text("Again.")]);
    talk.line("a question");
    talk.wait("Here is *the* answer.");
    talk.idle();
    talk.line("another");
    talk.wait("Again.");
    talk.idle();
    let (stage, screen) = talk.end();
    for text in [
        "> a question\n\nHere is *the* answer.\n\n> another\n\nAgain.\n",
        "Agent powering down. Goodbye!",
        "2 prompts",
        "To resume this session: pollux --resume ",
    ] {
        assert!(screen.contains(text), "{text:?}:\n{screen}");
    }
    assert!(!screen.contains(PLACEHOLDER), "{screen}");
    assert_eq!(stage.requests().len(), 2);
}

#[test]
fn an_answer_is_laid_out() {
    let answer = "# Prices\n\n|Item|Price|\n|:-|-:|\n|*Tea*|3.50|\n|\u{7dd1}\u{8336}|12|\n\n\
                  - [x] see [the list](https://example.com/p)\n\n```sh\nmake `all`\n```\n";
    let pieces: Vec<&str> = answer.split_inclusive(['|', ' ', '`']).collect();
    let answer = || pieces.iter().fold(reply(), |reply, piece| reply.text(*piece));
    let stage = Stage::with([answer()]);
    let terminal = on_screen(stage.pollux(&[])).env("NO_COLOR", "").in_terminal(24, 80);
    let talk = Talk { stage, terminal };
    talk.wait(PLACEHOLDER);
    talk.line("go");
    let table = "Item  Price\n----  -----\nTea    3.50\n\u{7dd1}\u{8336}     12\n";
    let list = "[x] see the list (https://example.com/p)\n\n```sh\nmake `all`\n```\n";
    talk.wait(&format!("Prices\n\n{table}\n{list}"));
    let transcript = String::from_utf8_lossy(&talk.terminal.transcript()).into_owned();
    assert!(transcript.contains("\x1b]8;;https://example.com/p\x1b\\"), "{transcript:?}");
    talk.idle();
    talk.end();

    // Without colours the marks stay, and a narrow table has no columns.
    let talk = Talk::sized(Stage::with([answer()]), 24, 40);
    talk.line("go");
    let list = "[x] see the list\n    (https://example.com/p)";
    let text = format!(
        "# Prices\n\nItem: *Tea*\nPrice: 3.50\n\nItem: \u{7dd1}\u{8336}\nPrice: 12\n\n{list}"
    );
    talk.wait(&text);
    let transcript = String::from_utf8_lossy(&talk.terminal.transcript()).into_owned();
    assert!(!transcript.contains("\x1b]8;"), "{transcript:?}");
}

#[test]
fn a_resumed_session_shows_its_last_turns() {
    let stage = Stage::with([
        reply().text("One."),
        reply().text("Two."),
        reply().text("# Three\n\n- [x] done"),
        reply().text("Four."),
    ]);
    let talk = Talk::sized(stage, 30, 80);
    for (prompt, answer) in [("first", "One."), ("second", "Two."), ("third", "[x] done")] {
        talk.line(prompt);
        talk.wait(answer);
        talk.idle();
    }
    let (stage, _) = talk.end();
    let terminal = on_screen(stage.pollux(&["--resume"])).in_terminal(30, 80);
    let talk = Talk { stage, terminal };
    talk.wait(
        "[earlier messages of this session are not shown]\n\n> second\n\nTwo.\n\n> third\n\n\
         # Three\n\n[x] done\n",
    );
    talk.line("fourth");
    talk.wait("[x] done\n\n> fourth\n\nFour.");
    talk.idle();
    assert!(!talk.terminal.screen().contains("> first"), "{}", talk.terminal.screen());
    talk.end();
}

#[test]
fn typed_text_is_contiguous_in_the_output() {
    let talk = Talk::with([]);
    let sentence = "words that a program types";
    for end in 1..=sentence.len() {
        talk.terminal.send(&sentence[end - 1..end]);
        let prefix = &sentence[..end];
        let printed = || String::from_utf8_lossy(&talk.terminal.transcript()).contains(prefix);
        wait_until("the typed text is in the output", printed);
    }
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait(PLACEHOLDER);
    talk.end();
}

#[test]
fn keys_before_the_prompt_are_kept() {
    let stage = Stage::with([reply().text("I am here.")]);
    let terminal = on_screen(stage.pollux(&[])).in_terminal(24, 80);
    terminal.send("typed early\nand mo");
    let talk = Talk { stage, terminal };
    talk.wait("> typed early\n");
    talk.wait("I am here.");
    talk.terminal.send("re");
    talk.wait("> and more");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait(PLACEHOLDER);
    talk.end();
}

#[test]
fn a_change_is_confirmed_and_a_command_refused() {
    let change = json!({"file_path": "a.txt", "instruction": "x", "old_string": "two", "new_string": "zwei"});
    let command = json!({"command": "touch made"});
    let stage = Stage::with([
        reply().call("replace", change),
        reply().call("run_shell_command", command),
        reply().text("Something else."),
    ]);
    stage.home.project_file("a.txt", "one\ntwo\nthree\n");
    let talk = Talk::sized(stage, 24, 80);
    talk.line("go");
    talk.wait("! Change of a.txt (+1 -1):");
    talk.wait("  2 - two\n  2 + zwei\n");
    talk.wait("Apply this change?\n\u{25cf} 1. Allow once\n");
    talk.terminal.send("1");
    talk.wait("Allow execution of [Shell]?");
    assert!(talk.terminal.screen().contains("  touch made\n"), "{}", talk.terminal.screen());
    talk.terminal.send_key(Key::Escape);
    talk.wait("Not applied. Type what to do instead.");
    talk.idle();
    let screen = talk.terminal.screen();
    // What was changed stays on the terminal.
    assert!(screen.contains("\u{b7} done \u{b7} +1 -1"), "{screen}");
    assert!(screen.contains("    2 - two\n    2 + zwei\n"), "{screen}");
    assert_eq!(talk.stage.home.read_project_file("a.txt"), "one\nzwei\nthree\n");
    assert!(!talk.stage.home.project().join("made").exists());
    talk.line("then this");
    talk.wait("Something else.");
    talk.end();
}

#[test]
fn what_was_not_on_the_screen_cannot_be_approved() {
    let command = "true\n".repeat(30) + "touch last";
    let stage = Stage::with([
        reply().call("run_shell_command", json!({ "command": command })),
        reply().text("Done."),
    ]);
    let talk = Talk::sized(stage, 10, 40);
    talk.line("go");
    talk.wait("Space shows more");
    let part =
        |screen: &str| screen.lines().find(|row| row.contains(" \u{b7} rows ")).map(str::to_owned);
    loop {
        let shown = part(&talk.terminal.screen());
        if shown.as_ref().is_none_or(|hint| !hint.contains("Space shows more")) {
            break;
        }
        for keys in ["1", "\r", " "] {
            talk.terminal.send(keys);
        }
        talk.terminal.wait_for(|now| part(&now.contents()) != shown, SOON);
        assert!(!talk.stage.home.project().join("last").exists());
    }
    talk.wait("1. Allow once");
    talk.terminal.send("1");
    talk.wait("Done.");
    assert!(talk.stage.home.project().join("last").exists());
    talk.idle();
    talk.end();
}

#[test]
fn escape_stops_an_answer_at_once() {
    let _alone = timed_test();
    let answer = reply().text("begun").text(" never");
    let talk = Talk::with([answer.stall_after(1), reply().text("Fresh.")]);
    talk.line("go");
    talk.wait("begun");
    talk.terminal.send("typed ahead");
    talk.wait("> typed ahead");
    let asked = Instant::now();
    talk.terminal.send_key(Key::Escape);
    talk.wait("Request cancelled.");
    // The documented promise is shorter; this is a margin for a busy machine.
    assert!(asked.elapsed() < Duration::from_secs(3));
    talk.wait("> typed ahead");
    talk.enter();
    talk.wait("Fresh.");
    talk.idle();
    talk.end();
}

#[test]
fn prompts_wait_and_are_sent_together() {
    let gate = pollux_testkit::ReplyGate::closed();
    let talk = Talk::with([reply().text("One.").held_by(&gate), reply().text("Two.")]);
    talk.line("first");
    talk.stage.server.wait_for_requests(1, SOON);
    talk.line("second");
    talk.wait("Queued (press \u{2191} to edit):\n  second\n");
    talk.line("third");
    talk.wait("  second\n  third\n");
    gate.open();
    talk.wait("Two.");
    talk.idle();
    let contents = talk.stage.server.last_request().contents().to_vec();
    let last = texts(contents.last().unwrap()).join("");
    assert!(last.contains("second\n\nthird"), "{last}");
    talk.end();
}

#[test]
fn a_storm_of_sizes_neither_doubles_nor_loses_a_row() {
    let rows: Vec<String> =
        (1..=120).map(|number| format!("- row-{number:03} the quick fox")).collect();
    let text = rows.join("\n");
    let pieces: Vec<&str> = text.split_inclusive('x').collect();
    let answer = pieces.iter().fold(reply(), |reply, piece| reply.text(*piece));
    let stage = Stage::with([answer.delay_between(Duration::from_millis(10))]);
    let talk = Talk::under_shell(stage);
    talk.line("go");
    for (number, columns) in (1..).zip([60, 120, 40, 100, 50, 80, 45, 90]) {
        let row = &rows[number * 12 - 1];
        wait_until("the row is there", || talk.terminal.all_rows().contains(row));
        talk.terminal.resize(24, columns);
    }
    talk.wait("row-120");
    talk.idle();
    for _ in 0..2 {
        talk.terminal.send_key(Key::Ctrl('d'));
    }
    talk.wait("code 0");
    let all = talk.terminal.all_rows();
    let shown: Vec<&String> = all.iter().filter(|row| row.starts_with("- row-")).collect();
    assert_eq!(shown, rows.iter().collect::<Vec<_>>());
    let earlier: Vec<String> = (1001..=1060).map(|number| number.to_string()).collect();
    assert_eq!(all[..60], earlier);
    let transcript = String::from_utf8_lossy(&talk.terminal.transcript()).into_owned();
    assert!(!transcript.contains("\x1b[2J") && !transcript.contains("\x1b[3J"));
}

#[test]
fn the_terminal_is_given_back() {
    for (signal, code) in
        [(None, "code 0"), (Some(Signal::TERM), "code 143"), (Some(Signal::HUP), "code 129")]
    {
        let mut talk = Talk::under_shell(Stage::new());
        match signal {
            None => {
                for _ in 0..2 {
                    talk.terminal.send_key(Key::Ctrl('d'));
                }
            }
            Some(signal) => {
                talk.signal(signal);
            }
        }
        talk.wait(code);
        talk.terminal.wait_exit(SOON);
        let read = |name| talk.stage.home.read_project_file(name);
        assert_eq!(read("before"), read("after"), "{code}");
        let screen = talk.terminal.screen();
        assert!(!screen.contains(PLACEHOLDER), "{screen}");
        let transcript = String::from_utf8_lossy(&talk.terminal.transcript()).into_owned();
        assert!(transcript.rfind("\x1b[?2004l") > transcript.rfind("\x1b[?2004h"), "{code}");
    }
}

#[test]
fn the_next_start_repairs_what_a_kill_left() {
    let stage = Stage::new();
    let twice =
        format!("stty -a > before; {RUN}; stty -a > between; \"$0\" \"$@\"; stty -a > after");
    let program = on_screen(stage.redirected(&twice)).args(["-m", MODEL]);
    let terminal = program.in_terminal(24, 80);
    let mut talk = Talk { stage, terminal };
    talk.wait(PLACEHOLDER);
    talk.signal(Signal::KILL);
    wait_until("the second start", || {
        String::from_utf8_lossy(&talk.terminal.transcript()).matches("Pollux ").count() > 1
    });
    talk.terminal.send_key(Key::Ctrl('d'));
    talk.wait("Press Ctrl+D again to exit.");
    talk.terminal.send_key(Key::Ctrl('d'));
    talk.terminal.wait_exit(SOON);
    let read = |name| talk.stage.home.read_project_file(name);
    assert_ne!(read("before"), read("between"));
    assert_eq!(read("before"), read("after"));
}

#[test]
fn it_stops_and_goes_on() {
    let stage = Stage::with([reply().text("Back.")]);
    let shell = Pollux::new("/bin/bash").home(&stage.home).server(&stage.server);
    let shell = on_screen(shell).args(["--norc", "--noprofile", "-i"]).env("PS1", "shell: ");
    let shell = shell.env("PROGRAM", env!("CARGO_BIN_EXE_pollux"));
    let terminal = shell.in_terminal(24, 80);
    terminal.wait_for_text("shell:", SOON);
    terminal.send(&format!("$PROGRAM -m {MODEL}\r"));
    let talk = Talk { stage, terminal };
    talk.wait(PLACEHOLDER);
    talk.terminal.send("half");
    talk.wait("> half");
    talk.terminal.send_key(Key::Ctrl('z'));
    talk.wait("Stopped");
    talk.terminal.send("stty -a | grep -o ' icanon'\r");
    talk.wait("\n icanon");
    talk.terminal.send("fg\r");
    talk.wait("> half");
    talk.terminal.send(" done");
    talk.wait("> half done");
    talk.enter();
    talk.wait("Back.");
    talk.idle();
    talk.terminal.send_key(Key::Ctrl('d'));
    talk.terminal.send_key(Key::Ctrl('d'));
    talk.terminal.wait_for(|screen| screen.contents().trim_end().ends_with("shell:"), SOON);
    talk.terminal.send("exit\r");
}

#[test]
fn nothing_is_printed_while_nothing_happens() {
    let talk = Talk::with([reply().text("Done.")]);
    talk.line("go");
    talk.wait("Done.");
    talk.idle();
    // The answer ends before the last frame is printed.
    std::thread::sleep(Duration::from_millis(500));
    let before = talk.terminal.transcript().len();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(talk.terminal.transcript().len(), before);
    talk.end();
}

#[test]
fn escape_sequences_of_a_model_do_not_reach_the_terminal() {
    let hostile = "a\u{1b}[2Jb \u{1b}]0;title\u{7}c \u{9b}31md\u{202e}e\u{8}f";
    let talk = Talk::with([reply().text(hostile)]);
    talk.line("go");
    talk.wait("ab c def");
    talk.idle();
    let transcript = String::from_utf8_lossy(&talk.terminal.transcript()).into_owned();
    assert!(!transcript.contains("]0;title"));
    // The titles of Pollux itself have a symbol, and end as they begin.
    let mut pieces = transcript.split("\u{1b}]0;");
    let first = pieces.next().unwrap_or_default().to_owned();
    let transcript = pieces.fold(first, |text, piece| {
        text + piece.split_once('\u{7}').map_or(piece, |(_, rest)| rest)
    });
    for forbidden in ["\u{1b}[2J", "\u{1b}]", "\u{7}", "\u{9b}", "\u{202e}", "\u{8}"] {
        assert!(!transcript.contains(forbidden), "{forbidden:?}");
    }
    talk.end();
}

#[test]
fn the_screen_is_the_default_and_lines_can_be_chosen() {
    let lines = "Ctrl-D quits.";
    for (term, setting, variable, flag, text) in [
        ("xterm", None, None, None, PLACEHOLDER),
        ("xterm", Some("auto"), None, None, PLACEHOLDER),
        ("xterm", Some("line"), None, None, lines),
        ("xterm", Some("line"), Some("screen"), None, PLACEHOLDER),
        ("xterm", None, Some("line"), None, lines),
        ("dumb", Some("screen"), None, None, lines),
        ("xterm", None, None, Some("--screen-reader"), lines),
    ] {
        let stage = Stage::new();
        if let Some(setting) = setting {
            stage.home.settings(&json!({"pollux": {"terminal": setting}}));
        }
        let program = stage.pollux(flag.as_slice());
        let program = program.env("TERM", term).env_remove("POLLUX_TERMINAL");
        let program = match variable {
            Some(value) => program.env("POLLUX_TERMINAL", value),
            None => program,
        };
        let terminal = program.in_terminal(24, 80);
        terminal.wait_for_text(text, SOON);
    }
}
