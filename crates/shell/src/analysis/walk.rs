//! From the tree of one script to its simple commands.

use std::collections::HashMap;

use tree_sitter::Node;

use super::analyser::{Analyser, Frame};
use super::model::{
    Function, Reason, Redirection, RedirectionKind, Scope, Substitution, SubstitutionKind, Via,
};
use super::scanner::{Scanner, SpanKind};
use super::word::is_name;

mod heredoc;
mod test_words;

use heredoc::Document;

/// Trees deeper than this, with those of scripts inside, are not followed.
const MAX_LEVEL: usize = 200;
/// More nodes than this are not looked at.
const MAX_NODES: usize = 500_000;
/// A text of fewer bytes never has that many.
const SHORT: usize = 16 * 1024;

/// Walks one script.
pub(super) struct Walker<'w, 'a> {
    pub(super) analyser: &'w mut Analyser,
    pub(super) frame: Frame,
    pub(super) scanner: Scanner<'a>,
    /// Here-documents by the position of their operator.
    pub(super) documents: HashMap<usize, Document>,
}

/// Where the constructs are that words jump over; none when there are too many.
pub(super) fn spans(root: Node<'_>, text: &str) -> Option<HashMap<usize, (usize, SpanKind)>> {
    let mut spans = HashMap::new();
    if text.len() < SHORT && !text.contains(['$', '(']) {
        return Some(spans);
    }
    let mut cursor = root.walk();
    let mut count = 0_usize;
    loop {
        let node = cursor.node();
        count += 1;
        let kind = match node.kind() {
            "command_substitution" => Some(SpanKind::Command),
            "process_substitution" => Some(SpanKind::Process),
            "arithmetic_expansion" => Some(SpanKind::Arithmetic),
            "expansion" => Some(SpanKind::Expansion),
            "array" => Some(SpanKind::Array),
            _ => None,
        };
        if let Some(kind) = kind {
            spans.insert(beginning(node, text), (node.end_byte(), kind));
        }
        if count > MAX_NODES {
            return None;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(spans);
            }
        }
    }
}

/// Where a node begins. Within quotes the grammar may count blanks in front of it to it.
fn beginning(node: Node<'_>, text: &str) -> usize {
    let inside = text.get(node.start_byte()..node.end_byte()).unwrap_or_default();
    node.start_byte() + (inside.len() - inside.trim_start_matches([' ', '\t', '\n']).len())
}

impl<'w, 'a> Walker<'w, 'a> {
    pub(super) fn new(analyser: &'w mut Analyser, frame: Frame, scanner: Scanner<'a>) -> Self {
        Self { analyser, frame, scanner, documents: HashMap::new() }
    }

    fn syntax(&mut self, at: usize) {
        self.scanner.note(Reason::Syntax, at);
    }

    /// Runs `action` one level deeper, unless that is too deep.
    fn deeper(&mut self, node: Node<'_>, action: impl FnOnce(&mut Self)) {
        if self.analyser.level >= MAX_LEVEL {
            self.scanner.note(Reason::TooMuch, node.start_byte());
            return;
        }
        self.analyser.level += 1;
        action(self);
        self.analyser.level -= 1;
    }

    /// A statement, or a piece of one.
    pub(super) fn visit(&mut self, node: Node<'_>) {
        self.deeper(node, |walker| walker.visit_kind(node));
    }

