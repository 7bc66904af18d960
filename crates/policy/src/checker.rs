//! Safety checkers: programs and built-in checks that examine a call which the rules would allow.
//! They can make a verdict stricter, never weaker.

use serde_json::{Map, Value};

use crate::fields::{Fault, Fields};
use crate::judgement::PolicyVerdict;
use crate::rule::Rule;

mod external;

pub use external::{CheckedCall, CheckerProgram, CheckerPrograms};

/// Name of the check that a model makes.
const CONSECA: &str = "conseca";

/// Implementation of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckerKind {
    /// A built-in check: `allowed-path` or `conseca`.
    InProcess,
    /// A program.
    External,
}

/// Checker as a policy file declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checker {
    /// Built-in check or program.
    pub kind: CheckerKind,
    /// Name of the checker.
    pub name: String,
    /// Context that the checker needs: `environment`, `history`; empty for both.
    pub required_context: Vec<String>,
    /// Configuration of the checker.
    pub config: Option<Map<String, Value>>,
}

/// Checker with the calls that it examines.
#[derive(Debug, Clone)]
pub struct CheckerRule {
    /// Conditions; the rule's ruling is not used.
    pub rule: Rule,
    /// Priority; checkers with larger numbers run first.
    pub priority: i64,
    /// The checker.
    pub checker: Checker,
}

/// Result of a checker for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckerFinding {
    /// No objection. The remark may report a problem with the check itself.
    Allow {
        /// Message for the user.
        remark: Option<String>,
    },
    /// The user must approve the call, for this reason.
    Ask(String),
    /// The call must not run, for this reason.
    Deny(String),
}

impl CheckerFinding {
    /// A finding without objection or remark.
    pub const ALLOW: Self = Self::Allow { remark: None };

    /// Returns the verdict combined with this finding.
    pub fn over(&self, verdict: PolicyVerdict) -> PolicyVerdict {
        match (self, verdict) {
            (_, deny @ PolicyVerdict::Deny { .. }) => deny,
            (Self::Deny(message), _) => PolicyVerdict::Deny { message: Some(message.clone()) },
            (Self::Ask(_), _) => PolicyVerdict::Ask,
            (Self::Allow { .. }, verdict) => verdict,
        }
    }
}

impl Checker {
    /// True for the check that a model makes.
    pub fn is_conseca(&self) -> bool {
        self.kind == CheckerKind::InProcess && self.name == CONSECA
    }

    /// True if the checker needs this context: `environment` or `history`.
    pub fn wants(&self, context: &str) -> bool {
        self.required_context.is_empty() || self.required_context.iter().any(|name| name == context)
    }

    /// Reads a checker from the table of a `[[safety_checker]]`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_makes_a_verdict_stricter_never_weaker() {
        let deny = |text: &str| PolicyVerdict::Deny { message: Some(text.to_owned()) };
        let (ask, no) =
            (CheckerFinding::Ask("why".to_owned()), CheckerFinding::Deny("no".to_owned()));
        for (finding, verdict, expected) in [
            (&CheckerFinding::ALLOW, PolicyVerdict::Allow, PolicyVerdict::Allow),
            (&CheckerFinding::ALLOW, PolicyVerdict::Ask, PolicyVerdict::Ask),
            (&CheckerFinding::ALLOW, deny("a"), deny("a")),
            (&ask, PolicyVerdict::Allow, PolicyVerdict::Ask),
            (&ask, PolicyVerdict::Ask, PolicyVerdict::Ask),
            (&ask, deny("a"), deny("a")),
            (&no, PolicyVerdict::Allow, deny("no")),
            (&no, PolicyVerdict::Ask, deny("no")),
            (&no, deny("a"), deny("a")),
        ] {
            assert_eq!(finding.over(verdict.clone()), expected, "{finding:?} {verdict:?}");
        }
    }
}
