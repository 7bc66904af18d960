//! Level of confinement that a command line gets.

use pollux_protocol::{ApprovalMode, ConfinementLevel};
use pollux_shell::command_line::Does;

use super::line::{Judged, Line};
use super::part::Part;
use crate::rule::{Rule, Ruling};

/// The strictest level first.
fn rank(level: ConfinementLevel) -> usize {
    ConfinementLevel::ALL.iter().position(|other| *other == level).unwrap_or_default()
}

impl Line<'_, '_> {
    /// Returns the level for a line whose commands are judged like this.
    ///
    /// Commands that run because they only read do not loosen the level of the others: alone they get `inspect`, in a
    /// line with commands that rules allow they run with those.
    pub(super) fn level(&self, judged: &[Judged<'_>], redirects: bool) -> ConfinementLevel {
        let ruled = judged.iter().filter(|judged| !judged.only_reads);
        let levels = ruled.map(|judged| self.level_of(judged.rule));
        let facts = &self.policy.facts.confinement;
        levels.min_by_key(|level| rank(*level)).unwrap_or_else(|| {
            // Edits are free there, and the commands only read.
            let level = if redirects {
                ConfinementLevel::WorkspaceWrite
            } else {
                ConfinementLevel::Inspect
            };
            facts.strongest(level)
        })
    }

    fn level_of(&self, rule: Option<&Rule>) -> ConfinementLevel {
        let facts = &self.policy.facts.confinement;
        let named = rule.and_then(|rule| rule.confinement);
        match (named, self.query.mode) {
            (_, ApprovalMode::Plan) => facts.strongest(ConfinementLevel::Inspect),
            (Some(level), _) => level,
            (None, ApprovalMode::Yolo) if rule.is_none_or(|rule| !super::is_specific(rule)) => {
                facts.of_session(facts.yolo)
            }
            (None, _) => facts.of_session(facts.allowed),
        }
    }

    /// Returns true if a command changes the configuration of a Git repository, as its table says.
    pub(super) fn configures_git(&self, parts: &[Part<'_>]) -> bool {
        self.read.is_parsed() && parts.iter().any(|part| does(part) == Some(Does::ConfiguresGit))
    }

    /// Returns the reason to ask before a program starts that a confined command could not run.
    pub(super) fn lacks_privileges(
        &self,
        parts: &[Part<'_>],
        judged: &[Judged<'_>],
    ) -> Option<String> {
        let facts = &self.policy.facts.confinement;
        if facts.keeps_privileges() || self.level(judged, false) == ConfinementLevel::None {
            return None;
        }
        let needs = parts.iter().zip(judged).find(|(part, judged)| {
            judged.ruling == Ruling::Allow && does(part) == Some(Does::NeedsPrivileges)
        });
        needs.map(|(part, _)| {
            format!("{} needs privileges that a confined command lacks", part.name())
        })
    }
}

fn does(part: &Part<'_>) -> Option<Does> {
    part.command.known(part.words.len()).ok()?.does
}
