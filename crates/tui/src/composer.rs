//! The input: the prompt that the user writes, with its pasted texts and completions.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pollux_input::{
    CompletePath, Completion, EditOutcome, InputRows, KeyPress, LineEditor, RowLabels, Vim,
    VimMode, is_command,
};
use pollux_protocol::{CommandSet, Live};

use crate::dropped;
use crate::menu::Menu;
use crate::pastes::{Pastes, TooLong};
use crate::row::{Look, Row};
use crate::search_list;
use crate::surface::Frame;

/// Text of an empty input. Programs wait for it.
pub(crate) const PLACEHOLDER: &str = "  Type your message or @path/to/file";
/// The same in shell mode, and with the keys of vi.
const SHELL_PLACEHOLDER: &str = "  Type your shell command";
const INSERT_PLACEHOLDER: &str = "  Press 'Esc' for NORMAL mode.";
const NORMAL_PLACEHOLDER: &str = "  Press 'i' for INSERT mode.";

/// Time limit of the first search for a path, and of one that continues it.
const FIRST_SEARCH: Duration = Duration::from_millis(30);
const NEXT_SEARCH: Duration = Duration::from_millis(300);

/// The input.
pub(crate) struct Composer<'a> {
    editor: LineEditor,
    /// Editor of the other mode, prompts or command lines, with its history.
    other: LineEditor,
    /// True in shell mode: the input is a command line.
    is_shell: bool,
    /// Keys of vi; `None` if they are switched off.
    vim: Option<Vim>,
    /// Width of the screen.
    columns: usize,
    pastes: Pastes,
    commands: Live<CommandSet>,
    complete_path: Box<CompletePath<'a>>,
    /// Returns true if a file can be read.
    is_readable: Box<dyn Fn(&Path) -> bool + 'a>,
    /// Completions that are being searched.
    pub(crate) completion: Option<Completion>,
    /// True if the user asked for these completions.
    is_asked: bool,
    /// True if the path has changed since its completions are searched.
    is_stale: bool,
    /// True if the search continues one whose completions are shown.
    is_going_on: bool,
    menu: Option<Menu>,
}

/// Result of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ComposerStep {
    /// The input may have changed.
    Edited,
    /// The prompt is complete.
    Submitted {
        /// Prompt with its pasted texts.
        text: String,
        /// Prompt with the labels of its pasted texts.
        shown: String,
    },
    /// The prompt was too long and is dropped.
    TooLong,
    /// The pasted text was too long and is dropped.
    PasteTooLong,
    /// Ctrl-D in an empty input.
    EndOfInput,
    /// The screen must be cleared.
    ClearScreen,
    /// The prompt must be opened in the external editor.
    ExternalEditor,
}

impl<'a> Composer<'a> {
    /// Creates an empty input with a history, the oldest line first.
    pub(crate) fn new(
        commands: Live<CommandSet>,
        complete_path: Box<CompletePath<'a>>,
        is_readable: Box<dyn Fn(&Path) -> bool + 'a>,
        history: &[String],
    ) -> Self {
        let (mut editor, mut other) = (LineEditor::default(), LineEditor::default());
        for line in history {
            editor.remember(line);
            if let Some(command) = line.strip_prefix('!') {
                other.remember(command.trim());
            }
        }
        Self {
            editor,
            other,
            is_shell: false,
            vim: None,
            columns: 80,
            pastes: Pastes::default(),
            commands,
            complete_path,
            is_readable,
            completion: None,
            is_asked: false,
            is_stale: false,
            is_going_on: false,
            menu: None,
        }
    }

    /// Returns true if nothing is typed and nothing is searched.
    pub(crate) fn is_empty(&self) -> bool {
        self.editor.is_empty() && !self.is_searching()
    }

    /// Returns true during a search in the history.
    fn is_searching(&self) -> bool {
        self.editor.search_label().is_some()
    }

    /// Returns the commands of the session.
    pub(crate) fn commands(&self) -> Arc<CommandSet> {
        self.commands.get()
    }

    /// Returns the prompt with its pasted texts.
    pub(crate) fn text(&self) -> String {
        self.pastes.expand(&self.editor.whole())
    }

