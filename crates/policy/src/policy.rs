//! Decision by the first rule that applies, in priority order. Pure.

use std::sync::{Arc, OnceLock};

use pollux_config::{Expression, ExpressionMatch};
use pollux_protocol::{ApprovalMode, ConfinementLevel, Effects};
use serde_json::Value;

use crate::arguments;
use crate::checker::{Checker, CheckerRule};
use crate::command::RuleSet;
use crate::defaults::{defaults, headless_reads};
use crate::facts::Facts;
use crate::file::PolicyFile;
use crate::index::Index;
use crate::judgement::{Judgement, PolicyVerdict};
use crate::paths::without_detours;
use crate::rule::{Pattern, Rule, Ruling};
use crate::subject::{Query, Subject};

mod allowed_path;
mod permissions;
mod protected;

/// Rules of a session in priority order, with the other inputs to decisions.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Inputs to decisions other than rules and calls.
    pub facts: Facts,
    rules: Vec<Rule>,
    checkers: Vec<CheckerRule>,
    /// Created for the first command line.
    index: OnceLock<Arc<Index>>,
}

impl Default for Policy {
    /// Creates a policy with only the built-in rules.
    fn default() -> Self {
        Self::new(Facts::default(), PolicyFile::default())
    }
}

impl Policy {
    /// Creates a policy with the built-in rules and these ones.
    pub fn new(facts: Facts, added: PolicyFile) -> Self {
        let mut all = defaults();
        if facts.headless_reads && facts.trusted {
            all.extend(headless_reads());
        }
        all.extend(added);
        let PolicyFile { mut rules, mut checkers, .. } = all;
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
        checkers.sort_by_key(|checker| std::cmp::Reverse(checker.priority));
        Self { facts, rules, checkers, index: OnceLock::new() }
    }

    /// Returns the rules in priority order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the safety checkers in priority order.
    pub fn checkers(&self) -> &[CheckerRule] {
        &self.checkers
    }

    /// Adds a rule after the rules of the same priority.
    pub fn add(&mut self, rule: Rule) {
        let at = self.rules.partition_point(|other| other.priority >= rule.priority);
        self.rules.insert(at, rule);
        self.index = OnceLock::new();
    }

    /// Returns the index of the rules that may match a command.
    fn index(&self) -> &Index {
        self.index.get_or_init(|| Arc::new(Index::new(&self.rules)))
    }

    /// Returns a policy that checks every rule for every command.
    #[cfg(test)]
    pub(crate) fn without_index(mut self) -> Self {
        self.index = OnceLock::from(Arc::new(Index::of_nothing(&self.rules)));
        self
    }

    /// Decides about one call.
    pub fn decide(&self, query: Query<'_>) -> PolicyVerdict {
        self.judge(query).verdict
    }

    /// Decides about one call, and returns the deciding rule. Verifies the decision's assumptions
    /// about the disk.
    pub fn judge(&self, query: Query<'_>) -> Judgement<'_> {
        let mut judgement = self.judge_by_text(query);
        if judgement.verdict == PolicyVerdict::Allow {
            let assumes = judgement.assumes.iter();
            let mut faults =
                assumes.filter_map(|assumed| Some((assumed, assumed.fault(&self.facts)?)));
            if let Some((assumed, fault)) = faults.next() {
                if assumed.is_about_level() {
                    let confinement = &self.facts.confinement;
                    (judgement.level, judgement.intended) = confinement.for_allowed();
                }
                judgement.verdict = PolicyVerdict::Ask;
                judgement.reason = Some(fault);
            }
        }
        judgement
    }

    /// Decides based on the rules and texts only.
    fn judge_by_text(&self, query: Query<'_>) -> Judgement<'_> {
        let query = Query {
            subject: query.subject.with_arguments(query.args),
            mode: self.mode(query.mode),
            ..query
        };
        let mut rules = self.concerned(&query.subject, query.mode);
        if let Some(line) = query.effects.command.as_deref() {
            let places: Vec<usize> = rules.map(|(place, _)| place).collect();
            let (facts, rules, index) = (&self.facts, self.rules.as_slice(), self.index());
            return RuleSet { facts, rules, index }.judge(&places, &query, line);
        }
        let call = CallArguments::new(&query);
        let rule = rules.find(|(_, rule)| call.fits(rule, &self.facts)).map(|(_, rule)| rule);
        self.by_rule(rule, query.mode)
    }

    /// Returns the checkers that must examine a call, in their order.
    pub fn checks(&self, query: Query<'_>) -> Vec<&Checker> {
        let query = Query {
            subject: query.subject.with_arguments(query.args),
            mode: self.mode(query.mode),
            ..query
        };
        let call = CallArguments::new(&query);
        let concerned = self.checkers().iter().filter(|checker| {
            checker.rule.concerns(&query.subject, query.mode, self.facts.interactive)
                && call.fits(&checker.rule, &self.facts)
        });
        concerned.map(|checker| &checker.checker).collect()
    }

    /// True for a tool that is declared to the model in this mode: all tools except those that are
    /// denied whatever their arguments are. As in Gemini CLI, a tool is declared even if its calls
    /// need approval and no user can be asked.
    pub fn declares(&self, subject: Subject<'_>, mode: ApprovalMode) -> bool {
        let mode = self.mode(mode);
        for (_, rule) in self.concerned(&subject, mode) {
            match rule.ruling {
                Ruling::Deny if rule.is_conditional() => {}
                Ruling::Deny => return false,
                Ruling::Allow | Ruling::AskUser => return true,
            }
        }
        self.facts.default_ruling(mode) != Ruling::Deny
    }

    /// Returns true if commands of a run without a user may only read in this mode, unless a rule
    /// allows more.
    pub fn only_reads(&self, mode: ApprovalMode) -> bool {
        let is_limited = matches!(mode, ApprovalMode::Default | ApprovalMode::AutoEdit);
        is_limited && self.facts.headless_reads && self.facts.trusted
    }

    /// Returns the effective mode. Yolo mode has no effect while a policy file is invalid.
    pub(crate) fn mode(&self, mode: ApprovalMode) -> ApprovalMode {
        match mode {
            ApprovalMode::Yolo if self.facts.is_suspended => ApprovalMode::Default,
            mode => mode,
        }
    }

    /// Returns the rules that apply to this tool in this mode, whatever its arguments are, with
    /// their indexes.
    pub(crate) fn concerned<'p>(
        &'p self,
        subject: &Subject<'_>,
        mode: ApprovalMode,
    ) -> impl Iterator<Item = (usize, &'p Rule)> {
        let is_void = self.facts.without_approvals || self.facts.is_suspended;
        self.rules.iter().enumerate().filter(move |(_, rule)| {
            !(is_void && rule.priority.is_approval() && rule.ruling == Ruling::Allow)
                && rule.concerns(subject, mode, self.facts.interactive)
        })
    }

    /// Returns the judgement by a rule, or by the default ruling without a rule.
    pub(crate) fn by_rule<'a>(&self, rule: Option<&'a Rule>, mode: ApprovalMode) -> Judgement<'a> {
        let ruling = rule.map_or_else(|| self.facts.default_ruling(mode), |rule| rule.ruling);
        let verdict = PolicyVerdict::of(ruling, rule);
        Judgement {
            verdict,
            rule,
            parts: Vec::new(),
            reason: None,
            level: ConfinementLevel::None,
            intended: ConfinementLevel::None,
            configures_git: false,
            assumes: Vec::new(),
        }
    }
}

