//! The decision: the first rule that applies, in the order of their ranks. Pure.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use pollux_protocol::{ApprovalMode, ConfinementLevel, Effects};
use serde_json::Value;

use crate::arguments;
use crate::checker::CheckerRule;
use crate::command;
use crate::defaults::defaults;
use crate::expression::Expression;
use crate::facts::Facts;
use crate::file::PolicyFile;
use crate::index::Index;
use crate::judgement::{Judgement, Verdict};
use crate::rule::{Pattern, Rule, Ruling};
use crate::subject::{Query, Subject};

/// The rules of a session, in the order of their ranks, and what decisions rest on beside them.
#[derive(Debug, Clone)]
pub struct Policy {
    /// What decisions rest on beside the rules.
    pub facts: Facts,
    rules: Vec<Rule>,
    checkers: Vec<CheckerRule>,
    /// Made when the first command line is judged.
    index: OnceLock<Arc<Index>>,
}

impl Default for Policy {
    /// Only the rules that Pollux brings along.
    fn default() -> Self {
        Self::new(Facts::default(), PolicyFile::default())
    }
}

impl Policy {
    /// The rules that Pollux brings along and these.
    pub fn new(facts: Facts, added: PolicyFile) -> Self {
        let mut all = defaults();
        all.extend(added);
        let PolicyFile { mut rules, mut checkers, .. } = all;
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
        checkers.sort_by_key(|checker| std::cmp::Reverse(checker.priority));
        Self { facts, rules, checkers, index: OnceLock::new() }
    }

    /// The rules, the highest first.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The safety checkers, the first first.
    pub fn checkers(&self) -> &[CheckerRule] {
        &self.checkers
    }

    /// Adds a rule behind those of its own rank.
    pub fn add(&mut self, rule: Rule) {
        let at = self.rules.partition_point(|other| other.priority >= rule.priority);
        self.rules.insert(at, rule);
        self.index = OnceLock::new();
    }

    /// Where the rules are that may mean a command.
    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| Arc::new(Index::new(&self.rules)))
    }

    /// Every rule is asked about every command.
    #[cfg(test)]
    pub(crate) fn without_index(mut self) -> Self {
        self.index = OnceLock::from(Arc::new(Index::of_nothing(&self.rules)));
        self
    }

    /// Decides about one call.
    pub fn decide(&self, query: Query<'_>) -> Verdict {
        self.judge(query).verdict
    }

    /// Decides about one call, and says by which rule. What the decision assumes about the disk is looked up there.
    pub fn judge(&self, query: Query<'_>) -> Judgement<'_> {
        let mut judgement = self.judge_by_text(query);
        if judgement.verdict == Verdict::Allow {
            let fault = judgement.assumes.iter().find_map(|assumed| assumed.fault(&self.facts));
            if let Some(fault) = fault {
                judgement.verdict = Verdict::Ask;
                judgement.reason = Some(fault);
            }
        }
        judgement
    }

    /// The decision as far as rules and texts tell.
    fn judge_by_text(&self, query: Query<'_>) -> Judgement<'_> {
        let query = Query {
            subject: query.subject.with_arguments(query.args),
            mode: self.mode(query.mode),
            ..query
        };
        let mut rules = self.concerned(&query.subject, query.mode);
        if let Some(line) = query.effects.command.as_deref() {
            let places: Vec<usize> = rules.map(|(place, _)| place).collect();
            return command::judge(self, &places, &query, line);
        }
        let call = CallArguments::new(&query);
        let rule = rules.find(|(_, rule)| call.fits(rule, &self.facts)).map(|(_, rule)| rule);
        self.by_rule(rule, query.mode)
    }

    /// True for a tool that is declared to the model in this mode: all but those that are forbidden whatever they are
    /// given. As in Gemini CLI a tool is declared also where its question would find nobody.
    pub fn declares(&self, subject: Subject<'_>, mode: ApprovalMode) -> bool {
        let mode = self.mode(mode);
        for (_, rule) in self.concerned(&subject, mode) {
            match rule.ruling {
                Ruling::Deny if rule.is_conditional() => {}
                Ruling::Deny => return false,
                Ruling::Allow | Ruling::AskUser => return true,
            }
        }
        self.default_ruling(mode) != Ruling::Deny
    }

    /// The mode that counts. While a file is broken, yolo does not.
    pub(crate) fn mode(&self, mode: ApprovalMode) -> ApprovalMode {
        match mode {
            ApprovalMode::Yolo if self.facts.is_suspended => ApprovalMode::Default,
            mode => mode,
        }
    }

    /// The rules that apply to this tool in this mode, whatever its arguments, with their places.
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

    /// What holds where no rule applies.
    pub(crate) fn default_ruling(&self, mode: ApprovalMode) -> Ruling {
        match mode {
            ApprovalMode::Yolo => Ruling::Allow,
            _ if self.facts.interactive => Ruling::AskUser,
            _ => Ruling::Deny,
        }
    }

    /// What a rule says, or what holds without one.
    pub(crate) fn by_rule<'a>(&self, rule: Option<&'a Rule>, mode: ApprovalMode) -> Judgement<'a> {
        let ruling = rule.map_or_else(|| self.default_ruling(mode), |rule| rule.ruling);
        let verdict = Self::verdict(ruling, rule);
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

    /// A ruling as an answer. Where nobody can be asked, who runs calls refuses what would have to be asked about.
    pub(crate) fn verdict(ruling: Ruling, rule: Option<&Rule>) -> Verdict {
        match ruling {
            Ruling::Allow => Verdict::Allow,
            Ruling::AskUser => Verdict::Ask,
            Ruling::Deny => {
                Verdict::Deny { message: rule.and_then(|rule| rule.deny_message.clone()) }
            }
        }
    }
}

