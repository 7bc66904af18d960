//! Questions of the model, or fields of a form, as steps between which the user moves. Pure.
//!
//! The last of several steps shows all answers before they are sent.

use pollux_input::{KeyPress, Survey, SurveyAnswer, SurveyItem, TonedLine};
use pollux_protocol::Modification;

use super::options::{OptionRows, Options};
use crate::fold::{Breaks, Room, fold};
use crate::row::{Look, Row};

/// The steps, with the answers so far.
pub(super) struct Steps {
    survey: Survey,
    items: Vec<SurveyItem>,
    lists: Vec<Options>,
    /// Index of the step on the screen; that of the review follows the last question.
    at: usize,
}

/// Result of a key.
#[derive(Debug, PartialEq)]
pub(super) enum StepsOutcome {
    /// The step stays on the screen.
    Stays,
    /// Another step is on the screen.
    Moved,
    /// This step needs another answer; the text is a hint.
    Again(String),
    /// All questions are answered.
    Done(Modification),
}

impl Steps {
    pub(super) fn new(survey: Survey) -> Self {
        let items = survey.items();
        let lists = items.iter().map(list).collect();
        Self { survey, items, lists, at: 0 }
    }

    fn has_review(&self) -> bool {
        self.items.len() > 1
    }

    fn answers(&self) -> Vec<SurveyAnswer> {
        self.lists.iter().map(Options::answer).collect()
    }

    /// Returns the rows of the step, with the position of the cursor in them. `subject` says who
    /// asks.
    pub(super) fn rows(&self, subject: &[TonedLine], cells: usize) -> OptionRows {
        let words = |row: &Row| fold(row, Room::new(cells), Breaks::Words);
        let mut rows = Vec::new();
        // The purpose of a form is said once, its source in each step.
        let said = if self.at == 0 { subject.len() } else { subject.len().min(1) };
        rows.extend(subject[..said].iter().flat_map(|line| super::subject_rows(line, cells)));
        rows.extend(self.strip().iter().flat_map(words));
        let (Some(item), Some(list)) = (self.items.get(self.at), self.lists.get(self.at)) else {
            rows.extend(self.review().iter().flat_map(words));
            let last = rows.len() - 1;
            return OptionRows { rows, cursor: (last, 0) };
        };
        let last = item.lines.len().saturating_sub(1);
        for (index, line) in item.lines.iter().enumerate() {
            let mut row = Row::new(Look::Bold, line);
            if item.is_multi && index == last {
                row.push(Look::Dim, " (Select all that apply)");
            }
            let indent = line.len() - line.trim_start().len();
            rows.extend(fold(&row, Room::new(cells).hanging(indent), Breaks::Words));
        }
        let OptionRows { rows: listed, cursor: (row, column) } = list.rows(cells);
        let cursor = (rows.len() + row, column);
        rows.extend(listed);
        rows.extend(words(&Row::new(Look::Dim, self.hint(list))));
        OptionRows { rows, cursor }
    }

    /// Returns the names of the steps.
    fn strip(&self) -> Option<Row> {
        if !self.has_review() {
            return None;
        }
        let mut strip = Row::new(Look::Dim, "\u{2190} ");
        for (index, item) in self.items.iter().enumerate() {
            let is_answered = self.shown(index).is_some_and(|answer| !answer.is_empty());
            let mark = if is_answered { "\u{2713}" } else { "\u{25a1}" };
            self.push_name(&mut strip, index, &format!("{mark} {}", item.header));
            strip.push(Look::Dim, " \u{2502} ");
        }
        self.push_name(&mut strip, self.items.len(), "\u{2261} Review");
        strip.push(Look::Dim, " \u{2192}");
        Some(strip)
    }

    fn push_name(&self, strip: &mut Row, index: usize, name: &str) {
        strip.push(if index == self.at { Look::Cyan } else { Look::Plain }, name);
    }

