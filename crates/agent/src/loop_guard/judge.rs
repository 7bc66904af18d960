//! Judgement of a long prompt by another model.

use std::sync::Arc;

use pollux_protocol::{Content, HistoryEntry, JsonRequest, ModelRequest, ModelRole, Part, Role};
use serde_json::{Value, json};

/// Number of turns of a prompt before the first judgement.
const FIRST: u64 = 30;
/// Initial number of turns between two judgements.
const INTERVAL: u64 = 10;
/// Interval in turns after a judgement that is certain of a loop (`SHORTEST`), and the additional
/// turns after a judgement that is certain of progress (`SPAN`).
const SHORTEST: f64 = 5.0;
const SPAN: f64 = 10.0;
/// Minimum confidence for a loop.
pub(crate) const CONVICTION: f64 = 0.9;
/// Number of the latest entries of the conversation that are shown.
const SHOWN: usize = 20;
/// Maximum number of attempts when the model returns no usable JSON.
const ATTEMPTS: u32 = 2;
/// Maximum number of characters that are kept of a judgement.
const LONGEST_ANALYSIS: usize = 1000;

const INSTRUCTION: &str = include_str!("../../prompts/loop_judge.md");

/// Schedule of the judgements.
#[derive(Debug)]
pub(crate) struct JudgeSchedule {
    last: u64,
    interval: u64,
}

impl Default for JudgeSchedule {
    fn default() -> Self {
        Self { last: 0, interval: INTERVAL }
    }
}

impl JudgeSchedule {
    /// True if a judgement is due before this turn of the prompt, counted from 1.
    pub(crate) fn is_due(&self, turn: u64) -> bool {
        turn >= FIRST && turn.saturating_sub(self.last) >= self.interval
    }

    /// Records a judgement before this turn. `confidence` is the probability of a loop from 0 to 1,
    /// or `None` without a usable answer.
    pub(crate) fn asked(&mut self, turn: u64, confidence: Option<f64>) {
        self.last = turn;
        if let Some(confidence) = confidence {
            self.interval = (SHORTEST + SPAN * (1.0 - confidence.clamp(0.0, 1.0))).round() as u64;
        }
    }
}

/// Judgement of a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judgement {
    pub(crate) analysis: String,
    /// Confidence that the model is in a loop, from 0 to 1.
    pub(crate) confidence: f64,
}

/// Returns the request about the last part of a conversation whose prompt was `asked`.
pub(crate) fn request(entries: &[Arc<HistoryEntry>], asked: &str) -> JsonRequest {
    let mut shown = &entries[entries.len().saturating_sub(SHOWN)..];
    while let [first, rest @ ..] = shown
        && first.content().responses().next().is_some()
    {
        shown = rest;
    }
    while let [rest @ .., last] = shown
        && last.content().role == Role::Model
        && last.content().parts.iter().any(|part| part.as_call().is_some())
    {
        shown = rest;
    }
    let question = format!(
        "<original_user_request>\n{}\n</original_user_request>\n\nJudge the conversation above.",
        asked.replace("</original_user_request>", "&lt;/original_user_request&gt;")
    );
    let question = HistoryEntry::detached(Content::user(vec![Part::text(question)]));
    JsonRequest {
        request: ModelRequest {
            entries: shown.iter().cloned().chain([question]).collect(),
            system: Some(INSTRUCTION.into()),
            role: ModelRole::UtilityLoopDetector,
            ..ModelRequest::default()
        },
        schema: json!({
            "type": "object",
            "properties": {
                "unproductive_state_analysis": {
                    "type": "string",
                    "description": "What the last actions changed, and whether they make progress."
                },
                "unproductive_state_confidence": {
                    "type": "number",
                    "description": "From 0.0, certainly making progress, to 1.0, certainly stuck."
                }
            },
            "required": ["unproductive_state_analysis", "unproductive_state_confidence"]
        }),
        max_attempts: ATTEMPTS,
    }
}

/// Reads the judgement; `None` if the answer has another form.
pub(crate) fn read_judgement(answer: &Value) -> Option<Judgement> {
    let analysis = answer.get("unproductive_state_analysis")?.as_str()?;
    let confidence = answer.get("unproductive_state_confidence")?.as_f64()?;
    (0.0..=1.0).contains(&confidence).then(|| Judgement {
        analysis: analysis.chars().take(LONGEST_ANALYSIS).collect(),
        confidence,
    })
}
