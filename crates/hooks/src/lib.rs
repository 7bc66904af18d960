//! The user's programs at the agent's events.
//!
//! Settings name programs (hooks) for the events of [`pollux_protocol::HookEvent`]. [`read`] finds them,
//! [`Hooks`] holds those that are in force and runs them: [`Hooks::fire`] gives each the event as JSON on its
//! standard input, reads what it decided from its standard output, and puts the decisions of all of them
//! together as one [`HookResult`]. [`llm`] is the form in which requests and answers of models are told to
//! programs and changed by them. Formats and rules are those of Gemini CLI, so that its hooks run unchanged.
//!
//! What it is not: it does not know when events take place and does not act on a decision (the agent does both),
//! asks nobody for consent ([`consent_items`] says what would have to be asked), and reads no settings file itself.
//!
//! A hook is a program of somebody else: whatever it prints, and however long it runs, costs its time limit and a
//! warning, nothing more.

mod commands;
mod consent;
mod definition;
mod hooks;
pub mod llm;
mod matcher;
mod merge;
mod migrate;
mod output;
mod plan;
mod run;
mod sample;
mod script;

pub use commands::{SaveDisabled, commands};
pub use consent::consent_items;
pub use definition::{DEFAULT_TIMEOUT, Found, Hook, HookSource, read};
pub use hooks::{Fired, HookOptions, Hooks};
pub use merge::{HookResult, TailCall, fenced};
pub use migrate::{MigrateError, Migrated, migrate};
pub use output::{Reply, parse};
pub use run::HookRun;
pub use sample::sample;
