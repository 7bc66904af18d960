//! `/theme`: the colour theme. Without arguments, the screen shows the list.

use async_trait::async_trait;
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{Command, CommandContext, CommandError, Op};

use crate::theme::built_in_themes;

/// Command that changes the theme.
#[derive(Debug, Clone, Copy)]
pub struct ThemeCommand;

#[async_trait]
impl Command for ThemeCommand {
    fn name(&self) -> &'static str {
        "theme"
    }

    fn description(&self) -> &'static str {
        "choose a colour theme"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[NAME|FILE]")
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let names = built_in_themes().iter().map(|theme| theme.name.clone());
        let partial = partial.to_lowercase();
        names.filter(|name| name.to_lowercase().starts_with(&partial)).collect()
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let name = one_line(&context.arguments);
        if name.is_empty() {
            let names: Vec<&str> = built_in_themes().iter().map(|it| it.name.as_str()).collect();
            context.say(format!("/theme NAME selects one of {}.", names.join(", ")));
            return Ok(None);
        }
        let settings = context.session.commands.get().get("settings").cloned();
        let settings = settings.ok_or_else(|| CommandError("No settings.".to_owned()))?;
        let arguments = format!("set ui.theme {name} --scope user");
        settings.run(CommandContext { arguments, ..context }).await
    }
}
