//! `/extensions`: the extensions of this conversation.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use pollux_config::FileScope;
use pollux_extensions::Extension;
use pollux_protocol::plain_text::visible;
use pollux_protocol::{Command, CommandContext, CommandError, Op};

use super::continuations;
use crate::extensions::ExtensionSwitch;
use crate::setup::Setup;

const VERBS: [&str; 4] = ["list", "enable", "disable", "explore"];
const USAGE: &str = "Usage: /extensions list, or /extensions enable|disable NAME [--scope user|workspace]. Extensions are installed at the shell: extensions install.";
/// Gallery of extensions for Gemini CLI.
const GALLERY: &str = "https://geminicli.com/extensions/";

/// `/extensions`.
pub(super) struct ExtensionsCommand(pub(super) Arc<Setup>);

#[async_trait]
impl Command for ExtensionsCommand {
    fn name(&self) -> &'static str {
        "extensions"
    }

    fn description(&self) -> &'static str {
        "show, enable or disable the extensions"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[list|enable NAME|disable NAME|explore]")
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        for verb in ["enable", "disable"] {
            if let Some(name) = partial.strip_prefix(verb).and_then(|rest| rest.strip_prefix(' ')) {
                let names = self.0.extensions.iter().map(Extension::name);
                let fitting = names.filter(|known| known.starts_with(name));
                return fitting.map(|name| format!("{verb} {name}")).collect();
            }
        }
        continuations(partial, VERBS)
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let (verb, rest) = context.arguments.split_once(' ').unwrap_or((&context.arguments, ""));
        match (verb, rest.trim()) {
            ("" | "list", "") => context.say(self.list()),
            ("explore", "") => context.say(format!("The gallery of extensions: {GALLERY}")),
            ("enable" | "disable", name) if !name.is_empty() => {
                context.say(self.switch(verb == "enable", name).await?);
            }
            _ => return Err(CommandError(USAGE.to_owned())),
        }
        Ok(None)
    }
}

impl ExtensionsCommand {
    fn list(&self) -> String {
        let mut text = String::from("Installed extensions:");
        for extension in self.0.extensions.iter() {
            let state = if extension.is_active { "active" } else { "disabled" };
            let (name, version) = (extension.name(), visible(&extension.manifest.version));
            // Writing to a String cannot fail.
            write!(text, "\n  {name} (v{version}) - {state}").unwrap_or_default();
            for setting in &extension.settings {
                let value = match &setting.value {
                    None => "[not set]".to_owned(),
                    Some(_) if setting.declaration.is_sensitive => "***".to_owned(),
                    Some(value) => visible(value),
                };
                let name = visible(&setting.declaration.name);
                write!(text, "\n    {name}: {value}").unwrap_or_default();
            }
        }
        if self.0.extensions.iter().next().is_none() {
            return format!("No extensions installed. The gallery: {GALLERY}");
        }
        text
    }

    /// Enables or disables an extension from the next start on.
    async fn switch(&self, enables: bool, arguments: &str) -> Result<String, CommandError> {
        let (name, scope) = match arguments.split_once("--scope") {
            None => (arguments, FileScope::User),
            Some((name, scope)) => match scope.trim_start_matches('=').trim() {
                "user" => (name.trim(), FileScope::User),
                "workspace" => (name.trim(), FileScope::Project),
                _ => return Err(CommandError(USAGE.to_owned())),
            },
        };
        let Some(extension) = self.0.extensions.get(name).cloned() else {
            return Err(CommandError(format!("Extension \"{name}\" not found.")));
        };
        let cwd = self.0.input.request.folder.clone();
        let switch = ExtensionSwitch { places: self.0.places.clone(), cwd };
        let name = extension.name().to_owned();
        let work = tokio::task::spawn_blocking(move || {
            if enables {
                switch.enable(&extension, scope)
            } else {
                switch.disable(&extension, scope)
            }
        });
        let done = work.await.map_err(|error| CommandError(error.to_string()))?;
        done.map_err(CommandError)?;
        let (state, place) = (
            if enables { "enabled" } else { "disabled" },
            if scope == FileScope::Project { "this folder" } else { "all folders" },
        );
        Ok(format!(
            "Extension \"{name}\" is {state} for {place}. The change takes effect at the next start."
        ))
    }
}
