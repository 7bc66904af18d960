//! The program in a terminal, as far as it runs there without a screen of its own.

use std::time::Duration;

use pollux_testkit::{Key, reply};

use super::stage::{MODEL, Stage};

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
fn what_needs_a_screen_says_that_it_comes_later() {
    for arguments in [&[][..], &["-m", MODEL], &["-i", "go"]] {
        let stage = Stage::new();
        let mut terminal = stage.program().args(arguments).in_terminal(24, 120);
        assert_eq!(terminal.wait_exit(SOON).exit_code(), 1, "{arguments:?}\n{}", terminal.screen());
        let screen = terminal.screen();
        assert!(screen.contains("not available in this version"), "{arguments:?}\n{screen}");
        assert_eq!(stage.server.requests().len(), 0, "{arguments:?}");
    }
}