    fn visit_kind(&mut self, node: Node<'_>) {
        let start = node.start_byte();
        match node.kind() {
            "test_command" if self.scanner.starts_with(start, "[[") => self.double_brackets(node),
            "command"
            | "declaration_command"
            | "unset_command"
            | "variable_assignment"
            | "variable_assignments"
            | "test_command" => self.simple(node),
            "redirected_statement" if node.child_by_field_name("body").is_none() => {
                self.simple(node);
            }
            "function_definition" => self.function(node),
            "compound_statement" if self.scanner.starts_with(start, "((") => {
                self.numbers(node, start, node.end_byte());
            }
            "c_style_for_statement" => self.counting_loop(node),
            "for_statement" => self.for_loop(node),
            "comment" => self.comment(node),
            "heredoc_redirect" => self.document(node),
            "file_redirect" | "herestring_redirect" => self.loose_redirect(node),
            "subshell" => {
                self.analyser.analysis.subshells.push(self.frame.position(start));
                self.display("subshell", start);
                self.children(node);
            }
            "word"
            | "string"
            | "raw_string"
            | "concatenation"
            | "expansion"
            | "number"
            | "simple_expansion"
            | "command_substitution"
            | "process_substitution"
            | "ansi_c_string"
            | "translated_string"
            | "arithmetic_expansion"
            | "brace_expression"
            | "extglob_pattern"
            | "regex" => self.loose_word(node),
            _ if node.child_count() == 0 => self.leaf(node),
            _ => self.children(node),
        }
    }

