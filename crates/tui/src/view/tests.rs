use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use pollux_input::{InputMode, Interaction, KeyMap, LastMessages, TerminalKind, UserOptions};
use pollux_protocol::{
    AgentGone, AgentHandle, AnsiOutput, AnsiToken, AwaitedInput, Call, CallId, CallStatus,
    Clipboard, ClipboardContent, CommandSet, Completions, ConfinementLevel, Confirmation,
    ConfirmationKind, EntryId, Envelope, Event, ExternalEditor, Live, LiveOutput, Notices, Origin,
    Part, PromptOutcome, QuestionChoice, QuestionOutcome, QuestionSubject, SessionFacts,
    SettingValues, Severity, TranscriptItem, TranscriptPage,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::dialog::PAUSE;
use crate::row::Row;

/// An agent that only records the operations.
#[derive(Default)]
pub(super) struct Agent {
    ops: Mutex<Vec<Op>>,
    /// Id of the work that was started last.
    work: Mutex<Option<Arc<str>>>,
}

impl AgentHandle for Agent {
    fn send(&self, op: Op) -> Result<(), AgentGone> {
        if let Some(id) = op.id() {
            *self.work.lock().unwrap() = Some(id.as_str().into());
        }
        self.ops.lock().unwrap().push(op);
        Ok(())
    }

    fn events(&self) -> BoxStream<'static, Arc<Envelope>> {
        futures::stream::pending().boxed()
    }

    fn commands(&self) -> Live<CommandSet> {
        Live::new(CommandSet::new(Vec::new()))
    }
}

impl Agent {
    /// Returns the operations since the last call, as text.
    pub(super) fn asked(&self) -> Vec<String> {
        let ops = std::mem::take(&mut *self.ops.lock().unwrap());
        let words = |op| match op {
            Op::Prompt { input, .. } => {
                format!(
                    "prompt {}",
                    input.parts.iter().filter_map(Part::as_text).collect::<String>()
                )
            }
            Op::Command { name, arguments, .. } => format!("/{name} {arguments}"),
            Op::Answer(reply) => format!("{:?}", reply.outcome),
            Op::Cancel => "cancel".to_owned(),
            other => format!("{other:?}"),
        };
        ops.into_iter().map(words).collect()
    }

    fn envelope(&self, event: Event) -> Envelope {
        let prompt = self.work.lock().unwrap().clone();
        Envelope { origin: Arc::new(Origin { prompt, ..Origin::default() }), event }
    }
}

/// Returns the only page of a transcript.
fn said() -> TranscriptPage {
    let parts = vec![Part::text("what was said")];
    let item = TranscriptItem::User { id: EntryId::new("u"), parts };
    TranscriptPage { items: vec![item], before: None, after: None }
}

/// No clipboard.
struct NoClipboard;

#[async_trait]
impl Clipboard for NoClipboard {
    async fn read(&self) -> Result<ClipboardContent, String> {
        Err("There is no clipboard.".to_owned())
    }
}

struct NoEditor;

#[async_trait]
impl ExternalEditor for NoEditor {
    async fn open(&self, file: &Path, _: Option<u32>) -> Result<(), String> {
        panic!("{} was opened", file.display())
    }
}

