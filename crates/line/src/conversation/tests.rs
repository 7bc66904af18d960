use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use pollux_input::{InputMode, KeyMap, LastMessages, TerminalKind, UserOptions};
use pollux_protocol::{
    AgentGone, AgentHandle, CallId, Clipboard, ClipboardContent, Command, CommandContext,
    CommandError, CommandSet, Completions, ExternalEditor, Live, Origin, PromptOutcome,
    QuestionChoice, QuestionReply, SessionFacts, SettingValues, Severity,
};
use pretty_assertions::assert_eq;

use super::*;
use crate::page::PageLook;

/// A command that is never run.
struct Named(&'static str, &'static [&'static str]);

#[async_trait]
impl Command for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn aliases(&self) -> &[&str] {
        self.1
    }

    fn description(&self) -> &'static str {
        ""
    }

    fn runs_while_working(&self) -> bool {
        self.0 == "about"
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let words = ["all", "alike", "none"].into_iter();
        words.filter(|word| word.starts_with(partial)).map(str::to_owned).collect()
    }

    async fn run(&self, _context: CommandContext) -> Result<Option<Op>, CommandError> {
        panic!("{} was run", self.0)
    }
}

/// An agent that only records the operations.
#[derive(Default)]
struct Agent {
    ops: Mutex<Vec<Op>>,
    /// Id of the work that was started last.
    work: Mutex<Option<Arc<str>>>,
    /// Questions by the names that tests give them.
    questions: Mutex<Vec<(String, QuestionId)>>,
}

impl AgentHandle for Agent {
    fn send(&self, op: Op) -> Result<(), AgentGone> {
        if let Some(id) = op.id() {
            *self.work.lock().unwrap() = Some(id.as_str().into());
        }
        self.ops.lock().unwrap().push(op);
        Ok(())
    }

    fn events(&self) -> BoxStream<'static, Arc<pollux_protocol::Envelope>> {
        futures::stream::pending().boxed()
    }

    fn commands(&self) -> Live<CommandSet> {
        Live::new(CommandSet::new(vec![
            Arc::new(Named("about", &[])),
            Arc::new(Named("quit", &["exit"])),
        ]))
    }
}

impl Agent {
    /// Returns the operations since the last call, as text.
    fn asked(&self) -> Vec<String> {
        let ops = std::mem::take(&mut *self.ops.lock().unwrap());
        let words = |op| match op {
            Op::Prompt { input, .. } => {
                format!(
                    "prompt {}",
                    input.parts.iter().filter_map(Part::as_text).collect::<String>()
                )
            }
            Op::Command { name, arguments, .. } => format!("/{name} {arguments}"),
            Op::Answer(reply) => self.reply(&reply),
            Op::Cancel => "cancel".to_owned(),
            Op::Steer(text) => format!("steer {text}"),
            other => format!("{other:?}"),
        };
        ops.into_iter().map(words).collect()
    }

    fn reply(&self, reply: &QuestionReply) -> String {
        let questions = self.questions.lock().unwrap();
        let (name, _) = questions.iter().find(|(_, id)| *id == reply.question).unwrap();
        format!("{name} {:?}", reply.outcome)
    }

    fn envelope(&self, event: Event) -> Envelope {
        let prompt = self.work.lock().unwrap().clone();
        Envelope { origin: Arc::new(Origin { prompt, ..Origin::default() }), event }
    }

    /// Returns the end event of the work that was started last.
    fn ended(&self) -> Envelope {
        self.envelope(Event::PromptEnded(PromptOutcome::Done))
    }

    /// Returns a question about a command.
    fn question(&self, name: &str) -> Envelope {
        let kind = ConfirmationKind::Execute {
            command: "ls".to_owned(),
            programs: vec!["ls".to_owned()],
            commands: Vec::new(),
            writes: Vec::new(),
            unknown: Vec::new(),
            starts: Vec::new(),
            reason: None,
            level: pollux_protocol::ConfinementLevel::None,
            purpose: None,
            folder: None,
            is_background: false,
        };
        let (call_id, title) = (CallId::new(name), "Confirm".to_owned());
        let subject = QuestionSubject::Call(Confirmation { call_id, title, kind });
        let choices = vec![
            QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow once", 'y'),
            QuestionChoice::new(QuestionOutcome::ProceedAlways, "Allow for this session", 'a'),
            QuestionChoice::new(QuestionOutcome::Cancel, "No, suggest changes", 'n'),
        ];
        let question = Question::new(Arc::default(), subject, choices, None);
        self.questions.lock().unwrap().push((name.to_owned(), question.id));
        self.envelope(Event::Question(Box::new(question)))
    }
}