impl Rule {
    /// True for a rule whose question is asked for every command, because the settings require it.
    pub fn is_strict(&self) -> bool {
        self.source.label == crate::settings::CONFIRMATION_REQUIRED
    }
}

/// Arguments of a call, for conditions of rules.
pub(crate) struct CallArguments<'a> {
    effects: &'a Effects,
    all: ArgumentForms,
    /// Only the arguments that the tool declares, if there are others.
    declared: Option<ArgumentForms>,
}

/// Arguments in the forms that patterns are matched against.
struct ArgumentForms {
    /// Arguments unchanged; `None` if there are no arguments.
    given: Option<String>,
    /// Arguments with normalized paths, if there are any paths.
    direct: Option<String>,
    /// Arguments with absolute paths.
    absolute: Option<String>,
}

/// Names of arguments that contain the path of a call.
pub(crate) const PATH_KEYS: [&str; 3] = ["file_path", "dir_path", "path"];

impl<'a> CallArguments<'a> {
    pub(crate) fn new(query: &Query<'a>) -> Self {
        let effects = query.effects;
        let declared = query.declared_args().map(|args| ArgumentForms::new(&args, effects));
        Self { effects, all: ArgumentForms::new(query.args, effects), declared }
    }

    pub(crate) fn fits(&self, rule: &Rule, facts: &Facts) -> bool {
        match &rule.pattern {
            None => true,
            Some(Pattern::Arguments(expression)) => self.matches(expression, rule.ruling),
            Some(Pattern::Plans) => {
                !self.effects.unknown
                    && self.effects.changes().next().is_some()
                    && self.effects.changes().all(|path| facts.is_plan(path))
            }
            // Only calls that declare a command have one, and those are judged by the parts of the
            // command.
            Some(Pattern::Prefix(_) | Pattern::Command(_)) => false,
        }
    }

    /// A deny rule matches any of the forms; an allow rule must match the call's actual target.
    fn matches(&self, expression: &Expression, ruling: Ruling) -> bool {
        let forms = match &self.declared {
            Some(declared) if ruling == Ruling::Allow => declared,
            _ => &self.all,
        };
        let found = |text: &Option<String>| text.as_deref().map(|text| expression.find(text));
        let [given, direct, absolute] =
            [found(&forms.given), found(&forms.direct), found(&forms.absolute)];
        if ruling == Ruling::Allow {
            absolute.is_some_and(ExpressionMatch::is_sure)
                || (given.is_some_and(ExpressionMatch::is_sure)
                    && direct.is_none_or(ExpressionMatch::is_sure))
        } else {
            [given, direct, absolute].into_iter().flatten().any(ExpressionMatch::is_possible)
        }
    }
}

impl ArgumentForms {
    fn new(args: &Value, effects: &Effects) -> Self {
        let key = PATH_KEYS.into_iter().find(|key| args.get(key).is_some_and(Value::is_string));
        let path = key.and_then(|key| args.get(key)?.as_str());
        let confined = effects.confined_to();
        let target = confined.first();
        let with = |text: &str| key.map(|key| arguments::text_with(args, Some((key, text))));
        let has_detour =
            |path: &str| path.split(['/', '\\']).any(|part| matches!(part, "." | ".."));
        Self {
            given: (!args.is_null()).then(|| arguments::text(args)),
            direct: path
                .filter(|path| has_detour(path))
                .and_then(|path| with(&without_detours(path))),
            absolute: target.and_then(|target| with(&target.to_string_lossy())),
        }
    }
}

#[cfg(test)]
mod tests;