    /// Returns the line that the input would send: a command line follows an exclamation mark.
    pub(crate) fn draft(&self) -> String {
        let text = self.text();
        if self.is_shell && !text.is_empty() { format!("!{text}") } else { text }
    }

    /// Returns true in shell mode.
    pub(crate) fn is_shell(&self) -> bool {
        self.is_shell
    }

    /// Begins or ends shell mode. Each mode has its own text and history.
    pub(crate) fn toggle_shell(&mut self) {
        self.close_menu();
        std::mem::swap(&mut self.editor, &mut self.other);
        self.is_shell = !self.is_shell;
    }

    /// Sets the width of the screen.
    pub(crate) fn resize(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Switches the keys of vi on or off.
    pub(crate) fn use_vim(&mut self, is_wanted: bool) {
        if is_wanted != self.vim.is_some() {
            self.vim = is_wanted.then(Vim::default);
        }
    }

    /// Returns the mode of the keys of vi; `None` if they are switched off.
    pub(crate) fn vim_mode(&self) -> Option<VimMode> {
        self.vim.as_ref().map(Vim::mode)
    }

    /// Handles Esc for the keys of vi; returns false if it has its usual effect.
    pub(crate) fn escape_in_vim(&mut self) -> bool {
        let Some(vim) = self.vim.as_mut().filter(|vim| vim.takes_escape()) else { return false };
        vim.press(KeyPress::Escape, &mut self.editor).is_none()
    }

    /// Removes all text.
    pub(crate) fn clear(&mut self) {
        self.editor.clear();
        self.close_menu();
    }

    /// Replaces all text by the line of a prompt or command.
    pub(crate) fn replace(&mut self, line: String) {
        if let Some(command) = line.strip_prefix('!').filter(|_| self.is_shell) {
            return self.replace_text(command.trim().to_owned());
        }
        if self.is_shell {
            self.toggle_shell();
        }
        self.replace_text(line);
    }

    /// Replaces all text in the present mode.
    pub(crate) fn replace_text(&mut self, text: String) {
        self.editor.replace_whole(text);
        self.close_menu();
    }

    /// Puts a text before what is typed, on lines of its own.
    pub(crate) fn put_before(&mut self, text: &str) {
        if self.is_shell && !text.starts_with('!') {
            self.toggle_shell();
        }
        let typed = self.editor.whole();
        let whole = if typed.is_empty() { text.to_owned() } else { format!("{text}\n\n{typed}") };
        self.replace(whole);
    }

    /// Adds a prompt to the history that was not typed.
    pub(crate) fn remember(&mut self, line: &str) {
        self.editor.remember(line);
    }

    /// Sets whether an `@` in pasted texts names no file.
    pub(crate) fn escape_pasted_at(&mut self, escapes: bool) {
        self.pastes.escapes_at = escapes;
    }

    /// Ends a paste whose end mark may have been lost.
    pub(crate) fn end_paste(&mut self) -> ComposerStep {
        match self.pastes.end() {
            Some(Ok(text)) => {
                for editor in [&mut self.editor, &mut self.other] {
                    editor.set_units(self.pastes.labels());
                }
                let references = (!self.is_shell)
                    .then(|| dropped::references(&text, &*self.is_readable))
                    .flatten();
                self.editor.press(KeyPress::Text(references.unwrap_or(text)));
            }
            Some(Err(TooLong)) => return ComposerStep::PasteTooLong,
            None => {}
        }
        ComposerStep::Edited
    }

    /// Inserts a text as if it was pasted.
    pub(crate) fn paste(&mut self, text: &str) -> ComposerStep {
        self.close_menu();
        self.pastes.begin();
        self.pastes.take(text);
        self.end_paste()
    }

    /// Closes the list of completions, or a search in the history; returns false if there is none.
    pub(crate) fn close(&mut self) -> bool {
        if self.is_searching() {
            self.editor.press(KeyPress::Escape);
            return true;
        }
        let had_menu = self.menu.is_some();
        self.close_menu();
        had_menu
    }

    fn close_menu(&mut self) {
        (self.menu, self.completion, self.is_stale) = (None, None, false);
    }

    /// Applies a key.
    pub(crate) fn press(&mut self, key: KeyPress) -> ComposerStep {
        let is_plain = self.menu.is_none() && !self.is_searching();
        let key = match &mut self.vim {
            Some(vim) if is_plain && !self.pastes.is_arriving() && key != KeyPress::PasteBegin => {
                match vim.press(key, &mut self.editor) {
                    Some(key) => key,
                    None => return ComposerStep::Edited,
                }
            }
            _ => key,
        };
        match key {
            KeyPress::PasteBegin => self.pastes.begin(),
            KeyPress::PasteEnd => {
                let step = self.end_paste();
                self.complete_name();
                return step;
            }
            KeyPress::Text(text) if self.pastes.take(&text) => {}
            KeyPress::Up | KeyPress::Down if self.menu.is_some() => {
                if let Some(menu) = &mut self.menu {
                    menu.select(key == KeyPress::Down);
                }
            }
            KeyPress::Up | KeyPress::Down if self.is_searching() => {
                self.editor.move_in_search(key == KeyPress::Down);
            }
            KeyPress::Tab if self.is_searching() => self.editor.end_search(),
            KeyPress::Tab => self.complete(),
            KeyPress::Enter => return self.enter(),
            key => return self.edit(key),
        }
        ComposerStep::Edited
    }

    fn edit(&mut self, key: KeyPress) -> ComposerStep {
        // The prompt is one text with line ends, in which the cursor moves.
        let key = if key == KeyPress::Newline { KeyPress::Text("\n".to_owned()) } else { key };
        let is_moved = match key {
            KeyPress::Up | KeyPress::Down => self.move_by_row(key == KeyPress::Down),
            _ => false,
        };
        if is_moved {
            return ComposerStep::Edited;
        }
        let step = match self.editor.press(key) {
            EditOutcome::EndOfInput => ComposerStep::EndOfInput,
            EditOutcome::ClearScreen => ComposerStep::ClearScreen,
            EditOutcome::ExternalEditor => ComposerStep::ExternalEditor,
            EditOutcome::TooLong => ComposerStep::TooLong,
            EditOutcome::Line | EditOutcome::Continued | EditOutcome::Submitted(_) => {
                ComposerStep::Edited
            }
        };
        self.complete_name();
        step
    }

    /// Moves the cursor to the row above or below; returns false if there is none.
    fn move_by_row(&mut self, is_down: bool) -> bool {
        let (before, after) = (self.editor.before(), self.editor.after());
        let place = InputRows::moved(labels(self.mark()), before, after, self.columns, is_down);
        let Some(place) = place else { return false };
        self.editor.move_to(place);
        true
    }

    /// Returns the label of the input.
    fn mark(&self) -> &'static str {
        if self.is_shell { "! " } else { "> " }
    }

