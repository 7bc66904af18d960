//! Requests to the model that summarises a conversation.

use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{
    CancellationToken, Choice, Content, HistoryEntry, ModelError, ModelErrorKind, ModelRequest,
    ModelRole, Part, SideModels, text_of,
};

use super::CompressionSnapshot;
use super::chunks::chunks;

const INSTRUCTION: &str = include_str!("../../prompts/compression.md");
const WITH_PLAN: &str = include_str!("../../prompts/compression_plan.md");
const CHECK: &str = include_str!("../../prompts/compression_check.md");

/// Question after the conversation.
const ASK_NEW: &str =
    "Think in the scratchpad first. Then write the <state_snapshot> of the conversation above.";
const ASK_AGAIN: &str = "The conversation above begins with an earlier <state_snapshot>. Think in the scratchpad first. Then write a new \
                         <state_snapshot> that replaces it: everything in it that is still true, and everything new.";

/// Marker before a piece that begins in the middle of a conversation.
const GOES_ON: &str = "[The conversation continues here.]";

/// Share of the summarising model's context window that a conversation may fill. The rest covers
/// inexact estimates and the answer.
const FILLED: f64 = 0.6;

/// Reason for a missing summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The user cancelled the compression.
    Cancelled,
    /// The model's answer was empty.
    Empty,
    /// The request failed, for this reason.
    Failed(String),
}

impl From<ModelError> for Trouble {
    fn from(error: ModelError) -> Self {
        match error.kind {
            ModelErrorKind::Cancelled => Self::Cancelled,
            _ => Self::Failed(error.message.lines().next().unwrap_or_default().to_owned()),
        }
    }
}

/// Asks a model for summaries.
pub(crate) struct Summariser<'a> {
    pub(crate) models: &'a dyn SideModels,
    /// Model of the conversation.
    pub(crate) model: &'a str,
    pub(crate) prompt_id: &'a str,
    /// True if there is a plan that the user has approved.
    pub(crate) has_plan: bool,
    /// Maximum time for one answer.
    pub(crate) patience: Duration,
    pub(crate) cancel: &'a CancellationToken,
}

impl Summariser<'_> {
    /// Returns the snapshot of these entries. A conversation that is too long for the model is sent
    /// in pieces, each with the snapshot of the pieces before it. The model checks the last
    /// snapshot once more.
    pub(crate) async fn summarise(
        &self,
        entries: &[Arc<HistoryEntry>],
    ) -> Result<CompressionSnapshot, Trouble> {
        let choice = self.models.select(alias(self.model)).await?;
        let context = choice.limits.context;
        let room = if context == 0 { f64::INFINITY } else { context as f64 * FILLED };
        let pieces = chunks(entries, room);
        let mut earlier: Option<String> = None;
        let count = pieces.len();
        for (number, piece) in pieces.into_iter().enumerate() {
            let reported = reported(piece, earlier.take());
            let answer = self.ask(&choice, reported.clone(), self.prompt_id).await?;
            let snapshot = CompressionSnapshot::read(&answer).ok_or(Trouble::Empty)?;
            if number + 1 < count {
                earlier = Some(snapshot.render(&super::Kept::default()));
                continue;
            }
            let checked = self.check(&choice, reported, &answer).await?;
            return Ok(snapshot.replaced_by(checked));
        }
        Err(Trouble::Empty)
    }

    /// Lets the model check its own snapshot. A failed check does not change the snapshot.
    async fn check(
        &self,
        choice: &Choice,
        mut reported: Vec<Arc<HistoryEntry>>,
        answer: &str,
    ) -> Result<Option<CompressionSnapshot>, Trouble> {
        reported.push(HistoryEntry::detached(Content::model(vec![Part::text(answer)])));
        reported.push(HistoryEntry::detached(Content::user(vec![Part::text(CHECK)])));
        match self.ask(choice, reported, &format!("{}-verify", self.prompt_id)).await {
            Ok(again) => Ok(CompressionSnapshot::read(&again)),
            Err(Trouble::Cancelled) => Err(Trouble::Cancelled),
            Err(_) => Ok(None),
        }
    }

    async fn ask(
        &self,
        choice: &Choice,
        entries: Vec<Arc<HistoryEntry>>,
        prompt_id: &str,
    ) -> Result<String, Trouble> {
        let system = if self.has_plan {
            format!("{INSTRUCTION}{WITH_PLAN}")
        } else {
            INSTRUCTION.to_owned()
        };
        let request = ModelRequest {
            entries,
            system: Some(system.into()),
            prompt_id: prompt_id.to_owned(),
            role: ModelRole::UtilityCompressor,
            ..ModelRequest::default()
        };
        let cancel = self.cancel.child_token();
        let asked = choice.model.generate(request, cancel.clone());
        tokio::pin!(asked);
        let Ok(answer) = tokio::time::timeout(self.patience, &mut asked).await else {
            // Waits for the end of the cancelled request, so that it is measured like other
            // cancelled requests.
            cancel.cancel();
            drop(asked.await);
            let seconds = self.patience.as_secs();
            return Err(Trouble::Failed(format!("No answer arrived within {seconds} s.")));
        };
        // Calls in this answer are ignored.
        Ok(text_of(&answer?.parts).into_owned())
    }
}

