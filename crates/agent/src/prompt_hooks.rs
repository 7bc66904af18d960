//! The user's hooks around a session and its prompts.

use std::sync::Arc;

use pollux_hooks::HookResult;
use pollux_protocol::{
    CancellationToken, CompressTrigger, HistoryEntry, HookEvent, HookPayload, Part,
    SessionEndReason, SessionSource, text_of,
};

use crate::hook_events::HookEvents;

/// Text for hooks in place of an answer, if no answer contained text.
const NO_WORDS: &str = "[no response text]";

/// Decision of hooks about a prompt, or about its end. The reasons are for the user.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// No objection.
    Go,
    /// The prompt is blocked, or, at its end, the work must continue.
    Block(String),
    /// All work must stop.
    Stop(String),
}

/// Decision of hooks about the end of a prompt.
pub(crate) struct AfterAgent {
    pub(crate) verdict: Verdict,
    /// True if the conversation must be cleared.
    pub(crate) clears: bool,
    /// Text for the model with which the work continues.
    pub(crate) words: Option<String>,
}

impl HookEvents {
    /// Runs the `SessionStart` hooks. Returns their context for the model.
    pub(crate) async fn session_start(
        &self,
        source: SessionSource,
        cancel: &CancellationToken,
    ) -> Option<String> {
        if !self.has(HookEvent::SessionStart) {
            return None;
        }
        self.fire(&HookPayload::SessionStart { source }, cancel).await.fenced_context()
    }

    /// Runs the `SessionEnd` hooks.
    pub(crate) async fn session_end(&self, reason: SessionEndReason) {
        if self.has(HookEvent::SessionEnd) {
            let payload = HookPayload::SessionEnd { reason };
            self.fire(&payload, &CancellationToken::new()).await;
        }
    }

    /// Runs the `BeforeAgent` hooks on a prompt. They may add context to it.
    pub(crate) async fn before_agent(
        &self,
        parts: &mut Vec<Part>,
        cancel: &CancellationToken,
    ) -> Verdict {
        if !self.has(HookEvent::BeforeAgent) {
            return Verdict::Go;
        }
        let payload = HookPayload::BeforeAgent { prompt: text_of(parts).into_owned() };
        let result = self.fire(&payload, cancel).await;
        let context = result.fenced_context();
        let verdict = Verdict::of(result);
        if matches!(verdict, Verdict::Go) {
            parts.extend(context.map(Part::text));
        }
        verdict
    }

    /// Runs the `AfterAgent` hooks at the end of the work on a prompt. `is_continued` is true if
    /// hooks have already extended the work.
    pub(crate) async fn after_agent(
        &self,
        prompt: &str,
        answers: &[Arc<HistoryEntry>],
        is_continued: bool,
        cancel: &CancellationToken,
    ) -> AfterAgent {
        if !self.has(HookEvent::AfterAgent) {
            return AfterAgent { verdict: Verdict::Go, clears: false, words: None };
        }
        let answers: Vec<_> = answers.iter().map(|answer| answer.content().text()).collect();
        let answers = answers.join("\n");
        let payload = HookPayload::AfterAgent {
            prompt: prompt.to_owned(),
            prompt_response: if answers.is_empty() { NO_WORDS.to_owned() } else { answers },
            stop_hook_active: is_continued,
        };
        let result = self.fire(&payload, cancel).await;
        let (clears, words) = (result.clear_context, result.block.clone());
        let verdict = Verdict::of(result);
        AfterAgent { clears: clears && !matches!(verdict, Verdict::Go), verdict, words }
    }

    /// Runs the `PreCompress` hooks before the check whether the conversation has become too long.
    pub(crate) async fn pre_compress(&self, trigger: CompressTrigger, cancel: &CancellationToken) {
        if self.has(HookEvent::PreCompress) {
            self.fire(&HookPayload::PreCompress { trigger }, cancel).await;
        }
    }
}

impl Verdict {
    /// Creates the verdict. The hook's message for the user has priority over its reason.
    fn of(result: HookResult) -> Self {
        let message = result.system_message;
        match (result.stop, result.block) {
            (Some(reason), _) => Self::Stop(message.unwrap_or(reason)),
            (None, Some(reason)) => Self::Block(message.unwrap_or(reason)),
            (None, None) => Self::Go,
        }
    }
}
