//! Questions before a session, on the screen.

use std::time::Duration;

use pollux_testkit::{Key, Signal, Terminal};
use pretty_assertions::assert_eq;
use rustix::process::Pid;
use serde_json::json;

use super::consent_at_the_terminal::{answers, consent_file, hostile, trust_file};
use super::stage::{MODEL, Stage};

/// Timeout for all steps whose time is not measured.
const SOON: Duration = Duration::from_secs(10);
/// Text of an empty input. Programs wait for it.
const PLACEHOLDER: &str = "  Type your message or @path/to/file";
/// Script that starts the program and saves the modes of the terminal.
const SCRIPT: &str = "stty -a > \"$HOME/before\"; \
    sh -c 'echo $$ > \"$HOME/process\"; exec \"$0\" \"$@\"' \"$0\" \"$@\"; \
    echo \"code $?\"; stty -a > \"$HOME/after\"";

/// The program under a shell, in a folder about which nothing was asked.
struct Asking {
    stage: Stage,
    terminal: Terminal,
}

impl Asking {
    fn start(stage: Stage, rows: u16, columns: u16) -> Self {
        let program = stage.redirected(SCRIPT).args(["-m", MODEL]);
        let program = program.env("POLLUX_TERMINAL", "screen").env("XTERM_VERSION", "XTerm(390)");
        let program = program.env_remove("GEMINI_CLI_TRUST_WORKSPACE");
        Self { terminal: program.in_terminal(rows, columns), stage }
    }

    fn wait(&self, text: &str) {
        self.terminal.wait_for_text(text, SOON);
    }

    fn signal(&self, signal: Signal) {
        let process = std::fs::read_to_string(self.stage.home.home().join("process")).unwrap();
        let process = Pid::from_raw(process.trim().parse().unwrap()).unwrap();
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// Waits for the end of the program with this code; returns the stage and the screen.
    fn ended(mut self, code: i32) -> (Stage, String) {
        self.wait(&format!("code {code}"));
        self.terminal.wait_exit(SOON);
        let read = |name| std::fs::read_to_string(self.stage.home.home().join(name)).unwrap();
        assert_eq!(read("before"), read("after"));
        (self.stage, self.terminal.screen())
    }

    /// Ends a conversation.
    fn leave(self) -> (Stage, String) {
        for _ in 0..2 {
            self.terminal.send_key(Key::Ctrl('d'));
        }
        self.ended(0)
    }
}

#[test]
fn enter_does_not_trust_a_folder() {
    let asking = Asking::start(hostile(), 40, 100);
    asking.wait("! Do you trust the files in this folder?");
    asking.wait("  2 hooks: true helper, true search");
    asking.wait("\u{25cf} 3. Don't trust");
    asking.terminal.send_key(Key::Enter);
    asking.wait(PLACEHOLDER);
    let (stage, screen) = asking.leave();
    let decision = "- Do you trust the files in this folder? \u{b7} Don't trust\n";
    assert!(screen.contains(decision), "{screen}");
    assert!(screen.contains("(not trusted)"), "{screen}");
    let folder = stage.home.project();
    assert_eq!(trust_file(&stage), Some(json!({folder.to_str().unwrap(): "DO_NOT_TRUST"})));
    assert_eq!(consent_file(&stage), None);
}

#[test]
fn items_are_allowed_and_refused_one_by_one() {
    let asking = Asking::start(hostile(), 50, 100);
    asking.wait("! Do you trust the files in this folder?");
    asking.terminal.send("1");
    let mut allowed = Vec::new();
    for (number, name) in [
        ("1", "general.defaultApprovalMode"),
        ("1", "GOOGLE_GEMINI_BASE_URL"),
        ("2", "TIDY"),
        ("1", "/tidy"),
        ("1", "reviewer"),
        ("1", ".gemini/skills/deploy"),
        ("1", "true helper"),
        ("2", "true search"),
    ] {
        let question = |text: &str| {
            text.lines()
                .any(|row| row.starts_with(&format!("Allow {number}, ")) && row.contains(name))
        };
        asking.terminal.wait_for(|screen| question(&screen.contents()), SOON);
        let is_allowed = name == "TIDY" || name == "true helper";
        asking.terminal.send(if is_allowed { "y" } else { "n" });
        allowed.push((name, is_allowed));
    }
    asking.wait(PLACEHOLDER);
    let (stage, screen) = asking.leave();
    assert!(screen.contains("hook: true helper \u{b7} allowed"), "{screen}");
    assert!(screen.contains("hook: true search \u{b7} refused"), "{screen}");
    let answers = answers(&stage);
    for (name, is_allowed) in allowed {
        let known = answers.iter().find(|(known, _)| known.contains(name));
        assert_eq!(known.map(|(_, answer)| *answer), Some(is_allowed), "{name} {answers:?}");
    }
}

#[test]
fn nothing_is_trusted_before_all_of_the_question_was_on_the_screen() {
    let asking = Asking::start(hostile(), 5, 30);
    asking.wait("Space shows more");
    for _ in 0..3 {
        asking.terminal.send("1\r");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(asking.terminal.screen().contains("Space shows more"), "{}", asking.terminal.screen());
    assert_eq!(trust_file(&asking.stage), None);
    asking.signal(Signal::INT);
    asking.ended(130);
}

#[test]
fn what_is_typed_before_the_question_does_not_answer_it() {
    let asking = Asking::start(hostile(), 40, 100);
    asking.terminal.send("1\n");
    asking.wait("\u{25cf} 3. Don't trust");
    std::thread::sleep(Duration::from_millis(300));
    asking.wait("\u{25cf} 3. Don't trust");
    assert_eq!(trust_file(&asking.stage), None);
    asking.signal(Signal::TERM);
    asking.ended(143);
}

#[test]
fn a_question_is_removed_when_the_program_is_ended() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let asking = Asking::start(hostile(), 40, 100);
        asking.wait("\u{25cf} 3. Don't trust");
        asking.signal(signal);
        let (stage, screen) = asking.ended(code);
        assert!(!screen.contains("Don't trust"), "{screen}");
        assert_eq!(trust_file(&stage), None);
    }
}

#[test]
fn line_mode_keeps_its_questions() {
    for (name, value) in [("POLLUX_TERMINAL", "line"), ("TERM", "dumb")] {
        let stage = hostile();
        let program = stage.pollux(&[]).env("POLLUX_TERMINAL", "screen").env(name, value);
        let program = program.env_remove("GEMINI_CLI_TRUST_WORKSPACE");
        program.in_terminal(40, 100).wait_for_text("Choose 1-3, Enter for 3:", SOON);
    }
    let stage = hostile();
    stage.home.settings(&json!({"pollux": {"terminal": "line"}}));
    let program = stage.pollux(&[]).env_remove("POLLUX_TERMINAL");
    let program = program.env_remove("GEMINI_CLI_TRUST_WORKSPACE");
    program.in_terminal(40, 100).wait_for_text("Choose 1-3, Enter for 3:", SOON);
}
