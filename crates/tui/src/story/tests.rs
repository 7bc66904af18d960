use pollux_protocol::{
    ApprovalMode, CallId, CallRecord, CallStatus, Display, EntryId, Part, TranscriptAnswer,
    TranscriptItem, Usage,
};
use pretty_assertions::assert_eq;

use super::*;

fn story() -> Story {
    let describe: DescribeFailure = |outcome| match outcome {
        PromptOutcome::LogFailed(message) => Some(message.clone()),
        _ => None,
    };
    Story::new("m".to_owned(), describe, 40, MarkupMarks::Hidden, Instant::now())
}

fn told(story: &mut Story, events: impl IntoIterator<Item = Event>) -> Vec<String> {
    events.into_iter().for_each(|event| story.tell(&event, Instant::now()));
    story.take_all_finished().iter().map(Row::text).collect()
}

#[test]
fn blocks_are_separated_by_blank_rows() {
    let mut story = story();
    story.prompt("one\ntwo");
    let rows = told(
        &mut story,
        [
            Event::ModelChanged { model: "m".to_owned(), reason: String::new() },
            Event::Text("Hello".to_owned()),
            Event::Text(" you.\n\n".to_owned()),
            Event::Notice { severity: Severity::Warning, text: "look".to_owned() },
            Event::ModeChanged(ApprovalMode::AutoEdit),
            Event::Notice { severity: Severity::Error, text: "no".to_owned() },
            Event::PromptEnded(PromptOutcome::LogFailed("The disk is full.".to_owned())),
        ],
    );
    assert_eq!(
        rows,
        ["> one", "  two", "", "Hello you.", "", "! look", "x no", "x The disk is full."]
    );
    story.prompt("again");
    assert_eq!(told(&mut story, []), ["", "> again"]);
}

#[test]
fn an_answer_in_progress_is_live_until_its_row_is_complete() {
    let mut story = story();
    story.prompt("p");
    assert_eq!(told(&mut story, [Event::Text("Hello".to_owned())]), ["> p", ""]);
    let live = story.live_rows(Instant::now());
    assert_eq!(live.iter().map(Row::text).collect::<Vec<_>>(), ["Hello"]);
    let end = Event::PromptEnded(PromptOutcome::Cancelled);
    assert_eq!(told(&mut story, [end]), ["Hello", "", "Request cancelled."]);
    assert_eq!(story.live_rows(Instant::now()), []);
}

#[test]
fn a_smaller_width_loses_nothing_of_the_rows_that_wait() {
    let mut story = story();
    story.notice(Look::Plain, "twenty-six letters in a row");
    story.resize(10);
    assert_eq!(told(&mut story, []), ["twenty-six", " letters i", "n a row"]);
}

#[test]
fn code_waits_for_its_colours_and_keeps_its_place() {
    let mut story = story();
    story.tell(&Event::Text("```rust\nlet a = 1;\n```\nafter\n\n".to_owned()), Instant::now());
    let now = Instant::now();
    let mut rows = story.take_finished(now);
    assert_eq!(rows.len(), 1);
    let live = story.live_rows(now);
    assert_eq!(live.iter().map(Row::text).collect::<Vec<_>>(), ["let a = 1;", "```", "after"]);
    while rows.len() < 4 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        // The time does not pass for the story.
        rows.extend(story.take_finished(now));
    }
    assert_eq!(rows[1].pieces().next(), Some((Look::Keyword, "let")));
    assert_eq!(story.live_rows(now), []);
    // What is late stays plain.
    story.tell(&Event::Text("```rust\nlet b;\n".to_owned()), now);
    let later = Instant::now() + std::time::Duration::from_secs(1);
    assert_eq!(story.finished.take(later).last(), Some(&Row::plain("let b;")));
}

#[test]
fn earlier_turns_are_shown_as_they_were() {
    let answer = TranscriptAnswer {
        id: EntryId::new("2"),
        model: "m".to_owned(),
        thoughts: Vec::new(),
        parts: vec![Part::text("# Head\n\n- **item**")],
        interrupted: true,
        calls: vec![CallRecord {
            id: CallId::new("c"),
            name: "read_file".to_owned(),
            args: serde_json::Value::Null,
            status: CallStatus::Success,
            result: None,
            result_display: Some(Display::Text("3 lines".to_owned())),
            description: "a\u{200b}.rs".to_owned(),
            display_name: "ReadFile".to_owned(),
            kind: None,
            locations: Vec::new(),
            render_output_as_markdown: false,
        }],
    };
    let user = TranscriptItem::User { id: EntryId::new("1"), parts: vec![Part::text("look")] };
    let mut story = story();
    story.replay(&[user, TranscriptItem::Answer(answer)], true);
    assert_eq!(
        told(&mut story, []),
        [
            "[earlier messages of this session are",
            "not shown]",
            "",
            "> look",
            "",
            "Head",
            "",
            "- item",
            "",
            "- ReadFile a\\u{200b}.rs \u{b7} done \u{b7} 3 lines",
            "",
            "[the answer was interrupted]",
        ]
    );
}

#[test]
fn a_long_prompt_is_cut() {
    let mut story = story();
    story.prompt(&"line\n".repeat(100));
    let rows = told(&mut story, []);
    assert_eq!(rows.len(), PROMPT_ROWS + 1);
    assert!(rows[PROMPT_ROWS].starts_with("[prompt of 100 lines"), "{rows:?}");
}

#[test]
fn the_context_and_the_tasks_are_known() {
    let mut story = story();
    let usage = Usage { prompt: 30, candidates: 20, total: 50, ..Usage::default() };
    let report = UsageReport { model: "m".to_owned(), usage, context: 1000 };
    let todo = |status, description: &str| Todo { status, description: description.to_owned() };
    let todos = vec![
        todo(TodoStatus::Completed, "first"),
        todo(TodoStatus::Pending, "third"),
        todo(TodoStatus::InProgress, "second\nline"),
    ];
    told(&mut story, [Event::Usage(report), Event::TodosChanged(todos)]);
    assert_eq!(story.context(), Some(5));
    let rows = |story: &Story, is_whole, height| -> Vec<String> {
        story.todo_rows(is_whole, height).iter().map(Row::text).collect()
    };
    assert_eq!(rows(&story, false, 9), ["todo 1/3 · second line"]);
    assert_eq!(
        rows(&story, true, 9),
        ["todo 1/3 · Ctrl+T hides the list", "  [x] first", "  [ ] third", "  [>] second line"]
    );
    assert_eq!(rows(&story, true, 3)[1..], ["  [ ] third", "  ... (+2 more)"]);
    told(&mut story, [Event::TodosChanged(vec![todo(TodoStatus::Completed, "x")])]);
    assert_eq!(story.todo_rows(true, 9), []);
}