/// No clipboard.
struct NoClipboard;

#[async_trait]
impl Clipboard for NoClipboard {
    async fn read(&self) -> Result<ClipboardContent, String> {
        Err("There is no clipboard.".to_owned())
    }
}

/// An editor that is never opened.
struct NoEditor;

#[async_trait]
impl ExternalEditor for NoEditor {
    async fn open(&self, file: &Path, _: Option<u32>) -> Result<(), String> {
        panic!("{} was opened", file.display())
    }
}

fn conversation(agent: &Agent) -> Conversation<'_> {
    talk_with(agent, false)
}

fn talk_with(agent: &Agent, is_steered: bool) -> Conversation<'_> {
    let facts = SessionFacts {
        id: "s".to_owned(),
        folder: "/p".into(),
        temporary_folder: "/t".into(),
        model: "m".to_owned(),
        mode: ApprovalMode::Default,
        is_trusted: true,
        is_steered,
        is_for_screen_reader: true,
        is_debug: false,
        resumed: None,
    };
    let options = UserOptions {
        version: "1",
        called_as: "pollux".to_owned(),
        raw_output: false,
        is_coloured: false,
        cuts_rows: false,
        terminal: TerminalKind::default(),
        home: None,
        is_dumb: false,
        first_prompt: None,
        editor: Arc::new(NoEditor),
        clipboard: Arc::new(NoClipboard),
        describe_failure: |_| None,
        notices: Arc::new(|_: Severity, _: &str| {}),
        keys: KeyMap::usual(),
        key_messages: Vec::new(),
        show_question: Box::new(|| None),
    };
    let prepare = Box::new(|_| panic!("nothing to prepare"));
    let opening = Opening {
        workload: Workload::new(agent, prepare, is_steered),
        read_clipboard: Box::new(|| panic!("the clipboard is not read")),
        is_readable: Box::new(|_| false),
        find_linked: Box::new(|_| None),
        read_page: Box::new(|_| panic!("no transcript is read")),
        read_list: Box::new(|_| panic!("no list is shown")),
        complete_path: Box::new(|partial, _| {
            let paths = ["src/", "src/main.rs", "some\\ file"].into_iter();
            let found = paths.filter(|path| path.starts_with(&partial)).map(str::to_owned);
            let texts: Vec<String> = found.collect();
            tokio::spawn(async move { Completions { texts, is_partial: false } })
        }),
        record: Box::new(|_| {}),
        check_mode: Box::new(|_| Ok(())),
        settings: Box::new(SettingValues::default),
        facts: Box::leak(Box::new(facts)),
        earlier: Vec::new(),
        last: LastMessages::default(),
        options: Box::leak(Box::new(options)),
        first_prompt: None,
        unsent: Unsent::default(),
        is_echoing: false,
        size: WindowSize { columns: 60, rows: None },
    };
    Conversation::new(opening, Page::new(60, PageLook::default()))
}

/// Returns the output since the last call.
fn printed(talk: &mut Conversation<'_>) -> String {
    String::from_utf8(talk.show()).unwrap()
}

#[test]
fn prompts_wait_for_each_other() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"one\rtwo\r\r  \rthree\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["prompt one"]);
    let page = printed(&mut talk);
    assert!(page.contains("> one\n") && page.contains("queued: two\n"), "{page:?}");
    talk.event(&agent.ended());
    assert_eq!(agent.asked(), ["prompt two"]);
    assert!(printed(&mut talk).contains("> two\n"));
    talk.event(&agent.ended());
    talk.event(&agent.ended());
    assert_eq!(agent.asked(), ["prompt three"]);
    assert!(printed(&mut talk).ends_with("> "));
}

/// Presses Tab after a line; returns the output of that key.
async fn tab(talk: &mut Conversation<'_>, line: &str) -> String {
    talk.type_bytes(line.as_bytes(), InputMode::Raw);
    printed(talk);
    talk.type_bytes(b"\t", InputMode::Raw);
    let lines = match &mut talk.completion {
        Some(completion) => completion.lines().await,
        None => return printed(talk),
    };
    talk.completed(&lines);
    printed(talk)
}

