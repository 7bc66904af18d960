//! The loop: a prompt goes in, the model is asked, its calls run, it is asked again, until it is done.
//!
//! [`spawn`] starts a [`Session`] on the current runtime and gives back a handle that speaks `Op` down
//! and `Event` up. Inside, [`Chat`] turns one request into one usable answer (restarting streams that
//! are not), [`Scheduler`] runs the calls of one answer, and everything durable goes through the journal
//! before it takes effect. The agent never prints, never reads a key and never opens a socket: it sees
//! models, tools, journal and person only as ports.

mod beside;
mod budget;
mod chat;
mod commands;
pub mod compression;
mod conseca;
mod context;
mod emitter;
pub mod extraction;
mod fill;
mod handle;
mod hook_events;
mod instruction;
mod loop_guard;
mod masking;
mod memory;
mod mode;
mod next_speaker;
mod operator;
mod prompt;
mod response;
mod scheduler;
mod session;
mod standing;
mod steering;
mod toolset;
mod turn;
mod validity;
mod watch;

pub use beside::WatchedModels;
pub use budget::{Budget, Spending};
pub use chat::{Chat, StreamRetries};
pub use context::{CONTEXT_ENTRY_ID, SessionContext};
pub use emitter::Emitter;
pub use handle::{Handle, WeakHandle, spawn};
pub use masking::MaskingOptions;
pub use memory::SessionMemory;
pub use next_speaker::NextSpeakerOptions;
pub use prompt::{
    PromptInputs, Sandbox, Section, Situation, Skill, Subagent, SystemPrompt, system_prompt,
};
pub use scheduler::{ApprovalChoices, Batch, Scheduler, denied, nobody_to_ask};
pub use session::{AnswerForm, CompressionOptions, Loading, Session, SessionParts};
pub use standing::Standing;
pub use toolset::Toolset;
