//! Ctrl-C and Esc in line mode.

use std::time::Duration;

use pollux_testkit::{Key, reply};

use super::line::{Talk, edit, editing};

const SOON: Duration = Duration::from_secs(10);

#[test]
fn an_interrupt_stops_the_work_at_once() {
    let talk =
        Talk::with([reply().text("One ").text("two").stall_after(1), reply().text("Fresh.")]);
    talk.type_line("go");
    talk.wait_for_text("One");
    talk.interrupt_and_go_on("Fresh.");
}

#[test]
fn an_interrupt_ends_a_question() {
    let talk = editing([edit("two", "zwei"), reply().text("Understood.")]);
    talk.type_line("go");
    talk.wait_for_text("Choose 1-4:");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait_for_text("Request cancelled.");
    talk.wait_for_prompt();
    assert_eq!(talk.stage.home.read_project_file("a.txt"), "one\ntwo\nthree\n");
    talk.type_line("go on");
    talk.wait_for_text("Understood.");
    talk.end();
}

#[test]
fn two_interrupts_end_the_program() {
    let Talk { stage: _stage, mut terminal } = Talk::with([]);
    terminal.send_key(Key::Ctrl('c'));
    terminal.wait_for_text("Press Ctrl-C again to exit.", SOON);
    terminal.send_key(Key::Ctrl('c'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0, "{}", terminal.screen());
    assert!(!terminal.screen().contains("To resume"), "nothing was said");
}

#[test]
fn an_interrupt_after_a_stopped_turn_clears_the_new_line() {
    let talk = Talk::with([reply().text("One").stall_after(1), reply().text("Fresh.")]);
    talk.type_line("go");
    talk.wait_for_text("One");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait_for_text("Request cancelled.");
    talk.wait_for_prompt();
    talk.terminal.send("a new prompt");
    talk.wait_for_text("> a new prompt");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait_for_prompt();
    talk.type_line("again");
    talk.wait_for_text("Fresh.");
    talk.end();
}

#[test]
fn the_escape_key_stops_a_turn_and_rejects_a_change() {
    let stalled = reply().text("One").stall_after(1);
    let talk = editing([stalled, edit("two", "zwei"), reply().text("Understood.")]);
    talk.type_line("go");
    talk.wait_for_text("One");
    talk.terminal.send("\u{1b}");
    talk.wait_for_text("Request cancelled.");
    talk.wait_for_prompt();
    talk.type_line("edit it");
    talk.wait_for_text("Choose 1-4:");
    talk.terminal.send("\u{1b}");
    talk.wait_for_text("Not applied. Type what to do instead.");
    talk.wait_for_prompt();
    assert_eq!(talk.stage.home.read_project_file("a.txt"), "one\ntwo\nthree\n");
    talk.type_line("go on");
    talk.wait_for_text("Understood.");
    talk.end();
}
