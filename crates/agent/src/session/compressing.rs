//! The conversation is compressed: when it has become long, when the model refuses it, and when the person wants it.
//!
//! A model writes the summary. Where it cannot, results of tools become short and, if that is not enough, the oldest
//! messages go: a conversation never ends because it is too long. Everything stays in the log, and comes back when the
//! person says so.

use std::sync::Arc;
use std::time::Duration;

use pollux_fs::Workspace;
use pollux_protocol::{
    CancellationToken, Choice, CompressTrigger, CompressionReport, CompressionStatus, Entry, Event,
    History, Measurement, ModelErrorKind, PromptOutcome, Record, SelectContext, Severity,
    SideModels, estimate,
};

use super::{Answered, End, Session};
use crate::beside::Conversation;
use crate::compression::{Cut, Trouble, is_due};

mod proposal;

use proposal::Proposal;

/// The share of what a model takes by which a conversation has to grow before it is compressed again.
const GROWTH: f64 = 0.05;

/// How often a conversation that the model refuses is made shorter.
const REFUSALS: u32 = 4;

/// When a conversation is compressed, and what goes with it.
pub struct CompressionOptions {
    /// The share of what the model takes (`model.compressionThreshold`); zero for never.
    pub share: f64,
    /// How long one answer of the model that summarises may take (`pollux.compression.timeout`).
    pub patience: Duration,
    /// What the tasks that are kept beside the conversation have left open, one line each.
    pub open_tasks: Box<dyn Fn() -> Vec<String> + Send + Sync>,
    /// Where the files are that tools have read and changed.
    pub workspace: Arc<Workspace>,
}

/// What is known of the conversation's length.
#[derive(Debug, Default)]
pub(super) struct Compressing {
    /// Something was tried; from the next look on it has to grow before anything is tried again.
    is_settling: bool,
    /// An answer has come since.
    is_answered: bool,
    not_before: u64,
}

/// Why the conversation is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Due,
    Asked,
    Refused,
}

/// What it is compressed for.
struct Occasion<'a> {
    cause: Cause,
    prompt_id: &'a str,
    choice: &'a Choice,
    cancel: &'a CancellationToken,
}

impl Compressing {
    /// An answer has come.
    pub(super) fn answered(&mut self) {
        self.is_answered = true;
    }

    /// Something was tried.
    fn attempted(&mut self) {
        self.is_settling = true;
        self.is_answered = false;
    }

    /// Whether so many tokens are reason to try, as far as is known of earlier attempts.
    fn may_try(&mut self, tokens: u64, context: u64, share: f64) -> bool {
        let is_due = is_due(tokens, context, share);
        if self.is_settling && self.is_answered {
            self.is_settling = false;
            let growth = (context as f64 * GROWTH) as u64;
            self.not_before = if is_due { tokens + growth } else { 0 };
        }
        is_due && !self.is_settling && tokens >= self.not_before
    }
}

impl Session {
    /// Before each request.
    pub(super) async fn compress_if_due(
        &mut self,
        prompt_id: &str,
        choice: &Choice,
        cancel: &CancellationToken,
    ) -> Result<(), End> {
        self.before_compression(CompressTrigger::Auto, cancel).await;
        let context = choice.limits.context;
        let tokens = self.tokens();
        if self.compressing.may_try(tokens, context, self.parts.compression.share) {
            let occasion = Occasion { cause: Cause::Due, prompt_id, choice, cancel };
            self.compress(&occasion).await?;
        }
        Ok(())
    }

    /// One request and its answer. A conversation that the model refuses as too long is made shorter until it takes it.
    pub(super) async fn ask_fitting(
        &mut self,
        prompt_id: &str,
        choice: &Choice,
        cancel: &CancellationToken,
    ) -> Result<Answered, End> {
        let mut refusals = 0;
        loop {
            let refused = match self.ask(prompt_id, choice, cancel).await {
                Err(End::Outcome(PromptOutcome::Failed(error)))
                    if error.kind == ModelErrorKind::TooLong =>
                {
                    error
                }
                answered => return answered,
            };
            refusals += 1;
            let occasion = Occasion { cause: Cause::Refused, prompt_id, choice, cancel };
            if refusals <= REFUSALS && self.compress(&occasion).await? {
                continue;
            }
            if cancel.is_cancelled() {
                return Err(End::Outcome(PromptOutcome::Cancelled));
            }
            self.take_back().await?;
            return Err(End::Outcome(PromptOutcome::Failed(refused)));
        }
    }

