//! One agent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use pollux_protocol::plain_text::one_line;
use serde_json::{Map, Value};

use super::fields::Fields;
use crate::skills::{FrontMatterError, parts, values};
use crate::variables::Variables;
use servers::servers;

mod servers;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 64;
/// Maximum length of a description, in characters. The rest is left out.
const MAX_DESCRIPTION: usize = 4096;
/// Maximum number of tools in the list of an agent.
const MAX_TOOLS: usize = 500;
/// Maximum number of turns.
const MAX_TURNS: f64 = 10_000.0;
/// Maximum time, in minutes: one day.
const MAX_MINUTES: f64 = 1440.0;
/// Maximum temperature that a service accepts.
const MAX_TEMPERATURE: f64 = 2.0;

/// Number of turns if a definition sets none.
const DEFAULT_TURNS: u64 = 30;
/// Time limit if a definition sets none.
const DEFAULT_TIME: Duration = Duration::from_mins(10);
/// Model that stands for the model of the conversation.
const INHERIT: &str = "inherit";
/// Keys that only definitions of remote agents have.
const REMOTE_KEYS: [&str; 3] = ["agent_card_url", "agent_card_json", "auth"];
/// Placeholder of the task.
const QUERY: &str = "query";

/// Origin of a definition. Of several agents with one name, the first one in this order is used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentOwner {
    /// Pollux.
    BuiltIn,
    /// The project.
    Project,
    /// The user.
    User,
    /// The extension with this name.
    Extension(String),
}

/// Model of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentModel {
    /// No model is named: the user's model for subagents, or else that of the conversation.
    Unset,
    /// The model of the conversation.
    Inherit,
    /// A name or an alias.
    Named(String),
    /// The model with an alias, if the vendor of the conversation has one; otherwise the model of
    /// the conversation.
    Preferred {
        /// Alias in a conversation with a present model.
        modern: &'static str,
        /// Alias in a conversation with a model of an older family.
        legacy: &'static str,
    },
}

/// Form of an agent's report.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// A text.
    Text,
    /// A value that satisfies a schema, and the text that is made of it.
    Value {
        /// JSON schema of the value.
        schema: Value,
        /// Form of the text for the agent that asked.
        text: ReportText,
    },
}

/// Text that is made of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportText {
    /// The whole value as JSON.
    Json,
    /// The text of the key `response`.
    Response,
    /// The text of the key `answer` with the list of the key `sources`.
    AnswerWithSources,
}

impl ReportText {
    /// Returns the text of a report.
    pub fn of(self, report: &Value) -> String {
        let text = |key: &str| report.get(key).and_then(Value::as_str).unwrap_or_default();
        match self {
            Self::Json => format!("{report:#}"),
            Self::Response => text("response").to_owned(),
            Self::AnswerWithSources => {
                let sources = report.get("sources").and_then(Value::as_array);
                let sources = sources.into_iter().flatten().filter_map(Value::as_str);
                let sources: Vec<String> = sources.map(|source| format!("\n- {source}")).collect();
                let sources = sources.concat();
                let heading = if sources.is_empty() { "" } else { "\n\n**Sources:**" };
                format!("{}{heading}{sources}", text("answer"))
            }
        }
    }
}

/// Agent whose definition was read.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentDefinition {
    /// Name for invoking the agent: lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// Name for users.
    pub display_name: Option<String>,
    /// Description of the tasks that the agent is for, in one line.
    pub description: String,
    /// Origin.
    pub owner: AgentOwner,
    /// File of the definition; `None` for a built-in agent.
    pub file: Option<PathBuf>,
    /// Instructions, with placeholders.
    pub instructions: String,
    /// First message, with the placeholder `${query}`.
    pub query: String,
    /// Names and patterns of the tools that the agent may use; `None` for all tools of the session.
    pub tools: Option<Vec<String>>,
    /// Model.
    pub model: AgentModel,
    /// Temperature; `None` for that of the model's configuration.
    pub temperature: Option<f64>,
    /// Maximum number of turns.
    pub max_turns: u64,
    /// Maximum time. The time in which the user answers questions does not count.
    pub time_limit: Duration,
    /// Form of the report.
    pub report: Report,
    /// MCP servers that only this agent uses: name and entry, as in the setting `mcpServers`.
    pub servers: Map<String, Value>,
}

