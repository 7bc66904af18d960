//! `/restore`: the files of the project as they were at a checkpoint.

use async_trait::async_trait;
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{Command, CommandContext, CommandError, Op};
use pollux_session::{ChangedFile, CheckpointRecord, FileChange, SharedCheckpoints};

use super::stored::{Failed, Stored, blocking, choice};

/// Maximum number of files that are listed in a question.
const LISTED: usize = 40;

/// `/restore`, with the checkpoints of the project.
pub(super) struct Restore {
    pub(super) stored: Stored,
    pub(super) checkpoints: SharedCheckpoints,
}

#[async_trait]
impl Command for Restore {
    fn name(&self) -> &'static str {
        "restore"
    }

    fn description(&self) -> &'static str {
        "list the checkpoints of files, or restore one"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[CHECKPOINT]")
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let mut names = self.names().await.unwrap_or_default();
        names.reverse();
        super::continuations(partial, names)
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let name = context.arguments.trim().to_owned();
        if !name.is_empty() {
            return self.restore(&context, &name).await;
        }
        let names = self.names().await?;
        context.say(if names.is_empty() {
            "No restorable tool calls found.".to_owned()
        } else {
            let lines: Vec<String> = names.iter().map(|name| format!("  {name}")).collect();
            format!("Available tool calls to restore:\n{}", lines.join("\n"))
        });
        Ok(None)
    }
}

impl Restore {
    async fn names(&self) -> Result<Vec<String>, CommandError> {
        let records = self.checkpoints.records().clone();
        blocking(move || Ok(records.names())).await
    }

    async fn restore(
        &self,
        context: &CommandContext,
        name: &str,
    ) -> Result<Option<Op>, CommandError> {
        let (records, wanted) = (self.checkpoints.records().clone(), name.to_owned());
        let read = blocking(move || {
            let invalid = |error| Failed(format!("Checkpoint file is invalid: {error}"));
            records.read(&wanted).map_err(invalid)
        });
        let record = read.await?.ok_or_else(|| CommandError(format!("File not found: {name}")))?;
        let no_files = || CommandError("This checkpoint has no snapshot of files.".to_owned());
        let snapshot = record.commit_hash.clone().ok_or_else(no_files)?;
        let failed = |error: &dyn std::fmt::Display| CommandError(error.to_string());
        let repository = self.checkpoints.repository();
        let now = repository.snapshot("Before a restore").await.map_err(|error| failed(&error))?;
        let changes = repository.changes(&now, &snapshot).await.map_err(|error| failed(&error))?;
        let prompt = record.prompt_entry.clone().filter(|_| self.is_of_conversation(&record));
        let Some(extent) = extent(context, &changes, prompt.is_some()).await else {
            return Ok(None);
        };
        if !changes.is_empty() {
            let undo = self.checkpoints.record_restore(name, &now).await;
            let undo = undo.map_err(|error| failed(&error))?;
            repository.restore(&now, &snapshot).await.map_err(|error| failed(&error))?;
            context.say(format!(
                "Files restored: {}. To take this back: /restore {undo}",
                changes.len()
            ));
        }
        let to = prompt.filter(|_| extent == Extent::Both);
        Ok(to.map(|to| Op::Rewind { id: context.id.clone(), to }))
    }

    /// True if the checkpoint was made in this conversation.
    fn is_of_conversation(&self, record: &CheckpointRecord) -> bool {
        record.session_id.as_deref() == Some(&self.stored.id) && !record.is_restore()
    }
}

/// Extent of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Both,
    Files,
}

/// Shows what a restore changes, and asks what to restore.
async fn extent(
    context: &CommandContext,
    changes: &[ChangedFile],
    has_conversation: bool,
) -> Option<Extent> {
    let mut lines = vec![match changes.len() {
        0 => "All files are as they were at this checkpoint.".to_owned(),
        count => format!("Files that a restore changes: {count}"),
    }];
    lines.extend(changes.iter().take(LISTED).map(line));
    let more = changes.len().saturating_sub(LISTED);
    lines.extend((more > 0).then(|| format!("  and {more} more")));
    let offered: Vec<(Extent, &str)> = [
        (has_conversation, Extent::Both, "Restore the files, and rewind the conversation"),
        (!changes.is_empty(), Extent::Files, "Restore the files"),
    ]
    .into_iter()
    .filter_map(|(is_offered, extent, label)| is_offered.then_some((extent, label)))
    .collect();
    if offered.is_empty() {
        context.say(lines.join("\n"));
        return None;
    }
    let labels = offered.iter().map(|(_, label)| (*label).to_owned()).collect();
    let chosen = choice(context, lines.join("\n"), labels, "Do nothing").await?;
    offered.get(chosen).map(|(extent, _)| *extent)
}

fn line(file: &ChangedFile) -> String {
    let change = match file.change {
        FileChange::Removed => "remove",
        FileChange::Created => "create",
        FileChange::Changed => "change",
    };
    format!("  {change} {}", one_line(&file.path))
}
