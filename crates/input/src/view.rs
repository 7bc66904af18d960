//! Views: the state of a frontend between keys and the bytes on the terminal.

use std::time::Instant;

use pollux_protocol::{Question, QuestionReply};

use crate::keys::{KeyProtocol, KeySignal};
use crate::terminal::{TypedBytes, WindowSize};
use crate::user::UserOptions;

/// State between keys on one side and the bytes on a terminal on the other. It never waits.
pub trait TerminalView {
    /// Returns the bytes that show the current state.
    fn show(&mut self) -> Vec<u8>;

    /// Returns true while the view uses the whole screen, which hides the terminal's own text. A
    /// view enters and leaves it in the bytes of [`Self::show`] and [`Self::leave`].
    fn is_full_screen(&self) -> bool {
        false
    }

    /// Returns true if the terminal may report keys with modifiers as sequences. Ctrl-C and Ctrl-Z
    /// then are no signals of the terminal, and [`Self::take_signal`] returns them.
    fn takes_sequences(&self) -> bool {
        false
    }

    /// Takes the signal of a key that the terminal has reported as a sequence.
    fn take_signal(&mut self) -> Option<KeySignal> {
        None
    }

    /// Takes the protocol for keys that the terminal has said to know.
    fn take_protocol(&mut self) -> Option<KeyProtocol> {
        None
    }

    /// Returns the bytes after which another program can use the terminal.
    fn leave(&mut self) -> Vec<u8>;

    /// Handles the return of the terminal, on which another program may have printed.
    fn take_over(&mut self, size: WindowSize);

    /// Handles a new size of the terminal.
    fn resize(&mut self, size: WindowSize);

    /// Handles bytes that were typed or pasted.
    fn typed(&mut self, typed: &TypedBytes);

    /// Returns the time at which an unfinished escape sequence was the Esc key.
    fn escape_end(&self) -> Option<Instant>;

    /// Handles the end of the wait for the rest of an escape sequence.
    fn escape_ended(&mut self);

    /// Returns the time of the next [`Self::tick`]; `None` if nothing changes with time.
    fn next_tick(&self) -> Option<Instant>;

    /// Handles a change of the state that comes with time.
    fn tick(&mut self);
}

/// A question before a session.
pub trait QuestionView: TerminalView + Send {
    /// Returns the reply, once the user has decided.
    fn reply(&self) -> Option<QuestionReply>;

    /// Returns true if the user has refused all items that remain, also those of later questions.
    fn refuses_rest(&self) -> bool;
}

/// Function that shows a question before a session.
pub type ShowQuestion = fn(Question, &UserOptions, WindowSize) -> Box<dyn QuestionView>;
