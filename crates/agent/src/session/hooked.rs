//! The user's programs around a session and its prompts.

use pollux_hooks::HookResult;
use pollux_protocol::{
    CancellationToken, CompressTrigger, Event, History, HookEvent, HookPayload, Part,
    PromptOutcome, Record, SessionEndReason, SessionSource,
};

use super::{End, Session};
use crate::fill::Fill;

/// What programs are told where no answer had words.
const NO_WORDS: &str = "[no response text]";

impl Session {
    /// The session begins: what programs have to say goes to the model with the first prompt.
    pub(crate) async fn begin(&mut self, cancel: &CancellationToken) {
        if !self.hooks.has(HookEvent::SessionStart) {
            return;
        }
        let is_new = self.parts.history.is_empty();
        let source = if is_new { SessionSource::Startup } else { SessionSource::Resume };
        let result = self.hooks.fire(&HookPayload::SessionStart { source }, cancel).await;
        self.opening = result.fenced_context();
    }

    /// The session ends.
    pub(super) async fn end(&self) {
        if self.hooks.has(HookEvent::SessionEnd) {
            let payload = HookPayload::SessionEnd { reason: SessionEndReason::Exit };
            self.hooks.fire(&payload, &CancellationToken::new()).await;
        }
    }

    /// Brings in what was said at the session's beginning: in front of the prompt, or in a conversation before it.
    pub(super) async fn opened(&mut self, mut parts: Vec<Part>) -> Result<Vec<Part>, End> {
        let Some(context) = self.opening.take() else { return Ok(parts) };
        if self.parts.prompt.interactive {
            self.open_context().await?;
            self.say(vec![Part::text(context)], None).await?;
            return Ok(parts);
        }
        let first = parts.first().and_then(Part::as_text).map(str::to_owned);
        match first {
            Some(words) => parts[0] = Part::text(format!("{context}\n\n{words}")),
            None => parts.insert(0, Part::text(format!("{context}\n\n"))),
        }
        Ok(parts)
    }

    /// Programs may add to a prompt, refuse it, or stop the work. A prompt that was refused was never said.
    pub(super) async fn before_agent(
        &mut self,
        mut parts: Vec<Part>,
        cancel: &CancellationToken,
    ) -> Result<Vec<Part>, End> {
        if !self.hooks.has(HookEvent::BeforeAgent) {
            return Ok(parts);
        }
        let payload = HookPayload::BeforeAgent { prompt: words(&parts) };
        let result = self.hooks.fire(&payload, cancel).await;
        let context = result.fenced_context();
        match verdict(result) {
            Verdict::Stop(reason) => {
                self.say(parts, None).await?;
                Err(End::Outcome(PromptOutcome::Stopped(reason)))
            }
            Verdict::Block(reason) => {
                self.parts.emitter.emit(Event::Blocked { reason }).await;
                Err(End::Outcome(PromptOutcome::Done))
            }
            Verdict::Go => {
                parts.extend(context.map(Part::text));
                Ok(parts)
            }
        }
    }

    /// Programs may stop the work for good, or make it go on with words of their own: those come back.
    pub(super) async fn after_agent(
        &mut self,
        prompt: &str,
        goes_on: bool,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, End> {
        if !self.hooks.has(HookEvent::AfterAgent) {
            return Ok(None);
        }
        let answers = self.answers.join("\n");
        let payload = HookPayload::AfterAgent {
            prompt: prompt.to_owned(),
            prompt_response: if answers.is_empty() { NO_WORDS.to_owned() } else { answers },
            stop_hook_active: goes_on,
        };
        let result = self.hooks.fire(&payload, cancel).await;
        let (clears, words) = (result.clear_context, result.block.clone());
        let verdict = verdict(result);
        if clears && !matches!(verdict, Verdict::Go) {
            self.forget().await?;
        }
        match verdict {
            Verdict::Stop(reason) => Err(End::Outcome(PromptOutcome::Stopped(reason))),
            Verdict::Block(reason) => {
                self.parts.emitter.emit(Event::Blocked { reason }).await;
                Ok(words)
            }
            Verdict::Go => Ok(None),
        }
    }

    /// The conversation is over: the log says so, and nothing of it is sent again.
    pub(super) async fn forget(&mut self) -> Result<(), End> {
        self.record(Record::Cleared).await?;
        self.parts.history = History::new();
        self.fill = Fill::default();
        self.last_tokens = 0;
        Ok(())
    }

    /// The conversation is looked at, whether it has become too long.
    pub(super) async fn before_compression(
        &self,
        trigger: CompressTrigger,
        cancel: &CancellationToken,
    ) {
        if self.hooks.has(HookEvent::PreCompress) {
            let payload = HookPayload::PreCompress { trigger };
            self.hooks.fire(&payload, cancel).await;
        }
    }
}

/// What becomes of a prompt.
enum Verdict {
    Go,
    Block(String),
    Stop(String),
}

/// The person is told the words that are meant for them, else the reason.
fn verdict(result: HookResult) -> Verdict {
    let message = result.system_message;
    match (result.stop, result.block) {
        (Some(reason), _) => Verdict::Stop(message.unwrap_or(reason)),
        (None, Some(reason)) => Verdict::Block(message.unwrap_or(reason)),
        (None, None) => Verdict::Go,
    }
}

/// The text of a prompt.
pub(super) fn words(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}
