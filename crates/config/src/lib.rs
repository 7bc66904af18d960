//! Configuration of a run.
//!
//! This crate finds, reads and merges everything that configures a run: settings files in four
//! layers, environment variables, the `.env` file, trusted folders, the project's identity and its
//! context files (`GEMINI.md`, `AGENTS.md`). Names, formats and messages are those of Gemini CLI
//! 0.61, so that both programs can share one home directory.
//!
//! It does not parse the command line, sign in, or access a model; it never changes the process
//! environment; and it prints nothing: messages for the user are returned as text.
//!
//! A program calls in this order at its start: [`Environment::from_process`], [`Places::new`],
//! [`find()`] (settings of the user and the system, trust, consent items of the project),
//! [`PendingSettings::load`] with the accepted items (or [`load()`] for both),
//! [`ProjectIdentity::resolve`], [`context::discover`].

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod approval;
pub mod assign;
pub mod auth;
pub mod consent;
pub mod context;
pub mod custom_commands;
pub mod dotenv;
pub mod edit;
pub mod environment;
mod error;
mod explain;
mod expression;
mod files;
pub mod guard;
pub mod imports;
mod installation;
mod interpolate;
pub mod jsonc;
mod key_bindings;
mod load;
mod merge;
mod migrate;
mod places;
mod project;
pub mod protected;
mod report;
pub mod schema;
mod secrets;
mod server_lists;
mod settings;
pub mod skills;
mod trust;
mod validate;
mod write;

pub use approval::{ApprovalDecision, ApprovalModeError, ApprovalRequest, resolve_approval};
pub use auth::{AuthType, replaced_auth_type, select_auth_type};
pub use consent::Accepted;
pub use context::{ContextFile, ContextFiles, ContextOptions};
pub use dotenv::DotEnv;
pub use environment::{Environment, names};
pub use error::{ConfigError, Position, SyntaxError};
pub use explain::{Explanation, ExplanationStep, Given, Inspection, SourceOutcome, ValueSource};
pub use expression::{Expression, ExpressionError, ExpressionErrorKind, ExpressionMatch};
pub use imports::ImportFormat;
pub use installation::installation_id;
pub use interpolate::{
    interpolate, interpolate_server, interpolate_settings, interpolate_text, unset_in_headers,
};
pub use key_bindings::{KeyBinding, read_key_bindings};
pub use load::{
    Layer, LayerFile, LayerFileState, LayerKind, LoadOptions, Loaded, PendingSettings, find, load,
};
pub use merge::{merge_into, strategy};
pub use places::{GEMINI_DIR, Places};
pub use project::ProjectIdentity;
pub use report::{Remark, RemarkKind, report};
pub use secrets::masked;
pub use server_lists::{ServerLists, server_lists};
pub use settings::{
    AuthSettings, ContextSettings, OtlpProtocol, Settings, TelemetrySettings, TelemetryTarget,
};
pub use trust::{Trust, TrustLevel, TrustQuestion, TrustSource, TrustState, TrustStore};
pub use validate::{Issue, check_value};
pub use write::{Changed, FileScope, edit_file, migrate_file};
