//! A command line with the rules that concern it.

use pollux_protocol::ApprovalMode;
use pollux_shell::analysis::{Analysis, Reason, Unknown};

use super::finder::Finder;
use super::form::Form;
use super::matching::{Coverage, Meaning, meaning};
use super::part::Part;
use super::{
    classify, escapes, folders, has_reservations, is_specific, redirection, strictest, variables,
};
use crate::ground::Assumption;
use crate::judgement::{Judgement, PartJudgement};
use crate::policy::Policy;
use crate::rule::{Pattern, Rule, Ruling};
use crate::subject::Query;

/// Wrappers that add nothing of their own to the command which they run.
const TRANSPARENT: &[&str] =
    &["timeout", "gtimeout", "nice", "nohup", "time", "command", "env", "stdbuf", "ionice"];

/// A command line with the rules that concern it.
pub(super) struct Line<'a, 'p> {
    pub(super) policy: &'p Policy,
    /// The highest first.
    pub(super) rules: &'a [&'p Rule],
    pub(super) finder: Finder<'a, 'p>,
    pub(super) query: &'a Query<'a>,
    pub(super) text: &'a str,
    /// The text as patterns look at it.
    pub(super) form: Form,
    pub(super) analysis: &'a Analysis,
}

/// One command with what is said about it.
struct Judged<'p> {
    ruling: Ruling,
    rule: Option<&'p Rule>,
    covered: Coverage,
    reason: Option<String>,
}