/// A view, with what a terminal of its size would show.
pub(super) struct Stage<'a> {
    agent: &'a Agent,
    pub(super) view: View<'a>,
    above: Vec<String>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(agent: &'a Agent, columns: u16, rows: u16) -> Self {
        Self::with(agent, (columns, rows), None, Box::new(SettingValues::default))
    }

    /// Creates a view in a terminal with colours, if it is given, and with these settings.
    pub(super) fn with(
        agent: &'a Agent,
        (columns, rows): (u16, u16),
        terminal: Option<TerminalKind>,
        settings: Box<dyn Fn() -> SettingValues + 'a>,
    ) -> Self {
        let facts = SessionFacts {
            id: "s".to_owned(),
            folder: "/home/ann/shop".into(),
            temporary_folder: "/t".into(),
            model: "gemini-2.5-pro".to_owned(),
            mode: ApprovalMode::Default,
            is_trusted: true,
            is_steered: false,
            is_for_screen_reader: false,
            is_debug: false,
            resumed: None,
        };
        let options = UserOptions {
            version: "1.0",
            called_as: "pollux".to_owned(),
            raw_output: false,
            is_coloured: terminal.is_some(),
            cuts_rows: true,
            terminal: terminal.unwrap_or_default(),
            home: Some("/home/ann".into()),
            is_dumb: false,
            first_prompt: None,
            editor: Arc::new(NoEditor),
            clipboard: Arc::new(NoClipboard),
            describe_failure: |_| None,
            notices: Arc::new(|_: Severity, _: &str| {}) as Arc<dyn Notices>,
            keys: KeyMap::usual(),
            key_messages: Vec::new(),
            show_question: Box::new(|| None),
        };
        let prepare = Box::new(|_| panic!("nothing to prepare"));
        let opening = Opening {
            workload: Workload::new(agent, prepare, false),
            complete_path: Box::new(|_, _| tokio::spawn(async { Completions::default() })),
            read_clipboard: Box::new(|| panic!("the clipboard is not read")),
            is_readable: Box::new(|_| false),
            find_linked: Box::new(|_| None),
            read_page: Box::new(|_| Box::pin(futures::future::ready(Ok(said())))),
            read_list: Box::new(|request| {
                Box::pin(futures::future::ready(listing::tests::answer(request)))
            }),
            record: Box::new(|_| {}),
            check_mode: Box::new(|_| Ok(())),
            settings,
            facts: Box::leak(Box::new(facts)),
            earlier: vec!["an earlier prompt".to_owned()],
            last: LastMessages::default(),
            options: Box::leak(Box::new(options)),
            first_prompt: None,
            unsent: Unsent::default(),
            is_echoing: false,
            size: WindowSize { columns, rows: Some(rows) },
        };
        Self { agent, view: View::begin(opening), above: Vec::new() }
    }

    /// Types bytes, each chunk long after the one before.
    pub(super) fn keys(&mut self, chunks: &[&str]) {
        for chunk in chunks {
            self.live();
            (self.view.keyboard.last_text, self.view.keyboard.last_key) = (None, None);
            self.burst(chunk);
        }
    }

    pub(super) fn burst(&mut self, bytes: &str) {
        let (bytes, mode) = (bytes.as_bytes().to_vec(), InputMode::Raw);
        self.view.typed(&TypedBytes { bytes, mode, at: Instant::now() });
        if self.view.keyboard.escape_end.is_some() {
            self.view.escape_ended();
        }
    }

    pub(super) fn envelope(&self, event: Event) -> Envelope {
        self.agent.envelope(event)
    }

    pub(super) fn event(&mut self, event: Event) {
        self.view.event(&self.envelope(event));
    }

    pub(super) fn end(&mut self) {
        self.event(Event::PromptEnded(PromptOutcome::Done));
    }

    /// Returns the live rows, and keeps the finished ones.
    pub(super) fn live(&mut self) -> Vec<String> {
        let finished = self.view.story.take_all_finished();
        let (rows, below) = self.view.rows(Instant::now());
        let frame = Screen::joined(rows, below);
        assert!(frame.rows.len() <= self.view.size.1 && frame.cursor.0 < frame.rows.len());
        for row in finished.iter().chain(&frame.rows) {
            assert!(row.width() < self.view.size.0.max(8), "{row:?}");
        }
        self.above.extend(finished.iter().map(Row::text));
        frame.rows.iter().map(Row::text).collect()
    }

    /// Returns the finished rows since the last call.
    pub(super) fn finished(&mut self) -> Vec<String> {
        self.live();
        std::mem::take(&mut self.above)
    }
}

pub(super) fn question(command: &str) -> Event {
    let kind = ConfirmationKind::Execute {
        command: command.to_owned(),
        programs: Vec::new(),
        commands: Vec::new(),
        writes: Vec::new(),
        unknown: Vec::new(),
        starts: Vec::new(),
        reason: None,
        level: ConfinementLevel::None,
        purpose: None,
        folder: None,
        is_background: false,
    };
    let call_id = CallId::new("1");
    let subject =
        QuestionSubject::Call(Confirmation { call_id, title: "Confirm".to_owned(), kind });
    let choices = vec![
        QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow once", 'y'),
        QuestionChoice::new(QuestionOutcome::ProceedAlways, "Allow for this session", 'a'),
        QuestionChoice::new(QuestionOutcome::Cancel, "No, suggest changes", 'n'),
    ];
    Event::Question(Box::new(Question::new(Arc::default(), subject, choices, Some(0))))
}

