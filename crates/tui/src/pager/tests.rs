use std::fmt::Write as _;

use pollux_protocol::{
    CallId, CallRecord, CallStatus, Display, EntryId, FileDiff, Part, Severity, ToolKind,
    TranscriptAnswer, TranscriptItem, TranscriptPosition,
};
use pretty_assertions::assert_eq;

use super::block::highlighted;
use super::*;
use crate::row::Look;

fn prompt(text: &str) -> TranscriptItem {
    TranscriptItem::User { id: EntryId::new("u"), parts: vec![Part::text(text)] }
}

fn answer(text: &str, calls: Vec<CallRecord>) -> TranscriptItem {
    TranscriptItem::Answer(TranscriptAnswer {
        id: EntryId::new("a"),
        model: String::new(),
        thoughts: Vec::new(),
        parts: vec![Part::text(text)],
        interrupted: false,
        calls,
    })
}

fn call(id: &str, display: Display) -> CallRecord {
    CallRecord {
        id: CallId::new(id),
        name: "tool".to_owned(),
        args: serde_json::Value::Null,
        status: CallStatus::Success,
        result: None,
        result_display: Some(display),
        description: "make test".to_owned(),
        display_name: "Shell".to_owned(),
        kind: Some(ToolKind::Execute),
        locations: Vec::new(),
        render_output_as_markdown: false,
    }
}

fn lines(count: usize) -> String {
    (1..=count).fold(String::new(), |mut text, number| {
        writeln!(text, "line {number}").unwrap();
        text
    })
}

/// A transcript of pages with two items each, and the view of it.
struct Stage {
    items: Vec<TranscriptItem>,
    pager: Pager,
    /// Number of pages that were read.
    read: usize,
}

impl Stage {
    fn new(items: Vec<TranscriptItem>, size: (usize, usize)) -> Self {
        let mut stage = Self { items, pager: Pager::new(MarkupMarks::Hidden, size), read: 0 };
        stage.rows();
        stage
    }

    fn read(&mut self) {
        while let Some(from) = self.pager.wanted() {
            let total = self.items.len();
            let (start, end) = match from {
                TranscriptFrom::Start => (0, 2.min(total)),
                TranscriptFrom::End => (total.saturating_sub(2), total),
                TranscriptFrom::After(at) => (at.messages(), (at.messages() + 2).min(total)),
                TranscriptFrom::Before(at) => (at.messages().saturating_sub(2), at.messages()),
            };
            let page = TranscriptPage {
                items: self.items[start..end].to_vec(),
                before: (start > 0).then(|| TranscriptPosition::new(start)),
                after: (end < total).then(|| TranscriptPosition::new(end)),
            };
            self.read += 1;
            self.pager.take(Ok(page));
        }
    }

    fn rows(&mut self) -> Vec<String> {
        self.read();
        let frame = self.pager.frame(None);
        self.read();
        assert_eq!(frame.rows.len(), self.pager.size.1);
        assert!(frame.rows.iter().all(|row| row.width() <= self.pager.size.0.max(4)), "{frame:?}");
        frame.rows.iter().map(Row::text).collect()
    }

    fn keys(&mut self, keys: &str) -> Vec<String> {
        for key in keys.chars() {
            let key = if key == '\n' { KeyPress::Enter } else { KeyPress::Text(key.to_string()) };
            assert_eq!(self.pager.press(key), PagerStep::Open);
            self.rows();
        }
        self.rows()
    }
}

fn long_conversation() -> Vec<TranscriptItem> {
    (0..100)
        .flat_map(|turn| [prompt(&format!("prompt {turn}")), answer(&lines(5), Vec::new())])
        .collect()
}

#[test]
fn the_end_of_a_conversation_is_shown_with_few_pages() {
    let mut stage = Stage::new(long_conversation(), (40, 8));
    let rows = stage.rows();
    assert_eq!((rows[0].as_str(), rows[2].as_str()), ("  > prompt 99", "| line 1"));
    assert_eq!(rows[7], "transcript · end · Esc closes · / sea...");
    assert!(stage.read <= 3, "{}", stage.read);
    let above = stage.keys("kkk");
    assert_eq!((above[3].as_str(), above[6].as_str()), ("  > prompt 99", "| line 2"));
    assert!(stage.read <= 4);
}

#[test]
fn prompts_are_found_in_pages_that_were_not_read() {
    let mut stage = Stage::new(long_conversation(), (40, 8));
    assert_eq!(stage.keys("[")[0], "| > prompt 99");
    assert_eq!(stage.keys("[[[")[0], "| > prompt 96");
    assert_eq!(stage.keys("]")[0], "| > prompt 97");
    assert_eq!(stage.keys("g")[0], "| > prompt 0");
    assert_eq!(stage.keys("[")[7], "There is no other prompt above.");
    assert_eq!(stage.keys("]]")[0], "| > prompt 2");
    let end = stage.keys("G");
    assert_eq!((end[0].as_str(), end[6].as_str()), ("  > prompt 99", "| line 5"));
}

#[test]
fn a_search_goes_through_the_whole_transcript() {
    let mut stage = Stage::new(long_conversation(), (40, 8));
    assert!(stage.keys("/PROMPT 7\n")[7].contains("no other match"));
    let found = stage.keys("/prompt 7\n");
    assert!(found.contains(&"| > prompt 79".to_owned()), "{found:?}");
    assert!(stage.keys("n").contains(&"| > prompt 78".to_owned()));
    assert!(stage.keys("nnnnnnnnn").contains(&"| > prompt 7".to_owned()));
    assert!(stage.keys("N").contains(&"| > prompt 70".to_owned()));
    // A burst of keys.
    stage.pager.press(KeyPress::Text("G/prompt 42".to_owned()));
    assert!(stage.keys("\n").contains(&"| > prompt 42".to_owned()));
    let row = Row::plain("a Prompt 7 and prompt 7");
    let pieces = highlighted(&row, "prompt 7");
    let found = pieces.pieces().filter(|(look, _)| *look == Look::Found).count();
    assert_eq!((found, pieces.text()), (2, row.text()));
}

