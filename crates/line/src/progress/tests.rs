use std::sync::Arc;

use pollux_protocol::{Call, Effects, PreparedCall, PromptOutcome, ToolError, ToolErrorKind};
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::*;

/// A progress that is driven by a clock of the test.
struct Watched {
    progress: Progress,
    now: Instant,
}

impl Watched {
    fn new() -> Self {
        let now = Instant::now();
        Self { progress: Progress::new(now), now }
    }

    fn take(&mut self, event: &Event) -> Vec<String> {
        texts(self.progress.take(event, self.now))
    }

    /// Lets some seconds pass; returns the status.
    fn wait(&mut self, seconds: u64) -> Option<String> {
        self.now += Duration::from_secs(seconds);
        self.progress.status(self.now)
    }

    fn tick(&mut self) -> Vec<String> {
        texts(self.progress.tick(self.now))
    }

    /// Starts a command.
    fn start(&mut self, id: &str) -> Vec<String> {
        self.take(&Event::CallRequested(call(id)));
        self.take(&Event::CallPrepared(Arc::new(PreparedCall {
            call_id: CallId::new(id),
            name: "run_shell_command".to_owned(),
            display_name: "Shell".to_owned(),
            description: format!("make {id}"),
            kind: ToolKind::Execute,
            locations: Vec::new(),
            first_line: None,
            effects: Effects::default(),
            is_markdown: false,
        })));
        self.take(&Event::CallMoved { call_id: CallId::new(id), status: CallStatus::Executing })
    }

    fn print(&mut self, id: &str, output: LiveOutput) {
        let shown = self.take(&Event::CallOutput { call_id: CallId::new(id), output });
        assert_eq!(shown, [""; 0]);
    }
}

fn texts(lines: Vec<TonedLine>) -> Vec<String> {
    lines.into_iter().map(|line| line.text).collect()
}

fn call(id: &str) -> Call {
    let [name, prompt_id] = ["run_shell_command", "p"].map(str::to_owned);
    Call { id: CallId::new(id), name, args: Value::Null, prompt_id }
}

fn finished(id: &str, text: &str) -> FinishedCall {
    FinishedCall {
        call: call(id),
        status: CallStatus::Success,
        response: Vec::new(),
        display: Some(Display::Text(text.to_owned())),
        error: None,
        duration: Duration::ZERO,
        decision: None,
    }
}

fn append(text: &str) -> LiveOutput {
    LiveOutput::Append(text.to_owned())
}

#[test]
fn the_status_says_what_is_awaited() {
    let mut watched = Watched::new();
    assert_eq!((watched.wait(9), watched.progress.next_tick()), (None, None));
    watched.take(&Event::TurnStarted { turn: 1 });
    assert_eq!(watched.wait(0), None);
    assert!(watched.progress.next_tick().is_some_and(|tick| tick > watched.now));
    assert_eq!(watched.wait(5).unwrap(), "waiting for the model, 5 s");
    watched.take(&Event::Text("Hm".to_owned()));
    assert_eq!(watched.wait(0), None, "text has arrived");
    watched.start("a");
    assert_eq!(watched.wait(2).unwrap(), "running run_shell_command, 2 s");
    watched.start("b");
    assert_eq!(watched.wait(1).unwrap(), "running 2 calls, 1 s");
    watched.take(&Event::CallsFinished(Vec::new()));
    assert_eq!(watched.wait(1).unwrap(), "waiting for the model, 1 s");
    watched.take(&Event::PromptEnded(PromptOutcome::Done));
    assert_eq!(watched.wait(9), None);
}

#[test]
fn output_comes_in_intervals_and_is_not_repeated() {
    let mut watched = Watched::new();
    assert_eq!(watched.start("all"), ["  > run_shell_command make all"]);
    watched.print("all", append("one\ntwo\n"));
    assert_eq!(watched.tick(), ["    one", "    two"]);
    assert_eq!(watched.tick(), [""; 0]);
    watched.print("all", append("three\nfour"));
    watched.print("all", LiveOutput::Ended("Command exited with code: 2".to_owned()));
    let shown = texts(watched.progress.finish(&finished("all", "one\ntwo\nthree\nfour"), false));
    assert_eq!(shown, ["    three", "    four", "    Command exited with code: 2"]);
}

#[test]
fn a_short_failure_shows_its_end() {
    let mut watched = Watched::new();
    watched.start("all");
    let lines: Vec<String> = (1..=30).map(|number| format!("{number}\n")).collect();
    let text = lines.concat() + "FAILED\n";
    watched.print("all", append(&text));
    watched.print("all", LiveOutput::Ended("Command exited with code: 1".to_owned()));
    let lines = watched.progress.finish(&finished("all", &text), false);
    assert_eq!(lines.last().unwrap().tone, Tone::Error);
    let shown = texts(lines);
    assert_eq!(shown[..2], ["    ... 19 earlier lines", "    20"]);
    assert_eq!(shown[12..], ["    FAILED", "    Command exited with code: 1"]);
    watched.start("all");
    let silent = "Command exited with code: 1";
    watched.print("all", LiveOutput::Ended(silent.to_owned()));
    let shown = texts(watched.progress.finish(&finished("all", silent), false));
    assert_eq!(shown, ["    Command exited with code: 1"], "not twice");
}

#[test]
fn output_of_several_commands_is_told_apart() {
    let mut watched = Watched::new();
    watched.start("a");
    watched.start("b");
    watched.print("b", append("x\n"));
    assert_eq!(watched.tick(), ["    run_shell_command make b:", "    x"]);
    watched.print("b", append("y\n"));
    assert_eq!(watched.tick(), ["    y"]);
    watched.print("a", append("z\n"));
    assert_eq!(watched.tick(), ["    run_shell_command make a:", "    z"]);
}

#[test]
fn an_error_belongs_to_a_line_about_its_call() {
    let mut watched = Watched::new();
    let mut failed = finished("a", "It failed.");
    failed.status = CallStatus::Error;
    failed.error = Some(ToolError::new(ToolErrorKind::ShellExecuteError, "It failed."));
    watched.start("a");
    assert_eq!(texts(watched.progress.finish(&failed, false)), [""; 0]);
    watched.start("a");
    assert_eq!(texts(watched.progress.finish(&failed, true)), ["    run_shell_command make a:"]);
    watched.take(&Event::CallRequested(call("a")));
    assert_eq!(texts(watched.progress.finish(&failed, false)), ["  > run_shell_command"]);
}

#[test]
fn what_a_question_for_input_has_shown_is_not_repeated() {
    let mut watched = Watched::new();
    watched.start("a");
    watched.print("a", append("Name?\n"));
    let awaited = pollux_protocol::AwaitedInput { prompt: String::new(), secret: false };
    watched.print("a", LiveOutput::Input(Some(awaited)));
    assert_eq!((watched.tick(), watched.wait(5)), (Vec::new(), None));
    watched.print("a", LiveOutput::Input(None));
    watched.print("a", append("Hello\n"));
    assert_eq!(watched.tick(), ["    Hello"]);
}