#[tokio::test]
async fn a_tab_completes_commands_and_their_arguments() {
    let table = [
        ("/ab", "/about "),
        ("/q", "/quit "),
        ("/about n", "/about none "),
        ("/about a", "/about al"),
        ("/nosuch", "/nosuch"),
    ];
    for (line, completed) in table {
        let agent = Agent::default();
        let mut talk = conversation(&agent);
        tab(&mut talk, line).await;
        talk.type_bytes(b"\r", InputMode::Raw);
        let name = completed.split_whitespace().next().unwrap();
        let rest = completed[name.len()..].trim();
        assert_eq!(agent.asked(), [format!("{name} {rest}")], "{line:?}");
    }
}

#[tokio::test]
async fn a_tab_lists_what_a_command_may_become() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    let page = tab(&mut talk, "/about al").await;
    assert!(
        page.contains("/about all  /about alike\n") && page.ends_with("> /about al"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_tab_elsewhere_is_a_character() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    tab(&mut talk, "a").await;
    talk.type_bytes(b"b\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["prompt a\tb"]);
}

#[tokio::test]
async fn a_completion_that_comes_late_changes_nothing() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"/ab\tx", InputMode::Raw);
    assert!(talk.completion.is_none());
    talk.completed(&["/about".to_owned()]);
    talk.type_bytes(b"\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["/abx "]);
}

#[tokio::test]
async fn a_completion_of_a_line_that_was_given_up_changes_nothing() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"/ab\t", InputMode::Raw);
    talk.interrupt();
    talk.completed(&["/about".to_owned()]);
    talk.type_bytes(b"go\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["prompt go"]);
}

#[test]
fn words_go_to_a_model_at_work_where_the_settings_say_so() {
    let agent = Agent::default();
    let mut talk = talk_with(&agent, true);
    talk.type_bytes(b"go\ruse tabs\r/quit\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["prompt go", "steer use tabs"]);
    let page = printed(&mut talk);
    assert!(page.contains("hint: use tabs\n") && page.contains("queued: /quit\n"), "{page:?}");
    talk.event(&agent.ended());
    assert_eq!(agent.asked(), ["/quit "], "commands wait");
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
        conversation(&agent).type_bytes(format!("{line}\r").as_bytes(), InputMode::Raw);
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
        talk.type_bytes(b"go\r", InputMode::Raw);
        agent.asked();
        talk.event(&agent.question("c"));
        let page = printed(&mut talk);
        assert!(
            page.contains("  ls\nRuns: ls\nAllow execution") && page.ends_with("Choose 1-3: "),
            "{page}"
        );
        talk.type_bytes(keys.as_bytes(), InputMode::Raw);
        assert_eq!(agent.asked(), [format!("c {outcome}")], "{keys:?}");
    }
}

#[test]
fn anything_else_asks_again() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"go\r", InputMode::Raw);
    agent.asked();
    talk.event(&agent.question("c"));
    for keys in ["maybe\r", "4\r", "\r", "x\\\r"] {
        talk.type_bytes(keys.as_bytes(), InputMode::Raw);
        let page = printed(&mut talk);
        assert!(
            page.ends_with("Type a number from 1 to 3, or what to do instead.\nChoose 1-3: "),
            "{page}"
        );
    }
    assert_eq!(agent.asked(), [""; 0]);
}

#[test]
fn words_instead_of_an_answer_refuse_the_call_and_are_the_next_prompt() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"go\r", InputMode::Raw);
    agent.asked();
    talk.event(&agent.question("c"));
    printed(&mut talk);
    talk.type_bytes(b"use the other file\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["c Cancel"]);
    talk.event(&agent.envelope(Event::PromptEnded(PromptOutcome::Cancelled)));
    assert_eq!(agent.asked(), ["prompt use the other file"]);
    let page = printed(&mut talk);
    assert!(page.contains("Not applied.\n> use the other file\n"), "{page:?}");
    talk.event(&agent.envelope(Event::PromptEnded(PromptOutcome::Cancelled)));
    assert!(printed(&mut talk).contains("Request cancelled.\n"));
}

#[test]
fn a_no_asks_what_to_do_instead() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"go\r", InputMode::Raw);
    agent.asked();
    talk.event(&agent.question("c"));
    talk.type_bytes(b"n\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["c Cancel"]);
    talk.event(&agent.envelope(Event::PromptEnded(PromptOutcome::Cancelled)));
    let page = printed(&mut talk);
    assert!(page.contains("Not applied. Type what to do instead.\n"), "{page:?}");
}