#[test]
fn calls_are_whole_and_can_be_folded() {
    let calls = vec![call("1", Display::Text(lines(30))), call("2", Display::Text(lines(3)))];
    let mut stage = Stage::new(vec![prompt("go"), answer("done", calls)], (40, 50));
    let rows = stage.rows();
    assert!(rows.contains(&"      line 1".to_owned()), "{rows:#?}");
    assert!(rows.contains(&"| - Shell make test · done".to_owned()));
    let folded = stage.keys("a");
    assert!(folded.contains(&"      20 earlier lines".to_owned()), "{folded:#?}");
    assert!(!folded.contains(&"      line 1".to_owned()));
    // A match in what is folded unfolds it.
    let found = stage.keys("/line 2\n");
    assert!(found.contains(&"|     line 2".to_owned()), "{found:#?}");
    let mut stage = Stage::new(vec![prompt("go"), answer("done", Vec::new())], (40, 9));
    assert_eq!(stage.keys("\n")[8], "Only calls and thoughts can be folded.");
}

#[test]
fn a_part_can_be_copied_and_its_file_opened() {
    let diff = FileDiff {
        file_diff: "@@ -7,2 +7,2 @@\n same\n-old\n+new\n".to_owned(),
        file_name: "a.rs".to_owned(),
        file_path: "/p/a.rs".into(),
        original_content: None,
        new_content: String::new(),
        diff_stat: None,
        is_new_file: None,
    };
    let mut edit = call("1", Display::Diff(Box::new(diff)));
    edit.locations = vec!["/p/a.rs".into()];
    let said = "See src/b.rs:3.\n\nAnd c.rs:4.";
    let mut stage = Stage::new(vec![prompt("go"), answer(said, vec![edit])], (40, 20));
    let press = |stage: &mut Stage, key: &str| stage.pager.press(KeyPress::Text(key.to_owned()));
    let PagerStep::OpenFile(places) = press(&mut stage, "o") else { panic!() };
    assert_eq!(places[0], FilePlace { path: "/p/a.rs".into(), line: Some(8) });
    assert_eq!(stage.pager.press(KeyPress::CycleMode), PagerStep::Open);
    let PagerStep::OpenFile(places) = press(&mut stage, "o") else { panic!() };
    assert_eq!(places[0], FilePlace { path: "src/b.rs".into(), line: Some(3) });
    assert_eq!(press(&mut stage, "y"), PagerStep::Copy(said.to_owned()));
    // The row of a match has priority.
    stage.keys("/And\n");
    let PagerStep::OpenFile(places) = press(&mut stage, "o") else { panic!() };
    assert_eq!(places[0], FilePlace { path: "c.rs".into(), line: Some(4) });
    let large = answer(&"x".repeat(100_000), Vec::new());
    let mut stage = Stage::new(vec![large], (40, 20));
    assert_eq!(press(&mut stage, "y"), PagerStep::Open);
}

#[test]
fn new_messages_appear_at_the_end_only() {
    let mut stage = Stage::new(vec![prompt("one")], (40, 6));
    stage.items.push(answer("two", Vec::new()));
    stage.pager.changed();
    assert!(stage.rows().contains(&"| two".to_owned()));
    stage.items = long_conversation();
    stage.pager.changed();
    stage.rows();
    let before = stage.keys("kk");
    stage.items.push(prompt("later"));
    stage.pager.changed();
    assert_eq!(stage.rows(), before);
    assert!(stage.keys("G").contains(&"| > later".to_owned()));
}

#[test]
fn nothing_acts_on_the_terminal_and_every_size_works() {
    let hostile = "\u{1b}[2J\u{202e}a\u{7}\u{9b}1m漢字 \u{1b}]52;c;eA==\u{7}";
    let mut bad = call("1", Display::Text(hostile.repeat(50)));
    bad.description = hostile.to_owned();
    bad.display_name = hostile.to_owned();
    let notice = TranscriptItem::Notice { severity: Severity::Error, text: hostile.to_owned() };
    let items = vec![prompt(hostile), answer(hostile, vec![bad]), notice];
    for size in [(1, 1), (2, 2), (19, 5), (39, 10), (79, 24)] {
        let mut stage = Stage::new(items.clone(), size);
        for keys in ["kkkkjj", "?", "a", "/a\n", "nnN", "[]gG"] {
            let rows = stage.keys(keys).concat();
            assert!(!rows.contains(|letter: char| { letter.is_control() || letter == '\u{202e}' }));
        }
        stage.pager.resize((79, 24));
        stage.rows();
    }
    let mut empty = Stage::new(Vec::new(), (40, 5));
    for keys in ["kj", "[]", "gG", "\n", "/x\n", "n", "a"] {
        empty.keys(keys);
    }
    empty.pager.press(KeyPress::Escape);
    assert!(empty.rows()[4].contains("nothing was said yet"), "{:?}", empty.rows());
}

#[test]
fn a_transcript_that_cannot_be_read_says_so() {
    let mut pager = Pager::new(MarkupMarks::Hidden, (40, 5));
    assert_eq!(pager.wanted(), Some(TranscriptFrom::End));
    assert!(pager.frame(None).rows[4].text().contains("reading"));
    pager.take(Err("The log is gone.".to_owned()));
    assert_eq!(pager.frame(None).rows[4].text(), "The log is gone.");
    assert_eq!(pager.press(KeyPress::Transcript), PagerStep::Close);
}
