//! Safety checkers: programs and built-in checks that look at a call which the rules would let run. They can make a
//! verdict stricter, never weaker.

use serde_json::{Map, Value};

use crate::file::{Fault, Fields};
use crate::judgement::Verdict;
use crate::policy::{CallArguments, Policy};
use crate::rule::Rule;
use crate::subject::Query;

mod allowed_path;
mod external;
mod permissions;
mod protected;

pub use external::{CheckedCall, CheckerProgram, CheckerPrograms};

/// The check that a model makes.
const CONSECA: &str = "conseca";

/// What does the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckerKind {
    /// A built-in check: `allowed-path` or `conseca`.
    InProcess,
    /// A program.
    External,
}

/// A checker as a file names it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checker {
    /// Built in, or a program.
    pub kind: CheckerKind,
    /// Its name.
    pub name: String,
    /// What it must be told: `environment`, `history`; nothing named means both.
    pub required_context: Vec<String>,
    /// Its own settings.
    pub config: Option<Map<String, Value>>,
}

/// A checker and the calls that it looks at.
#[derive(Debug, Clone)]
pub struct CheckerRule {
    /// The conditions; the ruling in it means nothing.
    pub rule: Rule,
    /// Checkers with larger numbers look first.
    pub priority: i64,
    /// What looks.
    pub checker: Checker,
}

/// What a checker makes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Nothing speaks against it. It may tell what went wrong with the check itself.
    Allow {
        /// What the person should know.
        remark: Option<String>,
    },
    /// A person must say yes, for this reason.
    Ask(String),
    /// It may not run, for this reason.
    Deny(String),
}

impl Finding {
    /// Nothing speaks against it.
    pub const ALLOW: Self = Self::Allow { remark: None };

    /// The verdict with this finding.
    pub fn over(&self, verdict: Verdict) -> Verdict {
        match (self, verdict) {
            (_, deny @ Verdict::Deny { .. }) => deny,
            (Self::Deny(message), _) => Verdict::Deny { message: Some(message.clone()) },
            (Self::Ask(_), _) => Verdict::Ask,
            (Self::Allow { .. }, verdict) => verdict,
        }
    }
}

impl Policy {
    /// The checkers that are to look at a call, in their order.
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
}

impl Checker {
    /// True for the check that a model makes.
    pub fn is_conseca(&self) -> bool {
        self.kind == CheckerKind::InProcess && self.name == CONSECA
    }

    /// True when it wants to know this: `environment` or `history`.
    pub fn wants(&self, context: &str) -> bool {
        self.required_context.is_empty() || self.required_context.iter().any(|name| name == context)
    }

    /// From the table of a `[[safety_checker]]`.
    pub(crate) fn read(fields: &Fields<'_, '_>) -> Result<Self, Fault> {
        let Some(table) = fields.table("checker")? else {
            return Err(fields.fault("checker", "is required"));
        };
        let kind = match table.text("type")?.as_deref() {
            Some("in-process") => CheckerKind::InProcess,
            Some("external") => CheckerKind::External,
            _ => return Err(table.fault("type", "must be in-process or external")),
        };
        let Some(name) = table.text("name")? else {
            return Err(table.fault("name", "is required"));
        };
        if kind == CheckerKind::InProcess && !["allowed-path", CONSECA].contains(&name.as_str()) {
            return Err(table.fault("name", "must be allowed-path or conseca for type in-process"));
        }
        let required_context = table.texts("required_context")?.map(|(names, _)| names);
        let required_context = required_context.unwrap_or_default();
        if required_context.iter().any(|name| !["environment", "history"].contains(&name.as_str()))
        {
            return Err(table.fault("required_context", "may name environment and history"));
        }
        let config = table.table("config")?.map(|config| config.object());
        Ok(Self { kind, name, required_context, config })
    }
}

/// Returns the name of a file or folder in the form in which names are compared: some file systems ignore case, streams,
/// and dots and blanks at the end.
pub(crate) fn plain_name(name: &std::ffi::OsStr) -> String {
    let name = name.to_string_lossy().to_lowercase();
    name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']).to_owned()
}

/// Why a file at this path is not changed without a question, by its name alone.
pub(crate) fn path_fault(path: &std::path::Path) -> Option<&'static str> {
    let faults = path.components().filter_map(|component| {
        match plain_name(component.as_os_str()).as_str() {
            ".git" => Some(".git"),
            ".env" => Some(".env"),
            "node_modules" => Some("node_modules"),
            ".vscode" => Some(".vscode"),
            _ => None,
        }
    });
    faults.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_makes_a_verdict_stricter_never_weaker() {
        let deny = |text: &str| Verdict::Deny { message: Some(text.to_owned()) };
        let (ask, no) = (Finding::Ask("why".to_owned()), Finding::Deny("no".to_owned()));
        for (finding, verdict, expected) in [
            (&Finding::ALLOW, Verdict::Allow, Verdict::Allow),
            (&Finding::ALLOW, Verdict::Ask, Verdict::Ask),
            (&Finding::ALLOW, deny("a"), deny("a")),
            (&ask, Verdict::Allow, Verdict::Ask),
            (&ask, Verdict::Ask, Verdict::Ask),
            (&ask, deny("a"), deny("a")),
            (&no, Verdict::Allow, deny("no")),
            (&no, Verdict::Ask, deny("no")),
            (&no, deny("a"), deny("a")),
        ] {
            assert_eq!(finding.over(verdict.clone()), expected, "{finding:?} {verdict:?}");
        }
    }
}
