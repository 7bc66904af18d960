//! Decisions whether a call may run.
//!
//! A decision is a pure function of rules, the call and the approval mode: it depends neither on a
//! clock nor on the user. Its assumptions about the disk are verified at the end (`ground`), which
//! can only make the verdict stricter. Rules are values; they come from Pollux's built-in files,
//! from the files of extensions, the project, the user and the administrator, and from settings.
//! The agent asks the user if the verdict is [`PolicyVerdict::Ask`], and runs the checkers that
//! apply to a call ([`Policy::checks`]). Checkers that are external programs run in this crate
//! ([`CheckerPrograms`]); they are the only part that is not pure.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod approval;
mod arguments;
mod checker;
mod command;
mod defaults;
mod facts;
mod fields;
mod file;
mod ground;
mod index;
mod judgement;
mod lint;
mod names;
mod one_line;
mod paths;
mod policy;
mod prefix;
mod problem;
mod protected;
mod rule;
mod settings;
mod store;
mod subject;

pub use approval::{Approval, ApprovalScope, SaveApprovalError};
pub use checker::{
    CheckedCall, Checker, CheckerFinding, CheckerKind, CheckerProgram, CheckerPrograms, CheckerRule,
};
pub use facts::{ConfinementFacts, Facts};
pub use file::{PolicyFile, read};
pub use judgement::{Judgement, PartJudgement, PolicyVerdict};
pub use lint::{RuleReach, rule_reach};
pub use names::{is_tool_name, renamed};
pub use policy::Policy;
pub use prefix::Prefix;
pub use problem::{Problem, ProblemKind};
pub use rule::{
    APPROVALS_FILE, Modes, Pattern, Priority, Rule, RuleSource, Ruling, Tier, ToolPattern,
};
pub use settings::{ToolLists, unknown_tools};
pub use store::{FoundPolicies, PolicyPlaces, consent_items};
pub use subject::{Query, Subject};
