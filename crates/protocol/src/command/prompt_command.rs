//! Commands that are not built in. Each of them stands for a prompt.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Command, CommandContext, CommandError};
use crate::{Op, PromptInput};

/// Command that stands for a prompt: a file of the user, or a prompt of a server. The commands of a
/// source may change while the session runs; see [`super::CommandSet::replace_source`].
#[async_trait]
pub trait PromptCommand: Send + Sync {
    /// Name without the slash. The command is called by another name if this one is taken.
    fn name(&self) -> &str;

    /// Description in one line.
    fn description(&self) -> &str;

    /// Arguments as the help text shows them, such as `[BRANCH]`.
    fn arguments(&self) -> Option<&str> {
        None
    }

    /// Returns continuations of a partly typed argument.
    async fn complete(&self, _partial: &str) -> Vec<String> {
        Vec::new()
    }

    /// Returns the prompt. Its display is ignored: the user sees the line that calls the command.
    ///
    /// # Errors
    /// The message for the user if there is no content to send.
    async fn expand(&self, context: &CommandContext) -> Result<PromptInput, CommandError>;
}

/// Source of commands that are not built in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandSource {
    /// Files of the user.
    User,
    /// Files of the project.
    Project,
    /// Files of the extension with this name.
    Extension(Arc<str>),
    /// Skills.
    Skill,
    /// Server of the Model Context Protocol with this name.
    Server(Arc<str>),
}

impl CommandSource {
    /// Returns the name of a command of this source that cannot have the name it asks for.
    pub(super) fn qualified(&self, name: &str) -> String {
        match self {
            Self::User => format!("user.{name}"),
            Self::Project => format!("workspace.{name}"),
            Self::Extension(extension) => format!("{extension}:{name}"),
            Self::Skill => format!("skill.{name}"),
            Self::Server(server) => format!("{server}.{name}"),
        }
    }
}

/// Names the kind of command, in the middle of a sentence.
impl fmt::Display for CommandSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => formatter.write_str("user command"),
            Self::Project => formatter.write_str("project command"),
            Self::Extension(extension) => write!(formatter, "extension '{extension}' command"),
            Self::Skill => formatter.write_str("skill"),
            Self::Server(server) => write!(formatter, "prompt of the MCP server '{server}'"),
        }
    }
}

/// Prompt command under the name by which it is called.
pub(super) struct NamedPrompt {
    pub(super) name: String,
    pub(super) command: Arc<dyn PromptCommand>,
}

#[async_trait]
impl Command for NamedPrompt {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        self.command.description()
    }

    fn arguments(&self) -> Option<&str> {
        self.command.arguments()
    }

    fn is_prompt(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        self.command.complete(partial).await
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let mut input = self.command.expand(&context).await?;
        input.display = Some(context.line());
        Ok(Some(Op::Prompt { id: context.id, input }))
    }
}