    fn enter(&mut self) -> ComposerStep {
        if let Some(menu) = self.menu.take() {
            let is_new = menu.chosen() != self.editor.before();
            self.editor.replace_before(menu.chosen());
            if is_new && !is_command(&self.editor.whole()) {
                return ComposerStep::Edited;
            }
        }
        self.completion = None;
        match self.editor.press(KeyPress::Enter) {
            EditOutcome::Submitted(shown) if self.is_shell && shown.trim().is_empty() => {
                ComposerStep::Edited
            }
            EditOutcome::Submitted(shown) => {
                let mark = if self.is_shell { "!" } else { "" };
                let text = format!("{mark}{}", self.pastes.expand(&shown));
                ComposerStep::Submitted { text, shown: format!("{mark}{shown}") }
            }
            EditOutcome::Continued => {
                let above = self.editor.take_above();
                self.editor.replace_before(above);
                ComposerStep::Edited
            }
            EditOutcome::TooLong => ComposerStep::TooLong,
            _ => ComposerStep::Edited,
        }
    }

    /// Completes the text at the cursor, or inserts the selected completion.
    fn complete(&mut self) {
        if self.is_shell {
            return;
        }
        if let Some(menu) = self.menu.take() {
            let chosen = menu.chosen();
            let end = if chosen.ends_with('/') { "" } else { " " };
            self.editor.replace_before(chosen + end);
            return;
        }
        self.start_completion(FIRST_SEARCH);
        self.is_asked = true;
        if self.completion.is_none() {
            self.editor.press(KeyPress::Tab);
        }
    }