    /// Returns the answer of a step for display; `None` if it is not valid.
    fn shown(&self, index: usize) -> Option<String> {
        self.survey.check(index, &self.lists.get(index)?.answer()).ok()
    }

    /// Returns the rows of the last step.
    fn review(&self) -> Vec<Row> {
        let mut rows = vec![Row::new(Look::Bold, "Review your answers:")];
        let mut missing = 0;
        for (index, item) in self.items.iter().enumerate() {
            let mut row = Row::plain(format!("  {} \u{2192} ", item.header));
            if let Some(answer) = self.shown(index).filter(|answer| !answer.is_empty()) {
                row.push(Look::Cyan, &answer);
            } else {
                row.push(Look::Yellow, "(not answered)");
                missing += 1;
            }
            rows.push(row);
        }
        let warning = match missing {
            0 => None,
            1 => Some("1 question has no answer.".to_owned()),
            _ => Some(format!("{missing} questions have no answer.")),
        };
        rows.extend(warning.map(|warning| Row::new(Look::Yellow, warning)));
        let hint = "Enter to submit \u{b7} Tab/Shift+Tab to edit answers \u{b7} Esc to cancel";
        rows.push(Row::new(Look::Dim, hint));
        rows
    }

    fn hint(&self, list: &Options) -> String {
        let (enter, keys) = match (list.is_in_field(), self.has_review()) {
            (true, true) => ("submit", "Tab/Shift+Tab to switch questions"),
            (false, true) => ("select", "\u{2190}/\u{2192} to switch questions"),
            (true, false) if list.is_field() => {
                return "Enter to submit \u{b7} Esc to cancel".to_owned();
            }
            (true, false) => ("submit", "\u{2191}/\u{2193} to navigate"),
            (false, false) => ("select", "\u{2191}/\u{2193} to navigate"),
        };
        format!("Enter to {enter} \u{b7} {keys} \u{b7} Esc to cancel")
    }

    /// Applies a key. Pasted text only becomes words.
    pub(super) fn press(&mut self, key: KeyPress, is_pasted: bool) -> StepsOutcome {
        let takes_arrows = self.lists.get(self.at).is_some_and(Options::takes_arrows);
        match key {
            KeyPress::Tab if self.has_review() => return self.step(1),
            KeyPress::CycleMode if self.has_review() => return self.step(-1),
            KeyPress::Right if self.has_review() && !takes_arrows => return self.step(1),
            KeyPress::Left if self.has_review() && !takes_arrows => return self.step(-1),
            _ => {}
        }
        let Some(list) = self.lists.get_mut(self.at) else {
            return if key == KeyPress::Enter { self.send() } else { StepsOutcome::Stays };
        };
        if !list.press(key, is_pasted) {
            return StepsOutcome::Stays;
        }
        let answer = list.answer();
        match self.survey.check(self.at, &answer) {
            Err(hint) => StepsOutcome::Again(hint),
            Ok(_) if self.has_review() => self.step(1),
            Ok(_) => self.send(),
        }
    }

    /// Moves to the next or the previous step, beyond the ends round.
    fn step(&mut self, by: isize) -> StepsOutcome {
        let count = self.items.len() + 1;
        self.at = self.at.saturating_add(count).saturating_add_signed(by) % count;
        StepsOutcome::Moved
    }

    /// Ends the questions. If an answer is missing, its step is shown again.
    fn send(&mut self) -> StepsOutcome {
        match self.survey.reply(&self.answers()) {
            Ok(modification) => StepsOutcome::Done(modification),
            Err((index, hint)) => {
                self.at = index;
                StepsOutcome::Again(hint)
            }
        }
    }
}

/// Returns the list of the answers to a question.
fn list(item: &SurveyItem) -> Options {
    let mut list = Options::new(item.options.clone());
    if item.is_multi {
        list = list.multiple();
    }
    if let Some(placeholder) = &item.placeholder {
        list = list.with_field(placeholder.clone(), "");
    }
    list.choose(&item.default);
    list
}

#[cfg(test)]
mod tests;