pub(super) fn call(name: &str) -> Call {
    Call { id: CallId::new("1"), name: name.to_owned(), args: json!({}), prompt_id: "p".to_owned() }
}

#[test]
fn the_first_screen_has_few_rows() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    assert_eq!(
        stage.live(),
        [
            "",
            ">   Type your message or @path/to/file",
            "ask before changes · gemini-2.5-pro · ~/shop",
        ]
    );
    assert_eq!(stage.finished(), ["Pollux 1.0 · gemini-2.5-pro · ~/shop"]);
    let mut small = Stage::new(&agent, 20, 5);
    assert_eq!(small.live(), ["> "]);
    assert_eq!(small.finished(), ["Pollux 1.0 ·", "gemini-2.5-pro ·", "~/shop"]);
}

#[test]
fn a_turn_on_the_screen() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.finished();
    stage.keys(&["run the tests", "\r"]);
    assert_eq!(agent.asked(), ["prompt run the tests"]);
    stage.event(Event::PromptStarted);
    assert_eq!(stage.finished(), ["", "> run the tests"]);
    assert_eq!(stage.live()[..2], ["", "waiting for the model · Esc stops"]);
    stage.event(Event::Text("I run them.".to_owned()));
    assert_eq!(stage.live()[..3], ["I run them.", "", "writing · Esc stops"]);
    stage.event(Event::CallRequested(call("Shell")));
    let moved = CallStatus::Executing;
    stage.event(Event::CallMoved { call_id: CallId::new("1"), status: moved });
    let output = LiveOutput::Append("ok\n".to_owned());
    stage.event(Event::CallOutput { call_id: CallId::new("1"), output });
    assert_eq!(
        stage.live()[..5],
        ["", "- Shell · running", "    ok", "", "running Shell · Esc stops"]
    );
    assert_eq!(stage.finished(), ["", "I run them."]);
    stage.end();
    assert_eq!(stage.live().len(), 3);
}

#[test]
fn the_end_of_a_command_beside_the_work_leaves_its_calls() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["run the tests", "\r"]);
    stage.event(Event::CallRequested(call("Shell")));
    let moved = CallStatus::Executing;
    stage.event(Event::CallMoved { call_id: CallId::new("1"), status: moved });
    let running = ["", "- Shell · running", "", "running Shell · Esc stops"];
    assert_eq!(stage.live()[..4], running);
    let origin = Arc::new(Origin { prompt: Some("about".into()), ..Origin::default() });
    let output = Event::CommandOutput("Pollux 1.0".to_owned());
    for event in [output, Event::PromptEnded(PromptOutcome::Done)] {
        stage.view.event(&Envelope { origin: Arc::clone(&origin), event });
    }
    assert_eq!(stage.live()[..4], running);
    assert_eq!(stage.finished().last().map(String::as_str), Some("Pollux 1.0"));
}

#[test]
fn a_command_that_begins_to_wait_does_not_take_the_keys_of_a_draft() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["run it", "\r"]);
    agent.asked();
    stage.event(Event::CallRequested(call("Shell")));
    stage.keys(&["then up"]);
    let awaited = AwaitedInput { prompt: "Delete everything? [Y/n]".into(), secret: false };
    let output = LiveOutput::Input(Some(awaited));
    stage.event(Event::CallOutput { call_id: CallId::new("1"), output });
    stage.keys(&["date", "\r"]);
    assert!(agent.asked().is_empty(), "the command got keys");
    assert!(stage.live().contains(&"  then update".to_owned()), "{:?}", stage.live());
    std::thread::sleep(PAUSE + Duration::from_millis(50));
    stage.view.tick();
    assert!(stage.live().contains(&"input> ".to_owned()), "{:?}", stage.live());
    stage.keys(&["n", "\r"]);
    assert_eq!(agent.asked().len(), 1);
}

