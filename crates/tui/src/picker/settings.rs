//! The list of settings: each with its value and the source of the value; values are edited in
//! place. Pure.

use pollux_input::{EditOutcome, KeyPress, LineEditor, ListAnswer, ListRequest, text_width};
use pollux_protocol::plain_text::{for_terminal, one_line, visible};
use pollux_protocol::{SettingEntry, SettingEntryKind};
use serde_json::Value;

use super::layout::{AROUND, layout, mark, room};
use super::list::SearchList;
use super::{PickerStep, Scope};
use crate::fold::{Breaks, Room, cut_start, cut_to, fold};
use crate::row::{Look, Row};
use crate::surface::Frame;

/// Title of the list, as in Gemini CLI.
const TITLE: &str = "> Settings";
/// Maximum number of settings that are shown at a time.
const SHOWN: usize = 12;
/// Maximum number of rows about the selected setting.
const DETAILS: usize = 4;
/// Maximum width of the keys, and the width of the mark with the gap after the key, in cells.
const KEYS: usize = 44;
const GAP: usize = 4;

/// The list of settings.
pub(crate) struct SettingsPicker {
    entries: Vec<SettingEntry>,
    list: SearchList,
    scope: Scope,
    /// Text of the value that is edited.
    edited: Option<LineEditor>,
    is_read: bool,
    request: Option<ListRequest>,
    /// Message about the last key or reading.
    remark: Option<String>,
}

impl SettingsPicker {
    /// Creates a list that is still to be read.
    pub(crate) fn new() -> Self {
        Self {
            entries: Vec::new(),
            list: SearchList::default(),
            scope: Scope::default(),
            edited: None,
            is_read: false,
            request: Some(ListRequest::Settings),
            remark: None,
        }
    }

    /// Notes that settings may have changed.
    pub(crate) fn changed(&mut self) {
        self.request = Some(ListRequest::Settings);
    }

    /// Returns what the list needs next.
    pub(crate) fn wanted(&mut self) -> Option<ListRequest> {
        self.request.take()
    }

    /// Takes the answer to a request. The search and the selection stay.
    pub(crate) fn take(&mut self, answer: Result<ListAnswer, String>) {
        self.is_read = true;
        match answer {
            Ok(ListAnswer::Settings(entries)) => {
                let selected = self.list.selected().unwrap_or_default();
                self.list.replace(entries.iter().map(searched), selected);
                self.entries = entries;
            }
            Ok(_) => {}
            Err(message) => self.remark = Some(message),
        }
    }

    fn selected(&self) -> Option<&SettingEntry> {
        self.entries.get(self.list.selected()?)
    }

    /// Applies a key.
    pub(crate) fn press(&mut self, key: KeyPress) -> PickerStep {
        self.remark = None;
        if self.edited.is_some() {
            return self.edit(key);
        }
        match key {
            KeyPress::Escape => return PickerStep::Close,
            KeyPress::Tab | KeyPress::CycleMode => self.scope = self.scope.other(),
            KeyPress::ClearScreen => {
                let Some(entry) = self.selected() else { return PickerStep::Open };
                let line = format!("/settings unset {} --scope {}", entry.key, self.scope.flag());
                return PickerStep::Do(line);
            }
            KeyPress::Enter => return self.change(),
            key => self.list.press(key),
        }
        PickerStep::Open
    }

    /// Changes the selected setting to the next value, or begins to edit it.
    fn change(&mut self) -> PickerStep {
        let Some(entry) = self.selected() else { return PickerStep::Open };
        let value = entry.value.clone();
        let next = match entry.kind {
            SettingEntryKind::Boolean => {
                let is_on = value.as_ref().and_then(Value::as_bool).unwrap_or_default();
                (!is_on).to_string()
            }
            SettingEntryKind::Choice(choices) => {
                let now = value.as_ref().and_then(Value::as_str);
                let place = choices.iter().position(|choice| Some(*choice) == now);
                let next = place.map_or(0, |place| (place + 1) % choices.len().max(1));
                choices.get(next).copied().unwrap_or_default().to_owned()
            }
            SettingEntryKind::Number | SettingEntryKind::Text => {
                let mut editor = LineEditor::default();
                let text = match value {
                    Some(Value::String(text)) => one_line(&text),
                    Some(value) => value.to_string(),
                    None => String::new(),
                };
                editor.replace_whole(text);
                self.edited = Some(editor);
                return PickerStep::Open;
            }
            SettingEntryKind::Other => {
                let text = "A list or an object is changed in the settings file.";
                self.remark = Some(text.to_owned());
                return PickerStep::Open;
            }
        };
        self.store(&next)
    }

