//! A custom command as a slash command.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use pollux_config::custom_commands::{CommandDefinition, CommandFile, CommandFileError, Template};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    CommandContext, CommandError, CommandSource, ConsentItem, PromptCommand, PromptInput,
};

use super::{CustomCommands, Description};

/// Command in a file.
pub(super) struct FileCommand {
    file: CommandFile,
    source: CommandSource,
    owner: Arc<CustomCommands>,
    description: Description,
}

/// Reason why a file is not used.
enum Obstacle {
    /// The user has not agreed to its content.
    NotAllowed(ConsentItem),
    /// The file is no command.
    Unusable(String),
}

impl FileCommand {
    pub(super) fn new(
        file: CommandFile,
        source: CommandSource,
        description: Description,
        owner: &Arc<CustomCommands>,
    ) -> Self {
        Self { file, source, owner: Arc::clone(owner), description }
    }

    /// Returns the path of the file below a folder, for users.
    pub(super) fn path_below(&self, folder: &Path) -> String {
        let path = self.file.path.strip_prefix(folder).unwrap_or(&self.file.path);
        visible(&path.to_string_lossy())
    }

    /// Returns why the file cannot be used, if that does not depend on the user. Blocks the thread.
    pub(super) fn problem(&self) -> Option<String> {
        match self.owner.load(&self.file, &self.source) {
            Ok(definition) => {
                self.describe(&definition);
                None
            }
            Err(Obstacle::Unusable(problem)) => Some(problem),
            Err(Obstacle::NotAllowed(_)) => None,
        }
    }

    /// Remembers the description.
    fn describe(&self, definition: &CommandDefinition) -> &str {
        self.description.get_or_init(|| {
            let description = definition.description.clone();
            self.marked(description.unwrap_or_else(|| self.default_description()))
        })
    }

    /// Returns a description with the name of the extension.
    fn marked(&self, description: String) -> String {
        match &self.source {
            CommandSource::Extension(name) => format!("[{name}] {description}"),
            _ => description,
        }
    }

    fn default_description(&self) -> String {
        let name = self.file.path.file_name().unwrap_or_default().to_string_lossy();
        format!("Custom command from {}", visible(&name))
    }

    /// Reads the file as it is now, and asks the user about a content that was not agreed to.
    async fn allowed(&self, context: &CommandContext) -> Result<CommandDefinition, String> {
        let path = visible(&self.file.path.to_string_lossy());
        match self.load().await {
            Ok(definition) => Ok(definition),
            Err(Obstacle::Unusable(problem)) => Err(problem),
            Err(Obstacle::NotAllowed(item)) => {
                if !self.owner.consent.agrees_to(item, context).await? {
                    return Err(self.owner.changed(&path, &context.name));
                }
                self.load().await.map_err(|obstacle| match obstacle {
                    Obstacle::Unusable(problem) => problem,
                    Obstacle::NotAllowed(_) => format!("{path} has changed again."),
                })
            }
        }
    }

    async fn load(&self) -> Result<CommandDefinition, Obstacle> {
        let (owner, file) = (Arc::clone(&self.owner), self.file.clone());
        let source = self.source.clone();
        let loaded = tokio::task::spawn_blocking(move || owner.load(&file, &source)).await;
        loaded.unwrap_or_else(|error| Err(Obstacle::Unusable(error.to_string())))
    }
}

impl CustomCommands {
    /// Reads a file as it is now. Blocks the thread.
    fn load(
        &self,
        file: &CommandFile,
        source: &CommandSource,
    ) -> Result<CommandDefinition, Obstacle> {
        let unusable = |error: CommandFileError| Obstacle::Unusable(error.to_string());
        let text = file.read().map_err(unusable)?;
        if *source == CommandSource::Project
            && let Some(item) = self.open_item(file, &text)
        {
            return Err(Obstacle::NotAllowed(item));
        }
        file.definition(&text).map_err(unusable)
    }
}

#[async_trait]
impl PromptCommand for FileCommand {
    fn name(&self) -> &str {
        &self.file.name
    }

    fn description(&self) -> &str {
        match self.description.get() {
            Some(description) => description,
            // The file is small, and in a conversation it was read in the background before.
            None => match self.owner.load(&self.file, &self.source) {
                Ok(definition) => self.describe(&definition),
                Err(_) => self.description.get_or_init(|| self.marked(self.default_description())),
            },
        }
    }

    fn arguments(&self) -> Option<&str> {
        Some("[ARGUMENTS]")
    }

    async fn expand(&self, context: &CommandContext) -> Result<PromptInput, CommandError> {
        let definition = self.allowed(context).await.map_err(CommandError)?;
        let template = Template::parse(&definition.prompt).map_err(|error| {
            CommandError(format!("Invalid syntax in command '{}': {error}", context.name))
        })?;
        Ok(self.owner.fill(&template, context).await?.into())
    }
}