    /// The person wants the conversation compressed.
    pub(crate) async fn compress_now(&mut self, prompt_id: &str, cancel: &CancellationToken) {
        self.parts.emitter.set_prompt(Some(prompt_id));
        let done = self.compress_asked(prompt_id, cancel).await;
        self.command_ended(done, cancel).await;
    }

    /// The person wants the whole conversation back.
    pub(crate) async fn uncompress(&mut self, prompt_id: &str) {
        self.parts.emitter.set_prompt(Some(prompt_id));
        let done = self.bring_back().await;
        self.command_ended(done, &CancellationToken::new()).await;
    }

    async fn compress_asked(
        &mut self,
        prompt_id: &str,
        cancel: &CancellationToken,
    ) -> Result<(), End> {
        if self.parts.history.is_empty() {
            self.tell(Severity::Info, NOTHING.to_owned()).await;
            return Ok(());
        }
        self.before_compression(CompressTrigger::Manual, cancel).await;
        let requested = String::clone(&self.requested_model.get());
        let context = SelectContext { requested, mode: self.mode(), beside: None };
        let choice = self.parts.models.select(&context).await;
        let choice = choice.map_err(|error| End::Outcome(PromptOutcome::Failed(error)))?;
        let occasion = Occasion { cause: Cause::Asked, prompt_id, choice: &choice, cancel };
        self.compress(&occasion).await.map(drop)
    }

    async fn bring_back(&mut self) -> Result<(), End> {
        if !self.parts.history.is_compressed() {
            self.tell(Severity::Info, "Nothing is compressed.".to_owned()).await;
            return Ok(());
        }
        let whole = self.parts.emitter.recall().await?;
        self.record(Record::Uncompressed).await?;
        self.parts.history = whole;
        self.changed();
        let (messages, tokens) = (self.parts.history.entries().len(), self.tokens());
        let text =
            format!("The whole conversation is back: {messages} messages, about {tokens} tokens.");
        self.tell(Severity::Info, text).await;
        Ok(())
    }

    pub(super) async fn command_ended(
        &mut self,
        done: Result<(), End>,
        cancel: &CancellationToken,
    ) {
        let synced = match done {
            Ok(()) => self.parts.emitter.sync().await.map_err(End::Log),
            failed => failed,
        };
        let outcome = match synced {
            Ok(()) if cancel.is_cancelled() => PromptOutcome::Cancelled,
            Ok(()) => PromptOutcome::Done,
            Err(End::Outcome(outcome)) => outcome,
            Err(End::Log(error)) => PromptOutcome::LogFailed(error.to_string()),
        };
        self.parts.emitter.emit(Event::PromptEnded(outcome)).await;
        self.parts.emitter.set_prompt(None);
    }

    /// True when the conversation has become shorter.
    async fn compress(&mut self, occasion: &Occasion<'_>) -> Result<bool, End> {
        // What vendors tell is not always all of it.
        let before = self.tokens().max(self.size(&self.parts.history));
        let Some(cut) = Cut::of(self.parts.history.entries()) else {
            return match occasion.cause {
                Cause::Asked => {
                    self.tell(Severity::Info, NOTHING.to_owned()).await;
                    Ok(false)
                }
                Cause::Due => Ok(false),
                Cause::Refused => self.fall_back(occasion, before, NO_CUT).await,
            };
        };
        self.parts.emitter.emit(Event::Compressing).await;
        self.follow(occasion.prompt_id);
        let why = match self.summarised(occasion, cut).await {
            _ if occasion.cancel.is_cancelled() => return Ok(false),
            Ok(proposal) => {
                let after = self.size(&proposal.history);
                self.measure_compression(before, after);
                if after < before {
                    self.take(proposal, before, after).await?;
                    return Ok(true);
                }
                if occasion.cause == Cause::Asked {
                    self.compressing.attempted();
                    self.tell(Severity::Info, NOT_SHORTER.to_owned()).await;
                    return Ok(false);
                }
                "The summary is longer than the conversation.".to_owned()
            }
            Err(Trouble::Cancelled) => return Ok(false),
            Err(Trouble::Empty) => "The model gave no summary.".to_owned(),
            Err(Trouble::Failed(why)) => why,
        };
        self.fall_back(occasion, before, &why).await
    }