#[test]
fn what_was_typed_ahead_answers_nothing() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"go\rha", InputMode::Raw);
    agent.asked();
    talk.event(&agent.question("first"));
    talk.event(&agent.question("second"));
    // The second answer is in the same chunk, so the user cannot have seen the second question.
    talk.type_bytes(b"1\r1\r", InputMode::Raw);
    assert_eq!(agent.asked(), [""; 0]);
    talk.type_bytes(b"1\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["first ProceedOnce"]);
    talk.type_bytes(b"2\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["second ProceedAlways"]);
    // The draft that was typed before the question is unchanged.
    talk.type_bytes(b"lf\r", InputMode::Raw);
    talk.event(&agent.ended());
    assert_eq!(agent.asked(), ["prompt half"]);
}

#[test]
fn an_interrupt_stops_the_work_and_then_the_program() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"one\rtwo\r", InputMode::Raw);
    agent.asked();
    talk.event(&agent.question("c"));
    talk.interrupt();
    assert_eq!(agent.asked(), ["cancel"]);
    assert!(printed(&mut talk).contains("not sent: 1"));
    talk.event(&agent.ended());
    assert_eq!((agent.asked().len(), talk.over), (0, None), "what waited is not sent");
    talk.interrupt();
    assert_eq!(talk.over, None, "the first interrupt stopped the work");
    assert!(printed(&mut talk).contains("Press Ctrl-C again to exit."));
    talk.interrupt();
    assert_eq!(talk.over, Some(ConversationEnd::Finished));
}

#[test]
fn interrupts_during_the_work_announce_the_end_before_it_comes() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"one\r", InputMode::Raw);
    agent.asked();
    talk.interrupt();
    talk.interrupt();
    assert_eq!((agent.asked(), talk.over), (vec!["cancel".to_owned()], None));
    assert!(printed(&mut talk).contains("Press Ctrl-C again to exit."));
    talk.interrupt();
    assert_eq!(talk.over, Some(ConversationEnd::Finished), "work that does not stop");
}

#[test]
fn typing_resets_the_count_of_interrupts() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.interrupt();
    talk.type_bytes(b"a", InputMode::Raw);
    talk.interrupt();
    assert!(talk.draft.is_empty() && talk.over.is_none());
    talk.interrupt();
    talk.type_bytes(b"b\x7f", InputMode::Raw);
    talk.interrupt();
    assert_eq!(talk.over, None);
}

#[test]
fn an_escape_key_stops_the_work_and_rejects() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    let escape = |talk: &mut Conversation<'_>| {
        talk.type_bytes(b"\x1b", InputMode::Raw);
        talk.escape_ended();
    };
    escape(&mut talk);
    assert_eq!(agent.asked(), [""; 0], "nothing is under way");
    talk.type_bytes(b"one\rtwo\rha", InputMode::Raw);
    agent.asked();
    talk.event(&agent.question("c"));
    talk.type_bytes(b"may", InputMode::Raw);
    escape(&mut talk);
    assert_eq!(agent.asked(), ["c Cancel"]);
    talk.type_bytes(b"\x12", InputMode::Raw);
    escape(&mut talk);
    assert_eq!(agent.asked(), [""; 0], "the key ended the search");
    escape(&mut talk);
    escape(&mut talk);
    assert_eq!(agent.asked(), ["cancel"]);
    assert!(printed(&mut talk).contains("not sent: 1"));
    talk.event(&agent.ended());
    talk.type_bytes(b"lf\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["prompt half"], "the draft stays");
    escape(&mut talk);
    assert_eq!(agent.asked(), ["cancel"], "the next work can be stopped");
}

#[test]
fn an_interrupt_between_prompts_asks_for_a_second() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"half a li", InputMode::Raw);
    talk.interrupt();
    talk.interrupt();
    assert_eq!(talk.over, None, "the first took the line away");
    assert!(printed(&mut talk).contains("Press Ctrl-C again to exit."));
    talk.type_bytes(b"go\r", InputMode::Raw);
    talk.event(&agent.ended());
    talk.interrupt();
    assert_eq!(talk.over, None, "something came between");
    talk.interrupt();
    assert_eq!(talk.over, Some(ConversationEnd::Finished));
}

