//! One analysis while it is made.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::arithmetic;
use super::model::{
    Analysis, Assignment, Reason, Redirection, Scope, Substitution, SubstitutionKind, Unknown, Via,
};
use super::plain;
use super::scanner::Scanner;
use super::walk::{Walker, spans};

/// The longest command line that is looked at, in bytes.
const MAX_LENGTH: usize = 256 * 1024;
/// How deep scripts and wrappers may be nested.
const MAX_DEPTH: usize = 16;
/// How much may be read and told in all, in bytes. Scripts in scripts are read once for each level.
const MAX_WORK: usize = 2 * 1024 * 1024;
/// How much work the parser may make of one script: it reports about every hundred steps.
const MAX_REPORTS: usize = 100_000;

/// Where a script stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    /// Whether it must mean the same to every POSIX shell.
    pub(super) is_posix: bool,
    /// For a script inside the command line: where the word that holds it begins.
    pub(super) origin: Option<usize>,
    /// How many scripts and wrappers are around it.
    pub(super) depth: usize,
    /// How it is reached.
    pub(super) via: Vec<Via>,
    /// How much of `via` belongs to the script as a whole.
    pub(super) base: usize,
}

impl Frame {
    /// The position in the command line.
    pub(super) fn position(&self, at: usize) -> usize {
        self.origin.unwrap_or(at)
    }

    /// Whether what is read now stands at the outermost level of its script.
    pub(super) fn is_direct(&self) -> bool {
        self.via.len() == self.base
    }

    /// A script inside this one.
    pub(super) fn inner(&self, at: usize, step: Via) -> Self {
        let mut via = self.via.clone();
        via.push(step);
        let base = via.len();
        let depth = self.depth + 1;
        Self { is_posix: self.is_posix, origin: Some(self.position(at)), depth, via, base }
    }
}

/// What is known so far.
#[derive(Debug, Default)]
pub(super) struct Analyser {
    pub(super) analysis: Analysis,
    /// Functions that surely exist at this point.
    pub(super) defined: HashSet<String>,
    /// Variables that were given a value, and whether all their values are whole numbers.
    pub(super) variables: HashMap<String, bool>,
    /// Whether variables may have got values that are not seen here.
    pub(super) has_hidden_values: bool,
    /// Names for the confirmation, by position.
    pub(super) display: Vec<(usize, String)>,
    arithmetic: Vec<(String, usize)>,
    work: usize,
    /// How deep the walk is.
    pub(super) level: usize,
}

impl Analyser {
    pub(super) fn note(&mut self, reason: Reason, position: usize) {
        let unknown = Unknown { reason, position };
        if !self.analysis.unknown.contains(&unknown) && self.analysis.unknown.len() < 1000 {
            self.analysis.unknown.push(unknown);
        }
    }

    /// Accounts for work; false when there was too much of it.
    pub(super) fn spend(&mut self, bytes: usize, position: usize) -> bool {
        self.work = self.work.saturating_add(bytes);
        let is_too_much = self.work > MAX_WORK;
        if is_too_much {
            self.note(Reason::TooMuch, position);
        }
        !is_too_much
    }

    /// Reads a script.
    pub(super) fn script(&mut self, text: &str, frame: &Frame) {
        let position = frame.position(0);
        if text.len() > MAX_LENGTH || frame.depth > MAX_DEPTH {
            return self.note(Reason::TooMuch, position);
        }
        if text.contains('\0') {
            return self.note(Reason::Syntax, position);
        }
        if !self.spend(text.len() + 64, position) {
            return;
        }
        if let Some(plain) = plain::read(text) {
            let scanner = Scanner::new(text, frame.is_posix, HashMap::new());
            return self.walk(scanner, frame, |walker| walker.plain(&plain));
        }
        let tree = parse(text);
        let found =
            tree.as_ref().and_then(|tree| Some((tree.root_node(), spans(tree.root_node(), text)?)));
        let Some((root, spans)) = found else {
            return self.note(Reason::TooMuch, position);
        };
        self.walk(Scanner::new(text, frame.is_posix, spans), frame, |walker| {
            walker.visit(root);
            if root.has_error() {
                walker.scanner.note(Reason::Syntax, first_error(root));
            }
        });
    }

