//! The program in a terminal with a prompt, which it runs without a conversation.

use std::time::Duration;

use pollux_testkit::{Key, reply};

use super::stage::Stage;

const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_prompt_runs_headless_and_reads_no_keys() {
    for arguments in [&["-p", "go"], &["two", "words"]] {
        let stage = Stage::with([reply().text("Hello.")]);
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
