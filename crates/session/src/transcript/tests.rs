//! Tests that a transcript shows what the user saw, whatever happened to the file.

use std::io::Cursor;

use pollux_protocol::{
    AnsiOutput, ConfinementLevel, FileDiff, MessageDisplay, MessageRecord, Record, Summary,
    ToolKind,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::encoder::Encoder;

const HEADER: &str = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-31T12:00:00.000Z","lastUpdated":"2026-01-31T12:00:00.000Z","kind":"main"}"#;
const OPENED: &str = r#"{"$pollux":{"opened":{"process":1,"version":"1"}}}"#;

/// Returns a file with these lines after its header.
fn file(lines: &[&str]) -> Vec<u8> {
    let lines = std::iter::once(&HEADER).chain(lines);
    lines.flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// Returns the lines of these records.
fn lines(records: &[Record]) -> Vec<String> {
    let mut encoder = Encoder::new(true);
    let mut encode = |record| encoder.encode(record, "2026-01-31T12:00:00.000Z", || "n".to_owned());
    let lines = records.iter().flat_map(|record| encode(record).unwrap());
    lines.map(|line| String::from_utf8(line).unwrap()).collect()
}

/// Returns a file with the lines of these records.
fn recorded(records: &[Record]) -> Vec<u8> {
    let lines = lines(records);
    file(&[OPENED].into_iter().chain(lines.iter().map(String::as_str)).collect::<Vec<_>>())
}

/// Reads page after page until the end, or until the beginning.
fn paged(file: &[u8], start: TranscriptFrom, count: usize) -> Vec<TranscriptItem> {
    let (mut transcript, mut source) = (Transcript::default(), Cursor::new(file));
    let (mut next, mut items) = (Some(start), Vec::new());
    while let Some(from) = next {
        let page = transcript.page(&mut source, from, count).unwrap();
        if matches!(from, TranscriptFrom::End | TranscriptFrom::Before(_)) {
            items.splice(..0, page.items);
            next = page.before.map(TranscriptFrom::Before);
        } else {
            items.extend(page.items);
            next = page.after.map(TranscriptFrom::After);
        }
    }
    items
}

fn whole(file: &[u8]) -> Vec<TranscriptItem> {
    paged(file, TranscriptFrom::Start, usize::MAX)
}

/// Returns the items in short: one line each.
fn outline(items: &[TranscriptItem]) -> Vec<String> {
    let text = |parts: &[Part]| {
        let shown = parts.iter().map(|part| part.as_text().unwrap_or("[media]"));
        shown.collect::<Vec<_>>().join("|")
    };
    let line = |item: &TranscriptItem| match item {
        TranscriptItem::User { parts, .. } => format!("> {}", text(parts)),
        TranscriptItem::Notice { text, .. } => format!("! {text}"),
        TranscriptItem::Compressed { summary, .. } => format!("~ {summary}"),
        TranscriptItem::Answer(answer) => {
            let calls = answer.calls.iter().map(call_outline);
            std::iter::once(text(&answer.parts)).chain(calls).collect::<Vec<_>>().join(" ")
        }
    };
    items.iter().map(line).collect()
}

fn call_outline(call: &CallRecord) -> String {
    let display = match &call.result_display {
        Some(Display::Text(text)) => text,
        Some(Display::Diff(diff)) => &diff.file_diff,
        Some(_) => "...",
        None => "",
    };
    let (name, status) = (&call.display_name, call.status.as_str());
    format!("[{name} {}: {status} {display}]", call.description)
}

fn prompt(id: &str, text: &str) -> Record {
    let (id, parts) = (EntryId::new(id), vec![Part::text(text)]);
    Record::User { id, parts, display: MessageDisplay::Parts }
}

fn call(id: &str) -> CallRecord {
    CallRecord {
        id: CallId::new(id),
        name: "tool".to_owned(),
        args: json!({ "key": "value" }),
        status: CallStatus::Validating,
        result: None,
        result_display: None,
        description: String::new(),
        display_name: "Tool".to_owned(),
        kind: Some(ToolKind::Edit),
        locations: Vec::new(),
        render_output_as_markdown: false,
    }
}

fn finished(id: &str, status: CallStatus, display: Display) -> CallRecord {
    CallRecord {
        status,
        result: Some(vec![Part::output(id, "tool", "done")]),
        result_display: Some(display),
        description: format!("does {id}"),
        locations: vec![PathBuf::from("/p/a.txt")],
        render_output_as_markdown: true,
        ..call(id)
    }
}

fn answer(id: &str, text: &str, calls: Vec<CallRecord>) -> MessageRecord {
    let requested =
        calls.iter().map(|call| Part::call(call.id.as_str(), "tool", call.args.clone()));
    MessageRecord {
        id: EntryId::new(id),
        parts: std::iter::once(Part::text(text)).chain(requested).collect(),
        thoughts: vec![Thought::parse("**Plan** look")],
        usage: None,
        model: "model".to_owned(),
        interrupted: false,
        calls,
    }
}

fn started(id: &str) -> Record {
    Record::CallStarted {
        call_id: CallId::new(id),
        description: format!("starts {id}"),
        effects: Effects::read("/p/b.txt"),
        level: ConfinementLevel::None,
    }
}

#[test]
fn a_finished_call_has_everything_that_was_shown() {
    let diff = Display::Diff(Box::new(FileDiff {
        file_diff: "-a\n+b".to_owned(),
        file_name: "a.txt".to_owned(),
        file_path: "/p/a.txt".into(),
        original_content: Some("a".to_owned()),
        new_content: "b".to_owned(),
        diff_stat: None,
        is_new_file: None,
    }));
    let ended = [
        finished("a", CallStatus::Success, diff),
        finished("b", CallStatus::Error, Display::Text("failed".to_owned())),
        finished("c", CallStatus::Cancelled, Display::Ansi(AnsiOutput::default())),
    ];
    let mut records = vec![Record::Model(answer("m", "hm", vec![call("a"), call("b"), call("c")]))];
    records.extend(ended.iter().rev().cloned().map(Record::CallFinished));
    let expected = TranscriptItem::Answer(TranscriptAnswer {
        id: EntryId::new("m"),
        model: "model".to_owned(),
        thoughts: vec![Thought::parse("**Plan** look")],
        parts: vec![Part::text("hm")],
        interrupted: false,
        calls: ended.to_vec(),
    });
    assert_eq!(whole(&recorded(&records)), [expected]);
}

#[test]
fn messages_of_programs_are_not_shown() {
    let say = |id: &str, text: &str, display| Record::User {
        id: EntryId::new(id),
        parts: vec![Part::text(text), Part::inline("image/png", "AA==")],
        display,
    };
    let results = Record::Responses {
        id: EntryId::new("r"),
        parts: vec![Part::text("# Steering: faster"), Part::output("a", "tool", "done")],
        typed: Some("faster".to_owned()),
    };
    let file = recorded(&[
        Record::Context {
            id: EntryId::new(EntryId::CONTEXT),
            parts: vec![Part::text("<session_context>x")],
        },
        say("u", "<hook_context>look at a.png", MessageDisplay::Text("look".to_owned())),
        say("v", "Continue.", MessageDisplay::Hidden),
        Record::Model(answer("m", "hm", vec![call("a")])),
        Record::CallFinished(finished("a", CallStatus::Success, Display::Text("ok".to_owned()))),
        results,
        say("w", "<hook_context> is what?", MessageDisplay::Parts),
        Record::Notice { severity: Severity::Error, text: "no network".to_owned() },
    ]);
    assert_eq!(
        outline(&whole(&file)),
        [
            "> look|[media]",
            "hm [Tool does a: success ok]",
            "> faster",
            "> <hook_context> is what?|[media]",
            "! no network",
        ]
    );
}

#[test]
fn an_interrupted_answer_shows_its_text_without_the_note_to_the_model() {
    let mut record = answer("m", "so far", Vec::new());
    record.parts.push(Part::text(CUT_SHORT));
    record.interrupted = true;
    let items = whole(&recorded(&[Record::Model(record)]));
    let TranscriptItem::Answer(answer) = &items[0] else { panic!("{items:?}") };
    assert_eq!((answer.parts.as_slice(), answer.interrupted), (&[Part::text("so far")][..], true));
}

#[test]
fn a_call_without_an_end_runs_now_or_was_interrupted() {
    let text = |text: &str| Display::Text(text.to_owned());
    let records = [
        Record::Model(answer("m", "hm", vec![call("a"), call("b"), call("c")])),
        started("b"),
        Record::CallFinished(finished("c", CallStatus::Success, text("ok"))),
    ];
    let mut file = recorded(&records);
    assert_eq!(
        outline(&whole(&file)),
        ["hm [Tool : validating ] [Tool starts b: executing ] [Tool does c: success ok]"]
    );
    file.extend_from_slice(format!("{OPENED}\n").as_bytes());
    let items = whole(&file);
    assert_eq!(
        outline(&items),
        [
            "hm [Tool : cancelled The call was interrupted.] [Tool starts b: cancelled The call was interrupted while it ran; it may have taken effect in part.] [Tool does c: success ok]"
        ]
    );
    let TranscriptItem::Answer(answer) = &items[0] else { panic!("{items:?}") };
    assert_eq!(answer.calls[1].locations, [PathBuf::from("/p/b.txt")]);
    assert_eq!(answer.calls[1].kind, Some(ToolKind::Edit));
}

#[test]
fn what_was_taken_back_or_replaced_is_shown_once_or_not_at_all() {
    let summary = Some(Summary {
        words: "short".to_owned(),
        from: EntryId::new("u"),
        through: EntryId::new("m"),
        acknowledged: true,
    });
    let tokens = Some((900, 100));
    let compression = |id: &str| {
        let (id, summary, shortened) = (EntryId::new(id), summary.clone(), Vec::new());
        Record::Compressed(Compression { id, summary, shortened, tokens })
    };
    let talk = [
        prompt("u", "one"),
        Record::Model(answer("m", "two", Vec::new())),
        compression("c"),
        prompt("v", "three"),
    ];
    let with = |more: &[Record]| outline(&whole(&recorded(&[&talk[..], more].concat())));
    assert_eq!(with(&[]), ["> one", "two", "~ short", "> three"]);
    assert_eq!(with(&[Record::Rewound { to: EntryId::new("v") }]), ["> one", "two", "~ short"]);
    assert_eq!(with(&[Record::Rewound { to: EntryId::new("m") }]), ["> one"]);
    assert_eq!(with(&[prompt("u", "first")]), ["> first", "two", "~ short", "> three"]);
    assert_eq!(with(&[Record::Uncompressed]), ["> one", "two", "> three"]);
    assert_eq!(with(&[Record::Cleared, prompt("w", "anew")]), ["> anew"]);
    let shortened =
        Compression { id: EntryId::new("s"), summary: None, shortened: Vec::new(), tokens: None };
    assert_eq!(with(&[Record::Compressed(shortened)]).len(), 4);
}

#[test]
fn a_file_of_gemini_cli_is_shown() {
    let items = whole(&file(&[
        r#"{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"<session_context>\nx"}]}],"lastUpdated":"2026-11-20T15:15:13.235Z"}}"#,
        r#"{"id":"u","type":"user","content":[{"text":"please read\n--- Content from referenced files ---"}],"displayContent":[{"text":"please read @a.txt"}]}"#,
        r#"{"id":"m","type":"gemini","content":"Let me look.","thoughts":[{"subject":"Plan","description":"think","timestamp":"x"}],"model":"x"}"#,
        r#"{"id":"m","type":"gemini","content":"Let me look.","thoughts":[{"subject":"Plan","description":"think","timestamp":"x"}],"model":"x","toolCalls":[{"id":"a","name":"replace","args":{"p":1},"result":[{"functionResponse":{"id":"a","name":"replace","response":{"output":"hi"}}}],"status":"success","resultDisplay":{"fileDiff":"-x","fileName":"a.txt","originalContent":"x","newContent":""},"description":"a.txt","displayName":"Edit","renderOutputAsMarkdown":true},{"id":"b","name":"glob","args":{},"result":"3 files","status":"later"},{"id":"d","name":"ls","args":{},"status":"error","resultDisplay":null,"result":[]}]}"#,
        r#"{"id":"r","type":"user","content":[{"functionResponse":{"id":"a","name":"replace","response":{"output":"hi"}}}]}"#,
        r#"{"id":"i","type":"info","content":"note"}"#,
        r#"{"id":"s","type":"user","content":[{"text":"/help"}]}"#,
        r#"{"id":"m2","type":"gemini","content":[{"text":"**Why** so","thought":true},{"text":"It says hi."},{"functionCall":{"name":"ls","args":{}}}],"model":"x"}"#,
        r#"{"id":"z","type":"user","content":[{"text":"<state_snapshot>all</state_snapshot>"}]}"#,
        r#"{"id":"e","type":"gemini","content":"","model":"x"}"#,
        r#"{"id":"f","type":"future","content":"x"}"#,
    ]));
    assert_eq!(
        outline(&items),
        [
            "> please read @a.txt",
            "Let me look. [Edit a.txt: success -x] [glob : success ] [ls : error ]",
            "! note",
            "> /help",
            "It says hi. [ls : cancelled The call was interrupted.]",
            "~ <state_snapshot>all</state_snapshot>",
        ]
    );
    let TranscriptItem::Answer(answer) = &items[4] else { panic!("{items:?}") };
    assert_eq!(answer.thoughts, [Thought::parse("**Why** so")]);
    assert_eq!(answer.calls[0].id.as_str(), "m2_0");
}

#[test]
fn a_session_that_two_programs_have_written_is_shown() {
    let file = include_bytes!("../../tests/golden/continued.jsonl");
    let ids = whole(file).into_iter().filter_map(|item| match item {
        TranscriptItem::User { id, .. } => Some(id.to_string()),
        TranscriptItem::Answer(answer) => Some(answer.id.to_string()),
        TranscriptItem::Notice { .. } | TranscriptItem::Compressed { .. } => None,
    });
    // Text sent with results is shown only if the log names what the user typed: `r1` does not.
    assert_eq!(ids.collect::<Vec<_>>(), ["u1", "m1", "m2", "m3", "u3", "m4"]);
}

#[test]
fn damaged_lines_cost_only_themselves() {
    let lines = lines(&[prompt("u", "one"), prompt("v", "two"), prompt("w", "three")]);
    let mut file = file(&[
        &lines[0],
        r#"{"id":"x","type":"user","cont"#,
        &lines[2],
        r#"{"id":"y","type":"gemini","content":{"text":7},"toolCalls":[7,{"id":8}]}"#,
    ]);
    file.extend_from_slice(b"\xff\xfe\n");
    file.extend_from_slice(&lines[4].as_bytes()[..20]);
    let items = outline(&whole(&file));
    assert_eq!((&*items[0], &*items[1], items.len()), ("> one", "> two", 3), "{items:?}");
}

#[test]
fn new_lines_are_read_when_they_are_complete() {
    let lines = lines(&[prompt("u", "one"), prompt("v", "two")]);
    let (mut transcript, mut bytes) = (Transcript::default(), file(&[&lines[0]]));
    let (half, rest) = lines[2].as_bytes().split_at(30);
    let mut last = |bytes: &[u8]| {
        let page = transcript.page(&mut Cursor::new(bytes), TranscriptFrom::End, 1).unwrap();
        outline(&page.items)
    };
    assert_eq!(last(&bytes), ["> one"]);
    bytes.extend_from_slice(half);
    assert_eq!(last(&bytes), ["> one"]);
    bytes.extend_from_slice(rest);
    bytes.push(b'\n');
    assert_eq!(last(&bytes), ["> two"]);
}

#[test]
fn a_page_of_large_messages_is_short() {
    let large = "x".repeat(PAGE_BYTES / 3);
    let records: Vec<Record> =
        (0..5).map(|number| prompt(&format!("u{number}"), &format!("{number}{large}"))).collect();
    let file = recorded(&records);
    for from in [TranscriptFrom::Start, TranscriptFrom::End] {
        let page = Transcript::default().page(&mut Cursor::new(&file), from, 100).unwrap();
        assert_eq!(page.items.len(), 2);
    }
    assert_eq!(paged(&file, TranscriptFrom::End, 100), whole(&file));
    let larger = recorded(&[prompt("u", &large.repeat(4)), prompt("v", "two")]);
    assert_eq!(paged(&larger, TranscriptFrom::Start, 100).len(), 2);
}

#[test]
fn a_position_behind_the_end_is_the_end() {
    let file = recorded(&[prompt("u", "one")]);
    let behind = TranscriptPosition::new(9);
    for (from, count) in [(TranscriptFrom::Before(behind), 1), (TranscriptFrom::After(behind), 0)] {
        let page = Transcript::default().page(&mut Cursor::new(&file), from, 5).unwrap();
        assert_eq!((page.items.len(), page.after), (count, None));
    }
}

fn record() -> impl Strategy<Value = Record> {
    let id = "[a-f]";
    prop_oneof![
        4 => (id, "[a-z]{0,3}").prop_map(|(id, text)| prompt(&id, &text)),
        4 => (id, "[a-z]{0,3}").prop_map(|(id, text)| {
            Record::Model(answer(&id, &text, vec![call("a"), call("b")]))
        }),
        1 => Just(started("a")),
        2 => "[ab]".prop_map(|id| {
            Record::CallFinished(finished(&id, CallStatus::Success, Display::Text(id.clone())))
        }),
        1 => id.prop_map(|id| Record::Rewound { to: EntryId::new(id) }),
        1 => Just(Record::Cleared),
        1 => Just(Record::Notice { severity: Severity::Info, text: "note".to_owned() }),
        1 => id.prop_map(|id| Record::Compressed(Compression {
            id: EntryId::new("c"),
            summary: Some(Summary {
                words: id.clone(),
                from: EntryId::new(&*id),
                through: EntryId::new(id),
                acknowledged: false,
            }),
            shortened: Vec::new(),
            tokens: None,
        })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn pages_in_both_directions_give_the_whole(
        records in prop::collection::vec(record(), 0..30),
        count in 1..6usize,
    ) {
        let file = recorded(&records);
        let whole = whole(&file);
        prop_assert_eq!(paged(&file, TranscriptFrom::Start, count), whole.clone());
        prop_assert_eq!(paged(&file, TranscriptFrom::End, count), whole);
    }
}
