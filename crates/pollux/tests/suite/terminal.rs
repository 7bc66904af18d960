//! Headless runs in a terminal.

use std::time::Duration;

use pollux_testkit::{Key, ModelReply, reply};
use serde_json::{Value, json};

use super::stage::{FORMATS, Stage};

const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_prompt_runs_headless_and_reads_no_keys() {
    let result = ["-o", "stream-json", "two", "words"];
    let schema = ["--output-schema", r#"{"type": "string"}"#, "two", "words"];
    for (arguments, answer) in [
        (&["-p", "go"][..], "Hello."),
        (&["--no-stdin", "two", "words"], "Hello."),
        (&result, "Hello."),
        (&schema, "\"Hello.\""),
    ] {
        let stage = Stage::with([reply().text(answer)]);
        let mut terminal = stage.pollux(arguments).in_terminal(24, 80);
        assert_eq!(terminal.wait_exit(SOON).exit_code(), 0, "{}", terminal.screen());
        assert!(terminal.screen().contains("Hello."), "{}", terminal.screen());
    }
}

#[test]
fn an_interrupt_key_ends_it() {
    let stage = Stage::with([reply().text("One ").text("two").stall_after(1)]);
    let mut terminal = stage.pollux(&["-p", "go"]).in_terminal(24, 80);
    terminal.wait_for_text("One", SOON);
    terminal.send_key(Key::Ctrl('c'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 130, "{}", terminal.screen());
}

#[test]
fn a_failure_is_red_where_colour_is_welcome() {
    for (no_colour, term, is_red) in
        [("", "xterm", true), ("1", "xterm", false), ("", "dumb", false)]
    {
        let stage = Stage::new();
        let program = stage.pollux(&["--resume", "nope", "-p", "go"]);
        let program = program.env("NO_COLOR", no_colour).env("TERM", term);
        let mut terminal = program.in_terminal(24, 80);
        terminal.wait_exit(SOON);
        let transcript = String::from_utf8(terminal.transcript()).unwrap();
        assert_eq!(transcript.contains("\u{1b}[31mError resuming"), is_red, "{transcript:?}");
    }
}

/// Colours and a title in C1 controls, and characters that move the cursor, ring the bell or change
/// the writing direction.
const ACTING: &str =
    "A\u{9b}31m\u{9d}0;title\u{9c}\rB\u{8}\u{7}\u{e}C\u{f}\u{85}D\u{202e}\u{2066}\u{200f}\u{61c}E";

/// Replies whose text and calls contain characters that could act on a terminal.
fn acting() -> [ModelReply; 2] {
    let read = json!({"file_path": format!("no{ACTING}")});
    let shell = json!({"command": "printf 'x\\302\\233y\\rz\\342\\200\\256w'"});
    [
        reply().text(ACTING).call("read_file", read).call("run_shell_command", shell),
        reply().text("\u{9b}").text(ACTING),
    ]
}

#[test]
fn nothing_that_a_model_says_or_does_acts_on_a_terminal() {
    for format in FORMATS {
        let stage = Stage::with(acting());
        let program = stage.pollux(&["-y", "-o", format, "-p", "go"]);
        let mut terminal = program.env("NO_COLOR", "1").in_terminal(40, 200);
        assert_eq!(terminal.wait_exit(SOON).exit_code(), 0, "{format}: {}", terminal.screen());
        // The terminal itself puts a carriage return before each line end.
        let shown = String::from_utf8(terminal.transcript()).unwrap().replace("\r\n", "\n");
        let acts = |letter: char| {
            (letter.is_control() && letter != '\n' && letter != '\t')
                || matches!(letter, '\u{61c}' | '\u{200e}'..='\u{200f}')
                || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!shown.contains(acts), "{format}: {shown:?}");
        assert!(shown.contains("Error executing tool read_file"), "{format}: {shown:?}");
        let said = match format {
            "text" => shown.contains("ABCDE"),
            // JSON keeps the value: such characters are escaped.
            _ => shown.contains(r"\u202e"),
        };
        assert!(said, "{format}: {shown:?}");
    }
}

#[test]
fn an_answer_by_a_schema_does_not_act_on_a_terminal() {
    let answer = json!({"word": ACTING});
    let stage = Stage::with([reply().text(answer.to_string())]);
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}}});
    let schema = schema.to_string();
    let program = stage.pollux(&["--output-schema", &schema, "-p", "go"]);
    let mut terminal = program.in_terminal(40, 200);
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0, "{}", terminal.screen());
    let shown = String::from_utf8(terminal.transcript()).unwrap();
    let found = shown.lines().find_map(|line| serde_json::from_str::<Value>(line).ok());
    assert!(!shown.contains(['\u{9b}', '\u{202e}', '\u{61c}']), "{shown:?}");
    // C1 controls of the model's text are kept in an answer, as in a pipe.
    assert_eq!(found, Some(answer), "{shown:?}");
}

#[test]
fn raw_output_and_pipes_get_every_character() {
    let stage = Stage::with([reply().text(ACTING), reply().text(ACTING)]);
    let arguments = ["--accept-raw-output-risk", "--raw-output", "-p", "go"];
    let mut terminal = stage.pollux(&arguments).in_terminal(40, 200);
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0, "{}", terminal.screen());
    let shown = String::from_utf8(terminal.transcript()).unwrap();
    assert!(shown.contains(ACTING), "{shown:?}");
    let piped = stage.pollux(&["-p", "go"]).run();
    let plain = "A\rB\u{8}\u{7}\u{e}C\u{f}D\u{202e}\u{2066}\u{200f}\u{61c}E\n";
    assert_eq!(piped.stdout_text(), plain);
}
