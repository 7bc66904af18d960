//! The list of the MCP servers, each with its tools, prompts and resources. Pure.

use pollux_input::{KeyPress, ListAnswer, ListRequest, text_width};
use pollux_protocol::plain_text::{for_terminal, one_line, visible};
use pollux_protocol::{ServerItem, ServerItemKind, ServerListing, ServerStanding};

use super::PickerStep;
use super::layout::{AROUND, layout, mark, room};
use super::list::SearchList;
use crate::fold::{Breaks, Room, cut_to, fold};
use crate::row::{Look, Row};
use crate::surface::Frame;

const TITLE: &str = "> MCP servers";
/// Maximum width of the column with names, in cells.
const NAMES: usize = 34;
/// Width from which on items have descriptions beside their names.
const WITH_DESCRIPTIONS: usize = 60;
/// Maximum number of rows about the selected entry.
const DETAILS: usize = 6;
/// Maximum number of lines of a log that are shown.
const LOG: usize = 3;

/// The list of servers.
#[derive(Default)]
pub(crate) struct ServersPicker {
    servers: Vec<ServerListing>,
    /// Server, and item of it, of each entry.
    entries: Vec<(usize, Option<usize>)>,
    list: SearchList,
    /// True if the servers must be read.
    is_wanted: bool,
    is_read: bool,
    /// Message about the last reading.
    remark: Option<String>,
}

impl ServersPicker {
    /// Creates a list that is still to be read.
    pub(crate) fn new() -> Self {
        Self { is_wanted: true, ..Self::default() }
    }

    /// Returns what the list needs next.
    pub(crate) fn wanted(&mut self) -> Option<ListRequest> {
        std::mem::take(&mut self.is_wanted).then_some(ListRequest::Servers)
    }

    /// Notes that the servers may have changed.
    pub(crate) fn changed(&mut self) {
        self.is_wanted = true;
    }

    /// Takes the servers, or the message why there are none.
    pub(crate) fn take(&mut self, answer: Result<ListAnswer, String>) {
        self.is_read = true;
        match answer {
            Ok(ListAnswer::Servers(servers)) => self.show(servers),
            Ok(_) => {}
            Err(message) => self.remark = Some(message),
        }
    }

    /// Shows servers. The selected entry stays, if it is there.
    fn show(&mut self, servers: Vec<ServerListing>) {
        let selected = self.list.selected().map(|index| self.text(index));
        self.servers = servers;
        self.entries = (0..self.servers.len())
            .flat_map(|server| {
                let items = (0..self.servers[server].items.len()).map(Some);
                std::iter::once(None).chain(items).map(move |item| (server, item))
            })
            .collect();
        let texts: Vec<String> = (0..self.entries.len()).map(|index| self.text(index)).collect();
        let place = texts.iter().position(|text| Some(text) == selected.as_ref());
        self.list.replace(texts.into_iter(), place.unwrap_or(0));
    }

    /// Returns the text in which words are found. The items of a server contain its name.
    fn text(&self, index: usize) -> String {
        let (server, item) = self.entry(index);
        match item {
            Some(item) => format!("{} {} {}", server.name, item.kind, item.name),
            None => server.name.clone(),
        }
    }

    fn entry(&self, index: usize) -> (&ServerListing, Option<&ServerItem>) {
        let (server, item) = self.entries[index];
        let server = &self.servers[server];
        (server, item.map(|item| &server.items[item]))
    }

    fn selected(&self) -> Option<(&ServerListing, Option<&ServerItem>)> {
        self.list.selected().map(|index| self.entry(index))
    }

    /// Applies a key.
    pub(crate) fn press(&mut self, key: KeyPress) -> PickerStep {
        self.remark = None;
        match key {
            KeyPress::Escape => return PickerStep::Close,
            KeyPress::Enter => {
                return match self.selected() {
                    Some((_, Some(item))) => insertion(item).unwrap_or(PickerStep::Open),
                    Some((server, None)) => match remedy(server) {
                        Some((_, line)) => PickerStep::Do(line),
                        None => PickerStep::Open,
                    },
                    None => PickerStep::Open,
                };
            }
            key => self.list.press(key),
        }
        PickerStep::Open
    }

    /// Returns the rows, at most `height`.
    pub(crate) fn frame(&self, cells: usize, height: usize) -> Frame {
        let details = self.details(cells);
        let details = &details[..details.len().min(height.saturating_sub(AROUND + 4))];
        let room = room(height).saturating_sub(details.len());
        let shown: Vec<(usize, bool)> = self.list.shown(room).collect();
        let names = shown.iter().map(|(index, _)| match self.entry(*index) {
            (_, Some(item)) => text_width(&line(&item.name)),
            (_, None) => 0,
        });
        let names = names.max().unwrap_or_default().min(NAMES);
        let rows = shown.iter().map(|(index, is_selected)| match self.entry(*index) {
            (_, Some(item)) => item_row(item, *is_selected, names, cells),
            (server, None) => server_row(server, *is_selected, cells),
        });
        let mut rows: Vec<Row> = rows.collect();
        if rows.is_empty() && self.is_read {
            let text = if self.servers.is_empty() {
                "No MCP servers configured. `mcp add` adds one."
            } else {
                "Nothing contains these words."
            };
            rows.push(Row::new(Look::Dim, text));
        }
        rows.extend(details.iter().cloned());
        layout(TITLE, &self.list, rows, self.hint(), (cells, height))
    }

