//! Writer of Markdown from tokens.

use std::borrow::Cow;

use url::Url;

use super::tokens::{Tag, Token, Tokens};

/// Maximum depth at which nested lists and quotes are shown; deeper content is written at this
/// depth.
const DEEPEST: usize = 8;

/// Elements whose content is not written.
const UNREAD: [&str; 11] = [
    "script", "style", "template", "svg", "math", "canvas", "object", "audio", "video", "textarea",
    "select",
];

/// Elements that begin and end a line.
const LINES: [&str; 29] = [
    "address",
    "article",
    "aside",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "html",
    "legend",
    "main",
    "nav",
    "option",
    "section",
    "summary",
    "table",
    "tr",
    "search",
];

/// Options of the conversion.
#[derive(Debug, Clone)]
pub struct MarkdownOptions {
    /// Base address for relative links. With it, links and images are written with their addresses;
    /// without it, only the text of links is written, and no images.
    pub links: Option<Url>,
    /// Number of bytes of Markdown after which the conversion stops.
    pub limit: usize,
}

/// Converts a page to Markdown. Needs time and memory proportional to the size of the page for any
/// input.
pub fn html_to_markdown(page: &str, options: &MarkdownOptions) -> String {
    let mut writer = Writer::new(options);
    for token in Tokens::new(page) {
        if writer.out.len() > options.limit {
            break;
        }
        match token {
            Token::Text(text) => writer.text(text),
            Token::Start(tag) => writer.start(&tag),
            Token::End(name) => writer.end(&name),
        }
    }
    writer.finish()
}

/// An open list.
#[derive(Debug, Clone, Copy)]
enum List {
    Bullets,
    /// A numbered list, with the number of the next item.
    Numbers(u32),
}

struct Writer<'a> {
    options: &'a MarkdownOptions,
    out: String,
    /// Number of line ends to write before the next word.
    breaks: usize,
    /// True if a blank must be written before the next word.
    blank: bool,
    /// True if the current line already has text.
    on_line: bool,
    lists: Vec<List>,
    /// Number of open lists beyond the maximum depth.
    lists_beyond: usize,
    /// Mark of a list item whose first word was not written yet.
    item: Option<String>,
    quotes: usize,
    /// True inside `pre`.
    verbatim: bool,
    /// Name and depth of the element that is skipped.
    skipped: Option<(String, usize)>,
    /// Open marks of emphasis; true if the mark is already written.
    marks: Vec<(&'static str, bool)>,
    /// Start of the text of the open link, and its address.
    link: Option<(usize, String)>,
    /// Number of cells in the row so far, and how many of them are header cells.
    cells: usize,
    heads: usize,
    /// True if the current cell has no words yet.
    in_new_cell: bool,
    title: Option<String>,
}

