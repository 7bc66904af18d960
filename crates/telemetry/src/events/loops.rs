//! Log events of detected loops and of work that was only paused.

use pollux_protocol::{LoopMeasure, NextSpeakerMeasure, Speaker};
use serde_json::json;

use super::LogEvent;
use crate::attributes::{pairs, set};
use crate::names::event;

pub(super) fn detected(found: &LoopMeasure) -> LogEvent {
    let mut attributes = pairs([
        ("loop_type", json!(found.kind.as_str())),
        ("prompt_id", json!(found.prompt_id)),
        ("count", json!(found.count)),
    ]);
    set(&mut attributes, "confirmed_by_model", found.confirmed_by.as_deref());
    set(&mut attributes, "analysis", found.analysis.as_deref());
    set(&mut attributes, "confidence", found.confidence);
    LogEvent::new(
        event::LOOP_DETECTED,
        format!("Loop detected: {}.", found.kind.as_str()),
        attributes,
    )
}

pub(super) fn disabled(prompt_id: &str) -> LogEvent {
    LogEvent::new(
        event::LOOP_DETECTION_DISABLED,
        "Loop detection was disabled for this session.",
        pairs([("prompt_id", json!(prompt_id))]),
    )
}

pub(super) fn checked(
    prompt_id: &str,
    confidence: f64,
    second_model: &str,
    second_confidence: Option<f64>,
) -> LogEvent {
    // Gemini CLI's value for a second model that was not asked.
    let second = second_confidence.unwrap_or(-1.0);
    LogEvent::new(
        event::LOOP_CHECK,
        format!("Loop check: {confidence} and {second}."),
        pairs([
            ("prompt_id", json!(prompt_id)),
            ("flash_confidence", json!(confidence)),
            ("main_model", json!(second_model)),
            ("main_model_confidence", json!(second)),
        ]),
    )
}

pub(super) fn next_speaker(found: &NextSpeakerMeasure) -> LogEvent {
    let result = found.next.map_or("", Speaker::as_str);
    LogEvent::new(
        event::NEXT_SPEAKER,
        "Next speaker check.",
        pairs([
            ("prompt_id", json!(found.prompt_id)),
            ("finish_reason", json!(found.finish_reason.as_deref().unwrap_or_default())),
            ("result", json!(result)),
        ]),
    )
}