    fn hint(&self) -> Row {
        if let Some(remark) = &self.remark {
            return Row::new(Look::Yellow, line(remark));
        }
        if !self.is_read {
            return Row::new(Look::Dim, "Reading the servers ...");
        }
        let (count, place) = self.list.count();
        let enter = match self.selected() {
            Some((_, Some(item))) => insertion(item).map(|_| "inserts it"),
            Some((server, None)) => remedy(server).map(|(effect, _)| effect),
            None => None,
        };
        let enter = enter.map(|effect| format!("Enter {effect} \u{b7} ")).unwrap_or_default();
        Row::new(Look::Dim, format!("{place} of {count} \u{b7} {enter}Esc"))
    }

    /// Returns the rows about the selected entry.
    fn details(&self, cells: usize) -> Vec<Row> {
        let mut lines = Vec::new();
        match self.selected() {
            None => return Vec::new(),
            Some((_, Some(item))) => lines.push((Look::Dim, item.description.clone())),
            Some((server, None)) => {
                let (look, state) = state(server);
                let reason = match &server.standing {
                    ServerStanding::Unavailable(reason) | ServerStanding::Blocked(reason) => {
                        format!("{state}: {reason}")
                    }
                    _ => format!("{state}, {}", server.transport),
                };
                lines.push((look, reason));
                lines.extend(server.details.iter().map(|text| (Look::Dim, text.clone())));
                let problems = server.problems.iter();
                lines.extend(problems.map(|text| (Look::Yellow, format!("! {text}"))));
                if matches!(server.standing, ServerStanding::Unavailable(_)) {
                    let log = &server.log[server.log.len().saturating_sub(LOG)..];
                    lines.extend(log.iter().map(|text| (Look::Dim, format!("| {text}"))));
                }
            }
        }
        let room = Room::new(cells).indented(2);
        let folded = lines
            .iter()
            .filter(|(_, text)| !text.trim().is_empty())
            .flat_map(|(look, text)| fold(&Row::new(*look, line(text)), room, Breaks::Words));
        std::iter::once(Row::default()).chain(folded.take(DETAILS)).collect()
    }
}

/// Returns a text of a server in one line, with escapes for invisible characters.
fn line(text: &str) -> String {
    visible(&one_line(&for_terminal(text)))
}

/// Returns the word for the state of a server, and its look.
fn state(server: &ServerListing) -> (Look, &'static str) {
    match &server.standing {
        ServerStanding::Ready => (Look::Green, "ready"),
        ServerStanding::Starting => (Look::Dim, "starting"),
        ServerStanding::Unavailable(_) => (Look::Red, "not available"),
        ServerStanding::NeedsSignIn => (Look::Yellow, "requires authentication"),
        ServerStanding::Disabled => (Look::Dim, "disabled"),
        ServerStanding::Blocked(_) => (Look::Red, "blocked"),
    }
}

/// Returns what the Enter key does about the state of a server, and the command for it.
fn remedy(server: &ServerListing) -> Option<(&'static str, String)> {
    let name = &server.name;
    match &server.standing {
        ServerStanding::NeedsSignIn => Some(("signs in", format!("/mcp auth {name}"))),
        ServerStanding::Disabled => Some(("enables it", format!("/mcp enable {name}"))),
        ServerStanding::Unavailable(_) => {
            Some(("starts the servers again", "/mcp reload".to_owned()))
        }
        ServerStanding::Ready | ServerStanding::Starting | ServerStanding::Blocked(_) => None,
    }
}

/// Returns the step that inserts an item into the input; `None` for a tool, which only the model
/// uses.
fn insertion(item: &ServerItem) -> Option<PickerStep> {
    let mark = match item.kind {
        ServerItemKind::Tool => return None,
        ServerItemKind::Prompt => "/",
        ServerItemKind::Resource => "@",
    };
    Some(PickerStep::Insert(format!("{mark}{} ", item.name)))
}

fn server_row(server: &ServerListing, is_selected: bool, cells: usize) -> Row {
    let (mark, look) = mark(is_selected);
    let (state_look, state) = state(server);
    let counted = |kind: ServerItemKind| {
        let count = server.items.iter().filter(|item| item.kind == kind).count();
        let end = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!(" \u{b7} {count} {kind}{end}"))
    };
    let kinds = [ServerItemKind::Tool, ServerItemKind::Prompt, ServerItemKind::Resource];
    let counts: String = kinds.into_iter().filter_map(counted).collect();
    let name_look = if is_selected { look } else { Look::Bold };
    let name = cut_to(&line(&server.name), cells / 2);
    let row = Row::new(look, mark).with(name_look, &name).with(Look::Plain, "  ");
    let row = row.with(state_look, state);
    let room = cells.saturating_sub(row.width());
    row.with(Look::Dim, &cut_to(&counts, room))
}

