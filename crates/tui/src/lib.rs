//! Conversation on the screen of a terminal.
//!
//! Finished text (prompts, answers, calls) is written once and belongs to the terminal, whose
//! own scrolling, search and selection work on it. Below it are a few live rows: what is in
//! progress, a question or the input, and the state of the session. Only they are ever written
//! again (the module `surface`).
//!
//! `View` is the state between keys, events and rows; `pollux_input` waits for signals, keys, files
//! and events. All other modules turn parts of this state into rows, and are pure. Text of models,
//! programs and files becomes part of a row only without characters that act on a terminal.

mod asking;
mod background;
mod calls;
mod clock;
mod code;
mod composer;
mod dialog;
mod diff;
mod dropped;
mod fold;
mod frontend;
mod greeting;
mod link;
mod markdown;
mod menu;
mod outbox;
mod outside;
mod pager;
mod palette;
mod pastes;
mod picker;
mod place_links;
mod places;
mod queue;
mod row;
mod screen;
mod scrollback;
mod search_list;
mod sheet;
mod status;
mod story;
mod surface;
mod tail;
mod theme;
mod theme_command;
mod tips;
mod toast;
mod ui_settings;
mod view;
mod vim_command;

pub use asking::show_question;
pub use diff::change_rows;
pub use frontend::talk;
pub use markdown::answer_rows;
pub use palette::theme_report;
pub use theme_command::ThemeCommand;
pub use ui_settings::LIVE_SETTINGS;
pub use vim_command::VimCommand;
