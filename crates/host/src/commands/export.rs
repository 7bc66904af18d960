//! `/export-session`: the session as one file.

use async_trait::async_trait;
use pollux_protocol::{Command, CommandContext, CommandError, Op};

use super::stored::{Stored, blocking};

/// `/export-session`.
pub(super) struct ExportSession(pub(super) Stored);

#[async_trait]
impl Command for ExportSession {
    fn name(&self) -> &'static str {
        "export-session"
    }

    fn description(&self) -> &'static str {
        "write this session to a JSON file"
    }

    fn arguments(&self) -> Option<&str> {
        Some("FILE")
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let file = context.arguments.trim();
        if file.is_empty() {
            return Err(CommandError("Usage: /export-session FILE".to_owned()));
        }
        let log = self.0.log()?;
        let text = blocking(move || Ok(pollux_session::export(&log)?)).await?;
        if let Some(path) = self.0.write(&context, file, text).await? {
            context.say(format!("Successfully exported session to {}", path.display()));
        }
        Ok(None)
    }
}
