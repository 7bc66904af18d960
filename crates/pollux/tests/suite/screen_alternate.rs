//! The conversation on the alternate screen of the terminal (`ui.useAlternateBuffer`).

use pollux_testkit::{Key, ModelReply, Pollux, Signal, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::screen::{PLACEHOLDER, SOON, Talk, on_screen};
use super::stage::{MODEL, Stage};

const SHIFT_UP: &str = "\x1b[1;2A";
const SHIFT_DOWN: &str = "\x1b[1;2B";
const CTRL_HOME: &str = "\x1b[1;5H";
const CTRL_END: &str = "\x1b[1;5F";
const PAGE_UP: &str = "\x1b[5~";
const PAGE_DOWN: &str = "\x1b[6~";
const WHEEL_UP: &str = "\x1b[<64;10;5M";
const WHEEL_DOWN: &str = "\x1b[<65;10;5M";
/// Number of lines of an answer, which is more than the screen shows.
const LINES: usize = 60;

fn stage(replies: impl IntoIterator<Item = ModelReply>) -> Stage {
    let stage = Stage::with(replies);
    stage.home.settings(&json!({"ui": {"useAlternateBuffer": true}}));
    stage
}

fn lines() -> Vec<String> {
    (1..=LINES).map(|number| format!("- line {number} of the answer")).collect()
}

fn long() -> ModelReply {
    let text = lines().join("\n");
    text.split_inclusive(' ').fold(reply(), ModelReply::text)
}

impl Talk {
    fn is_alternate(&self, expected: bool) {
        self.terminal.wait_for(|screen| screen.alternate_screen() == expected, SOON);
    }

    /// Begins a conversation after 60 lines of another program.
    fn after_lines(stage: Stage) -> Self {
        let script = "seq 1001 1060; stty -a > before; sh -c 'echo $$ > process; exec \"$0\" \"$@\"' \
                      \"$0\" \"$@\"; echo \"code $?\"; stty -a > after";
        let program = on_screen(stage.redirected(script)).args(["-m", MODEL]);
        let talk = Self { terminal: program.in_terminal(24, 80), stage };
        talk.wait(PLACEHOLDER);
        talk.is_alternate(true);
        talk
    }

    /// Checks that the terminal is as before, with the conversation below what was there.
    fn is_given_back(&mut self, code: &str) {
        self.wait(code);
        self.terminal.wait_exit(SOON);
        self.is_alternate(false);
        let read = |name| self.stage.home.read_project_file(name);
        assert_eq!(read("before"), read("after"), "{code}");
        let all = self.terminal.all_rows();
        let earlier: Vec<String> = (1001..=1060).map(|number| number.to_string()).collect();
        assert_eq!(all[..60], earlier);
        let shown: Vec<&String> = all.iter().filter(|row| row.starts_with("- line ")).collect();
        assert_eq!(shown, lines().iter().collect::<Vec<_>>(), "{code}");
        let screen = self.terminal.screen();
        assert!(!screen.contains(PLACEHOLDER), "{screen}");
        let printed = String::from_utf8_lossy(&self.terminal.transcript()).into_owned();
        for mode in ["1049", "1000", "1006", "2004"] {
            let last = |end: &str| printed.rfind(&format!("\x1b[?{mode}{end}"));
            assert!(last("l") > last("h"), "{mode}");
        }
    }
}

#[test]
fn the_user_scrolls_on_the_alternate_screen_and_the_conversation_is_left() {
    let mut talk = Talk::after_lines(stage([long()]));
    talk.line("go");
    talk.wait("- line 60 of the answer\n\n>");
    talk.idle();
    let last = "- line 59 of the answer\n- line 60 of the answer\n";
    for (key, expected) in [
        (SHIFT_UP, "- line 59 of the answer\n1 more rows below \u{b7} Ctrl+End goes there\n"),
        (SHIFT_DOWN, last),
        (WHEEL_UP, "\n3 more rows below"),
        (WHEEL_UP, "\n6 more rows below"),
        (WHEEL_DOWN, "\n3 more rows below"),
        (PAGE_UP, "more rows below"),
        (CTRL_HOME, "> go\n\n- line 1 of the answer\n"),
        (PAGE_DOWN, "- line 19 of the answer\n"),
        (CTRL_END, last),
    ] {
        talk.terminal.send(key);
        talk.wait(expected);
    }
    // The input stays where it is, and works.
    talk.terminal.send(CTRL_HOME);
    talk.wait("- line 1 of the answer\n");
    talk.terminal.send("typed");
    talk.wait("> typed\n");
    talk.terminal.resize(24, 40);
    talk.wait("> typed\n");
    talk.terminal.resize(24, 80);
    talk.terminal.send(CTRL_END);
    talk.wait(last);
    talk.terminal.send_key(Key::Ctrl('o'));
    talk.wait("transcript");
    talk.terminal.send(WHEEL_UP);
    talk.terminal.send("q");
    talk.wait("> typed\n");
    talk.is_alternate(true);
    talk.terminal.send_key(Key::Ctrl('u'));
    talk.wait(PLACEHOLDER);
    for _ in 0..2 {
        talk.terminal.send_key(Key::Ctrl('d'));
    }
    talk.is_given_back("code 0");
    let screen = talk.terminal.screen();
    assert!(screen.contains("\nAgent powering down. Goodbye!\n"), "{screen}");
    assert!(screen.contains("To resume this session: "), "{screen}");
}

#[test]
fn a_signal_leaves_the_alternate_screen() {
    for (signal, code) in [(Signal::TERM, "code 143"), (Signal::HUP, "code 129")] {
        let mut talk = Talk::after_lines(stage([long()]));
        talk.line("go");
        talk.wait("- line 60 of the answer\n\n>");
        talk.idle();
        talk.signal(signal);
        talk.is_given_back(code);
    }
}

#[test]
fn the_alternate_screen_comes_back_after_a_stop() {
    let stage = stage([reply().text("Back."), reply().text("Again.")]);
    let shell = Pollux::new("/bin/bash").home(&stage.home).server(&stage.server);
    let shell = on_screen(shell).args(["--norc", "--noprofile", "-i"]).env("PS1", "shell: ");
    let shell = shell.env("PROGRAM", env!("CARGO_BIN_EXE_pollux"));
    let terminal = shell.in_terminal(24, 80);
    terminal.wait_for_text("shell:", SOON);
    terminal.send(&format!("$PROGRAM -m {MODEL}\r"));
    let talk = Talk { stage, terminal };
    talk.wait(PLACEHOLDER);
    talk.line("go");
    talk.wait("Back.");
    talk.idle();
    talk.terminal.send("half");
    talk.wait("> half");
    talk.terminal.send_key(Key::Ctrl('z'));
    talk.wait("Stopped");
    talk.is_alternate(false);
    talk.terminal.send("stty -a | grep -o ' icanon'\r");
    talk.wait("\n icanon");
    talk.terminal.send("fg\r");
    talk.is_alternate(true);
    talk.wait("> go\n\nBack.\n\n> half");
    talk.terminal.send(" done");
    talk.wait("> half done");
    talk.enter();
    talk.wait("Again.");
    talk.idle();
    talk.terminal.send_key(Key::Ctrl('d'));
    talk.terminal.send_key(Key::Ctrl('d'));
    talk.terminal.wait_for(|screen| screen.contents().trim_end().ends_with("shell:"), SOON);
    let screen = talk.terminal.screen();
    assert!(
        screen.contains("> go\n\nBack.\n\n> half done\n\nAgain.\n\nAgent powering"),
        "{screen}"
    );
    talk.terminal.send("exit\r");
}

#[test]
fn another_session_begins_on_the_alternate_screen() {
    let talk = Talk::after_lines(stage([reply().text("One."), reply().text("Two.")]));
    talk.line("first");
    talk.wait("One.");
    talk.idle();
    talk.line("/clear");
    talk.terminal
        .wait_for(|screen| screen.alternate_screen() && !screen.contents().contains("One."), SOON);
    talk.wait(PLACEHOLDER);
    talk.line("second");
    talk.wait("> second\n\nTwo.");
    talk.idle();
    for _ in 0..2 {
        talk.terminal.send_key(Key::Ctrl('d'));
    }
    talk.wait("code 0");
    let all = talk.terminal.all_rows().join("\n");
    assert!(all.contains("> first\n\nOne.\n") && all.contains("> second\n\nTwo.\n"), "{all}");
}