#[test]
fn the_end_of_input_ends_it_after_what_is_under_way() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"one\rtwo\r\x04", InputMode::Raw);
    assert_eq!(talk.over, None);
    talk.event(&agent.ended());
    assert_eq!(talk.over, None);
    talk.event(&agent.ended());
    assert_eq!(talk.over, Some(ConversationEnd::Finished));
    let mut idle = conversation(&agent);
    idle.type_bytes(b"\x04never\r", InputMode::Raw);
    assert_eq!(idle.over, Some(ConversationEnd::Finished));
}

#[test]
fn the_end_of_input_sends_an_open_prompt() {
    for (bytes, is_over) in [
        // As `script` types the lines of a pipe into a terminal in raw mode.
        (&b"one\ntwo\n\x04"[..], true),
        // Deletes the character right of the cursor; there is none.
        (b"one\ntwo\x04", false),
        (b"one\x04", false),
    ] {
        let agent = Agent::default();
        let mut talk = conversation(&agent);
        talk.type_bytes(bytes, InputMode::Raw);
        assert_eq!(
            (agent.asked().pop().as_deref(), talk.ending),
            (is_over.then_some("prompt one\ntwo\n"), is_over)
        );
        talk.end_of_input();
        talk.event(&agent.ended());
        assert_eq!(talk.over, Some(ConversationEnd::Finished), "{bytes:?}");
    }
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"one", InputMode::Canonical);
    talk.end_of_input();
    assert_eq!((agent.asked(), talk.over), (vec!["prompt one".to_owned()], None));
}

#[test]
fn lines_typed_before_raw_mode_are_prompts() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"one\ntwo\nth", InputMode::Canonical);
    talk.type_bytes(b"ree\rfour\nfive\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["prompt one"]);
    assert_eq!(talk.workload.take_queue(), ["two", "three", "four\nfive"]);
}

#[test]
fn the_queue_is_bounded() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes("x\r".repeat(110).as_bytes(), InputMode::Raw);
    assert_eq!(talk.workload.take_queue().len(), 100);
    assert!(printed(&mut talk).contains("Not queued"));
}

#[test]
fn pasted_lines_are_one_prompt() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"\x1b[200~one\rtwo\r\x1b[201~\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["prompt one\ntwo\n"]);
}

#[test]
fn an_escape_key_swallows_nothing() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.type_bytes(b"a\x1b", InputMode::Raw);
    assert!(talk.escape_end.is_some());
    talk.escape_ended();
    assert_eq!(talk.escape_end, None);
    talk.type_bytes(b"[Ab\x1b", InputMode::Raw);
    talk.type_bytes(b"[Dc\r", InputMode::Raw);
    assert_eq!((agent.asked(), talk.escape_end), (vec!["prompt a[Acb".to_owned()], None));
}

#[test]
fn bytes_of_any_kind_are_survived() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    let noise: Vec<u8> =
        (0..=u8::MAX).cycle().take(4096).filter(|byte| !b"\x04@".contains(byte)).collect();
    talk.type_bytes(&noise, InputMode::Raw);
    talk.interrupt();
    talk.type_bytes(b"\r", InputMode::Raw);
    let page = printed(&mut talk);
    assert!(page.contains("\u{1b}[H\u{1b}[2J"), "Ctrl-L clears the screen");
    let page = page.replace("\u{1b}[H\u{1b}[2J", "");
    assert!(page.chars().all(|letter| !letter.is_control() || "\n\r\u{8}".contains(letter)));
}

#[test]
fn an_agent_that_ends_by_itself_is_a_fault() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.agent_gone();
    assert_eq!(talk.over, Some(ConversationEnd::Finished), "it was asked to quit");
    let mut talk = conversation(&agent);
    talk.type_bytes(b"go\r", InputMode::Raw);
    talk.agent_gone();
    assert_eq!(talk.over, Some(ConversationEnd::AgentGone));
}

#[test]
fn a_text_for_the_input_replaces_nothing() {
    let agent = Agent::default();
    let mut talk = conversation(&agent);
    talk.event(&agent.envelope(Event::ForInput("first\nsecond".to_owned())));
    talk.event(&agent.envelope(Event::ForInput("other".to_owned())));
    talk.type_bytes(b"!\r", InputMode::Raw);
    assert_eq!(agent.asked(), ["prompt first\nsecond!"]);
}
