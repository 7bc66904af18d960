//! Keeps the conversation within the model's context window: masks old results, and compresses the
//! conversation when it has become long, when the model refuses it, or on request of the user.
//!
//! A model writes the summary. If it cannot, tool results are shortened and, if that is not
//! sufficient, the oldest messages are dropped, so that a conversation never ends because of its
//! length. Everything stays in the log, and the user can restore it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_fs::Workspace;
use pollux_protocol::{
    CancellationToken, Choice, CompressTrigger, Compression, CompressionReport, CompressionStatus,
    Event, History, HistoryEntry, JournalError, Live, Measurement, Severity, estimate,
};

use crate::compression::{Cut, Trouble, is_due};
use crate::conversation::Conversation;
use crate::hook_events::HookEvents;
use crate::instruction::Instruction;
use crate::masking::Masking;
use crate::settings::LoopSettings;
use crate::side_models::WatchedModels;
use crate::toolset::Toolset;

mod overflow;
mod proposal;

pub(crate) use overflow::NoRoom;
use proposal::Proposal;

/// Share of a model's context by which a conversation must grow before the next attempt to compress
/// it.
const GROWTH: f64 = 0.05;

const NOTHING: &str = "Nothing to compress.";
const NOT_SHORTER: &str = "Chat history compression was not beneficial: the summary would be longer. Nothing was changed.";
/// Reason for a missing summary of a conversation that cannot be cut.
const NO_CUT: &str = "No part of it can be summarised.";

/// Folders and data sources that fitting needs in addition to the settings.
pub struct FittingParts {
    /// Folder for the complete texts of shortened results (`…/tool-outputs/session-<id>`).
    pub outputs: PathBuf,
    /// Function that lists the open tasks which are stored outside of the conversation, one line
    /// each.
    pub open_tasks: Box<dyn Fn() -> Vec<String> + Send + Sync>,
    /// Workspace with the files that tools have read and changed.
    pub workspace: Live<Workspace>,
    /// Folder of plans.
    pub plans: PathBuf,
    /// True if the user can undo a compression.
    pub interactive: bool,
}

/// Fits one conversation into the context window.
pub(crate) struct Fitting {
    parts: FittingParts,
    settings: Live<LoopSettings>,
    masking: Masking,
    /// True after an attempt. From the next check on, the conversation must grow before another
    /// attempt.
    is_settling: bool,
    /// True if an answer has arrived since the last attempt.
    is_answered: bool,
    not_before: u64,
}

/// Reason for a compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The conversation may have become too long.
    Due,
    /// The user requested the compression.
    Asked,
    /// The model refused the conversation as too long.
    Refused,
}

/// Context of the request into which the conversation must fit.
pub(crate) struct Occasion<'a> {
    pub(crate) prompt_id: &'a str,
    pub(crate) choice: &'a Choice,
    pub(crate) toolset: &'a Arc<Toolset>,
    pub(crate) instruction: &'a Instruction,
    pub(crate) side_models: &'a WatchedModels,
    pub(crate) hooks: &'a HookEvents,
    pub(crate) cancel: &'a CancellationToken,
}

impl Fitting {
    pub(crate) fn new(parts: FittingParts, settings: Live<LoopSettings>) -> Self {
        Self {
            masking: Masking::new(parts.outputs.clone()),
            parts,
            settings,
            is_settling: false,
            is_answered: false,
            not_before: 0,
        }
    }

    /// Lets the tools read everything in a folder.
    pub(crate) fn open_folder(&self, folder: &Path) {
        self.parts.workspace.update(|workspace| workspace.allow_reading(folder));
    }

    /// Notes the arrival of an answer.
    pub(crate) fn answered(&mut self) {
        self.is_answered = true;
    }

    /// Notes that the conversation was replaced. It must grow before the next attempt.
    pub(crate) fn changed(&mut self) {
        self.is_settling = true;
        self.is_answered = false;
    }

    /// Masks old results.
    pub(crate) async fn mask(
        &mut self,
        conversation: &mut Conversation,
        toolset: &Toolset,
    ) -> Result<(), JournalError> {
        let settings = self.settings.get();
        let found = self.masking.find(conversation.history(), toolset, &settings.masking).await;
        let Some(masked) = found else { return Ok(()) };
        if !masked.shortened.is_empty() {
            let (id, shortened) = (conversation.new_id(), masked.shortened.clone());
            conversation
                .shorten(Compression { id, summary: None, shortened, tokens: None })
                .await?;
            conversation.outlet().measure(&masked.measurement);
        }
        self.masking.settle(&masked, conversation.history());
        Ok(())
    }

