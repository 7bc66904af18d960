//! The conversation line by line: a frontend for plain terminals and screen readers.
//!
//! No cursor is addressed and nothing moves: what is printed stays, in the order in which it happened, which is what a
//! screen reader can follow and a simple terminal can show. [`Conversation`](conversation::Conversation) is the state
//! between keys, events and the page; [`LineFrontend`] waits: for signals, keys, files and events. Like every frontend it
//! speaks to the agent in `Op`s and `Event`s only, and knows a session as `protocol` describes it.
//!
//! What other frontends that print lines need too is here as well: [`Stdout`], and calls in lines
//! ([`narration`]).

mod conversation;
mod editor;
mod end;
mod external_editor;
mod frontend;
mod greeting;
mod keys;
pub mod narration;
mod notices;
mod operator;
mod output;
mod page;
mod question;
mod screen;
mod story;
mod survey;
mod terminal;
mod typing;
mod width;

pub use end::ConversationEnd;
pub use external_editor::IS_THERE as HAS_EDITOR;
pub use frontend::{LineFrontend, LineOptions};
pub use output::{Broken, Stdout};
pub use screen::TerminalSignal;
pub use story::DescribeFailure;
pub use terminal::restore as restore_terminal;
