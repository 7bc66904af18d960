//! The list of themes, each with a preview. Pure.

use pollux_input::KeyPress;
use pollux_protocol::plain_text::{one_line, visible};

use super::layout::{AROUND, layout, mark, room};
use super::list::SearchList;
use super::sample;
use super::{PickerStep, Scope};
use crate::fold::cut_to;
use crate::row::{Look, Row};
use crate::surface::Frame;
use crate::theme::Theme;

/// Title of the list, as in Gemini CLI.
const TITLE: &str = "> Select Theme";
/// Width of the list if the preview is beside it, and the width from which on it is.
const LIST: usize = 34;
const WIDE: usize = 72;
/// Maximum number of themes that are shown at a time.
const SHOWN: usize = 12;

/// The list of themes.
pub(crate) struct ThemePicker {
    themes: Vec<Theme>,
    list: SearchList,
    scope: Scope,
}

impl ThemePicker {
    /// Creates a list in which the current theme is selected.
    pub(crate) fn new(themes: Vec<Theme>, current: &str) -> Self {
        let selected = themes.iter().position(|theme| theme.name == current);
        let list = SearchList::new(themes.iter().map(Theme::label), selected.unwrap_or_default());
        Self { themes, list, scope: Scope::default() }
    }

    /// Returns the selected theme.
    pub(crate) fn selected(&self) -> Option<&Theme> {
        self.themes.get(self.list.selected()?)
    }

    /// Applies a key.
    pub(crate) fn press(&mut self, key: KeyPress) -> PickerStep {
        match key {
            KeyPress::Escape => return PickerStep::Close,
            KeyPress::Tab | KeyPress::CycleMode => self.scope = self.scope.other(),
            KeyPress::Enter => {
                let Some(theme) = self.selected() else { return PickerStep::Open };
                let (name, scope) = (one_line(&theme.name), self.scope.flag());
                return PickerStep::Run(format!("/settings set ui.theme {name} --scope {scope}"));
            }
            key => self.list.press(key),
        }
        PickerStep::Open
    }

    /// Returns the rows, at most `height`.
    pub(crate) fn frame(&self, cells: usize, height: usize) -> Frame {
        let (count, place) = self.list.count();
        let scope = self.scope.label();
        let hint = format!("{place} of {count} · Enter saves in {scope} · Tab changes it · Esc");
        // The list has what the title, the search and the hint leave.
        let room = room(height).min(SHOWN);
        let is_wide = cells >= WIDE;
        let width = if is_wide { LIST } else { cells };
        let mut rows: Vec<Row> = self
            .list
            .shown(room)
            .map(|(index, is_selected)| self.row(index, is_selected, width))
            .collect();
        let sample = sample::rows(if is_wide { cells - LIST - 1 } else { cells });
        if is_wide {
            beside(&mut rows, sample, room);
        } else if height >= rows.len() + AROUND + sample.len() {
            rows.push(Row::default());
            rows.extend(sample);
        }
        layout(TITLE, &self.list, rows, Row::new(Look::Dim, hint), (cells, height))
    }

    fn row(&self, index: usize, is_selected: bool, cells: usize) -> Row {
        let (mark, look) = mark(is_selected);
        let label = self.themes.get(index).map(Theme::label).unwrap_or_default();
        let label = one_line(&visible(&label));
        Row::new(look, mark).with(look, &cut_to(&label, cells.saturating_sub(2)))
    }
}

/// Puts the sample at the right of the list, as far as there is room for it.
fn beside(rows: &mut Vec<Row>, sample: Vec<Row>, room: usize) {
    let count = rows.len().max(sample.len()).min(room);
    rows.resize(count, Row::default());
    for (row, sample) in rows.iter_mut().zip(sample) {
        row.push(Look::Plain, &" ".repeat(LIST.saturating_sub(row.width())));
        row.append(&sample);
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::theme::built_in_themes;

    fn picker() -> ThemePicker {
        ThemePicker::new(built_in_themes().to_vec(), "Dracula")
    }

    #[test]
    fn the_chosen_theme_is_saved() {
        let mut picker = picker();
        assert_eq!(picker.selected().unwrap().name, "Dracula");
        picker.press(KeyPress::Text("ayu li".to_owned()));
        assert_eq!(picker.selected().unwrap().name, "Ayu Light");
        let expected = "/settings set ui.theme Ayu Light --scope user";
        assert_eq!(picker.press(KeyPress::Enter), PickerStep::Run(expected.to_owned()));
        picker.press(KeyPress::Tab);
        let expected = "/settings set ui.theme Ayu Light --scope project";
        assert_eq!(picker.press(KeyPress::Enter), PickerStep::Run(expected.to_owned()));
        picker.press(KeyPress::Text("xyz".to_owned()));
        assert_eq!(picker.press(KeyPress::Enter), PickerStep::Open);
        assert_eq!(picker.press(KeyPress::Escape), PickerStep::Close);
    }

    #[test]
    fn it_fits_every_terminal() {
        let picker = picker();
        for cells in [1, 2, 10, 19, 39, 71, 72, 79, 119, 299] {
            for height in [1, 2, 3, 4, 5, 10, 24, 40, 100] {
                let frame = picker.frame(cells, height);
                assert!(frame.rows.len() <= height, "{cells}x{height}");
                assert!(frame.cursor.0 < frame.rows.len(), "{cells}x{height}");
                let widest = frame.rows.iter().map(Row::width).max().unwrap_or(0);
                assert!(widest <= cells, "{cells}x{height}: {widest}");
            }
        }
        let text = |frame: &Frame| frame.rows.iter().map(Row::text).collect::<Vec<_>>().join("\n");
        let wide = text(&picker.frame(79, 24));
        assert!(wide.contains("> Dracula Dark") && wide.contains("def greet"), "{wide}");
        let narrow = text(&picker.frame(39, 40));
        assert!(narrow.contains("> Dracula Dark") && narrow.contains("def greet"), "{narrow}");
        assert!(text(&picker.frame(39, 10)).contains("> Dracula Dark"));
    }
}
