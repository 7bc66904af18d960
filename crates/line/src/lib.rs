//! Conversation line by line: a frontend for plain terminals and screen readers.
//!
//! The cursor is never positioned and no text moves: printed text stays in the order of the events,
//! so that a screen reader can follow it and a simple terminal can show it.
//! [`Conversation`](conversation::Conversation) is the state between keys, events and the page;
//! `pollux_input` waits for signals, keys, files and events. Like every frontend it exchanges only
//! `Op`s and `Event`s with the agent, and uses sessions as `protocol` describes them.
//!
//! The crate also has the parts that other line-based frontends need: the colours of lines
//! ([`paint`]) and the state of the work ([`Progress`]).

mod colour;
mod conversation;
mod frontend;
mod greeting;
mod page;
mod progress;
mod story;

pub use colour::paint;
pub use frontend::talk;
pub use progress::Progress;