    /// Compresses the conversation if the cause requires it. Returns true if it has become shorter.
    pub(crate) async fn compress(
        &mut self,
        conversation: &mut Conversation,
        cause: Cause,
        occasion: &Occasion<'_>,
    ) -> Result<bool, JournalError> {
        if conversation.history().is_empty() {
            if cause == Cause::Asked {
                notify(conversation, Severity::Info, NOTHING.to_owned()).await;
            }
            return Ok(false);
        }
        match cause {
            Cause::Refused => {}
            Cause::Due => {
                occasion.hooks.pre_compress(CompressTrigger::Auto, occasion.cancel).await;
                if !self.may_try(conversation.tokens(), occasion.choice.limits.context) {
                    return Ok(false);
                }
            }
            Cause::Asked => {
                occasion.hooks.pre_compress(CompressTrigger::Manual, occasion.cancel).await;
            }
        }
        // Some vendors do not count all tokens.
        let before = conversation.tokens().max(size(conversation.history(), occasion));
        let Some(cut) = Cut::of(conversation.entries()) else {
            return match cause {
                Cause::Asked => {
                    notify(conversation, Severity::Info, NOTHING.to_owned()).await;
                    Ok(false)
                }
                Cause::Due => Ok(false),
                Cause::Refused => {
                    self.fall_back(conversation, cause, occasion, before, NO_CUT).await
                }
            };
        };
        conversation.outlet().emit(Event::Compressing).await;
        let why = match self.summarised(conversation, occasion, cut).await {
            _ if occasion.cancel.is_cancelled() => return Ok(false),
            Ok(proposal) => {
                let after = size(&proposal.history, occasion);
                let measure = Measurement::ChatCompression { before, after };
                conversation.outlet().measure(&measure);
                if after < before {
                    self.take(conversation, proposal, before, after).await?;
                    return Ok(true);
                }
                if cause == Cause::Asked {
                    self.changed();
                    notify(conversation, Severity::Info, NOT_SHORTER.to_owned()).await;
                    return Ok(false);
                }
                "The summary is longer than the conversation.".to_owned()
            }
            Err(Trouble::Cancelled) => return Ok(false),
            Err(Trouble::Empty) => "The model returned no summary.".to_owned(),
            Err(Trouble::Failed(why)) => why,
        };
        self.fall_back(conversation, cause, occasion, before, &why).await
    }

    /// True if this number of tokens requires an attempt, given the earlier attempts.
    fn may_try(&mut self, tokens: u64, context: u64) -> bool {
        let is_due = is_due(tokens, context, self.settings.get().compression_share);
        if self.is_settling && self.is_answered {
            self.is_settling = false;
            let growth = (context as f64 * GROWTH) as u64;
            self.not_before = if is_due { tokens + growth } else { 0 };
        }
        is_due && !self.is_settling && tokens >= self.not_before
    }

    /// Shortens results and, if necessary, drops the oldest messages, because there is no summary.
    async fn fall_back(
        &mut self,
        conversation: &mut Conversation,
        cause: Cause,
        occasion: &Occasion<'_>,
        before: u64,
        why: &str,
    ) -> Result<bool, JournalError> {
        self.changed();
        let proposed = self.shortened(conversation, cause, occasion, before).await;
        // A conversation that does not become shorter would be refused again.
        let size_before = size(conversation.history(), occasion);
        let proposed =
            proposed.filter(|(proposal, _)| size(&proposal.history, occasion) < size_before);
        if occasion.cancel.is_cancelled() {
            return Ok(false);
        }
        let Some((proposal, gone)) = proposed else {
            if cause != Cause::Refused {
                let text = format!("The conversation could not be compressed: {why}");
                notify(conversation, Severity::Warning, text).await;
            }
            return Ok(false);
        };
        let results = proposal.compression.shortened.len();
        let after = size(&proposal.history, occasion);
        conversation.compress(proposal.compression, proposal.history).await?;
        let gone = if gone == 0 {
            String::new()
        } else {
            format!(" The {gone} oldest messages are omitted. {}", proposal.kept)
        };
        let text = format!(
            "The conversation could not be summarised: {why} {results} tool results were shortened.{gone} About {before} \
             tokens before, {after} now.{}",
            self.undo_hint()
        );
        notify(conversation, Severity::Warning, text).await;
        Ok(true)
    }

    /// Replaces the conversation with a proposal.
    async fn take(
        &mut self,
        conversation: &mut Conversation,
        proposal: Proposal,
        before: u64,
        after: u64,
    ) -> Result<(), JournalError> {
        let tokens = Some((before, after));
        let compression = Compression { tokens, ..proposal.compression };
        conversation.compress(compression, proposal.history).await?;
        self.changed();
        let status = CompressionStatus::Compressed;
        let report = CompressionReport { original_tokens: before, new_tokens: after, status };
        conversation.outlet().emit(Event::ChatCompressed(report)).await;
        let text = format!(
            "Chat history compressed from {before} to {after} tokens. {}{}",
            proposal.kept,
            self.undo_hint()
        );
        notify(conversation, Severity::Info, text).await;
        Ok(())
    }

    /// Returns the sentence that explains how the user can restore the whole conversation.
    fn undo_hint(&self) -> &'static str {
        if self.parts.interactive { " Restore the conversation with /compress undo." } else { "" }
    }
}

async fn notify(conversation: &Conversation, severity: Severity, text: String) {
    conversation.outlet().emit(Event::Notice { severity, text }).await;
}

/// Returns the estimated tokens of a request with this conversation.
fn size(history: &History, occasion: &Occasion<'_>) -> u64 {
    (size_of(history.entries()) + occasion.instruction.tokens()) as u64
}

/// Returns the estimated tokens of entries.
fn size_of(entries: &[Arc<HistoryEntry>]) -> f64 {
    entries.iter().map(|entry| estimate::content(entry.content())).sum()
}