/// Returns a piece of the conversation with the question after it.
fn reported(piece: Vec<Arc<HistoryEntry>>, earlier: Option<String>) -> Vec<Arc<HistoryEntry>> {
    let is_snapshot = |entry: &Arc<HistoryEntry>| {
        let mut texts = entry.content().parts.iter().filter_map(Part::as_text);
        texts.any(super::snapshot::is_snapshot)
    };
    let is_later = earlier.is_some() || piece.iter().any(is_snapshot);
    let begins_with_user =
        piece.first().is_some_and(|entry| entry.content().role == pollux_protocol::Role::User);
    let opening = earlier.or_else(|| (!begins_with_user).then(|| GOES_ON.to_owned()));
    let said = |text: &str| HistoryEntry::detached(Content::user(vec![Part::text(text)]));
    let question = said(if is_later { ASK_AGAIN } else { ASK_NEW });
    let opening = opening.as_deref().map(said);
    opening.into_iter().chain(piece).chain([question]).collect()
}

/// Returns the alias of the model configuration that summarises conversations of the given model.
fn alias(model: &str) -> &'static str {
    match model {
        "gemini-3-pro-preview" | "gemini-3.1-pro-preview" => "chat-compression-3-pro",
        "gemini-3-flash-preview" => "chat-compression-3-flash",
        "gemini-2.5-pro" => "chat-compression-2.5-pro",
        "gemini-2.5-flash" => "chat-compression-2.5-flash",
        "gemini-2.5-flash-lite" => "chat-compression-2.5-flash-lite",
        name if name.starts_with("gemini-3") && name.contains("flash-lite") => {
            "chat-compression-3.1-flash-lite"
        }
        _ => "chat-compression-default",
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_question_names_an_earlier_snapshot_and_a_missing_beginning() {
        let user = |text: &str| Content::user(vec![Part::text(text)]);
        let model = |text: &str| Content::model(vec![Part::text(text)]);
        let snapshot = "<state_snapshot>it</state_snapshot>";
        let cases = [
            (vec![user("a"), model("b")], None, vec!["a", "b", ASK_NEW]),
            (vec![model("b")], None, vec![GOES_ON, "b", ASK_NEW]),
            (vec![model("b")], Some("earlier"), vec!["earlier", "b", ASK_AGAIN]),
            (vec![user(snapshot)], None, vec![snapshot, ASK_AGAIN]),
        ];
        for (piece, earlier, expected) in cases {
            let piece = piece.into_iter().map(HistoryEntry::detached).collect();
            let entries = reported(piece, earlier.map(str::to_owned));
            let texts: Vec<_> = entries.iter().map(|entry| entry.content().text()).collect();
            assert_eq!(texts, expected);
        }
    }

    #[test]
    fn each_model_has_its_configuration() {
        for (model, expected) in [
            ("gemini-3-pro-preview", "chat-compression-3-pro"),
            ("gemini-3.1-pro-preview", "chat-compression-3-pro"),
            ("gemini-3-flash-preview", "chat-compression-3-flash"),
            ("gemini-3.1-flash-lite-preview", "chat-compression-3.1-flash-lite"),
            ("gemini-2.5-pro", "chat-compression-2.5-pro"),
            ("gemini-2.5-flash", "chat-compression-2.5-flash"),
            ("gemini-2.5-flash-lite", "chat-compression-2.5-flash-lite"),
            ("gemini-3-other", "chat-compression-default"),
            ("other-flash-lite", "chat-compression-default"),
        ] {
            assert_eq!(alias(model), expected, "{model}");
        }
    }
}
