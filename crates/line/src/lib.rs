//! Conversation line by line: a frontend for plain terminals and screen readers.
//!
//! The cursor is never positioned and no text moves: printed text stays in the order of the events,
//! so that a screen reader can follow it and a simple terminal can show it.
//! [`Conversation`](conversation::Conversation) is the state between keys, events and the page;
//! [`LineFrontend`] waits for signals, keys, files and events. Like every frontend it exchanges
//! only `Op`s and `Event`s with the agent, and uses sessions as `protocol` describes them.
//!
//! The crate also has the parts that other line-based frontends need: [`Stdout`], the colours of
//! lines ([`paint`]) and the state of the work ([`Progress`]).

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod colour;
mod conversation;
mod end;
mod frontend;
mod greeting;
mod notices;
mod operator;
mod output;
mod page;
mod progress;
mod rows;
mod screen;
mod story;
mod terminal;
mod typing;
mod wrap;

pub use colour::paint;
pub use end::ConversationEnd;
pub use frontend::{LineFrontend, LineOptions};
pub use output::{Broken, Stdout};
pub use progress::Progress;
pub use screen::{TerminalSignal, columns};
pub use story::DescribeFailure;
pub use terminal::restore as restore_terminal;
pub use wrap::rows_of;
