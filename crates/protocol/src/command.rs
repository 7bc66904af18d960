//! Slash commands.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    ApprovalMode, Args, CancellationToken, FinishedCall, Live, Op, Operator, Origin, PromptId,
    Question, QuestionChoice, QuestionReply, QuestionSubject, Tool,
};

mod prompt_command;
mod set;

pub use prompt_command::{CommandSource, PromptCommand};
pub use set::{CommandExplainer, CommandSet, RenamedCommand};

/// Error of a command that could not run.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct CommandError(pub String);

/// Outcome of a command, as [`crate::Event::CommandEnded`] reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The command has finished.
    Done,
    /// The command starts work of the agent, which continues under the same id.
    Continues,
    /// The command failed, with this message.
    Failed(String),
}

/// State of the session when a command starts.
#[derive(Debug, Clone)]
pub struct SessionView {
    /// Id of the session.
    pub session: Arc<str>,
    /// Approval mode.
    pub mode: ApprovalMode,
    /// Model that was requested: a name, an alias or `auto`.
    pub model: String,
    /// Commands of the session.
    pub commands: Live<CommandSet>,
}

/// Function that sends an operation to the agent.
pub type OpSender = Arc<dyn Fn(Op) + Send + Sync>;
/// Function that shows text to the user immediately.
pub type CommandOutput = Arc<dyn Fn(String) + Send + Sync>;

/// Calls of tools that a command makes.
#[async_trait]
pub trait CommandCalls: Send + Sync {
    /// Runs calls of a tool with these arguments, one after the other, under the rules for calls of
    /// the model: the policy decides about them, hooks see them, the user may be asked, and their
    /// processes are confined. If one of them may not run, none does. A call that fails is the last
    /// one that runs. Returns the calls in their order.
    ///
    /// # Errors
    /// The message about calls that could not be handled. A call that was refused or has failed is
    /// a result.
    async fn run(
        &self,
        tool: Arc<dyn Tool>,
        calls: Vec<Args>,
    ) -> Result<Vec<Arc<FinishedCall>>, CommandError>;
}

/// Everything that a command may use while it runs.
pub struct CommandContext {
    /// Id of the run; work that the command starts continues under this id.
    pub id: PromptId,
    /// Name of the command as it was called, without the slash.
    pub name: String,
    /// Rest of the line after the command's name, trimmed.
    pub arguments: String,
    /// Cancelled when the user stops the command. The agent then stops waiting for the command, so
    /// the token matters only to work that the command has started elsewhere.
    pub cancel: CancellationToken,
    /// Sends operations to the agent.
    pub ops: OpSender,
    /// Asks the user questions; see [`CommandContext::ask`].
    pub operator: Arc<dyn Operator>,
    /// Runs calls of tools.
    pub calls: Arc<dyn CommandCalls>,
    /// Shows text to the user, in any number of pieces.
    pub output: CommandOutput,
    /// State of the session.
    pub session: SessionView,
}

impl CommandContext {
    /// Returns the line that calls the command: `/git:review main`.
    pub fn line(&self) -> String {
        format!("/{} {}", self.name, self.arguments).trim_end().to_owned()
    }

    /// Shows text to the user.
    pub fn say(&self, text: impl Into<String>) {
        (self.output)(text.into());
    }

    /// Asks the user a question of this command. Dropping the future withdraws the question.
    pub async fn ask(
        &self,
        subject: QuestionSubject,
        choices: Vec<QuestionChoice>,
        default: Option<usize>,
    ) -> QuestionReply {
        let origin = Origin {
            session: Arc::clone(&self.session.session),
            prompt: Some(self.id.as_str().into()),
            ..Origin::default()
        };
        self.operator.ask(Question::new(Arc::new(origin), subject, choices, default)).await
    }

    /// Sends an operation to the agent.
    pub fn send(&self, op: Op) {
        (self.ops)(op);
    }
}

impl fmt::Debug for CommandContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("CommandContext");
        fields.field("id", &self.id).field("name", &self.name);
        fields.field("arguments", &self.arguments).field("session", &self.session);
        fields.finish_non_exhaustive()
    }
}

/// One slash command, implemented by the crate that the command belongs to.
#[async_trait]
pub trait Command: Send + Sync {
    /// Name without the slash; a subcommand's name is separated by a space.
    fn name(&self) -> &str;

    /// Other names of the command.
    fn aliases(&self) -> &[&str] {
        &[]
    }

    /// Description in one line, for the help text.
    fn description(&self) -> &str;

    /// Arguments as the help text shows them, such as `NAME` or `[undo]`.
    fn arguments(&self) -> Option<&str> {
        None
    }

    /// True for a command that may run during a prompt: it only reads, or sends operations that
    /// take effect immediately.
    fn runs_while_working(&self) -> bool {
        false
    }

    /// True for a command whose result is always a prompt, or an error.
    fn is_prompt(&self) -> bool {
        false
    }

    /// True for a command that is useful only with a user at a terminal.
    fn needs_user(&self) -> bool {
        false
    }

    /// Returns continuations of a partly typed argument.
    async fn complete(&self, _partial: &str) -> Vec<String> {
        Vec::new()
    }

    /// Runs the command. The returned operation continues the work under the id of the command.
    ///
    /// # Errors
    /// The message for the user if the command failed.
    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError>;
}
