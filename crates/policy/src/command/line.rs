//! Command line together with the rules that apply to it.

use pollux_protocol::ConfinementLevel;
use pollux_shell::command_line::{CommandLine, SimpleCommand, Word};

use super::finder::Finder;
use super::form::{Form, SeenArguments};
use super::judged::{Judged, ONLY_READS};
use super::mention::mentioned;
use super::part::Part;
use super::redirection;
use crate::facts::Facts;
use crate::ground::Assumption;
use crate::judgement::{Judgement, PartJudgement, PolicyVerdict, strictest};
use crate::one_line::is_exactly;
use crate::paths::lexical;
use crate::rule::{Pattern, Rule, Ruling};
use crate::subject::Query;

/// Reason to run a line that no rule allows, in the mode that allows changes of files.
const ONLY_EDITS: &str = "it only reads, and writes only files of the workspace";

/// Returns true if one of the conditions is about a file that the line writes.
fn has_edits(assumes: &[Assumption]) -> bool {
    assumes.iter().any(|found| matches!(found, Assumption::Editable(_)))
}

/// Command line together with the rules that apply to it.
pub(super) struct Line<'a, 'p> {
    pub(super) facts: &'p Facts,
    /// Rules in priority order.
    pub(super) rules: &'a [&'p Rule],
    pub(super) finder: Finder<'a, 'p>,
    pub(super) query: &'a Query<'a>,
    pub(super) args: SeenArguments<'a>,
    pub(super) text: &'a str,
    /// The text in the form that patterns are matched against.
    pub(super) form: Form,
    pub(super) read: &'a CommandLine,
}

/// Ruling about a whole line.
struct Outcome<'p> {
    ruling: Ruling,
    rule: Option<&'p Rule>,
    reason: Option<String>,
    /// Confinement level; `None` for the session's level.
    level: Option<ConfinementLevel>,
    /// Level that the operating system may not support; `None` if it is the same as
    /// [`Self::level`].
    intended: Option<ConfinementLevel>,
    assumes: Vec<Assumption>,
}

impl<'p> Outcome<'p> {
    fn new(ruling: Ruling, rule: Option<&'p Rule>) -> Self {
        Self { ruling, rule, reason: None, level: None, intended: None, assumes: Vec::new() }
    }
}