    /// Visits what a node consists of.
    fn children(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.visit(child);
        }
    }

    /// A keyword or an operator between commands.
    fn leaf(&mut self, node: Node<'_>) {
        let (start, end) = (beginning(node, self.scanner.text), node.end_byte());
        if end <= start || self.scanner.is_covered(start) {
            return;
        }
        let text = self.scanner.slice(start, end);
        match text {
            "&" => self.analyser.analysis.background.push(self.frame.position(start)),
            ";;" if node.parent().is_none_or(|parent| parent.kind() != "case_item") => {
                self.syntax(start);
            }
            "|&" | ";&" | ";;&" | "select" | "function" => self.scanner.bash_only(start),
            _ if node.is_named() => return,
            _ => {}
        }
        self.scanner.cover(start, end);
    }

    /// A simple command: its words are read by hand, the tree only leads into substitutions.
    fn simple(&mut self, node: Node<'_>) {
        let line = self.scanner.line(node.start_byte());
        if line.end <= line.start {
            self.syntax(line.start);
        }
        self.redirections(&line.redirects);
        self.command(&line);
        self.inside(node);
    }

    /// Substitutions, here-documents and comments within a node.
    fn inside(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let start = beginning(child, self.scanner.text);
            match child.kind() {
                "command_substitution" if !self.scanner.starts_with(start, "$(") => {}
                "command_substitution" => self.substitution(child, SubstitutionKind::Command),
                "process_substitution" => self.substitution(child, SubstitutionKind::Process),
                "heredoc_redirect" => self.document(child),
                "comment" | "subshell" => self.visit(child),
                _ if child.child_count() > 0 => self.deeper(child, |walker| walker.inside(child)),
                _ => {}
            }
        }
    }

    fn substitution(&mut self, node: Node<'_>, kind: SubstitutionKind) {
        let start = beginning(node, self.scanner.text);
        let (via, name) = match kind {
            SubstitutionKind::Process => (Via::ProcessSubstitution, "process substitution"),
            _ => (Via::CommandSubstitution, "command substitution"),
        };
        let position = self.frame.position(start);
        self.analyser.analysis.substitutions.push(Substitution { kind, position });
        self.display(name, start);
        self.frame.via.push(via);
        self.deeper(node, |walker| walker.children(node));
        self.frame.via.pop();
    }

    /// A word outside of simple commands: a value of `for` or `case`, a pattern.
    fn loose_word(&mut self, node: Node<'_>) {
        let start = node.start_byte();
        if !self.scanner.is_covered(start) && self.scanner.word(start).is_none() {
            self.syntax(start);
        }
        match node.kind() {
            "command_substitution" if !self.scanner.starts_with(start, "$(") => {}
            "command_substitution" => self.substitution(node, SubstitutionKind::Command),
            "process_substitution" => self.substitution(node, SubstitutionKind::Process),
            _ => self.inside(node),
        }
    }

    fn function(&mut self, node: Node<'_>) {
        let Some(name_node) = node.child_by_field_name("name") else {
            return self.syntax(node.start_byte());
        };
        let start = name_node.start_byte();
        let name = self.scanner.slice(start, name_node.end_byte()).to_owned();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:+@%,/".contains(&byte);
        if !name.bytes().all(is_plain) || name.bytes().all(|byte| byte.is_ascii_digit()) {
            self.syntax(start);
        }
        if !is_name(&name) {
            self.scanner.bash_only(start);
        }
        self.scanner.cover(start, name_node.end_byte());
        let position = self.frame.position(start);
        self.analyser.analysis.functions.push(Function { name: name.clone(), position });
        self.frame.via.push(Via::Function(name.clone()));
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.id() == name_node.id() {
                continue;
            }
            self.visit(child);
        }
        self.frame.via.pop();
        if is_certain(node) && self.frame.is_direct() {
            self.analyser.defined.insert(name);
        }
    }

    fn for_loop(&mut self, node: Node<'_>) {
        let variable = node.child_by_field_name("variable");
        let mut cursor = node.walk();
        let mut are_numbers = true;
        let mut values = 0;
        for child in node.children_by_field_name("value", &mut cursor) {
            values += 1;
            let text = self.scanner.slice(child.start_byte(), child.end_byte());
            are_numbers &= text.parse::<i64>().is_ok();
        }
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let (start, end) = (child.start_byte(), child.end_byte());
            if variable.is_some_and(|variable| variable.id() == child.id()) {
                let name = self.scanner.slice(start, end).to_owned();
                self.scanner.cover(start, end);
                let value = (are_numbers && values > 0).then(|| "0".to_owned());
                self.analyser.assign(&name, value.as_deref(), value.is_some());
                let position = self.frame.position(start);
                self.analyser.push_assignment(name, None, Scope::Shell, position);
            } else {
                self.visit(child);
            }
        }
    }

    /// `((…))` between these places.
    fn numbers(&mut self, node: Node<'_>, start: usize, end: usize) {
        self.scanner.bash_only(start);
        if !self.scanner.slice(start, end).ends_with("))") || end < start + 4 {
            self.syntax(start);
        }
        self.scanner.numbers(start + 2, end.saturating_sub(2));
        self.scanner.cover_around_code(start, end);
        self.inside(node);
    }

    fn counting_loop(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let mut open = None;
        for child in node.children(&mut cursor) {
            match (child.kind(), open) {
                ("((", None) => open = Some(child.start_byte()),
                ("))", Some(start)) => {
                    let end = child.end_byte();
                    self.scanner.bash_only(start);
                    self.scanner.numbers(start + 2, end - 2);
                    self.scanner.cover_around_code(start, end);
                    open = None;
                }
                ("do_group" | "compound_statement", None) => self.visit(child),
                (_, Some(_)) => self.inside_one(child),
                _ => self.leaf(child),
            }
        }
    }

    /// Like `inside`, for a node that may be a substitution itself.
    fn inside_one(&mut self, node: Node<'_>) {
        match node.kind() {
            "command_substitution"
                if self.scanner.starts_with(beginning(node, self.scanner.text), "$(") =>
            {
                self.substitution(node, SubstitutionKind::Command);
            }
            "command_substitution" => {}
            _ => self.deeper(node, |walker| walker.inside(node)),
        }
    }

    /// `[[ … ]]`: not words alone, so it is gone through piece by piece.
    fn double_brackets(&mut self, node: Node<'_>) {
        let (start, end) = (node.start_byte(), node.end_byte());
        self.scanner.bash_only(start);
        self.display("[[", start);
        self.scanner.cover(start, start + 2);
        let mut words = Vec::new();
        let mut at = start + 2;
        while let Some(byte) = self.scanner.byte(at).filter(|_| at < end) {
            let is_substitution =
                matches!(byte, b'<' | b'>') && self.scanner.byte(at + 1) == Some(b'(');
            match byte {
                b' ' | b'\t' | b'\n' => at += 1,
                b'\\' if self.scanner.byte(at + 1) == Some(b'\n') => at += 2,
                b'(' | b')' | b'&' | b'|' | b'<' | b'>' | b';' if !is_substitution => {
                    self.scanner.cover(at, at + 1);
                    at += 1;
                }
                _ => match self.scanner.word(at) {
                    Some(word) => {
                        at = word.end;
                        let is_end = word.raw == "]]";
                        words.push(word);
                        if is_end {
                            break;
                        }
                    }
                    None => break,
                },
            }
        }
        if at != end || words.last().is_none_or(|word| word.raw != "]]") {
            self.syntax(start);
        }
        self.test(&words);
        self.inside(node);
    }

    /// Nothing but a comment: it must begin where a word could.
    fn comment(&mut self, node: Node<'_>) {
        let start = node.start_byte();
        if self.scanner.is_covered(start) {
            return self.syntax(start);
        }
        let before = self.scanner.slice(0, start).as_bytes();
        let begins = match before.split_last() {
            None => true,
            Some((b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')', rest)) => {
                !rest.ends_with(b"\\")
            }
            Some(_) => false,
        };
        if !begins {
            self.syntax(start);
        }
        self.scanner.cover(start, node.end_byte());
    }

    /// A redirection of a compound command.
    fn loose_redirect(&mut self, node: Node<'_>) {
        let start = node.start_byte();
        if !self.scanner.is_covered(start) {
            let line = self.scanner.line(start);
            if !line.words.is_empty() {
                self.syntax(start);
            }
            self.redirections(&line.redirects);
        }
        self.inside(node);
    }

    /// A here-document: its operator may still have to be read, its body always.
    fn document(&mut self, node: Node<'_>) {
        let start = node.start_byte();
        if !self.scanner.is_covered(start) {
            let line = self.scanner.line(start);
            if !line.words.is_empty() {
                self.syntax(start);
            }
            self.redirections(&line.redirects);
        }
        self.document_body(node);
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "heredoc_start" | "heredoc_end" | "file_descriptor" | "<<" | "<<-" => {}
                "heredoc_body" => self.deeper(child, |walker| walker.inside(child)),
                _ if self.scanner.is_covered(child.start_byte()) => self.inside_one(child),
                _ => self.visit(child),
            }
        }
    }

    /// Takes down what the redirections of a command do.
    pub(super) fn redirections(&mut self, redirects: &[super::line::Redirect]) {
        for redirect in redirects {
            let position = self.frame.position(redirect.position);
            let name = match redirect.kind {
                RedirectionKind::HereDocument => "heredoc (<<)",
                RedirectionKind::HereString => "herestring (<<<)",
                _ if self.scanner.starts_with(redirect.position, "<") => "redirection (<)",
                _ => "redirection (>)",
            };
            self.display(name, redirect.position);
            let Some(word) = &redirect.target else { continue };
            let mut target = word.constant().map(str::to_owned);
            if redirect.kind == RedirectionKind::HereDocument {
                let is_indented = self.scanner.starts_with(redirect.position, "<<-");
                let document = Document::new(word, is_indented);
                target = document.as_ref().map(|document| document.mark.clone());
                match document {
                    Some(document) => {
                        self.documents.insert(redirect.position, document);
                    }
                    None => self.syntax(redirect.position),
                }
            }
            let kind = redirect.kind;
            self.analyser.push_redirection(Redirection { kind, target, position });
        }
    }

    /// A name for the confirmation; only the outermost text is shown there.
    pub(super) fn display(&mut self, name: &str, at: usize) {
        if self.frame.origin.is_none() {
            self.analyser.display.push((at, name.to_owned()));
        }
    }
}

/// Whether a definition has surely been carried out when what follows it runs.
fn is_certain(node: Node<'_>) -> bool {
    let mut node = node;
    loop {
        if node.next_sibling().is_some_and(|next| next.kind() == "&") {
            return false;
        }
        let Some(parent) = node.parent() else { return false };
        match parent.kind() {
            "program" => return true,
            "list" if parent.child(0).is_some_and(|first| first.id() == node.id()) => {}
            "compound_statement"
                if parent.parent().is_some_and(|outer| outer.kind() != "function_definition") => {}
            _ => return false,
        }
        node = parent;
    }
}
