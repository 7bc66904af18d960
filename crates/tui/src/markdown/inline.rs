//! Text of a block as rows with looks: emphasis, code, links.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream};

use crate::link::{Address, TextPart, text_parts};
use crate::row::{Look, Row};

/// Handling of the marks of emphasis and code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum MarkupMarks {
    /// Looks take the place of the marks.
    #[default]
    Hidden,
    /// The marks stay, because there are no looks.
    Shown,
}

/// Characters that may be marks inside of a text.
const MARKS: [char; 7] = ['*', '_', '`', '[', '<', '\\', '&'];
/// Text before each parsed text. It is a paragraph then, whatever it begins with.
const GUARD: &str = ",";
/// Line end in a parsed text. It is white space, and begins no block.
const LINE_END: char = '\u{2028}';

/// Returns the lines of a text with their looks, at least one. `base` is the look of plain text.
pub(super) fn styled_lines(text: &str, base: Look, marks: MarkupMarks) -> Vec<Row> {
    let mut inline = Inline::new(base, marks);
    if text.contains(MARKS) {
        let mut source = String::with_capacity(GUARD.len() + text.len());
        source.push_str(GUARD);
        source.extend(text.chars().map(|letter| if letter == '\n' { LINE_END } else { letter }));
        inline.is_guarded = true;
        for event in TextMergeStream::new(Parser::new_ext(&source, Options::empty())) {
            inline.take(&event);
        }
    } else {
        inline.text(text);
    }
    inline.lines
}

/// Lines in progress.
struct Inline {
    base: Look,
    marks: MarkupMarks,
    lines: Vec<Row>,
    /// True before the text that begins with the guard.
    is_guarded: bool,
    /// Number of open marks of strong and of weak emphasis.
    strong: usize,
    weak: usize,
    /// Destinations and beginnings of the open links.
    links: Vec<OpenLink>,
}

struct OpenLink {
    destination: String,
    address: Option<Address>,
    /// Text of the link so far.
    text: String,
}

impl Inline {
    fn new(base: Look, marks: MarkupMarks) -> Self {
        let lines = vec![Row::default()];
        Self { base, marks, lines, is_guarded: false, strong: 0, weak: 0, links: Vec::new() }
    }

    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) if self.is_guarded => {
                self.is_guarded = false;
                self.text(text.strip_prefix(GUARD).unwrap_or(text));
            }
            Event::Text(text) => self.text(text),
            Event::Code(code) => self.code(code),
            Event::InlineHtml(html) | Event::Html(html) => self.html(html),
            Event::SoftBreak | Event::HardBreak => self.break_line(),
            Event::Start(Tag::Strong) => {
                self.mark("**");
                self.strong += 1;
            }
            Event::Start(Tag::Emphasis) => {
                self.mark("*");
                self.weak += 1;
            }
            Event::End(TagEnd::Strong) => {
                self.strong = self.strong.saturating_sub(1);
                self.mark("**");
            }
            Event::End(TagEnd::Emphasis) => {
                self.weak = self.weak.saturating_sub(1);
                self.mark("*");
            }
            Event::Start(Tag::Link { dest_url, link_type, .. }) => {
                let is_mail = *link_type == LinkType::Email;
                let address =
                    if is_mail { format!("mailto:{dest_url}") } else { dest_url.to_string() };
                self.open_link(address);
            }
            Event::Start(Tag::Image { dest_url, .. }) => self.open_link(dest_url.to_string()),
            Event::End(TagEnd::Link | TagEnd::Image) => self.close_link(),
            _ => {}
        }
    }

    fn look(&self) -> Look {
        let is_bold = self.strong > 0 || self.base == Look::Bold;
        match (is_bold, self.weak > 0) {
            _ if self.base == Look::Title => Look::Title,
            (true, true) => Look::BoldItalic,
            (true, false) => Look::Bold,
            (false, true) => Look::Italic,
            (false, false) => self.base,
        }
    }

    /// Writes text with a look, broken into lines where it has line ends.
    fn write(&mut self, look: Look, address: Option<&Address>, text: &str) {
        for (index, line) in text.split(['\n', LINE_END]).enumerate() {
            if index > 0 {
                self.break_line();
            }
            if let Some(last) = self.lines.last_mut() {
                last.push_link(look, address, line);
            }
        }
    }

    fn break_line(&mut self) {
        self.lines.push(Row::default());
    }

    fn mark(&mut self, mark: &str) {
        if self.marks == MarkupMarks::Shown {
            self.write(self.look(), None, mark);
        }
    }

    fn text(&mut self, text: &str) {
        let look = self.look();
        if let Some(link) = self.links.last_mut() {
            link.text.push_str(text);
            let address = link.address.clone();
            let look = if address.is_some() && look == Look::Plain { Look::Link } else { look };
            return self.write(look, address.as_ref(), text);
        }
        for part in text_parts(text) {
            match part {
                TextPart::Plain(text) => self.write(look, None, text),
                TextPart::Address(text) => {
                    let address = Address::web(text);
                    self.write(Look::Link, address.as_ref(), text);
                }
            }
        }
    }

    fn code(&mut self, code: &str) {
        let address = self.links.last_mut().and_then(|link| {
            link.text.push_str(code);
            link.address.clone()
        });
        self.mark("`");
        self.write(Look::Cyan, address.as_ref(), code);
        self.mark("`");
    }

    /// Writes HTML as it is, except for line ends.
    fn html(&mut self, html: &str) {
        let tag: String = html.chars().filter(|letter| !matches!(letter, ' ' | '/')).collect();
        if tag.eq_ignore_ascii_case("<br>") {
            self.break_line();
        } else {
            self.write(self.look(), None, html);
        }
    }

    fn open_link(&mut self, destination: String) {
        let address = Address::web(&destination);
        self.links.push(OpenLink { destination, address, text: String::new() });
    }

    /// Ends a link. Its address is shown, unless it is the text.
    fn close_link(&mut self) {
        let Some(link) = self.links.pop() else { return };
        let OpenLink { destination, address, text } = link;
        let shown = destination.strip_prefix("mailto:").unwrap_or(&destination);
        if destination.is_empty() || text == destination || text == shown {
            return;
        }
        self.write(Look::Dim, None, " (");
        self.write(Look::Link, address.as_ref(), &destination);
        self.write(Look::Dim, None, ")");
    }
}
