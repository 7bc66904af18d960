//! User-defined programs that run at the agent's events.
//!
//! Settings define programs (hooks) for the events of [`pollux_protocol::HookEvent`]. [`read`]
//! reads these definitions. [`Hooks`] holds the hooks that may run and runs them: [`Hooks::fire`]
//! passes each program the event as JSON on its standard input, reads its decision from its
//! standard output, and combines the decisions of all programs into one [`HookResult`]. [`llm`]
//! converts model requests and responses to the form in which programs receive and change them.
//! Formats and rules are those of Gemini CLI, so that its hooks run unchanged.
//!
//! This crate does not detect events and does not act on decisions (the agent does both). It does
//! not ask for consent ([`consent_items`] lists the items that need consent), and it does not read
//! settings files.
//!
//! A hook is an untrusted program: its output and run time cannot cause more harm than the use of
//! its time limit and a warning.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

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
pub use definition::{DEFAULT_TIMEOUT, Hook, HookDefinitions, HookSource, read, read_extension};
pub use hooks::{EventResult, HookOptions, Hooks};
pub use merge::{HookResult, TailCall, fenced};
pub use migrate::{MigrateError, Migrated, migrate};
pub use output::{HookReply, parse};
pub use run::HookRun;
pub use sample::sample;
