//! Redirections and here-documents.

use super::model::{Construct, Redirection, RedirectionKind, Word};
use super::reader::{HereDocument, Reader};

/// Operators that open files, longest first, with their kind. The flag is true if the operator is
/// in the small grammar.
const OPERATORS: [(&str, RedirectionKind, bool); 7] = [
    ("&>>", RedirectionKind::Write, false),
    ("&>", RedirectionKind::Write, false),
    (">>", RedirectionKind::Write, true),
    (">|", RedirectionKind::Write, false),
    ("<>", RedirectionKind::Write, false),
    (">", RedirectionKind::Write, true),
    ("<", RedirectionKind::Read, true),
];

impl Reader<'_> {
    /// Reads a redirection. The next byte is `<` or `>`, or `&` before `>`.
    pub(super) fn redirection(&mut self) {
        let position = self.at;
        self.command();
        let rest = &self.text[self.at..];
        if rest.starts_with("<(") || rest.starts_with(">(") {
            return self.hide(Construct::ProcessSubstitution);
        }
        if rest.starts_with("<&") || rest.starts_with(">&") {
            return self.copy_of_descriptor();
        }
        if rest.starts_with("<<<") {
            self.pass_over(Construct::HereString, position);
            self.at += 3;
            if let Some((word, _)) = self.target() {
                self.command().input.push(word.shown().into_owned());
            }
            return;
        }
        if rest.starts_with("<<") {
            return self.here_document();
        }
        let found = OPERATORS.into_iter().find(|(operator, ..)| rest.starts_with(operator));
        let Some((operator, kind, is_small)) = found else { return };
        if !is_small {
            self.pass_over(Construct::Redirection, position);
        }
        self.at += operator.len();
        let Some((word, may_split)) = self.target() else { return };
        let target = match word {
            Word::Literal(_) | Word::InHome(_) | Word::InFolder(_) if !may_split => Some(word),
            _ => {
                self.pass_over(Construct::Redirection, position);
                None
            }
        };
        self.command().redirections.push(Redirection { kind, target, position });
        self.extend_command();
    }

    /// Reads `>&1` and `>&2` with nothing attached. Bash reads the text after `<&-` as another
    /// word.
    fn copy_of_descriptor(&mut self) {
        let rest = &self.text[self.at..];
        let is_end = |byte: Option<&u8>| {
            byte.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'|' | b')'))
        };
        let is_copy = rest.starts_with(">&1") || rest.starts_with(">&2");
        if !is_copy || !is_end(rest.as_bytes().get(3)) {
            return self.hide(Construct::Redirection);
        }
        self.at += 3;
        self.extend_command();
    }

    /// Reads the word after an operator. The flag is true if the word may expand to several words.
    fn target(&mut self) -> Option<(Word, bool)> {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let start = self.at;
        let (word, draft) = self.word();
        if self.at == start {
            self.hide(Construct::Syntax);
        }
        // A word directly before another operator may be read as part of the next redirection.
        if matches!(self.peek(), Some(b'<' | b'>')) {
            self.pass_over(Construct::Redirection, start);
        }
        self.extend_command();
        (!self.is_over()).then_some((word, draft.may_split))
    }

    fn here_document(&mut self) {
        self.pass_over(Construct::HereDocument, self.at);
        self.at += 2;
        let strips_tabs = self.peek() == Some(b'-');
        if strips_tabs {
            self.at += 1;
        }
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let start = self.at;
        let (word, draft) = self.word();
        let Word::Literal(end) = word else { return self.hide(Construct::HereDocument) };
        if self.at == start || end.contains('\n') {
            return self.hide(Construct::HereDocument);
        }
        let command = self.line.commands.len();
        let is_quoted = draft.is_quoted;
        self.here_documents.push(HereDocument { command, end, is_quoted, strips_tabs });
        self.extend_command();
    }

    /// Reads the here-documents of the line that has just ended.
    pub(super) fn here_document_bodies(&mut self) {
        for document in std::mem::take(&mut self.here_documents) {
            let mut body = String::new();
            loop {
                if self.at >= self.text.len() {
                    return self.hide(Construct::HereDocument);
                }
                let rest = &self.text[self.at..];
                let line = rest.split('\n').next().unwrap_or(rest);
                self.at = (self.at + line.len() + 1).min(self.text.len());
                let own = if document.strips_tabs { line.trim_start_matches('\t') } else { line };
                if own == document.end {
                    break;
                }
                let expands = own.contains(['`', '\\']) || own.contains("$(") || own.contains("${");
                if !document.is_quoted && expands {
                    return self.hide(Construct::HereDocument);
                }
                body.push_str(own);
                body.push('\n');
            }
            if let Some(command) = self.line.commands.get_mut(document.command) {
                command.input.push(body);
            }
        }
    }
}