/// Reason why a text defines no agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// There is no front matter.
    #[error("{0}")]
    FrontMatter(#[from] FrontMatterError),
    /// The front matter is not YAML.
    #[error("YAML frontmatter parsing failed: {0}")]
    Yaml(String),
    /// Keys are missing, unknown or have wrong values.
    #[error("Validation failed: Agent Definition:\n{}", .0.join("\n"))]
    Invalid(Vec<String>),
    /// The agent runs on another machine.
    #[error("remote agents are not available in this version")]
    Remote,
}

impl AgentDefinition {
    /// Returns the agent with the values of variables in its texts.
    pub(super) fn filled(self, variables: &Variables) -> Self {
        let fill = |text: String| variables.fill_text(&text);
        Self {
            description: one_line(&fill(self.description)),
            instructions: fill(self.instructions),
            query: fill(self.query),
            servers: {
                let mut servers = Value::Object(self.servers);
                variables.fill(&mut servers);
                servers.as_object_mut().map(std::mem::take).unwrap_or_default()
            },
            ..self
        }
    }
}

/// Reads a definition. `is_tool` says whether a tool with a name can exist.
///
/// # Errors
/// All faults of the definition.
pub fn agent_definition(
    text: &str,
    is_tool: &dyn Fn(&str) -> bool,
) -> Result<AgentDefinition, DefinitionError> {
    let (yaml, body) = parts(text)?;
    let values: Value = values(yaml).map_err(|error| {
        // The rest is an excerpt of the file.
        let message = error.to_string();
        let message = message.split("-->").next().unwrap_or_default();
        DefinitionError::Yaml(one_line(message).chars().take(200).collect())
    })?;
    let Value::Object(values) = values else {
        // A list defines several remote agents.
        return Err(match values {
            Value::Array(_) => DefinitionError::Remote,
            _ => {
                DefinitionError::Invalid(vec!["(Local Agent) expected keys and values".to_owned()])
            }
        });
    };
    let mut fields = Fields::new(values.into_iter().collect::<BTreeMap<_, _>>());
    let kind = fields.text("kind");
    if kind.as_deref() == Some("remote")
        || kind.is_none() && REMOTE_KEYS.iter().any(|key| fields.has(key))
    {
        return Err(DefinitionError::Remote);
    }
    if kind.is_some_and(|kind| kind != "local") {
        fields.fault("kind", "expected local or remote");
    }
    let name = fields.required("name").filter(|name| is_name(name, &mut fields));
    let description = description(&mut fields);
    let definition = AgentDefinition {
        name: name.unwrap_or_default(),
        description,
        display_name: fields.text("display_name").map(|name| one_line(&name)),
        owner: AgentOwner::User,
        file: None,
        instructions: body.to_owned(),
        query: format!("${{{QUERY}}}"),
        tools: tools(&mut fields, is_tool),
        model: model(&mut fields),
        temperature: temperature(&mut fields),
        max_turns: turns(&mut fields),
        time_limit: fields
            .positive("timeout_mins", MAX_MINUTES)
            .map_or(DEFAULT_TIME, |minutes| Duration::from_secs_f64(minutes * 60.0)),
        report: Report::Text,
        servers: servers(&mut fields),
    };
    match fields.finish() {
        faults if faults.is_empty() => Ok(definition),
        faults => Err(DefinitionError::Invalid(faults)),
    }
}

fn is_name(name: &str, fields: &mut Fields) -> bool {
    let is_letter = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter)
    };
    let is_one = !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_letter);
    if !is_one {
        fields.fault("name", "Name must be a valid slug: at most 64 of a-z, 0-9, - and _");
    }
    is_one
}

fn description(fields: &mut Fields) -> String {
    let given = fields.required("description");
    let description = one_line(given.as_deref().unwrap_or_default());
    if given.is_some() && description.is_empty() {
        fields.fault("description", "must not be empty");
    }
    let kept: String = description.chars().take(MAX_DESCRIPTION).collect();
    kept.trim_end().to_owned()
}

