#![cfg(target_os = "linux")]

use std::io::Write;
use std::time::Duration;

use pollux_testkit::{Pollux, Terminal, TestHome};
use rustix::process::{Signal, getpid, kill_process};

use super::*;

const SOON: Duration = Duration::from_secs(20);
/// Variable that makes [`in_raw_mode`] do its work.
const END: &str = "POLLUX_TEST_END";
/// Saves the modes of the terminal around runs of this program.
const SCRIPT: &str = "stty -a > before; for end in $ENDS; do POLLUX_TEST_END=$end \"$0\" \"$@\"; \
    stty -a > after-$end; done";

/// The other side of the tests: enters raw mode in a terminal, and ends as it is told.
#[test]
fn in_raw_mode() {
    let Ok(end) = std::env::var(END) else { return };
    let modes = Modes::enter(true);
    assert!(modes.raw);
    std::io::stdout().write_all(b"input row\x1b[?2004h").unwrap();
    std::io::stdout().flush().unwrap();
    match end.as_str() {
        "panic" => panic!("planted panic"),
        "panic-on-whole-screen" => {
            set_full_screen(true);
            std::io::stdout().write_all(b"\x1b[?1049h\x1b[Hwhole screen").unwrap();
            std::io::stdout().flush().unwrap();
            panic!("planted panic")
        }
        "kill" => kill_process(getpid(), Signal::KILL).unwrap(),
        "task" => {
            std::thread::spawn(|| panic!("planted panic")).join().unwrap_err();
            let [message] = &panic_messages()[..] else { panic!("no message") };
            assert!(message.contains("planted panic"), "{message}");
        }
        _ => {}
    }
}

/// Runs [`in_raw_mode`] with these ends, one after the other, in one terminal.
fn run(home: &TestHome, ends: &str) -> Terminal {
    let script = Pollux::new("/bin/sh").home(home).env("ENDS", ends);
    let test = ["--exact", "terminal::tests::in_raw_mode", "--nocapture", "--test-threads=1"];
    let program = std::env::current_exe().unwrap();
    let script = script.args(["-c", SCRIPT]).args([program.as_os_str()]).args(test);
    let mut terminal = script.in_terminal(24, 80);
    terminal.wait_exit(SOON);
    terminal
}

#[test]
fn a_panic_restores_the_terminal_before_its_message() {
    let home = TestHome::new();
    let terminal = run(&home, "panic");
    let read = |name| home.read_project_file(name);
    assert_eq!(read("before"), read("after-panic"));
    let shown = String::from_utf8_lossy(&terminal.transcript()).into_owned();
    let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text:?}: {shown:?}"));
    assert!(place("\x1b[?2004l") < place("planted panic"), "{shown:?}");
    assert!(!terminal.screen().contains("input row"), "{}", terminal.screen());
}

#[test]
fn a_panic_on_the_whole_screen_shows_the_text_of_the_terminal_and_its_message() {
    let home = TestHome::new();
    let terminal = run(&home, "panic-on-whole-screen");
    let read = |name| home.read_project_file(name);
    assert_eq!(read("before"), read("after-panic-on-whole-screen"));
    let screen = terminal.screen();
    assert!(screen.contains("planted panic") && !screen.contains("whole screen"), "{screen}");
    let shown = String::from_utf8_lossy(&terminal.transcript()).into_owned();
    let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text:?}: {shown:?}"));
    assert!(place("\x1b[?1000l") < place("\x1b[?1049l"), "{shown:?}");
    assert!(place("\x1b[?1049l") < place("planted panic"), "{shown:?}");
}

#[test]
fn a_panic_elsewhere_is_a_message() {
    let home = TestHome::new();
    let terminal = run(&home, "task");
    assert!(!terminal.screen().contains("planted panic"), "{}", terminal.screen());
    assert!(terminal.screen().contains("1 passed"), "{}", terminal.screen());
}

#[test]
fn the_next_start_repairs_a_terminal_after_a_kill() {
    let home = TestHome::new();
    let terminal = run(&home, "kill whole");
    let read = |name| home.read_project_file(name);
    assert_ne!(read("before"), read("after-kill"));
    assert_eq!(read("before"), read("after-whole"));
    let shown = String::from_utf8_lossy(&terminal.transcript()).into_owned();
    assert!(shown.contains("\x1b[?2026l"), "{shown:?}");
}

#[test]
fn the_raw_mode_of_another_program_is_left_alone() {
    let home = TestHome::new();
    let script = "stty raw -echo; ".to_owned() + SCRIPT;
    let program = Pollux::new("/bin/sh").home(&home).env("ENDS", "whole");
    let test = ["--exact", "terminal::tests::in_raw_mode", "--nocapture", "--test-threads=1"];
    let exe = std::env::current_exe().unwrap();
    let program = program.args(["-c", &script]).args([exe.as_os_str()]).args(test);
    program.in_terminal(24, 80).wait_exit(SOON);
    let read = |name| home.read_project_file(name);
    assert_eq!(read("before"), read("after-whole"));
    assert!(read("before").contains("-icanon"));
}