    fn edit(&mut self, key: KeyPress) -> PickerStep {
        let Some(editor) = &mut self.edited else { return PickerStep::Open };
        match key {
            KeyPress::Escape => self.edited = None,
            KeyPress::Newline | KeyPress::Tab | KeyPress::EndOfInput => {}
            key => {
                if let EditOutcome::Submitted(text) = editor.press(key) {
                    self.edited = None;
                    return self.store(&one_line(&text));
                }
            }
        }
        PickerStep::Open
    }

    /// Returns the step that stores a value of the selected setting.
    fn store(&mut self, value: &str) -> PickerStep {
        let Some(entry) = self.selected() else { return PickerStep::Open };
        if value.is_empty() {
            self.remark = Some("A value is needed. Ctrl+L removes the setting.".to_owned());
            return PickerStep::Open;
        }
        let line = format!("/settings set {} {value} --scope {}", entry.key, self.scope.flag());
        PickerStep::Do(line)
    }

    /// Returns the rows, at most `height`.
    pub(crate) fn frame(&self, cells: usize, height: usize) -> Frame {
        let details = self.details(cells);
        let details = &details[..details.len().min(height.saturating_sub(AROUND + 3))];
        let room = room(height).saturating_sub(details.len()).min(SHOWN);
        let width = (cells / 2).min(KEYS);
        let mut rows: Vec<Row> = self
            .list
            .shown(room)
            .map(|(index, is_selected)| self.row(index, is_selected, cells, width))
            .collect();
        if rows.is_empty() {
            let text = "No setting contains these words.";
            rows.push(Row::new(Look::Dim, if self.is_read { text } else { "Reading ..." }));
        }
        rows.extend(details.iter().cloned());
        let mut frame = layout(TITLE, &self.list, rows, self.hint(), (cells, height));
        if let Some(editor) = &self.edited
            && height > 1
        {
            let at = self.list.shown(room).position(|(_, is_selected)| is_selected);
            let row = frame.cursor.0 + 1 + at.unwrap_or_default();
            let column = width + GAP + text_width(editor.before());
            frame.cursor = (row.min(frame.rows.len() - 1), column.min(cells));
        }
        frame
    }

    fn hint(&self) -> Row {
        if let Some(remark) = &self.remark {
            return Row::new(Look::Yellow, one_line(&for_terminal(remark)));
        }
        if self.edited.is_some() {
            return Row::new(Look::Dim, "Enter saves · Esc keeps the value");
        }
        let ((count, place), scope) = (self.list.count(), self.scope.label());
        let keys = "Tab changes it · Ctrl+L unsets · Esc";
        Row::new(Look::Dim, format!("{place} of {count} · Enter saves in {scope} · {keys}"))
    }

    fn row(&self, index: usize, is_selected: bool, cells: usize, width: usize) -> Row {
        let (mark, look) = mark(is_selected);
        let Some(entry) = self.entries.get(index) else { return Row::default() };
        let key = cut_to(entry.key, width);
        let mut row = Row::new(look, mark).with(look, &key);
        row.push(Look::Plain, &" ".repeat((width + GAP).saturating_sub(row.width())));
        let room = cells.saturating_sub(row.width());
        if let Some(editor) = self.edited.as_ref().filter(|_| is_selected) {
            // The end of a long text is in view, where it is typed.
            return row.with(Look::Bold, &cut_start(&editor.whole(), room.saturating_sub(1)));
        }
        let is_default = entry.source == "default";
        let source = format!("  ({})", entry.source);
        let has_source = !is_default && room > 2 * source.len();
        let value = one_line(&visible(&entry.shown));
        let room = room.saturating_sub(if has_source { source.len() } else { 0 });
        row.push(if is_default { Look::Dim } else { Look::Plain }, &cut_to(&value, room));
        if has_source {
            row.push(Look::Dim, &source);
        }
        row
    }

    /// Returns the rows about the selected setting.
    fn details(&self, cells: usize) -> Vec<Row> {
        let Some(entry) = self.selected() else {
            return Vec::new();
        };
        let mut text = format!("{} ({})", entry.description, entry.source);
        if let SettingEntryKind::Choice(choices) = entry.kind {
            text.extend([" One of ", &choices.join(", "), "."]);
        }
        for note in &entry.notes {
            text.push(' ');
            text.push_str(note);
        }
        let mut rows = vec![Row::default()];
        let room = Room::new(cells).indented(2);
        rows.extend(fold(&Row::new(Look::Dim, one_line(&visible(&text))), room, Breaks::Words));
        rows.truncate(1 + DETAILS);
        rows
    }
}