impl<'p> Line<'_, 'p> {
    /// Judges the whole line.
    pub(super) fn judge(&self) -> Judgement<'p> {
        let parts = Part::all(self.read);
        let judged = self.judge_parts(&parts);
        let shown: Vec<PartJudgement<'p>> = parts
            .iter()
            .zip(&judged)
            .map(|(part, judged)| PartJudgement {
                text: part.text.clone(),
                ruling: judged.ruling,
                rule: judged.rule,
                reason: judged.reason.clone(),
            })
            .collect();
        let outcome = self.outcome(&parts, &judged, &shown);
        let outcome = self.with_auto_inspect(outcome, &parts);
        let Outcome { ruling, rule, reason, level, intended, assumes } = outcome;
        let confinement = &self.facts.confinement;
        let (level, intended) = level
            .map_or_else(|| confinement.for_allowed(), |level| (level, intended.unwrap_or(level)));
        Judgement {
            verdict: PolicyVerdict::of(ruling, rule),
            rule,
            parts: shown,
            reason,
            assumes,
            level,
            intended,
            configures_git: self.configures_git(&parts),
        }
    }

    /// Combines the rulings about the line and its commands.
    fn outcome(
        &self,
        parts: &[Part<'_>],
        judged: &[Judged<'p>],
        shown: &[PartJudgement<'p>],
    ) -> Outcome<'p> {
        let whole = self.finder.of_line(self.text, &self.form);
        let whole = whole.into_iter().find(|rule| self.fits_whole(rule));
        let specific = whole.filter(|rule| rule.is_specific());
        let worst = strictest(shown);
        let of_part = |part: &PartJudgement<'p>| Outcome {
            reason: part.reason.clone(),
            ..Outcome::new(part.ruling, part.rule)
        };
        match (specific, worst) {
            (Some(rule), _) if rule.ruling == Ruling::Deny => Outcome::new(Ruling::Deny, whole),
            (_, Some(part)) if part.ruling == Ruling::Deny => of_part(part),
            (Some(rule), _) if self.is_exactly(rule, judged) => {
                Outcome { level: rule.confinement, ..Outcome::new(Ruling::Allow, whole) }
            }
            (Some(rule), _) if rule.ruling == Ruling::AskUser => {
                Outcome::new(Ruling::AskUser, whole)
            }
            (_, Some(part)) if part.ruling == Ruling::AskUser => of_part(part),
            (_, Some(part)) => self.unless_objected(parts, judged, part.rule),
            (_, None) => match self.without_parts(whole) {
                Ruling::Allow => self.unless_objected(parts, judged, whole),
                ruling => {
                    let gap = self.read.beyond.map(|gap| gap.construct.describe());
                    let reason = gap.map(|gap| format!("cannot tell what runs: {gap}"));
                    Outcome { reason, ..Outcome::new(ruling, whole) }
                }
            },
        }
    }

    /// Returns the outcome for a line whose commands are all allowed.
    fn unless_objected(
        &self,
        parts: &[Part<'_>],
        judged: &[Judged<'p>],
        rule: Option<&'p Rule>,
    ) -> Outcome<'p> {
        let reason = self.objection(parts, judged);
        if reason.is_some() {
            return Outcome { reason, ..Outcome::new(Ruling::AskUser, rule) };
        }
        let assumes = self.assumptions(judged);
        let redirects = has_edits(&assumes);
        let level = Some(self.level(judged, redirects));
        let intended = Some(self.intended_level(judged, redirects));
        // No rule allows a command that only reads. The line is reported with the rule that allows
        // the others.
        let decisive = judged.iter().find(|judged| !judged.only_reads);
        let rule = decisive.map_or(rule, |judged| judged.rule);
        let reason = match decisive {
            Some(_) => None,
            None if judged.is_empty() => None,
            None if redirects => Some(ONLY_EDITS.to_owned()),
            None => Some(ONLY_READS.to_owned()),
        };
        Outcome { reason, level, intended, assumes, ..Outcome::new(Ruling::Allow, rule) }
    }

    /// Allows a line that needs approval to run with read-only access, if the settings enable this
    /// and no rule about particular commands may match.
    fn with_auto_inspect(&self, outcome: Outcome<'p>, parts: &[Part<'_>]) -> Outcome<'p> {
        let confinement = &self.facts.confinement;
        let is_free = !outcome.rule.is_some_and(|rule| rule.is_specific() || rule.is_strict());
        let inspects = outcome.ruling == Ruling::AskUser
            && is_free
            && confinement.auto_inspect
            && confinement.inspects()
            && self.reservation(parts).is_none();
        if !inspects {
            return outcome;
        }
        Outcome {
            reason: Some("it can only read".to_owned()),
            level: Some(ConfinementLevel::Inspect),
            ..Outcome::new(Ruling::Allow, outcome.rule)
        }
    }

    /// Returns the ruling about a line in which no command was recognised.
    fn without_parts(&self, whole: Option<&Rule>) -> Ruling {
        match whole {
            // A pattern that matches a line which cannot be parsed may match by chance.
            Some(rule) if rule.ruling == Ruling::Allow && rule.is_specific() => Ruling::AskUser,
            Some(rule) => rule.ruling,
            None => self.facts.default_ruling(self.query.mode),
        }
    }

    /// Returns true if a rule is about the line as a whole.
    fn fits_whole(&self, rule: &Rule) -> bool {
        let is_allow = rule.ruling == Ruling::Allow;
        match &rule.pattern {
            None => true,
            Some(Pattern::Plans) => false,
            Some(Pattern::Prefix(prefix)) if is_allow => prefix.begins(self.text),
            Some(Pattern::Prefix(prefix)) => prefix.begins_loosely(self.text),
            Some(Pattern::Command(expression)) => {
                let found = self.form.find_in_command(expression);
                if is_allow { found.is_sure() } else { found.is_possible() }
            }
            Some(Pattern::Arguments(expression)) => {
                let found = self.form.find_in_arguments(expression, &self.args, rule.ruling);
                if is_allow { found.is_sure() } else { found.is_possible() }
            }
        }
    }

    /// Returns true if the rule allows exactly this line, and no rule of higher priority requires
    /// approval of one of its commands.
    fn is_exactly(&self, rule: &Rule, judged: &[Judged<'p>]) -> bool {
        let is_this = match &rule.pattern {
            Some(Pattern::Prefix(prefix)) => prefix.is_all_of(self.text),
            Some(Pattern::Command(expression)) => is_exactly(expression.as_str(), self.text),
            _ => false,
        };
        let asks = |judged: &&Judged<'p>| {
            judged.ruling == Ruling::AskUser
                && judged.rule.is_some_and(|other| {
                    other.ruling == Ruling::AskUser
                        && other.is_specific()
                        && other.priority > rule.priority
                })
        };
        rule.ruling == Ruling::Allow && is_this && !judged.iter().any(|judged| asks(&judged))
    }

    /// Returns the reason to ask about a line whose commands are all allowed.
    fn objection(&self, parts: &[Part<'_>], judged: &[Judged<'p>]) -> Option<String> {
        if !self.is_general()
            && !self.read.is_parsed()
            && let Some(gap) = self.read.hidden.or(self.read.beyond)
        {
            return Some(format!("cannot tell what runs: {}", gap.construct.describe()));
        }
        let general = parts.iter().zip(judged).filter(|(_, judged)| judged.is_general());
        if let Some(objection) = self.reservation(general.map(|(part, _)| part)) {
            return Some(objection);
        }
        if let Some(objection) = self.needs_freedom(parts, judged) {
            return Some(objection);
        }
        let (facts, mode, effects) = (&self.facts, self.query.mode, self.query.effects);
        let questions = redirection::in_question(self.read, facts, mode, effects);
        let may_redirect = |index: usize| {
            judged[index].rule.is_some_and(|rule| {
                rule.allow_redirection
                    && judged[index].ruling == Ruling::Allow
                    && !judged[index].only_reads
            })
        };
        let (_, open) = questions.into_iter().find(|(index, _)| !may_redirect(*index))?;
        let target = open.target.as_ref().map(|target| target.shown().into_owned());
        let target =
            target.unwrap_or_else(|| "a file that is not known before the command runs".to_owned());
        Some(format!("its output or input is redirected: {target}"))
    }

    /// Returns true if a rule without a pattern, or the mode, allows every command line.
    fn is_general(&self) -> bool {
        match self.rules.iter().find(|rule| rule.pattern.is_none()) {
            Some(rule) => rule.ruling == Ruling::Allow,
            None => self.query.is_yolo(),
        }
    }

    /// Returns the reason to ask although a general rule or the mode allows the line: a
    /// higher-priority rule about particular commands may apply to a command hidden in the line.
    fn reservation<'t>(&self, parts: impl IntoIterator<Item = &'t Part<'t>>) -> Option<String> {
        let general = self.rules.iter().copied().find(|rule| rule.pattern.is_none());
        let below = general.filter(|rule| rule.ruling == Ruling::Allow);
        let reserved: Vec<&Rule> = self
            .rules
            .iter()
            .copied()
            .take_while(|rule| below.is_none_or(|below| !std::ptr::eq(*rule, below)))
            .filter(|rule| rule.ruling != Ruling::Allow && rule.is_specific())
            .collect();
        let first = *reserved.first()?;
        if let Some(gap) = self.read.hidden.filter(|_| !self.facts.original_denials) {
            let construct = gap.construct.describe();
            return Some(format!(
                "{construct} may hide a command of the rule `{}` ({})",
                first.in_words(),
                first.source
            ));
        }
        let mention = parts.into_iter().find_map(|part| mentioned(&reserved, part))?;
        Some(format!("its arguments contain `{mention}`"))
    }

    /// Returns the conditions on the disk under which the line may run.
    fn assumptions(&self, judged: &[Judged<'p>]) -> Vec<Assumption> {
        let (facts, effects) = (&self.facts, self.query.effects);
        let mut assumes = Vec::new();
        let is_edit = self.query.mode == pollux_protocol::ApprovalMode::AutoEdit;
        let may_redirect =
            |judged: &Judged<'p>| judged.rule.is_some_and(|rule| rule.allow_redirection);
        if is_edit && !judged.iter().all(may_redirect) {
            let files = redirection::taken_for_editable(self.read, facts, effects);
            assumes.extend(files.into_iter().map(Assumption::Editable));
        }
        if let Some(folder) = self.read.folder.as_ref().filter(|_| !self.is_general()) {
            let start = redirection::folder_of(facts, effects);
            assumes.push(Assumption::Inside { start, folder: folder.clone() });
        }
        // In plan mode, the user cannot allow more than this level.
        let is_plan = self.query.mode == pollux_protocol::ApprovalMode::Plan;
        let only_reads = judged.iter().all(|judged| judged.only_reads);
        if only_reads
            && !is_plan
            && self.level(judged, has_edits(&assumes)) == ConfinementLevel::Inspect
        {
            assumes.extend(self.read_files());
        }
        assumes
    }

    /// Returns the condition that the files which the line reads can be read.
    fn read_files(&self) -> Vec<Assumption> {
        let start = redirection::folder_of(self.facts, self.query.effects);
        let folder = match &self.read.folder {
            None => start,
            Some(Word::Literal(folder)) => lexical(&start, folder),
            Some(_) => return Vec::new(),
        };
        let opened = self.read.commands.iter().flat_map(SimpleCommand::opened);
        opened.map(|opened| Assumption::Readable { folder: folder.clone(), opened }).collect()
    }
}
