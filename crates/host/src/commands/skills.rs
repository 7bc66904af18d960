//! `/skills`: the skills of this conversation.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_agent::Toolset;
use pollux_config::FileScope;
use pollux_config::skills::install_folder;
use pollux_extensions::skills::{Skill, SkillFolder, SkillSource};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    Command, CommandContext, CommandError, Live, Op, QuestionChoice, QuestionOutcome,
    QuestionSubject,
};

use super::continuations;
use crate::reload::LiveSettings;
use crate::setup::Setup;
use crate::skills::{SkillSwitch, Skills};

const VERBS: [&str; 6] = ["list", "desc", "enable", "disable", "link", "reload"];
const USAGE: &str = "Usage: /skills list, /skills enable NAME, /skills disable NAME [--scope user|workspace], /skills link PATH [--scope user|workspace], or /skills reload";
const DISABLED: &str = "Skills are disabled: see skills.enabled.";

/// `/skills`, with everything that a change of the skills concerns.
pub(super) struct SkillsCommand {
    pub(super) setup: Arc<Setup>,
    pub(super) skills: Arc<Skills>,
    pub(super) settings: LiveSettings,
    pub(super) toolset: Live<Toolset>,
}

#[async_trait]
impl Command for SkillsCommand {
    fn name(&self) -> &'static str {
        "skills"
    }

    fn description(&self) -> &'static str {
        "show, enable, disable, link or reload the skills"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[list|enable NAME|disable NAME|link PATH|reload]")
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let found = self.skills.found();
        for (verb, is_enabled) in [("enable", false), ("disable", true)] {
            if let Some(name) = partial.strip_prefix(verb).and_then(|rest| rest.strip_prefix(' ')) {
                let fitting = found.iter().filter(|skill| {
                    found.is_enabled(skill) == is_enabled && skill.name.starts_with(name)
                });
                return fitting.map(|skill| format!("{verb} {}", skill.name)).collect();
            }
        }
        continuations(partial, VERBS)
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        if !self.setup.has_skills() {
            return Err(CommandError(DISABLED.to_owned()));
        }
        let arguments = context.arguments.trim();
        let (verb, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        match (verb, rest.trim()) {
            ("" | "list" | "desc" | "descriptions", "" | "all") => context.say(self.list(true)),
            ("list", "nodesc" | "nodesc all") | ("nodesc", "") => context.say(self.list(false)),
            ("reload" | "refresh", "") => self.reload(&context).await?,
            ("enable" | "disable", name) if !name.is_empty() => {
                self.switch(&context, verb == "enable", name).await?;
            }
            ("link", path) if !path.is_empty() => self.link(&context, path).await?,
            _ => return Err(CommandError(USAGE.to_owned())),
        }
        Ok(None)
    }
}

impl SkillsCommand {
    fn list(&self, describes: bool) -> String {
        let found = self.skills.found();
        let lines = found.iter().map(|skill| {
            let state = if found.is_enabled(skill) { "" } else { " [Disabled]" };
            let description =
                if describes { format!(": {}", skill.description) } else { String::new() };
            format!("\n  - {}{state}{description}", visible(&skill.name))
        });
        let lines: String = lines.collect();
        if lines.is_empty() {
            return "No skills discovered.".to_owned();
        }
        format!("Available Agent Skills:\n{lines}")
    }

    async fn reload(&self, context: &CommandContext) -> Result<(), CommandError> {
        self.skills.ask_about_new(context).await.map_err(CommandError)?;
        for message in self.refresh(context).await? {
            context.say(message);
        }
        let found = self.skills.found();
        let enabled = found.enabled().count();
        context.say(match enabled {
            1 => "Agent skills reloaded successfully. 1 skill is available.".to_owned(),
            _ => format!("Agent skills reloaded successfully. {enabled} skills are available."),
        });
        Ok(())
    }

    async fn refresh(&self, context: &CommandContext) -> Result<Vec<String>, CommandError> {
        self.skills.refresh(&self.toolset, &context.session.commands).await
    }

