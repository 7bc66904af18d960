//! Possible replacements for a conversation that is compressed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use pollux_protocol::{Compression, EntryId, FunctionCall, History, HistoryEntry, Summary};

use super::{Cause, Fitting, Occasion, size_of};
use crate::compression::{
    ActionLedger, ActionSource, Cut, FileState, Kept, RESPONSE_TOKENS, Summariser, Todos, Trouble,
    Truncation, UserMessages, drop_oldest, states_of, truncate,
};
use crate::conversation::Conversation;

/// Share of the model's context to which the conversation is reduced by dropping the oldest
/// messages, if there is no summary.
const LEFT: f64 = 0.7;

/// Tokens of the user's messages that are kept: as a share of the model's context, with a minimum
/// and a maximum.
const SAID: f64 = 0.05;
const LEAST_SAID: f64 = 400.0;
const MOST_SAID: f64 = 20_000.0;

/// Maximum size in bytes of a plan that is kept word for word. A longer plan is only named.
const LONGEST_PLAN: u64 = 100_000;

/// Conversation as it would be after a compression.
pub(super) struct Proposal {
    pub(super) compression: Compression,
    pub(super) history: History,
    /// Description of the kept content for the user.
    pub(super) kept: String,
}

impl Fitting {
    /// Returns the conversation with a summary in place of the cut part.
    pub(super) async fn summarised(
        &self,
        conversation: &Conversation,
        occasion: &Occasion<'_>,
        cut: Cut,
    ) -> Result<Proposal, Trouble> {
        let entries = conversation.entries();
        let gone = cut.entries(entries);
        let plan = self.plan(occasion).await;
        let summariser = Summariser {
            models: occasion.side_models,
            model: &occasion.choice.name,
            prompt_id: occasion.prompt_id,
            has_plan: plan.is_some(),
            patience: self.settings.get().compression_timeout,
            cancel: occasion.cancel,
        };
        let snapshot = summariser.summarise(gone).await?;
        let states = self.states(gone, conversation, occasion).await;
        let kept = self.kept(gone, plan, &states, conversation, occasion);
        let (Some(first), Some(last)) = (gone.first(), gone.last()) else {
            return Err(Trouble::Empty);
        };
        let words = snapshot.render(&kept);
        let (from, through) = (first.id().clone(), last.id().clone());
        let acknowledged = cut.is_acknowledged(entries);
        let summary = Summary { words, from, through, acknowledged };
        let rest = &entries[cut.end..Cut::unanswered(entries).max(cut.end)];
        let truncations = truncate(rest, occasion.toolset, RESPONSE_TOKENS, &self.parts.outputs);
        let id = conversation.new_id();
        let compression = compression(id, Some(summary), saved(truncations).await);
        proposed(conversation.history(), compression, in_words(&kept)).ok_or(Trouble::Empty)
    }

    /// Returns the conversation as shortened without a model, and the number of dropped messages.
    /// `None` if it cannot be shortened.
    pub(super) async fn shortened(
        &self,
        conversation: &Conversation,
        cause: Cause,
        occasion: &Occasion<'_>,
        before: u64,
    ) -> Option<(Proposal, usize)> {
        let history = conversation.history();
        let context = occasion.choice.limits.context;
        let beside = occasion.instruction.tokens();
        let estimated = size_of(history.entries()) + beside;
        let target = match cause {
            Cause::Asked => f64::INFINITY,
            // The vendor's count differs from the estimate.
            Cause::Due => LEFT * context as f64 * estimated / (before as f64).max(1.0) - beside,
            Cause::Refused => estimated / 2.0 - beside,
        };
        let entries = match cause {
            Cause::Refused => history.entries(),
            _ => &history.entries()[..Cut::unanswered(history.entries())],
        };
        let budget = RESPONSE_TOKENS.min(target / 2.0);
        let truncations = truncate(entries, occasion.toolset, budget, &self.parts.outputs);
        let short = compression(conversation.new_id(), None, saved(truncations).await);
        let mut next = history.clone();
        next.compress(&short);
        let plan = self.plan(occasion).await;
        let dropped = if size_of(next.entries()) > target {
            let states = self.states(next.entries(), conversation, occasion).await;
            let keep = |gone: &[Arc<HistoryEntry>]| {
                self.kept(gone, plan.clone(), &states, conversation, occasion)
            };
            drop_oldest(next.entries(), target, keep)
        } else {
            None
        };
        let gone = dropped.as_ref().map_or(0, |dropped| dropped.messages);
        let kept = dropped.as_ref().map_or_else(String::new, |dropped| in_words(&dropped.kept));
        let summary = dropped.map(|dropped| dropped.summary);
        Some((proposed(history, Compression { summary, ..short }, kept)?, gone))
    }