    /// Walks a script with its words.
    fn walk<'a>(
        &mut self,
        scanner: Scanner<'a>,
        frame: &Frame,
        walk: impl FnOnce(&mut Walker<'_, 'a>),
    ) {
        let is_own_shell = matches!(frame.via.last(), Some(Via::Script(_)));
        let outer = self.defined.clone();
        if is_own_shell {
            self.defined.clear();
        }
        let mut walker = Walker::new(self, frame.clone(), scanner);
        walk(&mut walker);
        let Walker { mut scanner, .. } = walker;
        if let Some(at) = scanner.first_uncovered() {
            scanner.note(Reason::Syntax, at);
        }
        self.finish_script(scanner, frame);
        self.defined = outer;
    }

    fn finish_script(&mut self, scanner: Scanner<'_>, frame: &Frame) {
        for (reason, at) in scanner.unknown {
            self.note(reason, frame.position(at));
        }
        for name in scanner.assigned {
            if changes_code(&name) {
                self.note(Reason::Environment, frame.position(0));
            }
            self.assign(&name, None, false);
        }
        let placed = scanner.arithmetic.into_iter().map(|(text, at)| (text, frame.position(at)));
        self.arithmetic.extend(placed);
        for backtick in scanner.backticks {
            let at = backtick.position;
            let position = frame.position(at);
            let kind = SubstitutionKind::Backtick;
            self.analysis.substitutions.push(Substitution { kind, position });
            if frame.origin.is_none() {
                self.display.push((at, "backtick substitution".to_owned()));
            }
            self.script(&backtick.code, &frame.inner(at, Via::CommandSubstitution));
        }
    }

    /// A variable gets a value. `is_number`: a whole number, although the value is not constant.
    pub(super) fn assign(&mut self, name: &str, value: Option<&str>, is_number: bool) {
        let is_number = is_number || value.is_some_and(|value| value.parse::<i64>().is_ok());
        let all = self.variables.entry(name.to_owned()).or_insert(true);
        *all &= is_number;
    }

    pub(super) fn push_assignment(
        &mut self,
        name: String,
        value: Option<String>,
        scope: Scope,
        position: usize,
    ) {
        if changes_code(&name) {
            self.note(Reason::Environment, position);
        }
        if self.spend(name.len() + value.as_ref().map_or(0, String::len), position) {
            self.analysis.assignments.push(Assignment { name, value, scope, position });
        }
    }

    pub(super) fn push_redirection(&mut self, redirection: Redirection) {
        let size = redirection.target.as_ref().map_or(0, String::len) + 16;
        if self.spend(size, redirection.position) {
            self.analysis.redirections.push(redirection);
        }
    }

    /// The finished analysis of `command`.
    pub(super) fn finish(mut self, command: &str) -> Analysis {
        for (text, position) in std::mem::take(&mut self.arithmetic) {
            arithmetic::assignments(&text, |name| self.assign(name, None, true));
            self.arithmetic.push((text, position));
        }
        for (text, position) in std::mem::take(&mut self.arithmetic) {
            let is_number = |name: &str| {
                let known = self.variables.get(name).copied();
                !self.has_hidden_values && known.unwrap_or(arithmetic::is_counter(name))
            };
            if !arithmetic::is_harmless(&text, is_number) {
                self.note(Reason::Arithmetic, position);
            }
        }
        let mut analysis = self.analysis;
        analysis.programs.sort_by_key(|program| program.position);
        analysis.built_ins.sort_by_key(|built_in| built_in.position);
        analysis.assignments.sort_by_key(|assignment| assignment.position);
        analysis.redirections.sort_by_key(|redirection| redirection.position);
        analysis.functions.sort_by_key(|function| function.position);
        analysis.substitutions.sort_by_key(|substitution| substitution.position);
        analysis.sub_commands.sort_by_key(|sub_command| sub_command.position);
        analysis.subshells.sort_unstable();
        analysis.background.sort_unstable();
        analysis.unknown.sort_by_key(|unknown| unknown.position);
        super::display::name(&mut analysis, self.display, command);
        analysis
    }
}

/// Variables that change which code runs, or how text is read, before any program sees them.
fn changes_code(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "PATH",
        "ENV",
        "PS4",
        "IFS",
        "SHELLOPTS",
        "BASHOPTS",
        "BASH_ENV",
        "BASH_ALIASES",
        "BASH_CMDS",
        "BASH_COMPAT",
        "POSIXLY_CORRECT",
        "PROMPT_COMMAND",
        "EXECIGNORE",
        "SHELL",
    ];
    const PREFIXES: &[&str] = &["LD_", "DYLD_", "BASH_FUNC_"];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The tree of a script; none when the parser had too much to do.
fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut reports = 0_usize;
    let mut progress = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > MAX_REPORTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    // The grammar's C code looks characters up in a table for bytes and reads past its end for those
    // beyond. To a shell they are letters like any other; the words are read from the text itself.
    let bytes: Vec<u8> = text.bytes().map(|b| if b.is_ascii() { b } else { b'x' }).collect();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// Where the tree first goes wrong.
fn first_error(root: Node<'_>) -> usize {
    let mut node = root;
    loop {
        if node.is_error() || node.is_missing() {
            return node.start_byte();
        }
        let mut cursor = node.walk();
        let Some(child) = node.children(&mut cursor).find(Node::has_error) else {
            return node.start_byte();
        };
        node = child;
    }
}
