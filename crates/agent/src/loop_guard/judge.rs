//! What another model makes of a prompt that takes long.

use std::sync::Arc;

use pollux_protocol::{Content, Entry, JsonRequest, ModelRole, Part, Request, Role};
use serde_json::{Value, json};

/// Turns of a prompt before anybody is asked.
const FIRST: u64 = 30;
/// Turns between two questions, at first.
const INTERVAL: u64 = 10;
/// The shortest interval, when the last answer was sure of a loop; and how much longer it is when it was sure of none.
const SHORTEST: f64 = 5.0;
const SPAN: f64 = 10.0;
/// How sure a model must be.
pub(crate) const CONVICTION: f64 = 0.9;
/// Entries of the conversation that are shown.
const SHOWN: usize = 20;
/// How often an answer that is none is asked for again.
const ATTEMPTS: u32 = 2;
/// Characters of what is told of a judgement.
const LONGEST_ANALYSIS: usize = 1000;

const INSTRUCTION: &str = include_str!("../../prompts/loop_judge.md");

/// When the next question is due.
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
    /// Whether a model is to be asked before this turn of the prompt, counted from 1.
    pub(crate) fn is_due(&self, turn: u64) -> bool {
        turn >= FIRST && turn.saturating_sub(self.last) >= self.interval
    }

    /// A model was asked before this turn, and is so sure, from 0 to 1, that this is a loop; none when it did not say.
    pub(crate) fn asked(&mut self, turn: u64, confidence: Option<f64>) {
        self.last = turn;
        if let Some(confidence) = confidence {
            self.interval = (SHORTEST + SPAN * (1.0 - confidence.clamp(0.0, 1.0))).round() as u64;
        }
    }
}

/// What a model says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judgement {
    pub(crate) analysis: String,
    /// From 0 to 1.
    pub(crate) confidence: f64,
}

/// The question, about the last part of a conversation whose prompt was `asked`.
pub(crate) fn request(entries: &[Arc<Entry>], asked: &str) -> JsonRequest {
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
    let question = Entry::detached(Content::user(vec![Part::text(question)]));
    JsonRequest {
        request: Request {
            entries: shown.iter().cloned().chain([question]).collect(),
            system: Some(INSTRUCTION.into()),
            role: ModelRole::UtilityLoopDetector,
            ..Request::default()
        },
        schema: json!({
            "type": "object",
            "properties": {
                "unproductive_state_analysis": {
                    "type": "string",
                    "description": "What the last actions have changed, and whether they lead anywhere."
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

/// The answer, if it is one.
pub(crate) fn read_judgement(answer: &Value) -> Option<Judgement> {
    let analysis = answer.get("unproductive_state_analysis")?.as_str()?;
    let confidence = answer.get("unproductive_state_confidence")?.as_f64()?;
    (0.0..=1.0).contains(&confidence).then(|| Judgement {
        analysis: analysis.chars().take(LONGEST_ANALYSIS).collect(),
        confidence,
    })
}
