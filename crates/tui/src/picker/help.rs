//! The list of everything that can be typed: input, commands, keys. Pure.

use pollux_input::{KeyMap, KeyPress, listed_keys, text_width};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{Command, CommandSet};

use super::PickerStep;
use super::layout::{AROUND, layout, mark, room};
use super::list::SearchList;
use crate::fold::{Breaks, Room, cut_to, fold};
use crate::row::{Look, Row};
use crate::surface::Frame;

const TITLE: &str = "> Help";
/// Texts for the input, each with the command that it needs.
const BASICS: [(&str, &str, Option<&str>); 3] = [
    ("@PATH", "sends a file or folder together with the prompt", None),
    ("!COMMAND", "runs a command line yourself", Some("shell")),
    ("?", "in an empty input: shows the most important keys", None),
];
/// Maximum width of the column with names, and of that with arguments, in cells.
const NAMES: usize = 26;
const ARGUMENTS: usize = 34;
/// Width from which on the arguments of commands have a column.
const WITH_ARGUMENTS: usize = 100;
/// Height from which on the groups have titles.
const WITH_TITLES: usize = 12;
/// Maximum number of rows about the selected entry.
const DETAILS: usize = 3;

/// The help.
pub(crate) struct HelpPicker {
    entries: Vec<Entry>,
    list: SearchList,
}

/// Something that can be typed.
struct Entry {
    group: Group,
    name: String,
    arguments: String,
    effect: String,
    aliases: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Input,
    Commands,
    /// Commands of the user, of extensions and of servers.
    Own,
    Keys,
}

impl Group {
    fn title(self) -> &'static str {
        match self {
            Self::Input => "Input",
            Self::Commands => "Commands",
            Self::Own => "Your commands",
            Self::Keys => "Keys",
        }
    }
}

impl HelpPicker {
    /// Creates the help for these commands and keys.
    pub(crate) fn new(commands: &CommandSet, keys: &KeyMap) -> Self {
        let basics = BASICS
            .iter()
            .filter(|(_, _, needs)| needs.is_none_or(|needs| commands.get(needs).is_some()))
            .map(|(name, effect, _)| Entry::new(Group::Input, name, effect));
        let mut entries: Vec<Entry> = basics.collect();
        for group in [Group::Commands, Group::Own] {
            let of_group = commands.iter().filter(|command| {
                let is_own = command.is_prompt();
                is_own == (group == Group::Own) && (is_own || !command.name().contains(' '))
            });
            let mut commands: Vec<Entry> =
                of_group.map(|command| Entry::of_command(group, command.as_ref())).collect();
            commands.sort_by(|one, other| one.name.cmp(&other.name));
            entries.extend(commands);
        }
        let keys = listed_keys(keys);
        entries.extend(keys.iter().map(|(names, effect)| Entry::new(Group::Keys, names, effect)));
        let list = SearchList::new(entries.iter().map(Entry::searched), 0);
        Self { entries, list }
    }

    /// Applies a key.
    pub(crate) fn press(&mut self, key: KeyPress) -> PickerStep {
        match key {
            KeyPress::Escape => return PickerStep::Close,
            KeyPress::Enter => {
                let selected = self.selected().filter(|entry| entry.group.has_commands());
                let Some(entry) = selected else { return PickerStep::Open };
                return PickerStep::Insert(format!("{} ", entry.name));
            }
            key => self.list.press(key),
        }
        PickerStep::Open
    }

    fn selected(&self) -> Option<&Entry> {
        self.list.selected().map(|index| &self.entries[index])
    }

    /// Returns the rows, at most `height`.
    pub(crate) fn frame(&self, cells: usize, height: usize) -> Frame {
        let details = self.details(cells);
        let details = &details[..details.len().min(height.saturating_sub(AROUND + 4))];
        let room = room(height).saturating_sub(details.len());
        // Of the four groups, three have a blank row above their titles.
        let titles = if height >= WITH_TITLES { 7 } else { 0 };
        let shown: Vec<(usize, bool)> =
            self.list.shown(room.saturating_sub(titles).max(1)).collect();
        let widths = self.widths(&shown, cells);
        let (mut rows, mut last) = (Vec::new(), None);
        for (index, is_selected) in shown {
            let entry = &self.entries[index];
            if titles > 0 && last != Some(entry.group) {
                rows.extend(last.map(|_| Row::default()));
                rows.push(Row::new(Look::Bold, entry.group.title()));
                last = Some(entry.group);
            }
            rows.push(entry.row(is_selected, widths, cells));
        }
        if rows.is_empty() {
            rows.push(Row::new(Look::Dim, "Nothing contains these words."));
        }
        rows.extend(details.iter().cloned());
        layout(TITLE, &self.list, rows, self.hint(), (cells, height))
    }

    /// Returns the widths of the columns with names and with arguments.
    fn widths(&self, shown: &[(usize, bool)], cells: usize) -> (usize, usize) {
        let widest = |text: fn(&Entry) -> &str, most: usize| {
            let widths = shown.iter().map(|(index, _)| text_width(text(&self.entries[*index])));
            widths.max().unwrap_or_default().min(most)
        };
        let names = widest(|entry| &entry.name, NAMES.min(cells / 2));
        let arguments =
            if cells < WITH_ARGUMENTS { 0 } else { widest(|entry| &entry.arguments, ARGUMENTS) };
        (names, arguments)
    }