impl<'a> Writer<'a> {
    fn new(options: &'a MarkdownOptions) -> Self {
        Self {
            options,
            out: String::new(),
            breaks: 0,
            blank: false,
            on_line: false,
            lists: Vec::new(),
            lists_beyond: 0,
            item: None,
            quotes: 0,
            verbatim: false,
            skipped: None,
            marks: Vec::new(),
            link: None,
            cells: 0,
            heads: 0,
            in_new_cell: false,
            title: None,
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        if let Some((name, depth)) = &mut self.skipped {
            if *name == tag.name {
                *depth += 1;
            }
            return;
        }
        let name = tag.name.as_str();
        if UNREAD.contains(&name) || name == "title" {
            self.skipped = (!tag.is_closed()).then(|| (tag.name.clone(), 1));
            return;
        }
        match name {
            "br" => self.line_end(),
            "hr" => {
                self.block(2);
                self.word("---");
                self.block(2);
            }
            "p" | "blockquote" | "pre" | "ul" | "ol" | "menu" | "dir" => {
                self.block_start(name, tag);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.block(2);
                self.begin_line();
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.out.extend(std::iter::repeat_n('#', level));
                self.blank = true;
            }
            "li" => self.item(),
            "tr" => self.end_row(),
            "td" | "th" => self.cell(name == "th"),
            "b" | "strong" => self.mark("**"),
            "i" | "em" => self.mark("*"),
            "code" | "kbd" | "samp" | "tt" => self.mark("`"),
            "del" | "s" | "strike" => self.mark("~~"),
            "a" => self.open_link(tag),
            "img" => self.image(tag),
            "input" | "button" => self.blank = true,
            _ if LINES.contains(&name) => self.block(1),
            _ => {}
        }
    }

    fn block_start(&mut self, name: &str, tag: &Tag<'_>) {
        let in_list = !self.lists.is_empty() && matches!(name, "ul" | "ol" | "menu" | "dir");
        self.block(if in_list { 1 } else { 2 });
        match name {
            "blockquote" => self.quotes += 1,
            "pre" => {
                self.begin_line();
                self.out.push_str("```");
                self.breaks = 1;
                self.verbatim = true;
            }
            "ol" | "ul" | "menu" | "dir" if self.lists.len() >= DEEPEST => self.lists_beyond += 1,
            "ol" => {
                let first = tag.attribute("start").and_then(|start| start.parse().ok());
                self.lists.push(List::Numbers(first.unwrap_or(1)));
            }
            "ul" | "menu" | "dir" => self.lists.push(List::Bullets),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if let Some((skipped, depth)) = &mut self.skipped {
            if skipped == name {
                *depth -= 1;
            }
            if *depth == 0 {
                self.skipped = None;
            }
            return;
        }
        match name {
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.block(2),
            "table" => {
                self.end_row();
                self.block(2);
            }
            "blockquote" => {
                self.block(2);
                self.quotes = self.quotes.saturating_sub(1);
            }
            "pre" => self.end_verbatim(),
            "ol" | "ul" | "menu" | "dir" => {
                self.item = None;
                self.block(1);
                if self.lists_beyond > 0 {
                    self.lists_beyond -= 1;
                } else {
                    self.lists.pop();
                }
                if self.lists.is_empty() {
                    self.block(2);
                }
            }
            "li" => {
                self.item = None;
                self.block(1);
            }
            "tr" => self.end_row(),
            "b" | "strong" => self.unmark("**"),
            "i" | "em" => self.unmark("*"),
            "code" | "kbd" | "samp" | "tt" => self.unmark("`"),
            "del" | "s" | "strike" => self.unmark("~~"),
            "a" => self.close_link(),
            _ if LINES.contains(&name) => self.block(1),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((name, _)) = &self.skipped {
            // The title of the page is written at the top, unless the text already begins with it.
            if name == "title" && self.title.is_none() {
                let title = html_escape::decode_html_entities(text);
                let words: Vec<&str> = title.split_whitespace().collect();
                self.title = Some(words.join(" ")).filter(|title| !title.is_empty());
            }
            return;
        }
        let text = decoded(text);
        if self.verbatim {
            self.verbatim_text(&text);
            return;
        }
        let mut words =
            text.split(|one: char| one.is_ascii_whitespace() || one == '\u{a0}').peekable();
        while let Some(word) = words.next() {
            if !word.is_empty() {
                self.word(word);
            }
            if words.peek().is_some() {
                self.blank = true;
            }
        }
    }

    /// Writes a word after the blanks, marks and line ends that are still to be written.
    fn word(&mut self, word: &str) {
        self.begin_line();
        self.in_new_cell = false;
        if std::mem::take(&mut self.blank) {
            self.out.push(' ');
        }
        for (mark, is_written) in &mut self.marks {
            if !std::mem::replace(is_written, true) {
                self.out.push_str(mark);
            }
        }
        self.out.push_str(word);
    }

    /// Writes the line ends that are still to be written, and begins a line if there is none.
    fn begin_line(&mut self) {
        if !self.out.is_empty() {
            for number in 0..self.breaks {
                // An empty line inside a quote belongs to the quote.
                self.out.push_str(if number > 0 && self.quotes > 0 { ">\n" } else { "\n" });
                self.on_line = false;
            }
        }
        self.breaks = 0;
        if std::mem::replace(&mut self.on_line, true) {
            return;
        }
        self.blank = false;
        self.out.extend(std::iter::repeat_n("> ", self.quotes.min(DEEPEST)));
        let item = self.item.take();
        let indent = self.lists.len().saturating_sub(usize::from(item.is_some()));
        self.out.extend(std::iter::repeat_n("  ", indent));
        self.out.push_str(item.as_deref().unwrap_or_default());
    }

    /// Requests at least this many line ends before the next word. Emphasis ends here.
    fn block(&mut self, breaks: usize) {
        self.close_link();
        self.close_marks();
        if self.verbatim {
            return;
        }
        // An item or a cell without words continues with the next text.
        if self.item.is_none() && !self.in_new_cell {
            self.breaks = self.breaks.max(breaks);
            self.blank = false;
        }
    }

    fn line_end(&mut self) {
        if self.verbatim {
            self.out.push('\n');
        } else if !self.out.is_empty() {
            self.breaks = (self.breaks + 1).min(2);
            self.blank = false;
        }
    }

    fn item(&mut self) {
        self.item = None;
        self.block(1);
        let mark = match self.lists.last_mut() {
            Some(List::Numbers(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            Some(List::Bullets) | None => "- ".to_owned(),
        };
        self.item = Some(mark);
    }

    fn cell(&mut self, is_head: bool) {
        self.close_link();
        self.close_marks();
        self.cells += 1;
        self.heads += usize::from(is_head);
        if self.cells > 1 {
            if self.on_line {
                // Content of a cell can end lines, but the row continues.
                self.breaks = 0;
            }
            self.begin_line();
            self.out.push_str(" |");
            self.blank = true;
            self.in_new_cell = true;
        }
    }

    fn end_row(&mut self) {
        self.in_new_cell = false;
        let (cells, heads) = (std::mem::take(&mut self.cells), std::mem::take(&mut self.heads));
        self.block(1);
        if cells > 1 && heads == cells {
            self.begin_line();
            let line = vec!["---"; cells.min(64)].join(" | ");
            self.out.push_str(&line);
            self.block(1);
        }
    }

    fn mark(&mut self, mark: &'static str) {
        let is_open = self.marks.iter().any(|(open, _)| *open == mark);
        if !self.verbatim && !is_open {
            self.marks.push((mark, false));
        }
    }

    fn unmark(&mut self, mark: &str) {
        let Some(place) = self.marks.iter().rposition(|(open, _)| *open == mark) else { return };
        // Marks that were opened inside this mark end with it.
        for (mark, is_written) in self.marks.drain(place..).rev() {
            if is_written {
                self.out.push_str(mark);
            }
        }
    }

    fn close_marks(&mut self) {
        while let Some((mark, is_written)) = self.marks.pop() {
            if is_written {
                self.out.push_str(mark);
            }
        }
    }

    fn open_link(&mut self, tag: &Tag<'_>) {
        self.close_link();
        let address = tag.attribute("href").and_then(|href| self.address(href));
        if let Some(address) = address.filter(|_| !self.verbatim) {
            // Marks of emphasis that are still to be written must be placed before the link.
            self.begin_line();
            if std::mem::take(&mut self.blank) {
                self.out.push(' ');
            }
            self.link = Some((self.out.len(), address));
        }
    }

    /// Writes the link syntax around the text, which is complete now.
    fn close_link(&mut self) {
        let Some((start, address)) = self.link.take() else { return };
        if self.out.len() == start || self.out[start..] == address {
            return;
        }
        self.out.insert(start, '[');
        self.out.push_str("](");
        self.out.push_str(&address);
        self.out.push(')');
    }

    fn image(&mut self, tag: &Tag<'_>) {
        let Some(address) = tag.attribute("src").and_then(|source| self.address(source)) else {
            return;
        };
        let alt = html_escape::decode_html_entities(tag.attribute("alt").unwrap_or_default());
        let words: Vec<&str> = alt.split_whitespace().collect();
        self.word(&format!("![{}]({address})", words.join(" ")));
    }

    /// Returns an absolute address; `None` if addresses are omitted or the address is not usable.
    fn address(&self, written: &str) -> Option<String> {
        let written = html_escape::decode_html_entities(written.trim());
        let address = self.options.links.as_ref()?.join(&written).ok()?;
        matches!(address.scheme(), "http" | "https" | "mailto").then(|| address.to_string())
    }

    fn verbatim_text(&mut self, text: &str) {
        self.begin_line();
        self.out.push_str(text);
    }

    fn end_verbatim(&mut self) {
        if std::mem::take(&mut self.verbatim) {
            if !self.out.ends_with('\n') {
                self.out.push('\n');
            }
            self.out.push_str("```");
        }
        self.block(2);
    }

    fn finish(mut self) -> String {
        self.close_link();
        self.close_marks();
        if self.verbatim {
            self.end_verbatim();
        }
        let lines: Vec<&str> = self.out.trim().lines().map(str::trim_end).collect();
        let text = lines.join("\n");
        match self.title {
            Some(title) if !text.trim_start_matches('#').trim_start().starts_with(&title) => {
                format!("{title}\n\n{text}").trim_end().to_owned()
            }
            _ => text,
        }
    }
}

/// Returns the text with entities replaced by their characters.
fn decoded(text: &str) -> Cow<'_, str> {
    if text.contains('&') { html_escape::decode_html_entities(text) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests;
