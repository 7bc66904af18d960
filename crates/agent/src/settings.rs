//! Settings of the loop. They may change during a session.

use std::time::Duration;

use crate::masking::MaskingOptions;
use crate::next_speaker::NextSpeakerOptions;

/// Settings that an agent reads each time it needs them.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopSettings {
    /// Maximum number of requests of the agent; `None` for no configured limit
    /// (`model.maxSessionTurns`).
    pub max_turns: Option<u64>,
    /// True if loops are detected (`model.disableLoopDetection`).
    pub loop_detection: bool,
    /// Continuation after answers in which the model only paused.
    pub next_speaker: NextSpeakerOptions,
    /// Masking of old results.
    pub masking: MaskingOptions,
    /// Share of a model's context at which the conversation is compressed
    /// (`model.compressionThreshold`); 0 disables compression.
    pub compression_share: f64,
    /// Maximum time for one answer of the model that summarises (`pollux.compression.timeout`).
    pub compression_timeout: Duration,
}

impl Default for LoopSettings {
    fn default() -> Self {
        Self {
            max_turns: None,
            loop_detection: true,
            next_speaker: NextSpeakerOptions::default(),
            masking: MaskingOptions::default(),
            compression_share: 0.5,
            compression_timeout: Duration::from_mins(5),
        }
    }
}