    /// Without a summary: results become short, and the oldest messages go if they must.
    async fn fall_back(
        &mut self,
        occasion: &Occasion<'_>,
        before: u64,
        why: &str,
    ) -> Result<bool, End> {
        self.compressing.attempted();
        let proposed = self.shortened(occasion, before).await;
        if occasion.cancel.is_cancelled() {
            return Ok(false);
        }
        let Some((proposal, gone)) = proposed else {
            if occasion.cause != Cause::Refused {
                let text = format!("The conversation could not be compressed: {why}");
                self.tell(Severity::Warning, text).await;
            }
            return Ok(false);
        };
        let (results, after) = (proposal.compression.shortened.len(), self.size(&proposal.history));
        self.record(Record::Compressed(proposal.compression)).await?;
        self.parts.history = proposal.history;
        self.parts.history.put_away();
        self.changed();
        let gone = if gone == 0 {
            String::new()
        } else {
            format!(" The oldest messages are left out ({gone}). {}", proposal.kept)
        };
        let text = format!(
            "The conversation could not be summarised: {why} Results of tools became short: {results}.{gone} About {before} \
             tokens before, {after} now.{}",
            self.way_back()
        );
        self.tell(Severity::Warning, text).await;
        Ok(true)
    }

    /// Makes a proposal the conversation, first in the log.
    async fn take(&mut self, proposal: Proposal, before: u64, after: u64) -> Result<(), End> {
        self.record(Record::Compressed(proposal.compression)).await?;
        self.parts.history = proposal.history;
        self.parts.history.put_away();
        self.changed();
        let status = CompressionStatus::Compressed;
        let report = CompressionReport { original_tokens: before, new_tokens: after, status };
        self.parts.emitter.emit(Event::ChatCompressed(report)).await;
        let text = format!(
            "Chat history compressed from {before} to {after} tokens. {}{}",
            proposal.kept,
            self.way_back()
        );
        self.tell(Severity::Info, text).await;
        Ok(())
    }

    /// Side calls are those of this conversation also before its first request.
    fn follow(&self, prompt_id: &str) {
        self.parts.beside.follow(Conversation {
            requested: String::clone(&self.requested_model.get()),
            mode: self.mode(),
            prompt_id: prompt_id.to_owned(),
            instruction: self.parts.beside.instruction(),
        });
    }

    /// The conversation is another one.
    pub(super) fn changed(&mut self) {
        self.fill.forget();
        self.compressing.attempted();
    }

    /// Tokens of the last request.
    fn tokens(&mut self) -> u64 {
        self.fill.tokens(&self.parts.history)
    }

    /// Tokens of a request with this conversation, by estimate.
    fn size(&self, history: &History) -> u64 {
        (size_of(history.entries()) + self.instruction.tokens()) as u64
    }

    fn measure_compression(&self, before: u64, after: u64) {
        self.parts.emitter.measure(&Measurement::ChatCompression { before, after });
    }

    pub(super) async fn tell(&self, severity: Severity, text: String) {
        self.parts.emitter.emit(Event::Notice { severity, text }).await;
    }

    /// How a person gets the whole conversation back.
    fn way_back(&self) -> &'static str {
        if self.parts.prompt.interactive { " /compress undo brings everything back." } else { "" }
    }
}

/// What is said when there is nothing to summarise.
const NOTHING: &str = "Nothing to compress.";
const NOT_SHORTER: &str = "Chat history compression was not beneficial: the summary would be longer. Nothing was changed.";
/// Why there is no summary of a conversation that cannot be cut.
const NO_CUT: &str = "It has no part that could be summarised.";

/// Tokens of entries, by estimate.
fn size_of(entries: &[Arc<Entry>]) -> f64 {
    entries.iter().map(|entry| estimate::content(entry.content())).sum()
}
