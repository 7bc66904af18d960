//! Stored conversations, as slash commands use them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use pollux_fs::{Access, Expectation, WriteOptions, absolute};
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{
    CommandContext, CommandError, History, Op, QuestionChoice, QuestionOutcome, QuestionSubject,
    SessionStart,
};
use pollux_session::{SessionStore, TaggedConversations};
use pollux_shell::ProcessState;
use pollux_tools::ToolContext;

use crate::setup::Setup;

/// The session of a command, and the other conversations of its project.
#[derive(Clone)]
pub(super) struct Stored {
    pub(super) setup: Arc<Setup>,
    /// Id of the session.
    pub(super) id: String,
    /// File of the session; `None` before it runs.
    pub(super) log: Option<PathBuf>,
    pub(super) tools: Arc<ToolContext>,
}

impl Stored {
    pub(super) fn sessions(&self) -> SessionStore {
        SessionStore::new(&self.setup.project)
    }

    pub(super) fn tagged(&self) -> TaggedConversations {
        TaggedConversations::new(&self.setup.project)
    }

    /// Returns the file of the session.
    pub(super) fn log(&self) -> Result<PathBuf, CommandError> {
        self.log.clone().ok_or_else(|| CommandError("The session does not run yet.".to_owned()))
    }

    /// Returns the conversation as the model sees it.
    pub(super) async fn history(&self) -> Result<History, CommandError> {
        let path = self.log()?;
        blocking(move || Ok(pollux_session::conversation(&path)?)).await
    }

    /// Leaves the session for another one, if the user agrees to what ends with it.
    pub(super) async fn switch(
        &self,
        context: &CommandContext,
        start: SessionStart,
    ) -> Result<Option<Op>, CommandError> {
        let running = self.tools.background.list();
        let running = running.iter().filter(|process| process.state() == ProcessState::Running);
        let lines: Vec<String> = running
            .map(|process| format!("  {}: {}", process.id(), one_line(process.command())))
            .collect();
        if !lines.is_empty() {
            let text =
                format!("These background commands end with the session:\n{}", lines.join("\n"));
            if !agrees(context, text, "Leave the session", "Stay").await {
                return Ok(None);
            }
        }
        Ok(Some(Op::Switch(start)))
    }

    /// Writes a file that the user has named: inside of the workspace, or at an absolute path.
    /// Asks before it replaces a file. Returns the path; `None` if the user does not agree.
    pub(super) async fn write(
        &self,
        context: &CommandContext,
        name: &str,
        text: String,
    ) -> Result<Option<PathBuf>, CommandError> {
        let name = Path::new(name);
        let path = absolute(&self.setup.input.request.folder, name);
        let workspace = self.setup.workspace.get();
        if !name.is_absolute() && workspace.check(&path, Access::Write).is_err() {
            return Err(CommandError(format!(
                "{} is not a place in the workspace. Give an absolute path to write elsewhere.",
                path.display()
            )));
        }
        let shown = path.clone();
        let exists = blocking(move || Ok(pollux_fs::link_info(&shown).is_ok())).await?;
        let question = || format!("{} exists. Replace it?", path.display());
        if exists && !agrees(context, question(), "Replace it", "Keep it").await {
            return Ok(None);
        }
        let options = WriteOptions {
            expected: (!exists).then_some(Expectation::Absent),
            create_parents: true,
            ..WriteOptions::default()
        };
        blocking(move || {
            pollux_fs::write_atomic(&path, text.as_bytes(), &options)?;
            Ok(Some(path))
        })
        .await
    }
}

/// Asks a question that can be agreed to.
pub(super) async fn agrees(context: &CommandContext, text: String, yes: &str, no: &str) -> bool {
    let choices = vec![
        QuestionChoice::new(QuestionOutcome::ProceedOnce, yes, 'y'),
        QuestionChoice::new(QuestionOutcome::Cancel, no, 'n'),
    ];
    let reply = context.ask(QuestionSubject::Request { text }, choices, None).await;
    reply.outcome == QuestionOutcome::ProceedOnce
}

/// Lets the user choose one of these labels, or none. Returns the index.
pub(super) async fn choice(
    context: &CommandContext,
    text: String,
    labels: Vec<String>,
    none: &str,
) -> Option<usize> {
    let mut choices = QuestionChoice::options(labels);
    choices.push(QuestionChoice::new(QuestionOutcome::Cancel, none, 'n'));
    match context.ask(QuestionSubject::Request { text }, choices, None).await.outcome {
        QuestionOutcome::Option(index) => Some(index),
        _ => None,
    }
}

/// Runs work that blocks the thread. A failure is an error of the command.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failed> + Send + 'static,
) -> Result<T, CommandError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|Failed(message)| CommandError(message)),
        Err(error) => Err(CommandError(error.to_string())),
    }
}

/// Message about work that failed.
pub(super) struct Failed(pub(super) String);

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Returns a time in milliseconds, for the name of a file.
pub(super) fn milliseconds() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Formats a time as `2026-11-27 00:34:48`, local.
pub(super) fn local(time: SystemTime) -> String {
    let zoned = jiff::Zoned::try_from(time);
    zoned.map(|time| time.strftime("%Y-%m-%d %H:%M:%S").to_string()).unwrap_or_default()
}
