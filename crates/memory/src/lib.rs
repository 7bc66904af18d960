//! Automatic memory (`experimental.autoMemory`): extraction of facts and skills from old sessions,
//! in the background of a conversation.
//!
//! A [`MemoryCollector`] reads sessions that have been idle for hours, asks a model without tools,
//! and writes its proposals to files that nothing loads. The user reviews these files in the
//! [`MemoryInbox`] (`/memory inbox`), and only an accepted proposal takes effect. `plan` decides
//! when to run, `extraction` is the request to the model and the parser of its answer, and `patch`
//! the format of proposed facts; these three are pure.
//!
//! Out of scope: which sessions and files belong to the project, which model answers, and where the
//! user is notified. `host` passes all of these.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod collector;
mod extraction;
mod inbox;
mod patch;
mod plan;

pub use collector::MemoryCollector;
pub use inbox::MemoryInbox;
