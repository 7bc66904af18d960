use std::sync::Mutex;

use futures::StreamExt;
use pollux_protocol::{AgentGone, CallId, ConfirmationKind, PromptOutcome};
use pretty_assertions::assert_eq;

use super::*;

/// An agent that only writes down what it is asked.
#[derive(Default)]
struct Agent(Mutex<Vec<Op>>);

impl AgentHandle for Agent {
    fn send(&self, op: Op) -> Result<(), AgentGone> {
        self.0.lock().unwrap().push(op);
        Ok(())
    }

    fn events(&self) -> BoxStream<'static, Arc<Event>> {
        futures::stream::pending().boxed()
    }
}

impl Agent {
    /// What it was asked since the last call, in words.
    fn asked(&self) -> Vec<String> {
        let ops = std::mem::take(&mut *self.0.lock().unwrap());
        let words = |op| match op {
            Op::Prompt { parts, .. } => {
                format!("prompt {}", parts.iter().filter_map(Part::as_text).collect::<String>())
            }
            Op::Command { name, arguments, .. } => format!("/{name} {arguments}"),
            Op::Answer(answer) => format!("{} {:?}", answer.call_id, answer.outcome),
            Op::Cancel => "cancel".to_owned(),
            other => format!("{other:?}"),
        };
        ops.into_iter().map(words).collect()
    }
}

fn conversation(agent: &Agent) -> Conversation<'_> {
    let setting = Setting {
        handle: agent,
        commands: crate::commands::all(),
        prepare: Box::new(|_| panic!("nothing to prepare")),
        record: Box::new(|_| {}),
        folder: "/p".into(),
        lasting: super::Lasting { session: true, ..super::Lasting::default() },
        model: "m".to_owned(),
    };
    Conversation::new(setting, Page::new(60, false, false))
}

/// What was printed since the last call.
fn printed(talk: &mut Conversation<'_>) -> String {
    talk.show();
    String::from_utf8(talk.page.take()).unwrap()
}

fn ended() -> Event {
    Event::PromptEnded { prompt_id: "p".to_owned(), outcome: PromptOutcome::Done }
}

fn question(id: &str) -> Event {
    Event::Question(Confirmation {
        call_id: CallId::new(id),
        title: "Confirm".to_owned(),
        kind: ConfirmationKind::Execute {
            command: "ls".to_owned(),
            programs: vec!["ls".to_owned()],
            writes: Vec::new(),
            unknown: Vec::new(),
        },
    })
}

#[test]
fn prompts_wait_for_each_other() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.typed(b"one\rtwo\r\r  \rthree\r");
    assert_eq!(agent.asked(), ["prompt one"]);
    let page = printed(&mut talk);
    assert!(page.contains("> one\n") && page.contains("queued: two\n"), "{page:?}");
    talk.event(&ended());
    assert_eq!(agent.asked(), ["prompt two"]);
    assert!(printed(&mut talk).contains("> two\n"));
    talk.event(&ended());
    talk.event(&ended());
    assert_eq!(agent.asked(), ["prompt three"]);
    assert!(printed(&mut talk).ends_with("> "));
}

#[test]
fn a_line_that_begins_with_a_slash_is_a_command() {
    let table = [
        ("/about", "/about "),
        ("/exit now", "/quit now"),
        ("/nosuch x", "/nosuch "),
        ("// no command", "prompt // no command"),
        ("/* neither */", "prompt /* neither */"),
        (" /about", "prompt  /about"),
    ];
    for (line, expected) in table {
        let agent = Agent::default();
        conversation(&agent).typed(format!("{line}\r").as_bytes());
        assert_eq!(agent.asked(), [expected], "{line:?}");
    }
}

#[test]
fn a_number_answers_the_question() {
    for (keys, outcome) in [
        ("1\r", "ProceedOnce"),
        ("2\r", "ProceedAlways"),
        ("3\r", "Cancel"),
        ("\u{4}", "Cancel"),
        ("12\u{7f}\r", "ProceedOnce"),
    ] {
        let agent = Agent::default();
        let mut talk = conversation(&agent);
        talk.typed(b"go\r");
        agent.asked();
        talk.event(&question("c"));
        let page = printed(&mut talk);
        assert!(
            page.contains("  ls\nRuns: ls\nAllow execution") && page.ends_with("Choose 1-3: "),
            "{page}"
        );
        talk.typed(keys.as_bytes());
        assert_eq!(agent.asked(), [format!("c {outcome}")], "{keys:?}");
    }
}