    fn hint(&self) -> Row {
        let (count, place) = self.list.count();
        let is_command = self.selected().is_some_and(|entry| entry.group.has_commands());
        let enter = if is_command { "Enter inserts \u{b7} " } else { "" };
        Row::new(Look::Dim, format!("{place} of {count} \u{b7} {enter}Esc"))
    }

    /// Returns the rows about the selected entry.
    fn details(&self, cells: usize) -> Vec<Row> {
        let Some(entry) = self.selected() else { return Vec::new() };
        let mut text = entry.name.clone();
        if !entry.arguments.is_empty() {
            text = format!("{text} {}", entry.arguments);
        }
        text = format!("{text}  {}", entry.effect);
        if !entry.aliases.is_empty() {
            text = format!("{text} (also {})", entry.aliases.join(", "));
        }
        let room = Room::new(cells).indented(2);
        let folded = fold(&Row::new(Look::Dim, text), room, Breaks::Words);
        std::iter::once(Row::default()).chain(folded.into_iter().take(DETAILS)).collect()
    }
}

impl Group {
    fn has_commands(self) -> bool {
        matches!(self, Self::Commands | Self::Own)
    }
}

impl Entry {
    fn new(group: Group, name: &str, effect: &str) -> Self {
        let (name, effect) = (name.to_owned(), effect.to_owned());
        Self { group, name, arguments: String::new(), effect, aliases: Vec::new() }
    }

    fn of_command(group: Group, command: &dyn Command) -> Self {
        let named = |name: &str| format!("/{}", visible(name));
        Self {
            arguments: command.arguments().map(visible).unwrap_or_default(),
            aliases: command.aliases().iter().map(|alias| named(alias)).collect(),
            ..Self::new(group, &named(command.name()), &visible(command.description()))
        }
    }

    fn searched(&self) -> String {
        [&self.name, &self.effect, &self.aliases.join(" ")].map(String::as_str).join(" ")
    }

    fn row(&self, is_selected: bool, (names, arguments): (usize, usize), cells: usize) -> Row {
        let (mark, look) = mark(is_selected);
        let padded = |text: &str, width: usize| {
            let text = cut_to(text, width);
            format!("{text}{}", " ".repeat(width.saturating_sub(text_width(&text)) + 2))
        };
        let name_look = if is_selected { look } else { Look::Plain };
        let mut row = Row::new(look, mark).with(name_look, &padded(&self.name, names));
        if arguments > 0 {
            row.push(Look::Dim, &padded(&self.arguments, arguments));
        }
        let room = cells.saturating_sub(row.width());
        row.with(Look::Dim, &cut_to(&self.effect, room))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::theme_command::ThemeCommand;
    use crate::vim_command::VimCommand;

    fn help() -> HelpPicker {
        let commands: Vec<Arc<dyn Command>> =
            vec![Arc::new(VimCommand::default()), Arc::new(ThemeCommand)];
        HelpPicker::new(&CommandSet::new(commands), &KeyMap::default())
    }

    fn shown(help: &HelpPicker, cells: usize, height: usize) -> Vec<String> {
        let frame = help.frame(cells, height);
        assert!(frame.rows.len() <= height && frame.rows.iter().all(|row| row.width() <= cells));
        frame.rows.iter().map(Row::text).collect()
    }

    #[test]
    fn groups_have_titles_and_words_are_searched() {
        let mut help = help();
        let rows = shown(&help, 60, 24).join("\n");
        let groups = "Input\n> @PATH ";
        assert!(rows.contains(groups) && rows.contains("\n\nCommands\n  /theme "), "{rows}");
        assert!(rows.contains("\n\nKeys\n  Enter "), "{rows}");
        assert_eq!(help.press(KeyPress::Enter), PickerStep::Open);
        help.press(KeyPress::Text("theme".to_owned()));
        let rows = shown(&help, 60, 24).join("\n");
        assert!(
            rows.contains("Commands\n> /theme ") && rows.contains("1 of 1 \u{b7} Enter"),
            "{rows}"
        );
        assert_eq!(help.press(KeyPress::Enter), PickerStep::Insert("/theme ".to_owned()));
        help.press(KeyPress::Text("zzz".to_owned()));
        assert!(shown(&help, 60, 24).join("\n").contains("Nothing contains these words."));
        assert_eq!(help.press(KeyPress::Escape), PickerStep::Close);
    }

    #[test]
    fn every_entry_can_be_reached_in_every_window() {
        for (cells, height) in [(20, 2), (40, 6), (40, 12), (80, 24), (140, 50)] {
            let mut help = help();
            for entry in 0..help.entries.len() {
                let name = cut_to(&help.entries[entry].name, 4);
                let rows = shown(&help, cells, height);
                let is_selected = rows.iter().any(|row| row.starts_with(&format!("> {name}")));
                assert!(is_selected, "{cells}x{height} {name}: {rows:?}");
                help.press(KeyPress::Down);
            }
        }
    }
}
