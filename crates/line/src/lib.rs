//! Conversation line by line: a frontend for plain terminals and screen readers.
//!
//! The cursor is never positioned and no text moves: printed text stays in the order of the events,
//! so that a screen reader can follow it and a simple terminal can show it.
//! [`Conversation`](conversation::Conversation) is the state between keys, events and the page;
//! [`LineFrontend`] waits for signals, keys, files and events. Like every frontend it exchanges
//! only `Op`s and `Event`s with the agent, and uses sessions as `protocol` describes them.
//!
//! The crate also has the parts that other line-based frontends need: [`Stdout`], and calls as
//! lines of text ([`narration`]).

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod conversation;
mod editor;
mod end;
mod external_editor;
mod frontend;
mod greeting;
mod keys;
mod live_lines;
pub mod narration;
mod notices;
mod operator;
mod output;
mod page;
mod progress;
mod question;
mod screen;
mod story;
mod survey;
mod terminal;
mod tone;
mod typing;
mod wrap;

pub use end::ConversationEnd;
pub use external_editor::IS_THERE as HAS_EDITOR;
pub use frontend::{LineFrontend, LineOptions};
pub use output::{Broken, Stdout};
pub use progress::Progress;
pub use screen::TerminalSignal;
pub use story::DescribeFailure;
pub use terminal::restore as restore_terminal;
pub use tone::{Tone, TonedLine};