    /// Searches completions of the name of a command, or of a path, while it is typed. There is one
    /// search of the disk at a time.
    fn complete_name(&mut self) {
        if self.is_shell {
            return;
        }
        if self.is_searching() {
            return self.close_menu();
        }
        let is_searching = self.completion.is_some() && !self.is_asked && !self.is_going_on;
        if Completion::is_path(&self.editor) && is_searching {
            (self.menu, self.is_stale) = (None, true);
            return;
        }
        self.close_menu();
        let line = self.editor.only_line();
        let is_name = |line: &str| is_command(line) && !line.contains(char::is_whitespace);
        if line.is_none_or(|line| !is_command(line)) && Completion::is_path(&self.editor)
            || line.is_some_and(is_name)
        {
            self.start_completion(FIRST_SEARCH);
            self.is_asked = false;
        }
    }

    fn start_completion(&mut self, limit: Duration) {
        let (editor, commands) = (&self.editor, &self.commands);
        self.completion = Completion::start(editor, commands, &*self.complete_path, limit);
        self.is_going_on = false;
    }

    /// Handles the completions of the text at the cursor.
    pub(crate) fn completed(&mut self, lines: &[String]) {
        let Some(completion) = self.completion.take() else { return };
        if std::mem::take(&mut self.is_stale) {
            return self.complete_name();
        }
        if self.is_asked
            && let Some(text) = completion.grown(lines)
        {
            self.editor.replace_before(text);
            return;
        }
        let typed = self.editor.before().to_owned();
        let is_partial = completion.is_partial();
        let chosen = self.menu.take().filter(|_| self.is_going_on).map(|menu| menu.chosen());
        self.menu = Menu::new(completion, lines, &typed, &self.commands.get());
        if let (Some(menu), Some(chosen)) = (&mut self.menu, chosen) {
            menu.choose(&chosen);
        }
        if is_partial {
            self.start_completion(NEXT_SEARCH);
            (self.is_asked, self.is_going_on) = (false, true);
        }
    }

    /// Returns the rows of the input and of the completions below it, at most `height` of the input
    /// and `below` of the completions.
    pub(crate) fn frame(&self, columns: usize, height: usize, below: usize) -> Frame {
        let search = self.editor.search_label();
        let mark = self.mark();
        let label = search.as_deref().unwrap_or(mark);
        let (before, after) = (self.editor.before(), self.editor.after());
        let room = (columns, height);
        let input = match height {
            0..3 => InputRows::single(label, before, after, columns),
            _ => InputRows::wrapped(labels(label), before, after, room),
        };
        let cursor = (input.cursor_row, pollux_input::text_width(input.left_of_cursor()));
        let mut rows: Vec<Row> = input.rows.iter().map(|row| labelled(label, row)).collect();
        if self.is_empty() {
            let placeholder = match (self.is_shell, self.vim_mode()) {
                (true, _) => SHELL_PLACEHOLDER,
                (false, None) => PLACEHOLDER,
                (false, Some(VimMode::Insert)) => INSERT_PLACEHOLDER,
                (false, Some(VimMode::Normal)) => NORMAL_PLACEHOLDER,
            };
            rows = vec![labelled(mark, mark).with(Look::Dim, placeholder)];
            if rows[0].width() >= columns {
                rows = vec![labelled(mark, mark)];
            }
        }
        let found = self.editor.search_matches().filter(|_| below > 1);
        rows.extend(found.into_iter().flat_map(|it| search_list::rows(&it, columns - 1, below)));
        let menu = self.menu.as_ref().filter(|_| below > 1 && search.is_none());
        rows.extend(menu.into_iter().flat_map(|menu| menu.rows(columns - 1, below)));
        Frame { rows, cursor }
    }
}

/// Returns the texts before the rows of the input.
fn labels(first: &str) -> RowLabels<'_> {
    RowLabels { first, continued: "  ", folded: "  " }
}

/// Returns a row of the input with the look of its label.
fn labelled(label: &str, row: &str) -> Row {
    let look = if label == "! " { Look::Yellow } else { Look::Cyan };
    match row.strip_prefix(label) {
        Some(text) => Row::new(look, label).with(Look::Plain, text),
        None => Row::plain(row),
    }
}

#[cfg(test)]
mod tests;
