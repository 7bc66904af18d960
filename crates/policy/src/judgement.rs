//! The answer, and how it came about.

use pollux_protocol::{CallConfinement, ConfinementLevel};

use crate::ground::Assumption;
use crate::rule::{Rule, Ruling};

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person must say yes; where there is none it may not run.
    Ask,
    /// It may not run.
    Deny {
        /// Why, as an addition to what the model is told.
        message: Option<String>,
    },
}

impl Verdict {
    /// The word of policy files.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => Ruling::Allow.as_str(),
            Self::Ask => Ruling::AskUser.as_str(),
            Self::Deny { .. } => Ruling::Deny.as_str(),
        }
    }
}

/// The answer, and how it came about.
#[derive(Debug, Clone)]
pub struct Judgement<'a> {
    /// The answer.
    pub verdict: Verdict,
    /// The rule that decided; none when no rule applied, or when what it allows had to be asked about all the same.
    pub rule: Option<&'a Rule>,
    /// The commands of a command line, each with its own ruling.
    pub parts: Vec<PartJudgement<'a>>,
    /// Why the answer is another one than the rule's, in words.
    pub reason: Option<String>,
    /// Level of confinement for the command if it runs without a question, or once a person allows it for longer than
    /// this call.
    pub level: ConfinementLevel,
    /// Level that [`Self::level`] replaces because the operating system cannot give it; otherwise the same.
    pub intended: ConfinementLevel,
    /// The command is known to change the configuration of a Git repository.
    pub configures_git: bool,
    /// What must hold on the disk for an allowed call to run.
    pub(crate) assumes: Vec<Assumption>,
}

impl Judgement<'_> {
    /// Confinement of the call under this decision.
    pub fn confinement(&self) -> CallConfinement {
        let Self { level, intended, configures_git, .. } = *self;
        CallConfinement { level, intended, configures_git }
    }
}

/// What is said about one command of a line.
#[derive(Debug, Clone)]
pub struct PartJudgement<'a> {
    /// The command, its words parted by one space.
    pub text: String,
    /// What is said.
    pub ruling: Ruling,
    /// By which rule.
    pub rule: Option<&'a Rule>,
    /// Why it is something else than the rule says.
    pub reason: Option<String>,
}
