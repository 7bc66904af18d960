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
