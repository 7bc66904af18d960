//! The agent loop: sends a prompt to the model, runs the tool calls of the answer, and sends their
//! results back, until the model finishes the prompt.
//!
//! [`spawn`] starts an [`AgentLoop`] on the current runtime and returns a handle. The handle
//! accepts each `Op` and delivers each `Event`. Inside the loop, [`Conversation`](conversation)
//! holds the history and its log, [`Chat`](chat) turns one request into one usable answer (a stream
//! without a usable answer is restarted), and [`Scheduler`] runs the calls of one answer. Every
//! lasting change is written to the journal before it takes effect. The agent never prints, never
//! reads a key and never opens a socket: it reaches models, tools, journal and user only through
//! ports.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod agent_loop;
mod answer_form;
mod budget;
mod chat;
mod command_calls;
mod commands;
pub mod compression;
mod conseca;
mod context;
mod conversation;
mod fallback;
mod fitting;
mod handle;
mod hook_events;
mod instruction;
mod loop_guard;
mod masking;
mod memory;
mod mode;
mod next_speaker;
mod operator;
mod outlet;
mod prompt;
mod prompt_hooks;
mod prompt_run;
mod recorder;
mod response;
mod routing;
mod scheduler;
mod services;
mod settings;
mod side_models;
mod standing;
mod steering;
mod subagent;
mod toolset;
mod turn;
mod validity;
mod watch;

pub use agent_loop::{AgentLoop, AgentParts, Loading};
pub use answer_form::AnswerForm;
pub use budget::{Budget, Spending};
pub use chat::StreamRetries;
pub use context::SessionContext;
pub use fallback::{Fallback, FallbackMode, FallbackOptions};
pub use fitting::FittingParts;
pub use handle::{Handle, WeakHandle, spawn};
pub use instruction::InstructionSource;
pub use masking::MaskingOptions;
pub use memory::SessionMemory;
pub use mode::SessionMode;
pub use next_speaker::NextSpeakerOptions;
pub use operator::EventOperator;
pub use outlet::Outlet;
pub use prompt::{
    OfferedSkill, PromptInputs, Sandbox, Section, Situation, Subagent, SystemPrompt, system_prompt,
};
pub use recorder::HistoryRecorder;
pub use routing::RoutingOptions;
pub use scheduler::{ApprovalChoices, Batch, CallInputs, Grants, Scheduler, denied, nobody_to_ask};
pub use services::AgentServices;
pub use settings::LoopSettings;
pub use side_models::WatchedModels;
pub use standing::PinnedContext;
pub use subagent::{Activity, SubagentEnd, SubagentLimits, SubagentOutcome, SubagentRun};
pub use toolset::Toolset;