fn item_row(item: &ServerItem, is_selected: bool, names: usize, cells: usize) -> Row {
    let (mark, look) = mark(is_selected);
    let kind = format!("{mark}  {:<10}", item.kind.to_string());
    let name = cut_to(&line(&item.name), names.min(cells.saturating_sub(kind.len())));
    let row = Row::new(look, &*kind).with(look, &name);
    let gap = " ".repeat(names.saturating_sub(text_width(&name)) + 2);
    if cells < WITH_DESCRIPTIONS || item.description.is_empty() {
        return row;
    }
    let room = cells.saturating_sub(row.width() + gap.len());
    row.with(Look::Plain, &gap).with(Look::Dim, &cut_to(&line(&item.description), room))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn item(kind: ServerItemKind, name: &str, description: &str) -> ServerItem {
        ServerItem { kind, name: name.to_owned(), description: description.to_owned() }
    }

    fn server(name: &str, standing: ServerStanding) -> ServerListing {
        let (name, transport) = (name.to_owned(), "stdio".to_owned());
        ServerListing { name, transport, standing, ..ServerListing::default() }
    }

    fn picker() -> ServersPicker {
        let mut picker = ServersPicker::new();
        assert_eq!(picker.wanted(), Some(ListRequest::Servers));
        assert_eq!(picker.wanted(), None);
        let mut files = server("files", ServerStanding::Ready);
        files.items = vec![
            item(ServerItemKind::Tool, "read\u{1b}[2J", "reads\na file"),
            item(ServerItemKind::Prompt, "review", ""),
            item(ServerItemKind::Resource, "files:file:///a", "the file"),
        ];
        let mut broken = server("broken", ServerStanding::Unavailable("no\nprogram".to_owned()));
        broken.log = (0..9).map(|number| format!("log {number}")).collect();
        let servers = vec![
            files,
            broken,
            server("mail", ServerStanding::NeedsSignIn),
            server("off", ServerStanding::Disabled),
        ];
        picker.take(Ok(ListAnswer::Servers(servers)));
        picker
    }

    fn shown(picker: &ServersPicker, cells: usize, height: usize) -> String {
        let frame = picker.frame(cells, height);
        assert!(frame.rows.len() <= height && frame.rows.iter().all(|row| row.width() <= cells));
        frame.rows.iter().map(Row::text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn servers_have_their_state_and_their_items() {
        let picker = picker();
        let expected = "> MCP servers\nsearch: \n\
            > files  ready \u{b7} 1 tool \u{b7} 1 prompt \u{b7} 1 resource\n    \
                tool      read             reads a file\n    \
                prompt    review\n    \
                resource  files:file:///a  the file\n  \
              broken  not available\n  mail  requires authentication\n  off  disabled\n\n  \
              ready, stdio\n1 of 7 \u{b7} Esc";
        assert_eq!(shown(&picker, 70, 24), expected);
        for cells in [12, 40, 59, 120] {
            for height in 1..20 {
                shown(&picker, cells, height);
            }
        }
    }

    #[test]
    fn enter_does_what_the_selected_entry_needs() {
        let mut picker = picker();
        let step = |picker: &mut ServersPicker| {
            let step = picker.press(KeyPress::Enter);
            picker.press(KeyPress::Down);
            step
        };
        let insert = |text: &str| PickerStep::Insert(text.to_owned());
        let run = |line: &str| PickerStep::Do(line.to_owned());
        for expected in [
            PickerStep::Open,
            PickerStep::Open,
            insert("/review "),
            insert("@files:file:///a "),
            run("/mcp reload"),
            run("/mcp auth mail"),
            run("/mcp enable off"),
        ] {
            assert_eq!(step(&mut picker), expected);
        }
        picker.press(KeyPress::Text("broken".to_owned()));
        let text = shown(&picker, 60, 24);
        assert!(
            text.contains("  not available: no program\n  | log 6\n  | log 7\n  | log 8\n"),
            "{text}"
        );
        assert!(
            text.ends_with("1 of 1 \u{b7} Enter starts the servers again \u{b7} Esc"),
            "{text}"
        );
    }

    #[test]
    fn the_selected_entry_stays_when_servers_change() {
        let mut picker = picker();
        picker.press(KeyPress::Up);
        picker.changed();
        assert_eq!(picker.wanted(), Some(ListRequest::Servers));
        let servers =
            vec![server("off", ServerStanding::Ready), server("new", ServerStanding::Ready)];
        picker.take(Ok(ListAnswer::Servers(servers)));
        assert!(shown(&picker, 60, 24).contains("> off  ready"));
        picker.take(Ok(ListAnswer::Servers(Vec::new())));
        assert!(shown(&picker, 60, 24).contains("No MCP servers configured."));
    }
}
