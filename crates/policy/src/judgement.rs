//! Verdicts, and the reasons for them.

use pollux_protocol::{CallConfinement, ConfinementLevel};

use crate::ground::Assumption;
use crate::rule::{Rule, Ruling};

/// Verdict about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyVerdict {
    /// The call may run.
    Allow,
    /// The user must approve the call; without a user it must not run.
    Ask,
    /// The call must not run.
    Deny {
        /// Reason, added to the message for the model.
        message: Option<String>,
    },
}

impl PolicyVerdict {
    /// Converts a ruling to a verdict. If no user can be asked, the caller refuses calls that need
    /// approval.
    pub(crate) fn of(ruling: Ruling, rule: Option<&Rule>) -> Self {
        match ruling {
            Ruling::Allow => Self::Allow,
            Ruling::AskUser => Self::Ask,
            Ruling::Deny => Self::Deny { message: rule.and_then(|rule| rule.deny_message.clone()) },
        }
    }

    /// Returns the string used in policy files.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => Ruling::Allow.as_str(),
            Self::Ask => Ruling::AskUser.as_str(),
            Self::Deny { .. } => Ruling::Deny.as_str(),
        }
    }
}

/// Verdict with the reasons for it.
#[derive(Debug, Clone)]
pub struct Judgement<'a> {
    /// The verdict.
    pub verdict: PolicyVerdict,
    /// Rule that decided; `None` if no rule applied.
    pub rule: Option<&'a Rule>,
    /// Commands of a command line, each with its own ruling.
    pub parts: Vec<PartJudgement<'a>>,
    /// Reason why the verdict differs from the rule's ruling.
    pub reason: Option<String>,
    /// Level of confinement for the command if it runs without a question, or after the user has
    /// allowed it for longer than this call.
    pub level: ConfinementLevel,
    /// Level that was intended. It differs from [`Self::level`] only if the operating system does
    /// not support it.
    pub intended: ConfinementLevel,
    /// True if the command is known to change the configuration of a Git repository.
    pub configures_git: bool,
    /// Conditions on the disk for an allowed call to run.
    pub(crate) assumes: Vec<Assumption>,
}

impl Judgement<'_> {
    /// Returns the confinement of the call under this decision.
    pub fn confinement(&self) -> CallConfinement {
        let Self { level, intended, configures_git, .. } = *self;
        CallConfinement { level, intended, configures_git }
    }
}

/// Ruling about one command of a line.
#[derive(Debug, Clone)]
pub struct PartJudgement<'a> {
    /// The command, its words separated by one space.
    pub text: String,
    /// The ruling.
    pub ruling: Ruling,
    /// Rule that decided.
    pub rule: Option<&'a Rule>,
    /// Reason why the ruling differs from the rule's.
    pub reason: Option<String>,
}

/// Returns the judgement with the strictest ruling.
pub(crate) fn strictest<'a, 'p>(parts: &'a [PartJudgement<'p>]) -> Option<&'a PartJudgement<'p>> {
    let found = |ruling| parts.iter().find(|part| part.ruling == ruling);
    found(Ruling::Deny).or_else(|| found(Ruling::AskUser)).or_else(|| found(Ruling::Allow))
}