impl<'p> Line<'_, 'p> {
    /// The answer about the whole line.
    pub(super) fn judge(&self) -> Judgement<'p> {
        let whole = self.finder.of_line(self.text, &self.form);
        let whole = whole.into_iter().find(|rule| self.fits_whole(rule));
        let parts = super::parts(self.analysis);
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
        let specific = whole.filter(|rule| is_specific(rule));
        let worst = strictest(&shown).map(|part| (part.ruling, part.rule, part.reason.clone()));
        let mut assumes = Vec::new();
        let (ruling, rule, reason) = match (specific, worst) {
            (Some(rule), _) if rule.ruling == Ruling::Deny => (Ruling::Deny, whole, None),
            (_, Some((Ruling::Deny, rule, reason))) => (Ruling::Deny, rule, reason),
            (Some(rule), _) if self.is_exactly(rule, &judged) => {
                assumes = self.git_assumption(&parts, |_| false).into_iter().collect();
                (Ruling::Allow, whole, None)
            }
            (Some(rule), _) if rule.ruling == Ruling::AskUser => (Ruling::AskUser, whole, None),
            (_, Some((Ruling::AskUser, rule, reason))) => (Ruling::AskUser, rule, reason),
            (_, Some((Ruling::Allow, rule, _))) => {
                let objection = self.objection(&parts, &judged);
                if objection.is_some() {
                    (Ruling::AskUser, rule, objection)
                } else {
                    assumes = self.assumptions(&parts, &judged);
                    (Ruling::Allow, rule, None)
                }
            }
            (_, None) => self.without_parts(whole),
        };
        let verdict = Policy::verdict(ruling, rule);
        Judgement { verdict, rule, parts: shown, reason, assumes }
    }

    /// Nothing is known to run.
    fn without_parts(&self, whole: Option<&'p Rule>) -> (Ruling, Option<&'p Rule>, Option<String>) {
        let mode = self.query.mode;
        let ruling = whole.map_or_else(|| self.policy.default_ruling(mode), |rule| rule.ruling);
        let generic = whole.is_none_or(|rule| !is_specific(rule));
        match self.objection(&[], &[]) {
            _ if ruling == Ruling::Deny => (ruling, whole, None),
            Some(objection) if ruling == Ruling::Allow => (Ruling::AskUser, whole, Some(objection)),
            // A pattern that fits what nobody understands fits by chance.
            None if ruling == Ruling::Allow && !generic => (Ruling::AskUser, whole, None),
            _ => (ruling, whole, None),
        }
    }

    /// Whether a rule means the line as a whole.
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
                let found = self.form.find_in_arguments(expression, self.query.args);
                if is_allow { found.is_sure() } else { found.is_possible() }
            }
        }
    }

    /// The rule allows this very line, and no command of it is asked about by a rule of its own.
    fn is_exactly(&self, rule: &Rule, judged: &[Judged<'p>]) -> bool {
        let is_this = match &rule.pattern {
            Some(Pattern::Prefix(prefix)) => prefix.is_all_of(self.text),
            Some(Pattern::Command(expression)) => {
                expression.as_str() == super::approval::exactly(self.text)
            }
            _ => false,
        };
        let asks = |judged: &&Judged<'p>| {
            judged.ruling == Ruling::AskUser
                && judged
                    .rule
                    .is_some_and(|other| is_specific(other) && other.priority > rule.priority)
        };
        rule.ruling == Ruling::Allow && is_this && !judged.iter().any(|judged| asks(&judged))
    }

    fn judge_parts(&self, parts: &[Part<'_>]) -> Vec<Judged<'p>> {
        let mut judged: Vec<Judged<'p>> = parts.iter().map(|part| self.judge_part(part)).collect();
        for index in 0..parts.len() {
            let Some(outer) = parts[index].wrapper else { continue };
            let (wrapper, inner) = (&judged[outer], &judged[index]);
            // A rule that names the wrapped command with its wrapper has allowed it.
            let place = parts[outer].words.len().saturating_sub(parts[index].words.len());
            let names_it = wrapper.ruling == Ruling::Allow
                && wrapper.rule.is_some_and(is_specific)
                && wrapper.covered.words > place
                && wrapper.covered != Coverage::ALL;
            if names_it && inner.ruling == Ruling::AskUser && !inner.rule.is_some_and(is_specific) {
                let words = wrapper.covered.words - place;
                judged[index] = Judged {
                    ruling: Ruling::Allow,
                    rule: wrapper.rule,
                    covered: Coverage { words, variables: false },
                    reason: None,
                };
            }
        }
        for index in (0..parts.len()).rev() {
            let Some(outer) = parts[index].wrapper else { continue };
            let (wrapper, inner) = (&judged[outer], &judged[index]);
            let is_transparent = TRANSPARENT.contains(&parts[outer].shown[0]);
            if is_transparent
                && inner.ruling == Ruling::Allow
                && wrapper.ruling == Ruling::AskUser
                && !wrapper.rule.is_some_and(|rule| is_specific(rule) || rule.is_strict())
            {
                let (rule, covered) = (inner.rule, Coverage::ALL);
                judged[outer] = Judged { ruling: Ruling::Allow, rule, covered, reason: None };
            }
        }
        judged
    }

    /// What is said about one command by itself.
    fn judge_part(&self, part: &Part<'_>) -> Judged<'p> {
        let mut doubt = None;
        let mut found = None;
        for rule in self.finder.of_part(part) {
            match meaning(rule, part, self.query.args) {
                Meaning::Means(covered) => {
                    found = Some((rule, covered));
                    break;
                }
                Meaning::Perhaps => doubt = doubt.or(Some(rule)),
                Meaning::No => {}
            }
        }
        let mut judged = match found {
            Some((rule, covered)) => {
                Judged { ruling: rule.ruling, rule: Some(rule), covered, reason: None }
            }
            None => Judged {
                ruling: self.policy.default_ruling(self.query.mode),
                rule: None,
                covered: Coverage::ALL,
                reason: None,
            },
        };
        self.weigh(part, &mut judged);
        if let Some(rule) = doubt.filter(|_| judged.ruling == Ruling::Allow) {
            let reason = "words that are only known when it runs may make it what a rule is about";
            judged = Judged {
                ruling: Ruling::AskUser,
                rule: Some(rule),
                covered: Coverage::ALL,
                reason: Some(reason.to_owned()),
            };
        }
        judged
    }

    /// What a rule says in general does not hold for every command.
    fn weigh(&self, part: &Part<'_>, judged: &mut Judged<'p>) {
        let is_specific = judged.rule.is_some_and(is_specific);
        let objection = match judged.ruling {
            Ruling::Deny => None,
            Ruling::Allow if is_specific => rides_along(part, judged.covered),
            Ruling::Allow => self.general_objection(part),
            Ruling::AskUser => {
                let is_strict = judged.rule.is_some_and(Rule::is_strict);
                let is_git = part.name() == "git" && !self.policy.facts.trusted;
                if !is_specific && !is_strict && !is_git && classify::is_safe(part) {
                    judged.ruling = Ruling::Allow;
                    judged.covered = Coverage::ALL;
                    judged.reason = Some("it only reads".to_owned());
                }
                None
            }
        };
        if objection.is_some() {
            judged.ruling = Ruling::AskUser;
            judged.reason = objection;
        }
    }

    /// Why a rule that allows every command does not mean this one.
    fn general_objection(&self, part: &Part<'_>) -> Option<String> {
        let is_yolo = self.query.mode == ApprovalMode::Yolo;
        if !self.policy.facts.trusted && part.name() == "git" {
            Some("git runs what the folder configures, and the folder is not trusted".to_owned())
        } else if !is_yolo && classify::is_dangerous(part) {
            Some("this cannot be undone".to_owned())
        } else {
            self.reserved_objection(part)
        }
    }

    /// Why a line whose every command is allowed is asked about all the same.
    fn objection(&self, parts: &[Part<'_>], judged: &[Judged<'p>]) -> Option<String> {
        if let Some(unknown) = self.untold(parts, judged) {
            return Some(format!("cannot tell what runs: {}", unknown.reason.describe()));
        }
        let facts = &self.policy.facts;
        let is_generic = judged.iter().all(|judged| {
            judged.rule.is_some_and(|rule| !is_specific(rule) && rule.ruling == Ruling::Allow)
        });
        if !is_generic && let Some(name) = variables::sensitive(&self.analysis.assignments, facts) {
            return Some(format!("the variable {name} may change what programs do"));
        }
        let (mode, effects) = (self.query.mode, self.query.effects);
        let mut questions = redirection::in_question(self.analysis, facts, mode, effects);
        let open = questions.find(|found| !self.may_redirect(found.position, parts, judged))?;
        let target = open.target.as_deref().unwrap_or("a file that is only known when it runs");
        Some(format!("its output or input is redirected: {target}"))
    }

    /// What must hold on the disk although every command and redirection may pass.
    fn assumptions(&self, parts: &[Part<'_>], judged: &[Judged<'p>]) -> Vec<Assumption> {
        let (facts, mode, effects) = (&self.policy.facts, self.query.mode, self.query.effects);
        let mut assumes = Vec::new();
        if mode == ApprovalMode::AutoEdit {
            let files = redirection::taken_for_editable(self.analysis, facts, effects);
            let open = files.into_iter().filter(|(at, _)| !self.may_redirect(*at, parts, judged));
            assumes.extend(open.map(|(_, file)| Assumption::Editable(file)));
        }
        // Nobody has spoken of git: it passes for what only reads.
        let passes =
            |index: usize| judged[index].rule.map(|rule| rule.ruling) != Some(Ruling::Allow);
        assumes.extend(self.git_assumption(parts, passes));
        assumes
    }

    /// Git runs no programs of the repository: where it passes without a rule, and always in a folder that is not trusted.
    fn git_assumption(
        &self,
        parts: &[Part<'_>],
        passes: impl Fn(usize) -> bool,
    ) -> Option<Assumption> {
        let (facts, effects) = (&self.policy.facts, self.query.effects);
        let is_open = |(index, part): (usize, &Part<'_>)| {
            part.name() == "git" && (passes(index) || !facts.trusted)
        };
        let is_asked =
            self.query.mode != ApprovalMode::Yolo && parts.iter().enumerate().any(is_open);
        is_asked.then(|| Assumption::PlainGit(folders::folders(self.analysis, facts, effects)))
    }

    /// The rule that allowed the command with this redirection allows redirections, too.
    fn may_redirect(&self, position: usize, parts: &[Part<'_>], judged: &[Judged<'p>]) -> bool {
        let allows = |judged: &Judged<'p>| judged.rule.is_some_and(|rule| rule.allow_redirection);
        let holds = |part: &Part<'_>| {
            part.via.is_empty()
                && self.analysis.sub_commands.iter().any(|sub| {
                    part.written == Some(sub.text.as_str())
                        && (sub.position..sub.position + sub.text.len()).contains(&position)
                })
        };
        match parts.iter().rposition(holds) {
            Some(index) => allows(&judged[index]),
            None => !judged.is_empty() && judged.iter().all(allows),
        }
    }

    /// The first thing that cannot be told and that matters.
    fn untold(&self, parts: &[Part<'_>], judged: &[Judged<'p>]) -> Option<&Unknown> {
        let generic = self.rules.iter().copied().find(|rule| rule.pattern.is_none());
        let is_yolo = self.query.mode == ApprovalMode::Yolo;
        let allows_all = match generic {
            Some(rule) => rule.ruling == Ruling::Allow && !has_reservations(self.rules, rule),
            None => is_yolo && !self.rules.iter().any(|rule| rule.ruling != Ruling::Allow),
        };
        self.analysis.unknown.iter().find(|unknown| {
            if allows_all {
                return !is_yolo && matches!(unknown.reason, Reason::Syntax | Reason::TooMuch);
            }
            let place = parts.iter().rposition(|part| part.position <= unknown.position);
            let Some(place) = place else { return true };
            let (part, judged) = (&parts[place], &judged[place]);
            let by_name = judged.ruling == Ruling::Allow && judged.rule.is_some_and(is_specific);
            !(by_name
                && match unknown.reason {
                    // A script is named: whoever allows the shell to run files has allowed it.
                    Reason::ScriptFile => {
                        part.words.iter().skip(1).flatten().any(|word| !word.starts_with('-'))
                    }
                    Reason::Launcher | Reason::Source => judged.covered.words >= 2,
                    _ => false,
                })
        })
    }
}

/// What comes with a command that a rule allows by name, and that the rule does not speak of.
fn rides_along(part: &Part<'_>, covered: Coverage) -> Option<String> {
    if !covered.variables {
        let odd = part.environment.iter().find(|name| !variables::is_harmless(name));
        if let Some(name) = odd {
            return Some(format!("the variable {name} may change what it does"));
        }
    }
    escapes::escape_of(part, covered.words)
}