impl Rule {
    /// Its question is asked whatever the command: the settings demand it.
    pub fn is_strict(&self) -> bool {
        self.source.label == crate::settings::CONFIRMATION_REQUIRED
    }
}

/// The arguments of a call in the forms that patterns look at.
pub(crate) struct CallArguments<'a> {
    effects: &'a Effects,
    /// As they are; none when there are none.
    given: Option<String>,
    /// With paths without detours, when there are any.
    direct: Option<String>,
    /// With whole paths.
    absolute: Option<String>,
}

/// Arguments that hold the path which a call is about.
pub(crate) const PATH_KEYS: [&str; 3] = ["file_path", "dir_path", "path"];

impl<'a> CallArguments<'a> {
    pub(crate) fn new(query: &Query<'a>) -> Self {
        let key =
            PATH_KEYS.into_iter().find(|key| query.args.get(key).is_some_and(Value::is_string));
        let path = key.and_then(|key| query.args.get(key)?.as_str());
        let effects = query.effects;
        let confined = effects.confined_to();
        let target = confined.first();
        let with = |text: &str| key.map(|key| arguments::text_with(query.args, Some((key, text))));
        let has_detour =
            |path: &str| path.split(['/', '\\']).any(|part| matches!(part, "." | ".."));
        Self {
            effects,
            given: (!query.args.is_null()).then(|| arguments::text(query.args)),
            direct: path
                .filter(|path| has_detour(path))
                .and_then(|path| with(&without_detours(path))),
            absolute: target.and_then(|target| with(&target.to_string_lossy())),
        }
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
            // Only calls that declare a command have one, and those are judged by its parts.
            Some(Pattern::Prefix(_) | Pattern::Command(_)) => false,
        }
    }

    /// What is forbidden is forbidden in whatever form; what is allowed must be what the call is about.
    fn matches(&self, expression: &Expression, ruling: Ruling) -> bool {
        let found = |text: &Option<String>| text.as_deref().map(|text| expression.find(text));
        let [given, direct, absolute] =
            [found(&self.given), found(&self.direct), found(&self.absolute)];
        if ruling == Ruling::Allow {
            absolute.is_some_and(super::expression::Found::is_sure)
                || (given.is_some_and(super::expression::Found::is_sure)
                    && direct.is_none_or(super::expression::Found::is_sure))
        } else {
            [given, direct, absolute]
                .into_iter()
                .flatten()
                .any(super::expression::Found::is_possible)
        }
    }
}

/// A path without `.` and without `..` as far as the text tells.
fn without_detours(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A relative path as it is meant in `folder`, without detours as far as the text tells.
pub(crate) fn lexical(folder: &Path, path: &str) -> std::path::PathBuf {
    std::path::PathBuf::from(without_detours(&folder.join(path).to_string_lossy()))
}

#[cfg(test)]
mod tests;
