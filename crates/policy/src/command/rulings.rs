//! Rulings about each command of a line on its own.

use pollux_shell::command_line::{Does, Unfamiliar};

use super::danger::dangerous;
use super::judged::{Judged, ONLY_READS};
use super::line::Line;
use super::matching::{Meaning, meaning};
use super::part::Part;
use crate::rule::{Rule, Ruling};

/// Programs that only read, whatever their arguments are: the safe list of Gemini CLI. On a system
/// whose kernel cannot confine a command to reading, only these programs run without a question.
const SAFE: [&str; 31] = [
    "base64", "cat", "cd", "cut", "echo", "expr", "false", "find", "git", "grep", "head", "id",
    "ls", "nl", "numfmt", "paste", "pwd", "rev", "rg", "sed", "seq", "stat", "tac", "tail", "tr",
    "true", "uname", "uniq", "wc", "which", "whoami",
];

/// Subcommands of git that are on the safe list.
const SAFE_GIT: [&str; 5] = ["status", "log", "diff", "show", "branch"];

impl<'p> Line<'_, 'p> {
    /// Judges every command of the line.
    pub(super) fn judge_parts(&self, parts: &[Part<'_>]) -> Vec<Judged<'p>> {
        let mut judged: Vec<Judged<'p>> = parts.iter().map(|part| self.judge_part(part)).collect();
        // A rule that names a wrapper together with the wrapped command covers both.
        for index in 0..parts.len() {
            let command = parts[index].command;
            let Some(outer) = command.outer else { continue };
            let (wrapper, inner) = (&judged[outer], &judged[index]);
            let named = wrapper.named.unwrap_or(0).saturating_sub(command.offset);
            let is_named = wrapper.ruling == Ruling::Allow && named > 0 && command.offset > 0;
            let is_open =
                inner.ruling == Ruling::AskUser && !inner.rule.is_some_and(Rule::is_specific);
            if is_named && is_open && Self::cover(&parts[index], named).is_ok() {
                let named = Some(named);
                judged[index] = Judged { named, ..Judged::new(Ruling::Allow, wrapper.rule) };
            }
        }
        // A wrapper without an effect of its own has the ruling of the commands that it runs.
        for index in (0..parts.len()).rev() {
            let Some(outer) = parts[index].command.outer else { continue };
            let is_transparent =
                parts[outer].command.known(0).is_ok_and(|known| known.does.is_none());
            let (wrapper, inner) = (&judged[outer], &judged[index]);
            let is_open = wrapper.ruling == Ruling::AskUser
                && !wrapper.rule.is_some_and(|rule| rule.is_specific() || rule.is_strict());
            if is_transparent && is_open && inner.ruling == Ruling::Allow {
                let (rule, only_reads, named) = (inner.rule, inner.only_reads, inner.named);
                judged[outer] =
                    Judged { rule, only_reads, named, ..Judged::new(Ruling::Allow, rule) };
            }
        }
        judged
    }

    /// Judges one command on its own.
    fn judge_part(&self, part: &Part<'_>) -> Judged<'p> {
        let (mut doubt, mut uncovered) = (None, None);
        for rule in self.finder.of_part(part) {
            if part.is_folder && !rule.is_specific() {
                // A line may begin with `cd`; its target is checked separately.
                return Judged { only_reads: true, ..Judged::new(Ruling::Allow, Some(rule)) };
            }
            let named = match meaning(rule, part, &self.args) {
                Meaning::No => continue,
                Meaning::Perhaps => {
                    doubt = doubt.or(Some(rule));
                    continue;
                }
                Meaning::Every => None,
                Meaning::Named(words) => Some(words),
            };
            if let Some(words) = named.filter(|_| rule.ruling == Ruling::Allow)
                && let Err(reason) = Self::cover(part, words)
            {
                let reason = part.command.explain(&reason);
                uncovered.get_or_insert(Judged::ask(Some(rule), reason));
                continue;
            }
            // The question mentions the rule that nearly matches.
            if rule.ruling == Ruling::AskUser
                && named.is_none()
                && let Some(uncovered) = uncovered
            {
                return uncovered;
            }
            let judged = Judged { named, ..Judged::new(rule.ruling, Some(rule)) };
            return self.weigh(part, judged, doubt);
        }
        let ruling = self.facts.default_ruling(self.query.mode);
        uncovered
            .filter(|_| ruling != Ruling::Deny)
            .unwrap_or_else(|| self.weigh(part, Judged::new(ruling, None), doubt))
    }

    /// Returns the reason why a rule that names this number of words does not cover a command.
    fn cover(part: &Part<'_>, named: usize) -> Result<(), Unfamiliar> {
        match part.command.known(named) {
            Ok(_) => Ok(()),
            Err(Unfamiliar::Program) if part.command.is_constant() => Ok(()),
            Err(reason) => Err(reason),
        }
    }

    /// Adjusts the ruling of a rule for a particular command.
    fn weigh(&self, part: &Part<'_>, judged: Judged<'p>, doubt: Option<&'p Rule>) -> Judged<'p> {
        let is_git = part.name().eq_ignore_ascii_case("git") && !self.facts.trusted;
        let is_general = judged.named.is_none();
        match judged.ruling {
            Ruling::Deny => judged,
            Ruling::Allow if is_git => {
                let reason =
                    "git runs programs that the folder configures, and the folder is not trusted";
                Judged::ask(judged.rule, reason.to_owned())
            }
            Ruling::Allow
                if is_general
                    && !self.query.is_yolo()
                    && let Some(dangerous) = dangerous(part) =>
            {
                let reason = format!("{dangerous} is dangerous, and no rule names it");
                Judged::ask(judged.rule, reason)
            }
            Ruling::Allow => match doubt.filter(|_| judged.ruling == Ruling::Allow) {
                None => judged,
                Some(rule) => {
                    let reason =
                        "its arguments are not known before it runs, so a rule may apply to it";
                    Judged::ask(Some(rule), reason.to_owned())
                }
            },
            Ruling::AskUser => {
                let is_strict = judged.rule.is_some_and(Rule::is_strict);
                if is_general && !is_strict && !is_git && self.only_reads(part) {
                    let reason = Some(ONLY_READS.to_owned());
                    let rule = judged.rule;
                    Judged { reason, only_reads: true, ..Judged::new(Ruling::Allow, rule) }
                } else if is_general
                    && !is_strict
                    && judged.rule.is_some_and(|rule| rule.priority.is_default())
                {
                    let known = part.command.known(0);
                    let reason = known.err().map(|reason| part.command.explain(&reason));
                    Judged { reason, ..judged }
                } else {
                    judged
                }
            }
        }
    }

    /// Returns true if a command is known to only read and print.
    fn only_reads(&self, part: &Part<'_>) -> bool {
        let command = part.command;
        if command.words.is_empty() && command.assignments.is_empty() {
            return true;
        }
        if part.is_folder {
            return true;
        }
        let does_read = command.known(0).is_ok_and(|known| known.does == Some(Does::Reads));
        // Without a user, confinement is the only check.
        let is_safe = || {
            let verb = part.words.get(1).copied().flatten().unwrap_or_default();
            self.facts.interactive
                && SAFE.contains(&part.name())
                && (part.name() != "git" || SAFE_GIT.contains(&verb))
        };
        does_read && (self.facts.confinement.inspects() || is_safe())
    }
}
