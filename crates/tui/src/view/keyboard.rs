//! State of the keys.

use std::sync::Arc;
use std::time::Instant;

use pollux_input::{KeyDecoder, KeyMap, KeyProtocol, KeySignal};

/// Decoder of the keys, and the facts about earlier keys that matter for the next.
pub(super) struct Keyboard {
    pub(super) decoder: KeyDecoder,
    /// Keys with their effects.
    pub(super) keys: Arc<KeyMap>,
    /// Signal of a key that the terminal has reported as a sequence.
    pub(super) signal: Option<KeySignal>,
    /// Protocol that the terminal has said to know.
    pub(super) protocol: Option<KeyProtocol>,
    /// Time at which the decoder no longer waits for the rest of an escape sequence.
    pub(super) escape_end: Option<Instant>,
    /// Time of the last key, and of the last typed character if it was the last key.
    pub(super) last_key: Option<Instant>,
    pub(super) last_text: Option<Instant>,
    /// Time at which the keys go to the command that waits for input. Before, they go to the prompt
    /// that the user was typing when the command began to wait.
    pub(super) draft_end: Option<Instant>,
}

impl Keyboard {
    pub(super) fn new(keys: Arc<KeyMap>) -> Self {
        Self {
            decoder: KeyDecoder::default(),
            keys,
            signal: None,
            protocol: None,
            escape_end: None,
            last_key: None,
            last_text: None,
            draft_end: None,
        }
    }
}
