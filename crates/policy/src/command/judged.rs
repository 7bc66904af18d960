//! One command of a line with its ruling.

use crate::rule::{Rule, Ruling};

/// Reason to run a command that no rule allows.
pub(super) const ONLY_READS: &str = "it only reads";

/// One command with its ruling.
#[derive(Debug)]
pub(super) struct Judged<'p> {
    pub(super) ruling: Ruling,
    pub(super) rule: Option<&'p Rule>,
    pub(super) reason: Option<String>,
    /// True if no rule allows the command, which runs because it only reads.
    pub(super) only_reads: bool,
    /// Number of words that the rule names; `None` for a rule about all commands.
    pub(super) named: Option<usize>,
}

impl<'p> Judged<'p> {
    pub(super) fn new(ruling: Ruling, rule: Option<&'p Rule>) -> Self {
        Self { ruling, rule, reason: None, only_reads: false, named: None }
    }

    pub(super) fn ask(rule: Option<&'p Rule>, reason: String) -> Self {
        Self { reason: Some(reason), ..Self::new(Ruling::AskUser, rule) }
    }

    /// Returns true if a rule about all commands, or the mode, allows the command.
    pub(super) fn is_general(&self) -> bool {
        self.ruling == Ruling::Allow && !self.only_reads && self.named.is_none()
    }
}