#[test]
fn what_a_command_asks_is_shown_once() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["run it", "\r"]);
    stage.event(Event::PromptStarted);
    stage.event(Event::CallRequested(call("Shell")));
    let id = || CallId::new("1");
    stage.event(Event::CallMoved { call_id: id(), status: CallStatus::Executing });
    stage.finished();
    let output = |output| Event::CallOutput { call_id: id(), output };
    for question in ["Name?", "Colour?"] {
        let token = AnsiToken { text: question.to_owned(), ..AnsiToken::default() };
        let lines = AnsiOutput(vec![vec![token]]);
        stage.event(output(LiveOutput::Screen { lines, above: 0 }));
        let awaited = AwaitedInput { prompt: question.to_owned(), secret: false };
        stage.event(output(LiveOutput::Input(Some(awaited))));
        let rows = stage.live();
        let has = |text: &str| rows.iter().filter(|row| row.contains(text)).count();
        assert_eq!((has(question), has("The command waits for input."), has("input>")), (1, 1, 1));
        stage.keys(&["x", "\r"]);
        stage.event(output(LiveOutput::Input(None)));
        assert!(!stage.live().concat().contains("waits for input"));
    }
    assert_eq!(stage.finished(), [""; 0]);
}

#[test]
fn enter_right_after_a_character_is_a_line_end() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.burst("one\rtwo");
    assert!(agent.asked().is_empty());
    assert_eq!(stage.live()[1..3], ["> one", "  two"]);
    stage.keys(&["\r"]);
    assert_eq!(agent.asked(), ["prompt one\ntwo"]);
    // What was typed before the prompt was there is taken as it was meant.
    let mut early = Stage::new(&agent, 80, 24);
    let typed = b"early\nnext".to_vec();
    let mode = InputMode::Canonical;
    early.view.typed(&TypedBytes { bytes: typed, mode, at: Instant::now() });
    assert_eq!(agent.asked(), ["prompt early"]);
    assert!(early.live().contains(&"> next".to_owned()));
}

#[test]
fn messages_wait_and_come_back() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["one", "\r", "two", "\r", "three", "\r"]);
    assert_eq!(agent.asked(), ["prompt one"]);
    assert_eq!(
        stage.live()[1..5],
        [
            "reading files · Esc stops",
            "Queued (press ↑ to edit): Alt+\u{2191} chooses one",
            "  two",
            "  three",
        ]
    );
    stage.keys(&["\x1b[A"]);
    assert_eq!(stage.live()[2..5], ["> two", "  ", "  three"]);
    stage.keys(&["\r"]);
    stage.end();
    assert_eq!(agent.asked(), ["prompt two\n\nthree"]);
}

#[tokio::test]
async fn queued_commands_do_not_become_a_part_of_a_prompt() {
    let agent = Agent::default();
    let queued = |lines: &[&str]| {
        let mut stage = Stage::new(&agent, 80, 24);
        for line in ["go"].iter().chain(lines) {
            stage.view.submit((*line).to_owned(), line);
        }
        stage.event(Event::Text("x".to_owned()));
        stage
    };
    for (lines, taken, left) in [
        (&["one", "/compress", "two", "three"][..], "two\n\nthree", &["one", "/compress"][..]),
        (&["one", "!ls"], "!ls", &["one"]),
        (&["one", "two"], "one\n\ntwo", &[]),
    ] {
        let mut stage = queued(lines);
        stage.keys(&["\x1b[A"]);
        assert_eq!(stage.view.composer.text(), taken);
        assert_eq!(stage.view.workload.queue().collect::<Vec<_>>(), left);
    }
    for (lines, input, note) in [
        (&["one", "/compress", "!ls", "two"][..], "one\n\ntwo", Some("Not run: /compress · !ls")),
        (&["/compress"], "/compress", None),
        (&["!ls", "/compress"], "", Some("Not run: !ls · /compress")),
    ] {
        let mut stage = queued(lines);
        stage.finished();
        stage.keys(&["\x1b"]);
        assert_eq!(stage.view.composer.text(), input);
        assert_eq!(stage.view.workload.queue().count(), 0);
        let said = stage.finished().into_iter().find(|row| row.starts_with("Not run"));
        assert_eq!(said.as_deref(), note);
    }
}

