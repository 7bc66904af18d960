//! `/agents`: the subagents of this conversation.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_extensions::agents::{AgentDefinition, AgentModel, AgentOwner};
use pollux_protocol::plain_text::{visible, visible_lines};
use pollux_protocol::{Command, CommandContext, CommandError, Op};
use serde_json::{Value, json};

use super::continuations;
use crate::reload::LiveSettings;
use crate::setup::Setup;
use crate::state::SessionState;
use crate::subagents::{AgentSwitch, Subagents};

const VERBS: [&str; 6] = ["list", "reload", "enable", "disable", "config", "stop"];
const USAGE: &str = "Usage: /agents list, /agents reload, /agents enable NAME, /agents disable NAME, /agents config NAME [maxTurns|maxTimeMinutes|model|temperature VALUE], or /agents stop ID";
/// Names of the values that `/agents config` changes, with their paths in the settings.
const VALUES: [(&str, &str); 4] = [
    ("maxTurns", "runConfig.maxTurns"),
    ("maxTimeMinutes", "runConfig.maxTimeMinutes"),
    ("model", "modelConfig.model"),
    ("temperature", "modelConfig.generateContentConfig.temperature"),
];

/// `/agents`, with everything that a change of the agents concerns.
pub(super) struct Agents {
    setup: Arc<Setup>,
    subagents: Arc<Subagents>,
    settings: LiveSettings,
}

impl Agents {
    pub(super) fn new(setup: &Arc<Setup>, state: &SessionState) -> Self {
        let (subagents, settings) = (Arc::clone(&state.subagents), state.settings.clone());
        Self { setup: Arc::clone(setup), subagents, settings }
    }
}

#[async_trait]
impl Command for Agents {
    fn name(&self) -> &'static str {
        "agents"
    }

    fn description(&self) -> &'static str {
        "show, reload, enable, configure or stop subagents"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[list|reload|enable NAME|disable NAME|config NAME|stop ID]")
    }

    /// A subagent is stopped while the work that runs it continues.
    fn runs_while_working(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let Some((verb, name)) = partial.split_once(' ') else {
            return continuations(partial, VERBS);
        };
        let found = self.subagents.found();
        let names: Vec<String> = match verb {
            "enable" | "disable" => {
                let fitting = |agent: &&Arc<AgentDefinition>| {
                    found.is_enabled(&agent.name) == (verb == "disable")
                };
                found.iter().filter(fitting).map(|agent| agent.name.clone()).collect()
            }
            "config" => found.iter().map(|agent| agent.name.clone()).collect(),
            "stop" => self.subagents.running().into_iter().map(|running| running.id).collect(),
            _ => Vec::new(),
        };
        let fitting = names.into_iter().filter(|known| known.starts_with(name));
        fitting.map(|known| format!("{verb} {known}")).collect()
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let arguments = context.arguments.trim();
        let words: Vec<&str> = arguments.split_whitespace().collect();
        match words[..] {
            [] | ["list"] => context.say(self.list()),
            ["reload" | "refresh"] => self.reload(&context).await?,
            ["enable", name] => self.switch(&context, name, true).await?,
            ["disable", name] => self.switch(&context, name, false).await?,
            ["config", name] => context.say(self.shown(name)?),
            ["config", name, key, value] => self.configure(&context, name, key, value).await?,
            ["stop", id] => self.stop(&context, id)?,
            _ => return Err(CommandError(USAGE.to_owned())),
        }
        Ok(None)
    }
}

impl Agents {
    fn list(&self) -> String {
        let found = self.subagents.found();
        let lines = found.iter().map(|agent| {
            let state = if found.is_enabled(&agent.name) { "" } else { " [Disabled]" };
            let owner = match &agent.owner {
                AgentOwner::BuiltIn => "built-in".to_owned(),
                AgentOwner::Project => "project".to_owned(),
                AgentOwner::User => "user".to_owned(),
                AgentOwner::Extension(name) => format!("extension {name}"),
            };
            format!("\n  - {} ({owner}){state}: {}", agent.name, visible(&agent.description))
        });
        let mut text = format!("Available subagents:\n{}", lines.collect::<String>());
        let running = self.subagents.running();
        if !running.is_empty() {
            text.push_str("\n\nRunning, /agents stop ID stops one alone:\n");
            let rows =
                running.iter().map(|running| format!("\n  - {} {}", running.name, running.id));
            text.extend(rows);
        }
        text
    }

    async fn reload(&self, context: &CommandContext) -> Result<(), CommandError> {
        self.subagents.ask_about_new(context).await.map_err(CommandError)?;
        for message in self.subagents.refresh(self.settings.current().get()).await? {
            context.say(visible_lines(&message));
        }
        let count = self.subagents.found().enabled().count();
        context.say(format!("Agents reloaded successfully. {count} are available."));
        Ok(())
    }

    fn agent(&self, name: &str) -> Result<Arc<AgentDefinition>, CommandError> {
        let missing = || {
            let name: String = name.chars().take(80).collect();
            CommandError(format!("Agent \"{name}\" not found. /agents list shows the agents."))
        };
        self.subagents.found().get(name).cloned().ok_or_else(missing)
    }