    /// Enables or disables a skill in the settings, and at once in this session.
    async fn switch(
        &self,
        context: &CommandContext,
        enables: bool,
        arguments: &str,
    ) -> Result<(), CommandError> {
        let (name, scope) = scope_of(arguments, FileScope::Project)?;
        let found = self.skills.found();
        let Some(skill) = found.get(name) else {
            return Err(CommandError(format!(
                "Skill \"{name}\" not found. /skills list shows the skills."
            )));
        };
        let name = skill.name.clone();
        let (places, cwd) = (self.setup.places.clone(), self.setup.input.request.folder.clone());
        let (switch, settings) = (SkillSwitch { places, cwd }, self.settings.clone());
        let work = tokio::task::spawn_blocking(move || {
            let switched =
                if enables { switch.enable(&name) } else { switch.disable(&name, scope) };
            let switched = switched.map_err(|error| error.to_string())?;
            settings.reload().map_err(|failure| failure.to_string())?;
            Ok::<_, String>(switched.0)
        });
        let said = work.await.map_err(|error| CommandError(error.to_string()))?;
        context.say(said.map_err(CommandError)?);
        self.skills.obey(&self.settings.current().get(), &self.toolset, &context.session.commands);
        Ok(())
    }

    /// Links the skills in a folder, after the user has agreed.
    async fn link(&self, context: &CommandContext, arguments: &str) -> Result<(), CommandError> {
        let (path, scope) = scope_of(arguments, FileScope::User)?;
        let folder = match scope {
            FileScope::Project => self.setup.input.request.folder.clone(),
            _ => self.setup.places.home.clone(),
        };
        let destination = SkillFolder::new(&install_folder(&folder));
        let given = self.setup.places.expand_home(path);
        let cwd = self.setup.input.request.folder.as_path();
        let source = SkillSource::Folder(pollux_fs::absolute(cwd, &given));
        let fetched = source.fetch(Vec::new()).await.map_err(failed)?;
        let root = fetched.root(None).map_err(failed)?;
        let name = format!("\"{}\"", root.display());
        let fetched = tokio::task::spawn_blocking(move || fetched.skills(root, &name));
        let fetched = fetched.await.map_err(|error| CommandError(error.to_string()))?;
        let skills = fetched.map_err(failed)?.skills;
        if !self.agrees(context, &skills).await {
            return Err(CommandError("Skill linking cancelled by user.".to_owned()));
        }
        let linked = tokio::task::spawn_blocking(move || {
            let linked = skills.iter().map(|skill| destination.link(skill));
            linked.collect::<Result<Vec<_>, _>>()
        });
        let linked = linked.await.map_err(|error| CommandError(error.to_string()))?;
        for skill in linked.map_err(failed)? {
            let text = format!("Linked skill: {} ({})", skill.name, skill.location.display());
            context.say(visible(&text));
        }
        self.reload(context).await
    }

    async fn agrees(&self, context: &CommandContext, skills: &[Skill]) -> bool {
        let shown = skills.iter().map(|skill| {
            let file = skill.file();
            format!("\n  {}: {}\n    {}", skill.name, skill.description, file.display())
        });
        let subject = QuestionSubject::Request {
            text: shown.collect::<String>()
                + "\n\nLink these skills? The model follows their instructions.",
        };
        let choices = vec![
            QuestionChoice::new(QuestionOutcome::ProceedOnce, "Link", 'y'),
            QuestionChoice::new(QuestionOutcome::Cancel, "Cancel", 'n'),
        ];
        let reply = context.ask(subject, choices, None).await;
        reply.outcome == QuestionOutcome::ProceedOnce
    }
}

fn failed(error: impl std::fmt::Display) -> CommandError {
    CommandError(error.to_string())
}

/// Removes `--scope` and its value from the end of the arguments.
fn scope_of(arguments: &str, default: FileScope) -> Result<(&str, FileScope), CommandError> {
    let Some((rest, word)) = arguments.rsplit_once("--scope") else {
        return Ok((arguments, default));
    };
    let scope = match word.trim_start_matches('=').trim() {
        "user" => FileScope::User,
        "workspace" => FileScope::Project,
        _ => return Err(CommandError(USAGE.to_owned())),
    };
    Ok((rest.trim_end(), scope))
}
