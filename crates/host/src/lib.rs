//! Opening a session: where everyone meets.
//!
//! From a folder, options and an environment to an agent at work: settings and consent, rules, memory, budgets, prompt
//! inputs, tools, models, session log, telemetry, slash commands. A frontend gets a handle and speaks `Op` and `Event`;
//! it need not know any other crate.
//!
//! What it is not: it reads no command line, no standard stream and no variable of the process; messages to the person
//! go to the `Notices` that it is given. It maps no error to an exit code: [`HostError`] says what kind of failure it
//! is.

mod answer_schema;
mod assemble;
mod auto_memory;
mod budget;
mod closing;
pub mod commands;
mod consent;
mod credentials;
mod discovery;
mod error;
pub mod hooks;
mod host;
mod memory;
mod models;
mod options;
mod platform;
mod policy;
mod preview;
mod prompt;
mod references;
mod reload;
mod reports;
mod rules;
mod running;
mod sessions;
mod setup;
mod sign_in;
mod telemetry;

pub use answer_schema::OutputSchema;
pub use closing::notice_text;
pub use error::HostError;
pub use host::Host;
pub use options::{PromptLimits, RuleOptions, RunOptions};
pub use pollux_models::ReplaySource;
pub use preview::PromptPreview;
pub use references::{Expander, PromptSource};
pub use rules::problem_notices;
pub use running::{PreparedSession, Running};
pub use sessions::ChosenSession;
pub use setup::{Setup, load_options};