#[test]
fn escape_stops_the_work_and_gives_the_text_back() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["one", "\r", "two", "\r", "dra", "\x1b"]);
    assert_eq!(agent.asked(), ["prompt one", "cancel"]);
    assert!(stage.live().contains(&"stopping".to_owned()));
    stage.event(Event::PromptEnded(PromptOutcome::Cancelled));
    assert_eq!(stage.view.composer.text(), "two\n\ndra");
    assert!(stage.finished().contains(&"Request cancelled.".to_owned()));
    // A prompt without an answer comes back itself.
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["again", "\r", "\x1b"]);
    assert_eq!(stage.view.composer.text(), "again");
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["again", "\r"]);
    stage.event(Event::Text("x".to_owned()));
    stage.keys(&["\x1b"]);
    assert!(stage.view.composer.is_empty());
}

#[test]
fn escape_twice_clears_the_prompt_or_goes_back_to_an_earlier_one() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["text", "\x1b"]);
    assert_eq!(stage.live()[1], "Press Esc again to clear prompt.");
    stage.keys(&["\x1b"]);
    assert!(stage.view.composer.is_empty() && stage.view.toast.is_none());
    stage.keys(&["\x1b"]);
    assert_eq!(stage.live()[1], "Press Esc again to rewind.");
    assert_eq!(agent.asked(), [""; 0]);
    stage.keys(&["\x1b"]);
    assert_eq!(agent.asked(), ["/rewind "]);
    // While work is being stopped, Esc does nothing.
    stage.keys(&["\x1b", "\x1b", "\x1b"]);
    assert_eq!(agent.asked(), ["cancel"]);
}

#[test]
fn interrupts_clear_stop_and_end() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["text"]);
    stage.view.interrupt();
    assert!(stage.view.composer.is_empty() && stage.view.toast.is_none());
    stage.keys(&["go", "\r"]);
    stage.view.interrupt();
    assert_eq!(agent.asked(), ["prompt go", "cancel"]);
    assert_eq!(stage.live()[1], "Press Ctrl+C again to exit.");
    stage.view.interrupt();
    assert_eq!(stage.view.over, Some(ConversationEnd::Finished));
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["\x04"]);
    assert_eq!(stage.live()[1], "Press Ctrl+D again to exit.");
    stage.keys(&["\x04"]);
    assert_eq!(stage.view.over, Some(ConversationEnd::Finished));
}

#[test]
fn a_question_takes_the_place_of_the_input() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["go", "\r", "dra"]);
    agent.asked();
    stage.view.keyboard.last_key = None;
    stage.event(question("make test"));
    assert_eq!(
        stage.live(),
        [
            "",
            "! Command:",
            "  make test",
            "Allow execution of [Shell]?",
            "● 1. Allow once",
            "  2. Allow for this session",
            "  3. No, suggest changes (esc)",
        ]
    );
    // The rest of a burst neither answers the next question nor becomes a prompt.
    stage.event(question("rm -rf /"));
    stage.burst("1\r1\r");
    assert_eq!(agent.asked(), ["ProceedOnce"]);
    assert!(stage.live().contains(&"  rm -rf /".to_owned()));
    stage.keys(&["\x1b"]);
    assert_eq!(agent.asked(), ["Cancel"]);
    assert_eq!(stage.view.composer.text(), "dra");
    stage.event(Event::PromptEnded(PromptOutcome::Cancelled));
    assert!(stage.finished().contains(&"Not applied. Type what to do instead.".to_owned()));
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["go", "\r"]);
    stage.event(question("make"));
    stage.live();
    agent.asked();
    // Text that arrives at once was not typed to answer, and its line end is no Enter key.
    stage.burst("1 more\r");
    assert!(agent.asked().is_empty());
    assert!(stage.view.composer.is_empty());
}

#[test]
fn a_question_that_interrupts_typing_waits_for_a_pause() {
    let agent = Agent::default();
    for (typed, answers) in [("dra", 0), ("\r", 0), ("\x1b[B", 0), ("", 1)] {
        let mut stage = Stage::new(&agent, 80, 24);
        stage.keys(&["go", "\r"]);
        agent.asked();
        stage.burst(typed);
        stage.event(question("make"));
        stage.live();
        stage.burst("1");
        assert_eq!(agent.asked().len(), answers, "{typed:?}");
    }
}

