//! Tests of the terminal, with a shell as the program.

use std::time::Duration;

use pollux_testkit::{Key, Pollux, Terminal, TestHome};

const LIMIT: Duration = Duration::from_secs(10);

fn terminal(home: &TestHome, script: &str) -> Terminal {
    Pollux::new("/bin/sh").home(home).args(["-c", script]).in_terminal(10, 40)
}

#[test]
fn what_is_printed_is_on_the_screen() {
    let home = TestHome::new();
    let script = r"printf '\033[2J\033[3;5Hred \033[31mtext\033[0m'; test -t 1; exit 7";
    let mut terminal = terminal(&home, script);
    let status = terminal.wait_exit(LIMIT);
    assert_eq!(status.exit_code(), 7);
    assert_eq!(terminal.screen(), "\n\n    red text");
    assert!(terminal.transcript().windows(5).any(|bytes| bytes == b"\x1b[31m"));
    terminal.wait_for(|screen| screen.cursor_position() == (2, 12), LIMIT);
}

#[test]
fn keys_reach_the_program() {
    let home = TestHome::new();
    let mut terminal = terminal(&home, "echo ask; read line; echo \"<$line>\"; exec sleep 60");
    terminal.wait_for_text("ask", LIMIT);
    terminal.send("hellp");
    terminal.send_key(Key::Backspace);
    terminal.send("o");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("<hello>", LIMIT);
    terminal.send_key(Key::Ctrl('c'));
    let status = terminal.wait_exit(LIMIT);
    assert!(!status.success(), "{status:?}");
}

#[test]
fn the_program_learns_the_size() {
    let home = TestHome::new();
    let terminal = terminal(&home, "stty size; read line; stty size; read line");
    terminal.wait_for_text("10 40", LIMIT);
    terminal.resize(20, 60);
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("20 60", LIMIT);
}

#[test]
fn questions_to_the_terminal_are_answered() {
    let home = TestHome::new();
    let script = r"stty raw -echo; printf '\033[4;2H\033[6n'; dd bs=1 count=6 2>/dev/null | od -c";
    let terminal = terminal(&home, script);
    terminal.wait_for_text("033   [   4   ;   2   R", LIMIT);
}

#[test]
#[should_panic(expected = "the screen did not come")]
fn waiting_for_a_screen_that_never_comes_fails_early() {
    let home = TestHome::new();
    terminal(&home, "echo other").wait_for_text("wanted", LIMIT);
}