    /// Returns the content of replaced entries that is kept exactly.
    fn kept(
        &self,
        gone: &[Arc<HistoryEntry>],
        plan: Option<(String, String)>,
        states: &HashMap<PathBuf, FileState>,
        conversation: &Conversation,
        occasion: &Occasion<'_>,
    ) -> Kept {
        let contents = || gone.iter().map(|entry| entry.content());
        let all = conversation.entries().iter().map(|entry| entry.content());
        let room = (occasion.choice.limits.context as f64 * SAID).clamp(LEAST_SAID, MOST_SAID);
        Kept {
            ledger: self.ledger(gone, conversation, occasion).with_states(states),
            todos: Todos::in_contents(all, occasion.toolset).and((self.parts.open_tasks)()),
            said: UserMessages::in_contents(contents()).within(room),
            plan,
        }
    }

    /// Returns the actions of the calls in these entries. If no log holds the effects of a call,
    /// because another program ran it, the tool of that name describes them.
    fn ledger(
        &self,
        entries: &[Arc<HistoryEntry>],
        conversation: &Conversation,
        occasion: &Occasion<'_>,
    ) -> ActionLedger {
        let (history, toolset) = (conversation.history(), occasion.toolset);
        let effects_of = |call: &FunctionCall| {
            let recorded = history.effects_of(&call.id).map(Cow::Borrowed);
            recorded.or_else(|| toolset.effects_of(call).map(Cow::Owned))
        };
        let workspace = self.parts.workspace.get();
        let source = ActionSource { effects_of: &effects_of, workspace: &workspace };
        ActionLedger::in_contents(entries.iter().map(|entry| entry.content()), &source)
    }

    /// Returns the states of the files that were read and changed in these entries.
    async fn states(
        &self,
        entries: &[Arc<HistoryEntry>],
        conversation: &Conversation,
        occasion: &Occasion<'_>,
    ) -> HashMap<PathBuf, FileState> {
        let files = self.ledger(entries, conversation, occasion).files();
        let (workspace, cancel) = (self.parts.workspace.get(), occasion.cancel.clone());
        let looking = tokio::task::spawn_blocking(move || states_of(&workspace, files, &cancel));
        looking.await.unwrap_or_default()
    }

    /// Returns the plan that the user has approved: its file and its content.
    async fn plan(&self, occasion: &Occasion<'_>) -> Option<(String, String)> {
        let file = occasion.instruction.plan_file(&self.parts.plans)?;
        let shown = file.display().to_string();
        let reading =
            tokio::task::spawn_blocking(move || pollux_fs::read_bytes(&file, LONGEST_PLAN).ok());
        let bytes = reading.await.ok().flatten()?;
        Some((shown, String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// Returns the conversation after a compression. `None` if the compression changes nothing.
fn proposed(history: &History, mut compression: Compression, kept: String) -> Option<Proposal> {
    let mut history = history.clone();
    if !history.compress(&compression) {
        return None;
    }
    let is_there = |id: &EntryId| history.entries().iter().any(|entry| entry.id() == id);
    compression.shortened.retain(|short| is_there(&short.entry));
    Some(Proposal { compression, history, kept })
}

fn compression(id: EntryId, summary: Option<Summary>, truncations: Vec<Truncation>) -> Compression {
    let shortened = truncations.into_iter().map(|one| one.shortened).collect();
    Compression { id, summary, shortened, tokens: None }
}

/// Returns the truncations whose complete results could be saved in files.
async fn saved(truncations: Vec<Truncation>) -> Vec<Truncation> {
    let saving = tokio::task::spawn_blocking(move || {
        truncations.into_iter().filter(Truncation::save).collect()
    });
    saving.await.unwrap_or_default()
}

/// Returns a description of the kept content for the user.
fn in_words(kept: &Kept) -> String {
    let mut words = vec![format!("prompts ({})", kept.said.prompts().count())];
    let (todos, actions) = (kept.todos.count(), kept.ledger.lines().count());
    words.extend((todos > 0).then(|| format!("open todos ({todos})")));
    words.extend(kept.plan.as_ref().map(|_| "the approved plan".to_owned()));
    let actions =
        if actions > 0 { format!("; listed: actions ({actions})") } else { String::new() };
    format!("Kept verbatim: {}{actions}.", words.join(", "))
}
