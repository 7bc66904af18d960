//! The list of the project's sessions, each with its first and its last prompt. Pure.

use std::collections::HashMap;

use pollux_input::{KeyPress, ListAnswer, ListRequest, text_width};
use pollux_protocol::plain_text::{for_terminal, one_line};
use pollux_protocol::{SessionEntry, SessionPreview};

use super::PickerStep;
use super::layout::{AROUND, layout, mark, room};
use super::list::SearchList;
use crate::clock::local_minute;
use crate::fold::{Breaks, Room, cut_to, fold};
use crate::row::{Look, Row};
use crate::surface::Frame;

/// Maximum number of sessions that are shown at a time.
const SHOWN: usize = 12;
/// Maximum number of rows of each prompt of the selected session.
const PROMPT_ROWS: usize = 2;
/// Width from which on a row has the time, and that from which on also the number of messages.
const WITH_TIME: usize = 44;
const WITH_COUNT: usize = 64;

/// The list of sessions.
pub(crate) struct SessionPicker {
    /// Id of the session that is open.
    current: String,
    /// The sessions, the newest first; those of subagents follow that of their parent.
    items: Vec<Item>,
    list: SearchList,
    /// Facts about the sessions whose files were read, by id.
    previews: HashMap<String, Option<SessionPreview>>,
    reading: Reading,
    /// Request for the next reading, other than a preview.
    request: Option<ListRequest>,
    /// True while the user is asked whether to delete the selected session.
    is_deleting: bool,
    /// Message about the last key or reading.
    remark: Option<String>,
}

/// State of the list.
#[derive(PartialEq, Eq)]
enum Reading {
    Begun,
    Done,
    Failed,
}

/// A session in the list.
struct Item {
    entry: SessionEntry,
    is_subagent: bool,
    /// Local time of the last change.
    time: String,
}

impl SessionPicker {
    /// Creates a list that is still to be read. `current` is the id of the session that is open.
    pub(crate) fn new(current: &str) -> Self {
        Self {
            current: current.to_owned(),
            items: Vec::new(),
            list: SearchList::default(),
            previews: HashMap::new(),
            reading: Reading::Begun,
            request: Some(ListRequest::Sessions),
            is_deleting: false,
            remark: None,
        }
    }

    /// Returns what the list needs next: the sessions, and then the previews of those in view, that
    /// of the selected one first.
    pub(crate) fn wanted(&mut self) -> Option<ListRequest> {
        if let Some(request) = self.request.take() {
            return Some(request);
        }
        let in_view = self.list.shown(SHOWN).map(|(index, _)| index);
        let missing = self.list.selected().into_iter().chain(in_view).find_map(|index| {
            let entry = &self.items.get(index)?.entry;
            (!entry.is_damaged && !self.previews.contains_key(&entry.id)).then_some(entry)
        });
        missing.map(|entry| ListRequest::Preview(Box::new(entry.clone())))
    }

    /// Takes the answer to a request.
    pub(crate) fn take(&mut self, answer: Result<ListAnswer, String>) {
        match answer {
            Ok(ListAnswer::Sessions(sessions)) => {
                self.reading = Reading::Done;
                self.renew(sessions);
            }
            Ok(ListAnswer::Preview(id, preview)) => _ = self.previews.insert(id, preview),
            Ok(_) => {}
            Err(message) => {
                if self.reading == Reading::Begun {
                    self.reading = Reading::Failed;
                }
                self.remark = Some(message);
            }
        }
    }

    /// Shows these sessions. The selection stays at its place, which another session may have.
    fn renew(&mut self, mut sessions: Vec<SessionEntry>) {
        let place = self.list.selected().unwrap_or_default();
        sessions.sort_by(|one, other| {
            let newest_first = other.last_updated.cmp(&one.last_updated);
            one.is_damaged.cmp(&other.is_damaged).then(newest_first)
        });
        self.items = sessions
            .into_iter()
            .flat_map(|mut session| {
                let subagents = std::mem::take(&mut session.subagents);
                let item = |entry: SessionEntry, is_subagent| Item {
                    time: local_minute(&entry.last_updated),
                    entry,
                    is_subagent,
                };
                let below = subagents.into_iter().map(move |entry| item(entry, true));
                std::iter::once(item(session, false)).chain(below).collect::<Vec<_>>()
            })
            .collect();
        self.list.replace(searched(&self.items).into_iter(), place);
    }

    fn selected(&self) -> Option<&Item> {
        self.items.get(self.list.selected()?)
    }

    /// Applies a key.
    pub(crate) fn press(&mut self, key: KeyPress) -> PickerStep {
        self.remark = None;
        if std::mem::take(&mut self.is_deleting) {
            self.confirm(&key);
            return PickerStep::Open;
        }
        match key {
            KeyPress::Escape => return PickerStep::Close,
            KeyPress::Enter => return self.resume(),
            KeyPress::Delete => self.ask_to_delete(),
            key => self.list.press(key),
        }
        PickerStep::Open
    }

    /// Leaves the session for the selected one.
    fn resume(&mut self) -> PickerStep {
        let Some(Item { entry, .. }) = self.selected() else { return PickerStep::Open };
        let remark = if entry.id == self.current {
            "This session is open already."
        } else if entry.is_damaged || entry.id.contains(char::is_whitespace) {
            "The file of this session is damaged."
        } else {
            return PickerStep::Run(format!("/resume {}", one_line(&entry.id)));
        };
        self.remark = Some(remark.to_owned());
        PickerStep::Open
    }

    fn ask_to_delete(&mut self) {
        let Some(Item { entry, is_subagent, .. }) = self.selected() else { return };
        if entry.id == self.current {
            self.remark = Some("This session is open. It can be deleted from another one.".into());
        } else if *is_subagent {
            self.remark = Some("It is deleted with the session above that it belongs to.".into());
        } else {
            self.is_deleting = true;
        }
    }