/// Returns the text of a setting in which words are found.
fn searched(entry: &SettingEntry) -> String {
    format!("{} {}", entry.key, entry.description)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn entry(key: &'static str, kind: SettingEntryKind, value: Value) -> SettingEntry {
        SettingEntry {
            key,
            description: "What it does.",
            kind,
            shown: value.to_string(),
            value: Some(value),
            source: "default".to_owned(),
            notes: Vec::new(),
        }
    }

    fn picker() -> SettingsPicker {
        let mut picker = SettingsPicker::new();
        assert_eq!(picker.wanted(), Some(ListRequest::Settings));
        picker.take(Ok(ListAnswer::Settings(vec![
            entry("general.vimMode", SettingEntryKind::Boolean, json!(false)),
            entry("output.format", SettingEntryKind::Choice(&["text", "json"]), json!("json")),
            entry("model.name", SettingEntryKind::Text, json!("a\u{7}b")),
            entry("model.maxSessionTurns", SettingEntryKind::Number, json!(-1)),
            entry("mcpServers", SettingEntryKind::Other, json!({})),
        ])));
        picker
    }

    fn run(picker: &mut SettingsPicker, search: &str) -> PickerStep {
        picker.press(KeyPress::KillLeft);
        picker.press(KeyPress::Text(search.to_owned()));
        picker.press(KeyPress::Enter)
    }

    fn text(picker: &SettingsPicker, cells: usize, height: usize) -> String {
        let frame = picker.frame(cells, height);
        assert!(frame.rows.len() <= height && frame.cursor.0 < frame.rows.len());
        assert!(frame.rows.iter().all(|row| row.width() <= cells), "{cells}x{height}");
        frame.rows.iter().map(|row| row.text() + "\n").collect()
    }

    #[test]
    fn each_kind_of_value_is_changed() {
        let mut picker = picker();
        let set = |words: &str| PickerStep::Do(format!("/settings set {words}"));
        assert_eq!(run(&mut picker, "vim"), set("general.vimMode true --scope user"));
        picker.press(KeyPress::Tab);
        assert_eq!(run(&mut picker, "format"), set("output.format text --scope project"));
        assert_eq!(
            picker.press(KeyPress::ClearScreen),
            PickerStep::Do("/settings unset output.format --scope project".to_owned())
        );
        assert_eq!(run(&mut picker, "turns"), PickerStep::Open);
        picker.press(KeyPress::KillLeft);
        picker.press(KeyPress::Text("12".to_owned()));
        assert!(text(&picker, 79, 24).contains("> model.maxSessionTurns"), "it is edited in place");
        let expected = set("model.maxSessionTurns 12 --scope project");
        assert_eq!(picker.press(KeyPress::Enter), expected);
        assert_eq!(run(&mut picker, "mcp"), PickerStep::Open);
        assert!(text(&picker, 79, 24).contains("A list or an object"));
        // Esc first leaves the editing.
        run(&mut picker, "name");
        assert_eq!(picker.press(KeyPress::Escape), PickerStep::Open);
        assert_eq!(picker.press(KeyPress::Escape), PickerStep::Close);
    }

    #[test]
    fn a_change_is_shown_while_the_list_is_open() {
        let mut picker = picker();
        picker.press(KeyPress::Text("vim".to_owned()));
        assert!(text(&picker, 79, 24).contains("false"));
        let mut entries = picker.entries.clone();
        entries[0].shown = "true".to_owned();
        entries[0].source = "user".to_owned();
        picker.changed();
        assert_eq!(picker.wanted(), Some(ListRequest::Settings));
        picker.take(Ok(ListAnswer::Settings(entries)));
        let shown = text(&picker, 79, 24);
        assert!(shown.contains("true  (user)") && !shown.contains("output.format"), "{shown}");
    }

    #[test]
    fn it_fits_every_terminal() {
        let mut picker = picker();
        for is_edited in [false, true] {
            if is_edited {
                run(&mut picker, "name");
                picker.press(KeyPress::Text("x".repeat(500)));
            }
            for cells in [1, 2, 10, 19, 39, 79, 299] {
                for height in [1, 2, 3, 4, 5, 10, 24, 100] {
                    text(&picker, cells, height);
                }
            }
        }
    }
}