fn tools(fields: &mut Fields, is_tool: &dyn Fn(&str) -> bool) -> Option<Vec<String>> {
    let tools = fields.take("tools", "expected a list of names", |value| {
        let Value::Array(values) = value else { return None };
        let name = |value: Value| match value {
            Value::String(name) => Some(name),
            _ => None,
        };
        values.into_iter().take(MAX_TOOLS + 1).map(name).collect::<Option<Vec<String>>>()
    })?;
    if tools.len() > MAX_TOOLS {
        fields.fault("tools", "too many tools");
    }
    for (index, name) in tools.iter().enumerate() {
        let known = match name.strip_prefix("mcp_") {
            _ if name == "*" => true,
            Some(rest) => is_server_pattern(rest),
            None => is_tool(name),
        };
        if !known {
            let shown: String = one_line(name).chars().take(60).collect();
            fields.fault(&format!("tools.{index}"), &format!("Invalid tool name: {shown}"));
        }
    }
    Some(tools)
}

/// True for the rest of `mcp_*`, `mcp_SERVER_*` and `mcp_SERVER_TOOL`.
fn is_server_pattern(rest: &str) -> bool {
    let name = rest.strip_suffix('*').unwrap_or(rest);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_-.:".contains(letter);
    name.chars().all(is_letter)
        && if rest.ends_with('*') {
            name.is_empty() || name.ends_with('_')
        } else {
            !name.is_empty()
        }
}

fn model(fields: &mut Fields) -> AgentModel {
    match fields.text("model") {
        Some(name) if name.trim().is_empty() => {
            fields.fault("model", "must not be empty");
            AgentModel::Unset
        }
        Some(name) if name.trim() == INHERIT => AgentModel::Inherit,
        Some(name) => AgentModel::Named(name.trim().to_owned()),
        None => AgentModel::Unset,
    }
}

fn temperature(fields: &mut Fields) -> Option<f64> {
    let fault = "expected a number from 0 to 2";
    fields.take("temperature", fault, |value| {
        value.as_f64().filter(|number| (0.0..=MAX_TEMPERATURE).contains(number))
    })
}

fn turns(fields: &mut Fields) -> u64 {
    let turns = fields.positive("max_turns", MAX_TURNS);
    if turns.is_some_and(|turns| turns.fract() != 0.0) {
        fields.fault("max_turns", "expected a whole number");
    }
    turns.map_or(DEFAULT_TURNS, |turns| turns as u64)
}

impl AgentDefinition {
    /// Returns the name for users.
    pub fn shown_name(&self) -> &str {
        self.display_name.as_deref().unwrap_or(&self.name)
    }

    /// Returns true if the agent may use the tool with this name.
    pub fn allows(&self, tool: &str) -> bool {
        let matches = |pattern: &String| match pattern.strip_suffix('*') {
            Some(prefix) => tool.starts_with(prefix),
            None => pattern == tool,
        };
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(matches))
    }

    /// Returns the first message for a task.
    pub fn message(&self, task: &str) -> String {
        filled(&self.query, &[(QUERY, task)])
    }

    /// Returns the instructions for a task. `values` are the other placeholders, such as `today`.
    pub fn instructions(&self, task: &str, values: &[(&str, &str)]) -> String {
        let mut all = vec![(QUERY, task)];
        all.extend(values);
        filled(&self.instructions, &all)
    }
}

/// Replaces each placeholder `${NAME}` that has a value. The values are not searched again. Other
/// placeholders stay, because texts may contain them for other reasons.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("${") {
        let (before, from) = rest.split_at(start);
        text.push_str(before);
        let name = from[2..].split_once('}').map(|(name, _)| name);
        let value = name.and_then(|name| values.iter().find(|(known, _)| *known == name));
        if let Some((name, value)) = value {
            text.push_str(value);
            rest = &from[name.len() + 3..];
        } else {
            text.push_str("${");
            rest = &from[2..];
        }
    }
    text + rest
}

#[cfg(test)]
mod tests;