    async fn switch(
        &self,
        context: &CommandContext,
        name: &str,
        enables: bool,
    ) -> Result<(), CommandError> {
        let agent = self.agent(name)?;
        let path = self.set(&agent.name, "enabled", json!(enables)).await?;
        let word = if enables { "enabled" } else { "disabled" };
        context.say(match path {
            Some(path) => format!("Agent \"{name}\" {word} in user ({path}) settings."),
            None => format!("Agent \"{name}\" is already {word}."),
        });
        Ok(())
    }

    /// Changes the settings, at once in this session. Returns the path of a file that has changed.
    async fn set(
        &self,
        agent: &str,
        key: &str,
        value: Value,
    ) -> Result<Option<String>, CommandError> {
        let (places, cwd) = (self.setup.places.clone(), self.setup.input.request.folder.clone());
        let (switch, settings) = (AgentSwitch { places, cwd }, self.settings.clone());
        let (agent, key) = (agent.to_owned(), key.to_owned());
        let work = tokio::task::spawn_blocking(move || {
            let has_changed =
                switch.set(&agent, &key, &value).map_err(|error| error.to_string())?;
            settings.reload().map_err(|failure| failure.to_string())?;
            Ok::<_, String>(has_changed.then(|| switch.path().display().to_string()))
        });
        let path = work.await.map_err(|error| CommandError(error.to_string()))?;
        self.subagents.obey(&self.settings.current().get());
        path.map_err(CommandError)
    }

    fn shown(&self, name: &str) -> Result<String, CommandError> {
        let agent = self.agent(name)?;
        let found = self.subagents.found();
        let is_enabled = found.is_enabled(name);
        let agent = found.configured(name).unwrap_or_else(|| AgentDefinition::clone(&agent));
        let tools = match &agent.tools {
            None => "all".to_owned(),
            Some(tools) => tools.join(", "),
        };
        let of_role = self.setup.subagent_model();
        let model = match &agent.model {
            AgentModel::Unset => of_role.as_deref().unwrap_or("inherit"),
            AgentModel::Inherit => "inherit",
            AgentModel::Named(name) => name,
            AgentModel::Preferred { modern, .. } => modern,
        };
        let temperature = agent.temperature.map_or("default".to_owned(), |value| value.to_string());
        let file =
            agent.file.as_ref().map_or("built-in".to_owned(), |file| file.display().to_string());
        Ok(format!(
            "{}\n  enabled: {is_enabled}\n  model: {}\n  temperature: {temperature}\n  maxTurns: {}\n  maxTimeMinutes: {}\n  tools: {}\n  file: {}\nTo change a value: /agents config {name} maxTurns 20",
            visible(agent.shown_name()),
            visible(model),
            agent.max_turns,
            agent.time_limit.as_secs_f64() / 60.0,
            visible(&tools),
            visible(&file),
        ))
    }

    async fn configure(
        &self,
        context: &CommandContext,
        name: &str,
        key: &str,
        value: &str,
    ) -> Result<(), CommandError> {
        let agent = self.agent(name)?;
        let known = VALUES.iter().find(|(known, _)| *known == key);
        let (key, path) = known.ok_or_else(|| CommandError(USAGE.to_owned()))?;
        let value = value_of(key, value)?;
        self.set(&agent.name, path, value).await?;
        context.say(self.shown(name)?);
        Ok(())
    }

    fn stop(&self, context: &CommandContext, id: &str) -> Result<(), CommandError> {
        let running = self.subagents.running();
        let mut fitting =
            running.iter().filter(|running| running.id.starts_with(id) || running.name == id);
        match (fitting.next(), fitting.next()) {
            (Some(one), None) => {
                one.stop.cancel();
                context.say(format!("Stopped subagent {} ({}).", one.name, one.id));
                Ok(())
            }
            (None, _) => Err(CommandError("No such subagent is running.".to_owned())),
            (Some(_), Some(_)) => {
                Err(CommandError("Several subagents fit. /agents list shows their ids.".to_owned()))
            }
        }
    }
}

/// Checks a value for a key of the settings.
fn value_of(key: &str, value: &str) -> Result<Value, CommandError> {
    let refused = |expected: &str| CommandError(format!("{key} must be {expected}."));
    match key {
        "maxTurns" => {
            let turns = value.parse::<u64>().ok().filter(|turns| (1..=10_000).contains(turns));
            turns.map(|turns| json!(turns)).ok_or_else(|| refused("a whole number above 0"))
        }
        "maxTimeMinutes" => {
            let time = value.parse::<f64>().ok().filter(|time| *time > 0.0 && *time <= 1440.0);
            time.map(|time| json!(time)).ok_or_else(|| refused("a number of minutes above 0"))
        }
        "temperature" => {
            let number = value.parse::<f64>().ok().filter(|number| (0.0..=2.0).contains(number));
            number.map(|number| json!(number)).ok_or_else(|| refused("a number from 0 to 2"))
        }
        _ => Ok(json!(value)),
    }
}
