//! Confinement level of a command line.

use pollux_protocol::{ApprovalMode, ConfinementLevel};
use pollux_shell::command_line::Does;

use super::judged::Judged;
use super::line::Line;
use super::part::Part;
use crate::facts::ConfinementFacts;
use crate::rule::{Rule, Ruling};

/// Returns the rank of a level, starting with the strictest.
fn rank(level: ConfinementLevel) -> usize {
    ConfinementLevel::ALL.iter().position(|other| *other == level).unwrap_or_default()
}

impl Line<'_, '_> {
    /// Returns the level for a line whose commands have these rulings.
    ///
    /// Commands that are allowed because they only read do not weaken the level of the others: a
    /// line of only such commands gets `inspect`; in a line with commands that rules allow, they
    /// run at the level of those.
    pub(super) fn level(&self, judged: &[Judged<'_>], redirects: bool) -> ConfinementLevel {
        let facts = &self.facts.confinement;
        self.level_by(judged, redirects, |level| facts.strongest(level))
    }

    /// Returns the level that the line would get if the operating system supported every level.
    pub(super) fn intended_level(
        &self,
        judged: &[Judged<'_>],
        redirects: bool,
    ) -> ConfinementLevel {
        self.level_by(judged, redirects, |level| level)
    }

    fn level_by(
        &self,
        judged: &[Judged<'_>],
        redirects: bool,
        given: impl Fn(ConfinementLevel) -> ConfinementLevel,
    ) -> ConfinementLevel {
        let ruled = judged.iter().filter(|judged| !judged.only_reads);
        let levels = ruled.map(|judged| self.level_of(judged.rule, &given));
        levels.min_by_key(|level| rank(*level)).unwrap_or_else(|| {
            // Edits are allowed in this mode, and the commands only read.
            let level = if redirects {
                ConfinementLevel::WorkspaceWrite
            } else {
                ConfinementLevel::Inspect
            };
            given(level)
        })
    }

    fn level_of(
        &self,
        rule: Option<&Rule>,
        given: impl Fn(ConfinementLevel) -> ConfinementLevel,
    ) -> ConfinementLevel {
        let facts = &self.facts.confinement;
        let named = rule.and_then(|rule| rule.confinement);
        match (named, self.query.mode) {
            (_, ApprovalMode::Plan) => given(ConfinementLevel::Inspect),
            (Some(level), _) => level,
            (None, ApprovalMode::Yolo) if rule.is_none_or(|rule| !rule.is_specific()) => {
                ConfinementFacts::of_session(facts.yolo, given)
            }
            (None, _) => ConfinementFacts::of_session(facts.allowed, given),
        }
    }

    /// Returns true if a command changes the configuration of a Git repository according to its
    /// table.
    pub(super) fn configures_git(&self, parts: &[Part<'_>]) -> bool {
        self.read.is_parsed() && parts.iter().any(|part| part.effect() == Some(Does::ConfiguresGit))
    }

    /// Returns the reason to ask before a program starts that could not work in confinement.
    pub(super) fn needs_freedom(
        &self,
        parts: &[Part<'_>],
        judged: &[Judged<'_>],
    ) -> Option<String> {
        if self.level(judged, false) == ConfinementLevel::None {
            return None;
        }
        let keeps_privileges = self.facts.confinement.keeps_privileges();
        let allowed = parts.iter().zip(judged).filter(|(_, judged)| judged.ruling == Ruling::Allow);
        allowed.into_iter().find_map(|(part, _)| match part.effect()? {
            Does::NeedsPrivileges if !keeps_privileges => Some(format!(
                "{} needs privileges that a confined command does not have",
                part.name()
            )),
            Does::ConfiguresUser => Some(format!(
                "this {} changes your own configuration, which a confined command cannot",
                part.name()
            )),
            _ => None,
        })
    }
}
