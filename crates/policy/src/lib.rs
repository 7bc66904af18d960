//! May this call run?
//!
//! The answer is a pure function of rules, the call and the approval mode: no clock, no person. What it assumes about the
//! disk is looked up at the end (`ground`), and can only make the answer stricter. Rules are
//! values; they come from the files that Pollux brings along, those of extensions, the project, the person and the
//! administrator, and from settings. Asking a person, when the answer is [`Verdict::Ask`], is the agent's business, and
//! so is running the checkers that concern a call ([`Policy::checks`]); the programs among them run here
//! ([`CheckerPrograms`]), which is all that is not pure.

mod approval;
mod arguments;
mod checker;
mod command;
mod defaults;
mod expression;
mod facts;
mod file;
mod ground;
mod index;
mod judgement;
mod lint;
mod names;
mod policy;
mod prefix;
mod problem;
mod protected;
mod rule;
mod settings;
mod store;
mod subject;

pub use approval::{Approval, ApprovalError, FILE_NAME as APPROVALS_FILE, Scope};
pub use checker::{
    CheckedCall, Checker, CheckerKind, CheckerProgram, CheckerPrograms, CheckerRule, Finding,
};
pub use expression::{Expression, ExpressionError, Found};
pub use facts::{ConfinementFacts, Facts};
pub use file::{PolicyFile, read};
pub use judgement::{Judgement, PartJudgement, Verdict};
pub use lint::{RuleReach, rule_reach};
pub use names::renamed;
pub use policy::Policy;
pub use prefix::Prefix;
pub use problem::{Problem, ProblemKind};
pub use rule::{Modes, Pattern, Priority, Rule, Ruling, Source, Tier, ToolPattern};
pub use settings::ToolLists;
pub use store::{FoundPolicies, PolicyPlaces, consent_items};
pub use subject::{Query, Subject};
