//! Opening of sessions; the crate that connects all others.
//!
//! From a folder, options and an environment it builds a running agent: settings and consent,
//! rules, memory, budgets, prompt inputs, tools, models, session log, telemetry, slash commands. A
//! frontend gets a handle and exchanges `Op`s and `Event`s; it needs no other crate.
//!
//! Limits: this crate reads no command line, no standard stream and no variable of the process.
//! Messages to the user go to the `Notices` that the caller passes. It does not map errors to exit
//! codes: [`SessionFailure`] names the kind of failure.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod answer_schema;
mod assemble;
mod auto_memory;
mod budget;
mod checkpoints;
mod closing;
pub mod commands;
mod consent;
mod custom_commands;
mod discovery;
pub mod extensions;
mod google_sign_in;
pub mod hooks;
mod host;
mod idle;
mod left_behind;
mod memory;
mod model_table;
mod models;
mod opening;
mod options;
mod platform;
mod policy;
mod prepared;
mod preview;
mod prompt;
mod references;
mod reload;
mod reports;
mod rules;
mod running;
mod servers;
mod sessions;
mod setting_entries;
mod settings_files;
mod setup;
mod sign_in;
pub mod skills;
mod state;
mod subagents;
mod telemetry;
mod tools;

pub use answer_schema::OutputSchema;
pub use closing::{RESTARTED, notice_text};
pub use google_sign_in::GoogleSignInError;
pub use host::Host;
pub use left_behind::revert_left_behind;
pub use model_table::{model_json, model_table};
pub use options::{PromptLimits, RuleOptions, RunOptions};
pub use pollux_mcp::{
    Authorization, OAuthError, Probed, ProbedPrompt, ProbedStep, ServerConfig, ServerResource,
    SignInUser, Unreachable,
};
pub use pollux_models::catalog::model_names;
pub use pollux_models::{Fault, Probe, ReplaySource, SignInReport, SignInWay};
pub use preview::PromptPreview;
pub use rules::{problem_notices, unknown_tools};
pub use servers::{Configured, Enablement, StartPermission};
pub use settings_files::{
    SettingChange, SettingChangeError, SettingsFiles, explanation_text, place, shown,
};
pub use setup::{Setup, SetupInput, load_options};
