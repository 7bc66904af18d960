//! Input and text of an interactive frontend, for every kind of terminal: the keys, the line that
//! they edit, the questions that they answer, and calls as lines of text.
//!
//! The crate neither reads a terminal nor draws on one. A frontend reads bytes, which
//! [`KeyDecoder`] turns into keys, and shows the state of [`LineEditor`], [`QuestionSheet`],
//! [`ConsentSheet`] and [`Survey`] in its own way. [`LiveLines`] is the output of a running
//! command, and [`narration`] describes calls and their results. Everything is pure except
//! [`Workbench`], which writes a text to a file for the user's editor.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod consent;
mod editor;
mod external_editor;
mod keys;
mod live_lines;
pub mod narration;
mod question;
mod survey;
mod tone;

pub use consent::{CONSENT_ANSWERS, ConsentAnswer, ConsentSheet};
pub use editor::{EditOutcome, HISTORY_LINES, LineEditor};
pub use external_editor::{EditProposal, HAS_EDITOR, Workbench};
pub use keys::{InputMode, KeyDecoder, KeyPress};
pub use live_lines::LiveLines;
pub use question::{QuestionSheet, SheetDecision, SheetExtent, is_about_call, is_words};
pub use survey::{Survey, SurveyStep};
pub use tone::{Tone, TonedLine};
