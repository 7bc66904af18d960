//! Here-documents: where they end, and what is expanded in them.

use tree_sitter::Node;

use super::Walker;
use crate::analysis::model::Reason;
use crate::analysis::word::Word;

/// What the operator says of a here-document.
#[derive(Debug)]
pub(in crate::analysis) struct Document {
    /// The line that ends it.
    pub(super) mark: String,
    /// Whether nothing in it is expanded.
    is_quoted: bool,
    /// Whether tabs in front of its lines do not count.
    is_indented: bool,
    /// Where the mark's word ends.
    end: usize,
}

impl Document {
    /// None when the mark is something that shells read differently.
    pub(super) fn new(word: &Word, is_indented: bool) -> Option<Self> {
        // In a mark nothing is expanded, so `$` and backticks would stay: nobody writes that.
        let is_plain = word.is_constant && !word.text.is_empty() && !word.text.contains('\n');
        is_plain.then(|| Self {
            mark: word.text.clone(),
            is_quoted: word.is_quoted,
            is_indented,
            end: word.end,
        })
    }

    /// From the beginning of the body: where the line begins that ends it, and where that line ends.
    fn find_end(&self, text: &str, start: usize) -> Option<(usize, usize)> {
        let mut at = start;
        let mut is_continued = false;
        let mut joined = String::new();
        while at < text.len() {
            let line = text.get(at..)?.split('\n').next()?;
            let end = at + line.len();
            let bare = if self.is_indented { line.trim_start_matches('\t') } else { line };
            let is_mark = bare == self.mark;
            let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
            let continues = !self.is_quoted && backslashes % 2 == 1;
            joined.push_str(line.strip_suffix('\\').filter(|_| continues).unwrap_or(line));
            if is_continued || continues {
                // A line that was put together of several may be the mark, or hide it.
                let whole = joined.trim_start_matches('\t');
                if is_mark || whole == self.mark {
                    return None;
                }
            } else if is_mark {
                return Some((at, end));
            }
            is_continued = continues;
            if !continues {
                joined.clear();
            }
            at = end + 1;
        }
        None
    }
}

impl Walker<'_, '_> {
    /// Reads the body. Where it lies must be what the tree says.
    pub(super) fn document_body(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let (mut operator, mut tree_end) = (None, None);
        for child in node.children(&mut cursor) {
            match child.kind() {
                "<<" | "<<-" => operator = operator.or(Some(child.start_byte())),
                "heredoc_end" => tree_end = Some(child.end_byte()),
                _ => {}
            }
        }
        let text = self.scanner.text;
        let document = operator.and_then(|operator| self.documents.remove(&operator));
        let found = document.as_ref().and_then(|document| {
            let line_end = document.end + text.get(document.end..)?.find('\n')?;
            let (mark, end) = document.find_end(text, line_end + 1)?;
            Some((line_end + 1, mark, end))
        });
        let (Some(document), Some((start, mark, end))) = (document, found) else {
            return self.scanner.note(Reason::Syntax, node.start_byte());
        };
        if tree_end != Some(end) {
            self.scanner.note(Reason::Syntax, node.start_byte());
        }
        if document.is_quoted {
            self.scanner.cover(start, mark);
        } else {
            self.scanner.expand_document(start, mark);
        }
        self.scanner.cover(mark, end);
    }
}
