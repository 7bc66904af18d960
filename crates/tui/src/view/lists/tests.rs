use std::sync::Arc;
use std::time::Instant;

use pollux_input::Interaction;
use pollux_protocol::{BackgroundCommand, CallId, CallStatus, Event, PreparedCall, ToolKind};
use pretty_assertions::assert_eq;

use crate::view::tests::{Agent, Stage, call};

const ALT_UP: &str = "\x1b[1;3A";
const SHIFT_UP: &str = "\x1b[1;2A";
const DELETE: &str = "\x1b[3~";
const CTRL_B: &str = "\x02";

/// Queues three prompts during work.
fn with_queue(agent: &Agent) -> Stage<'_> {
    let mut stage = Stage::new(agent, 80, 24);
    for prompt in ["work", "one", "two", "three"] {
        stage.keys(&[prompt, "\r"]);
    }
    stage
}

fn queue(stage: &Stage<'_>) -> Vec<String> {
    stage.view.workload.queue().map(str::to_owned).collect()
}

fn run(stage: &mut Stage<'_>, count: u32) {
    let command = |id| BackgroundCommand { id, command: "serve".to_owned(), since: Instant::now() };
    stage.view.background_changed(&Arc::new((1..=count).map(command).collect()));
}

#[test]
fn a_queued_prompt_is_moved_removed_and_taken_back() {
    let agent = Agent::default();
    let mut stage = with_queue(&agent);
    stage.keys(&[ALT_UP]);
    assert!(stage.live().contains(&"> three".to_owned()), "{:?}", stage.live());
    stage.keys(&[SHIFT_UP, SHIFT_UP, SHIFT_UP]);
    assert_eq!(queue(&stage), ["three", "one", "two"]);
    stage.keys(&[ALT_UP, "\x1b[1;3B", DELETE]);
    assert_eq!(queue(&stage), ["three", "two"]);
    stage.keys(&["\r"]);
    assert_eq!(queue(&stage), ["three"]);
    assert!(stage.live().contains(&"> two".to_owned()), "the input has it: {:?}", stage.live());
    // Without a choice, the keys have their usual effects.
    stage.keys(&["!", "\r"]);
    assert_eq!(queue(&stage), ["three", "two!"]);
    stage.keys(&[ALT_UP, "x"]);
    assert_eq!(queue(&stage), ["three", "two!"]);
    assert!(stage.live().contains(&"> x".to_owned()), "{:?}", stage.live());
}

#[test]
fn escape_gives_up_the_choice_and_not_the_work() {
    let agent = Agent::default();
    let mut stage = with_queue(&agent);
    agent.asked();
    stage.keys(&[ALT_UP, "\x1b"]);
    assert!(agent.asked().is_empty());
    stage.keys(&["\x1b"]);
    assert_eq!(agent.asked(), ["cancel"]);
}

#[test]
fn a_question_mark_shows_the_keys_and_the_second_one_is_text() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["?"]);
    let rows = stage.live();
    assert!(rows.iter().any(|row| row.contains("Shift+Tab")), "{rows:?}");
    assert_eq!(rows[1], ">   Type your message or @path/to/file");
    stage.keys(&["\x1b"]);
    assert_eq!(stage.live().len(), 3);
    stage.keys(&["?", "?"]);
    assert_eq!(stage.live()[1], "> ?");
    let mut low = Stage::new(&agent, 40, 7);
    low.keys(&["?"]);
    assert!(low.live().iter().any(|row| row.contains("/shortcuts lists all")), "{:?}", low.live());
}

#[test]
fn background_commands_are_listed_shown_and_stopped() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&[CTRL_B]);
    let rows = stage.live();
    assert!(rows.contains(&"No background tasks are currently active.".to_owned()), "{rows:?}");
    run(&mut stage, 2);
    let footer = stage.live().pop().unwrap();
    assert!(footer.contains(" · 2 background commands · "), "{footer}");
    stage.keys(&["work", "\r", CTRL_B, "\x1b[B", "\x0b", "\r"]);
    assert_eq!(queue(&stage), ["/tasks stop 2", "/tasks show 2"]);
    run(&mut stage, 0);
    assert!(!stage.live().join("\n").contains("background command"), "{:?}", stage.live());
    // In a text, the key moves the cursor.
    stage.keys(&["ac", CTRL_B, "b"]);
    assert!(stage.live().contains(&"> abc".to_owned()), "{:?}", stage.live());
}

#[test]
fn the_running_command_moves_to_the_background() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["go", "\r"]);
    agent.asked();
    stage.event(Event::CallRequested(call("Shell")));
    let prepared = PreparedCall {
        call_id: CallId::new("1"),
        name: "run_shell_command".to_owned(),
        display_name: "Shell".to_owned(),
        description: "serve".to_owned(),
        kind: ToolKind::Execute,
        locations: Vec::new(),
        first_line: None,
        effects: pollux_protocol::Effects::default(),
        is_markdown: false,
    };
    stage.event(Event::CallPrepared(prepared.into()));
    let status = CallStatus::Executing;
    stage.event(Event::CallMoved { call_id: CallId::new("1"), status });
    stage.keys(&[CTRL_B]);
    assert_eq!(agent.asked(), ["Background(CallId(\"1\"))"]);
}

#[test]
fn the_end_warns_about_background_commands() {
    for key in ["interrupt", "\x04"] {
        let agent = Agent::default();
        let mut stage = Stage::new(&agent, 80, 24);
        run(&mut stage, 1);
        let press = |stage: &mut Stage<'_>| {
            if key == "interrupt" { stage.view.interrupt() } else { stage.keys(&[key]) }
        };
        press(&mut stage);
        press(&mut stage);
        assert_eq!(stage.view.over(), None, "{key:?}");
        let rows = stage.live();
        let warning = "1 background command would be ended. Press Ctrl+";
        assert!(rows.iter().any(|row| row.starts_with(warning)), "{rows:?}");
        press(&mut stage);
        assert!(stage.view.over().is_some(), "{key:?}");
    }
}