    /// Deletes the selected session if the key says so.
    fn confirm(&mut self, key: &KeyPress) {
        let is_yes = matches!(key, KeyPress::Text(text) if text == "y" || text == "Y");
        let selected = self.selected().map(|item| item.entry.id.clone());
        self.request = selected.filter(|_| is_yes).map(ListRequest::DeleteSession);
    }

    /// Returns the rows, at most `height`.
    pub(crate) fn frame(&self, cells: usize, height: usize) -> Frame {
        let details = self.details(cells);
        let details = &details[..details.len().min(height.saturating_sub(AROUND + 3))];
        let room = room(height).saturating_sub(details.len()).min(SHOWN);
        let mut rows: Vec<Row> = self
            .list
            .shown(room)
            .map(|(index, is_selected)| self.row(index, is_selected, cells))
            .collect();
        if rows.is_empty() {
            rows.push(Row::new(Look::Dim, self.emptiness()));
        }
        rows.extend(details.iter().cloned());
        layout("> Sessions of this project", &self.list, rows, self.hint(), (cells, height))
    }

    /// Returns the reason why no session is shown.
    fn emptiness(&self) -> &'static str {
        match self.reading {
            Reading::Begun => "Reading the sessions ...",
            Reading::Failed => "The sessions cannot be read.",
            Reading::Done if self.items.is_empty() => {
                "No previous sessions found for this project."
            }
            Reading::Done => "No session contains these words.",
        }
    }

    fn hint(&self) -> Row {
        if self.is_deleting {
            let text = "Delete this session with its files? y deletes it, other keys keep it";
            return Row::new(Look::Yellow, text);
        }
        if let Some(remark) = &self.remark {
            return Row::new(Look::Yellow, one_line(&for_terminal(remark)));
        }
        let (count, place) = self.list.count();
        Row::new(Look::Dim, format!("{place} of {count} · Enter resumes · Del deletes · Esc"))
    }

    fn row(&self, index: usize, is_selected: bool, cells: usize) -> Row {
        let (mark, look) = mark(is_selected);
        let Some(item) = self.items.get(index) else { return Row::default() };
        let mut right = String::new();
        if cells >= WITH_COUNT {
            right = format!("{:>13}", self.counted(&item.entry.id));
        }
        if cells >= WITH_TIME {
            right.extend(["  ", &item.time]);
        }
        let mut title = item.entry.title().to_owned();
        if item.is_subagent {
            let agent = item.entry.agent.as_deref().unwrap_or("subagent");
            title = format!("  └ {agent}: {title}");
        } else if item.entry.id == self.current {
            title = format!("(current) {title}");
        }
        let room = cells.saturating_sub(right.len());
        let title = for_terminal(&title);
        let title = cut_to(title.trim_end(), room.saturating_sub(mark.len()));
        let mut row = Row::new(look, mark).with(look, &title);
        row.push(Look::Plain, &" ".repeat(room.saturating_sub(row.width())));
        row.with(Look::Dim, &right)
    }

    /// Returns the number of messages as text; empty if it is not known.
    fn counted(&self, id: &str) -> String {
        match self.previews.get(id) {
            Some(Some(SessionPreview { messages: 1, .. })) => "1 message".to_owned(),
            Some(Some(SessionPreview { messages, .. })) => format!("{messages} messages"),
            _ => String::new(),
        }
    }

    /// Returns the rows about the selected session.
    fn details(&self, cells: usize) -> Vec<Row> {
        let Some(Item { entry, time, .. }) = self.selected() else { return Vec::new() };
        let mut rows = vec![Row::default()];
        let preview = self.previews.get(&entry.id).and_then(Option::as_ref);
        let last = preview.and_then(|preview| preview.last_prompt.as_deref());
        let last = last.filter(|last| *last != entry.first_message);
        let prompts = [("First: ", Some(entry.first_message.as_str())), ("Last:  ", last)];
        for (label, prompt) in prompts {
            let Some(prompt) = prompt else { continue };
            let prompt = one_line(&for_terminal(prompt));
            let room = (cells * PROMPT_ROWS).saturating_sub(2 * label.len() * PROMPT_ROWS);
            let row = Row::new(Look::Dim, label).with(Look::Plain, &cut_to(&prompt, room));
            let room = Room::new(cells).indented(2).hanging(label.len());
            let folded = fold(&row, room, Breaks::Words);
            rows.extend(folded.into_iter().take(PROMPT_ROWS));
        }
        let facts = [self.counted(&entry.id), time.clone(), one_line(&for_terminal(&entry.id))];
        let mut row = Row::plain("  ");
        // A part of an id is of no use.
        for fact in facts.into_iter().filter(|fact| !fact.is_empty()) {
            let fact = if row.width() > 2 { format!(" · {fact}") } else { fact };
            if row.width() + text_width(&fact) <= cells {
                row.push(Look::Dim, &fact);
            }
        }
        rows.push(row);
        rows
    }
}

/// Returns the texts in which words are found. A session is also found by the words of its
/// subagents, so that these are shown below it.
fn searched(items: &[Item]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut parent = None;
    for Item { entry, is_subagent, time } in items {
        let agent = entry.agent.as_deref().unwrap_or_default();
        let text = [entry.title(), &entry.first_message, &entry.id, agent, time].join(" ");
        if !is_subagent {
            parent = Some(texts.len());
        } else if let Some(above) = parent.and_then(|parent| texts.get_mut(parent)) {
            above.extend([" ", &text]);
        }
        texts.push(text);
    }
    texts
}

#[cfg(test)]
mod tests;