#[test]
fn a_withdrawn_question_makes_room_for_the_next() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["go", "\r"]);
    let first = question("one");
    let Event::Question(asked) = &first else { panic!("no question") };
    let id = asked.id;
    stage.event(first);
    stage.event(question("two"));
    stage.event(Event::QuestionWithdrawn(id));
    assert!(stage.live().contains(&"  two".to_owned()));
    stage.end();
    assert!(stage.view.dialog.is_none());
}

#[test]
fn nothing_happens_while_nothing_changes() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    assert!(!stage.view.show().is_empty());
    assert_eq!((stage.view.show(), stage.view.next_tick()), (Vec::new(), None));
    stage.burst("a");
    assert_eq!(stage.view.show(), b"\r> a\x1b[K\x1b[4G");
    stage.keys(&["\r"]);
    stage.view.show();
    assert!(stage.view.next_tick().is_some(), "the status has a clock");
    // Frames that no key causes are apart.
    stage.event(Event::Text("x".to_owned()));
    assert_eq!(stage.view.show(), b"");
    let due = stage.view.next_tick().unwrap();
    assert!(due <= stage.view.frames.next().unwrap());
}

#[test]
fn every_size_is_good_enough() {
    let agent = Agent::default();
    for (columns, rows) in [(20, 5), (40, 10), (80, 24), (300, 100), (2, 1), (7, 2)] {
        let mut stage = Stage::new(&agent, columns, rows);
        stage.keys(&["a long prompt with 漢字 and words ", "x", "\r", "next", "\r"]);
        stage.event(Event::Text("# Head\n\n- item `code` **bold** ".repeat(9)));
        stage.event(Event::CallRequested(call("a_tool_with_a_long_name")));
        let output = LiveOutput::Append("output line\n".repeat(9));
        stage.event(Event::CallOutput { call_id: CallId::new("1"), output });
        stage.live();
        stage.event(question(&"echo 漢字 && ".repeat(20)));
        stage.live();
        stage.end();
        let bytes = stage.view.close(ConversationEnd::Finished, Some("To resume this session: x"));
        assert!(!bytes.is_empty());
    }
}

#[test]
fn the_end_says_goodbye() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["go", "\r"]);
    stage.event(Event::Text("half".to_owned()));
    stage.end();
    stage.live();
    let bytes = stage.view.close(ConversationEnd::Finished, Some("To resume this session: pollux"));
    let text = String::from_utf8(bytes).unwrap();
    for part in ["Agent powering down. Goodbye!", "1 prompt", "To resume this session: pollux"] {
        assert!(text.contains(part), "{text:?}");
    }
    assert!(text.ends_with("\r\x1b[J"), "{text:?}");
}

#[test]
fn shift_tab_goes_through_the_modes() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    for (mode, footer) in [
        (ApprovalMode::AutoEdit, "auto-accept edits · "),
        (ApprovalMode::Plan, "plan · "),
        (ApprovalMode::Default, "ask before changes · "),
    ] {
        stage.keys(&["\x1b[Z"]);
        assert_eq!(agent.asked(), [format!("SetMode({mode:?})")]);
        stage.event(Event::ModeChanged(mode));
        assert!(stage.live()[2].starts_with(footer), "{:?}", stage.live());
    }
    stage.event(Event::ModeChanged(ApprovalMode::AutoEdit));
    stage.keys(&["go", "\r"]);
    agent.asked();
    stage.keys(&["\x1b[Z"]);
    assert_eq!(agent.asked(), ["SetMode(Default)"], "no plan during work");
}

#[test]
fn a_text_for_the_input_replaces_nothing() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.event(Event::ForInput("first\nsecond".to_owned()));
    stage.event(Event::ForInput("other".to_owned()));
    assert_eq!(stage.live()[1..3], ["> first", "  second"]);
    stage.keys(&["!", "\r"]);
    assert_eq!(agent.asked(), ["prompt first\nsecond!"]);
}
