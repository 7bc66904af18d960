use pretty_assertions::assert_eq;

use super::*;

fn entry(id: &str, day: u8, title: &str) -> SessionEntry {
    SessionEntry {
        id: id.to_owned(),
        path: format!("/chats/{id}").into(),
        index: 0,
        start_time: String::new(),
        last_updated: format!("2026-11-{day:02}T12:00:00.000Z"),
        first_message: title.to_owned(),
        summary: None,
        is_damaged: false,
        agent: None,
        subagents: Vec::new(),
    }
}

fn sessions() -> Vec<SessionEntry> {
    let mut damaged = entry("session-x", 9, "(damaged file)");
    damaged.is_damaged = true;
    let mut parent = entry("parent", 2, "plan the work");
    let mut child = entry("child", 2, "look at the tests");
    child.agent = Some("codebase_investigator".to_owned());
    parent.subagents.push(child);
    vec![damaged, entry("old", 1, "fix\u{1b}[2J the\u{202e} bug"), parent]
}

fn picker() -> SessionPicker {
    let mut picker = SessionPicker::new("here");
    assert_eq!(picker.wanted(), Some(ListRequest::Sessions));
    picker.take(Ok(ListAnswer::Sessions(sessions())));
    picker
}

fn text(picker: &SessionPicker, cells: usize, height: usize) -> String {
    let frame = picker.frame(cells, height);
    assert!(frame.rows.len() <= height && frame.cursor.0 < frame.rows.len(), "{cells}x{height}");
    assert!(frame.rows.iter().all(|row| row.width() <= cells), "{cells}x{height}");
    frame.rows.iter().map(|row| row.text().trim_end().to_owned() + "\n").collect()
}

fn ids(picker: &SessionPicker) -> Vec<&str> {
    picker.list.shown(SHOWN).map(|(index, _)| picker.items[index].entry.id.as_str()).collect()
}

#[test]
fn subagents_are_below_their_session() {
    let mut picker = picker();
    assert_eq!(ids(&picker), ["parent", "child", "old", "session-x"]);
    assert!(text(&picker, 79, 24).contains("    └ codebase_investigator: look at the tests"));
    picker.press(KeyPress::Text("INVESTI".to_owned()));
    assert_eq!(ids(&picker), ["parent", "child"]);
    picker.press(KeyPress::Down);
    assert_eq!(picker.press(KeyPress::Enter), PickerStep::Run("/resume child".to_owned()));
    picker.press(KeyPress::Delete);
    assert!(!picker.is_deleting);
    assert!(text(&picker, 79, 24).contains("It is deleted with the session above"));
}

#[test]
fn the_files_of_sessions_in_view_are_read_one_after_the_other() {
    let mut picker = picker();
    picker.press(KeyPress::Down);
    let mut read = Vec::new();
    while let Some(ListRequest::Preview(session)) = picker.wanted() {
        let preview = SessionPreview { messages: 1, last_prompt: Some("then push".to_owned()) };
        picker.take(Ok(ListAnswer::Preview(session.id.clone(), Some(preview))));
        read.push(session.id);
    }
    assert_eq!(read, ["child", "parent", "old"], "the selected one first, no damaged one");
    let shown = text(&picker, 79, 24);
    assert!(shown.contains("  Last:  then push") && shown.contains("1 message "), "{shown}");
}

#[test]
fn a_damaged_file_is_deleted_and_not_resumed() {
    let mut picker = picker();
    picker.press(KeyPress::Up);
    assert_eq!(picker.press(KeyPress::Enter), PickerStep::Open);
    assert!(text(&picker, 79, 24).contains("The file of this session is damaged."));
    picker.press(KeyPress::Delete);
    picker.press(KeyPress::Text("y".to_owned()));
    assert_eq!(picker.wanted(), Some(ListRequest::DeleteSession("session-x".to_owned())));
    picker.take(Err("in use\u{7}\nby process 1".to_owned()));
    let shown = text(&picker, 79, 24);
    assert!(shown.contains("in use by process 1") && shown.contains("plan the work"), "{shown}");
}

#[test]
fn text_of_files_does_not_act_on_the_terminal() {
    let mut picker = picker();
    picker.press(KeyPress::Text("bug".to_owned()));
    let shown = text(&picker, 79, 24);
    assert!(shown.contains("> fix the bug ") && shown.contains("First: fix the bug"), "{shown}");
}

#[test]
fn nothing_to_show_is_explained() {
    let mut picker = SessionPicker::new("here");
    assert!(text(&picker, 79, 24).contains("Reading the sessions"));
    picker.take(Err("no such folder".to_owned()));
    let shown = text(&picker, 79, 24);
    assert!(shown.contains("cannot be read") && shown.contains("no such folder"), "{shown}");
    picker.take(Ok(ListAnswer::Sessions(Vec::new())));
    assert!(text(&picker, 79, 24).contains("No previous sessions"));
    for key in [KeyPress::Enter, KeyPress::Delete, KeyPress::Down] {
        assert_eq!(picker.press(key), PickerStep::Open);
    }
}

#[test]
fn it_fits_every_terminal() {
    let mut picker = picker();
    let preview = SessionPreview { messages: 12_345, last_prompt: Some("修".repeat(500)) };
    picker.take(Ok(ListAnswer::Preview("parent".to_owned(), Some(preview))));
    picker.items[0].entry.first_message = "word ".repeat(1000);
    for cells in [1, 2, 10, 19, 39, 43, 44, 63, 64, 79, 299] {
        for height in [1, 2, 3, 4, 5, 6, 7, 10, 24, 100] {
            text(&picker, cells, height);
        }
    }
}