#[test]
fn anything_else_asks_again() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.typed(b"go\r");
    agent.asked();
    talk.event(&question("c"));
    for keys in ["yes\r", "4\r", "\r", "x\\\r"] {
        talk.typed(keys.as_bytes());
        let page = printed(&mut talk);
        assert!(
            page.ends_with("Type a number from 1 to 3 and press Enter.\nChoose 1-3: "),
            "{page}"
        );
    }
    assert_eq!(agent.asked(), [""; 0]);
}

#[test]
fn what_was_typed_ahead_answers_nothing() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.typed(b"go\rha");
    agent.asked();
    talk.event(&question("first"));
    talk.event(&question("second"));
    // One chunk: nobody can have seen the second question.
    talk.typed(b"1\r1\r");
    assert_eq!(agent.asked(), [""; 0]);
    talk.typed(b"1\r");
    assert_eq!(agent.asked(), ["first ProceedOnce"]);
    talk.typed(b"2\r");
    assert_eq!(agent.asked(), ["second ProceedAlways"]);
    // What was half typed before the question is still there.
    talk.typed(b"lf\r");
    talk.event(&ended());
    assert_eq!(agent.asked(), ["prompt half"]);
}

#[test]
fn an_interrupt_stops_the_work_and_then_the_program() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.typed(b"one\rtwo\r");
    agent.asked();
    talk.event(&question("c"));
    talk.interrupt();
    assert_eq!(agent.asked(), ["cancel"]);
    assert!(printed(&mut talk).contains("not sent: 1"));
    talk.event(&ended());
    assert_eq!((agent.asked().len(), talk.over), (0, None), "what waited is not sent");
    talk.interrupt();
    assert_eq!(talk.over, Some(0));
}

#[test]
fn an_interrupt_between_prompts_asks_for_a_second() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.typed(b"half a li");
    talk.interrupt();
    talk.interrupt();
    assert_eq!(talk.over, None, "the first took the line away");
    assert!(printed(&mut talk).contains("Press Ctrl-C again to exit."));
    talk.typed(b"go\r");
    talk.event(&ended());
    talk.interrupt();
    assert_eq!(talk.over, None, "something came between");
    talk.interrupt();
    assert_eq!(talk.over, Some(0));
}

#[test]
fn the_end_of_input_ends_it_after_what_is_under_way() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.typed(b"one\rtwo\r\x04");
    assert_eq!(talk.over, None);
    talk.event(&ended());
    assert_eq!(talk.over, None);
    talk.event(&ended());
    assert_eq!(talk.over, Some(0));
    let mut idle = conversation(&agent);
    idle.typed(b"\x04never\r");
    assert_eq!(idle.over, Some(0));
}

#[test]
fn the_queue_is_bounded() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.typed("x\r".repeat(WAITING + 10).as_bytes());
    assert_eq!(talk.queue.len(), WAITING);
    assert!(printed(&mut talk).contains("Not queued"));
}

#[test]
fn pasted_lines_are_one_prompt() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.typed(b"\x1b[200~one\rtwo\r\x1b[201~\r");
    assert_eq!(agent.asked(), ["prompt one\ntwo\n"]);
}

#[test]
fn bytes_of_any_kind_are_survived() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    let noise: Vec<u8> =
        (0..=u8::MAX).cycle().take(4096).filter(|byte| !b"\x04@".contains(byte)).collect();
    talk.typed(&noise);
    talk.interrupt();
    talk.typed(b"\r");
    assert!(
        printed(&mut talk)
            .chars()
            .all(|letter| !letter.is_control() || "\n\r\u{8}".contains(letter))
    );
}

#[test]
fn an_agent_that_ends_by_itself_is_a_fault() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.agent_gone();
    assert_eq!(talk.over, Some(0), "it was asked to quit");
    let mut talk = conversation(&agent);
    talk.typed(b"go\r");
    talk.agent_gone();
    assert_eq!(talk.over, Some(1));
}
