//! The agents of a session.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pollux_fs::EntryKind;
use pollux_protocol::plain_text::visible;
use serde_json::{Map, Value};

use super::built_in::built_in;
use super::definition::{AgentDefinition, AgentModel, AgentOwner, agent_definition};
use crate::variables::Variables;

/// Maximum number of definitions in one folder.
const MAX_FILES: usize = 500;
/// Maximum size of a definition, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Folder with definitions.
pub struct AgentFolder<'a> {
    /// The folder. Folders in it are not searched.
    pub folder: &'a Path,
    /// Owner of the folder.
    pub owner: AgentOwner,
    /// Folder that links must not leave.
    pub within: Option<&'a Path>,
    /// Variables that the definitions may name.
    pub variables: Option<&'a Variables>,
    /// Returns true if a tool with this name can exist.
    pub is_tool: &'a dyn Fn(&str) -> bool,
    /// Returns why the definition in a file, given by the name of the file without `.md` and its
    /// text, is not used; `None` if it is.
    pub refuse: &'a dyn Fn(&str, &str) -> Option<String>,
}

/// Settings of the user about one agent (`agents.overrides`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentOverride {
    /// False to disable the agent.
    pub enabled: Option<bool>,
    /// Maximum number of turns.
    pub max_turns: Option<u64>,
    /// Maximum time.
    pub time_limit: Option<Duration>,
    /// Name or alias of the model.
    pub model: Option<String>,
    /// Temperature.
    pub temperature: Option<f64>,
    /// Names and patterns of the tools that the agent may use.
    pub tools: Option<Vec<String>>,
    /// MCP servers in addition to those of the definition, or in place of those with their names.
    pub servers: Map<String, Value>,
}

/// Agents by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentSet {
    agents: Vec<Arc<AgentDefinition>>,
    overrides: HashMap<String, AgentOverride>,
    /// Messages for the user about definitions that are left out or have no effect in part.
    pub messages: Vec<String>,
}

impl AgentSet {
    /// Returns the agents that come with Pollux.
    pub fn built_in() -> Self {
        Self { agents: built_in().into_iter().map(Arc::new).collect(), ..Self::default() }
    }

    /// Adds the agents of a folder: the files `*.md` whose names do not begin with `_`. An agent
    /// whose name is in the set already is left out. Blocks the thread.
    pub fn add_folder(&mut self, folder: &AgentFolder<'_>) {
        let mut files = pollux_fs::list_directory(folder.folder).unwrap_or_default();
        files.retain(|entry| {
            !entry.name.starts_with('_')
                && entry.path.extension().is_some_and(|end| end == "md")
                && pollux_fs::info(&entry.path).is_ok_and(|info| info.kind == EntryKind::File)
        });
        if files.len() > MAX_FILES {
            files.truncate(MAX_FILES);
            self.messages.push(format!(
                "Only the first {MAX_FILES} subagents in {} are available.",
                folder.folder.display()
            ));
        }
        for entry in files {
            match read(&entry.path, folder) {
                Ok(agent) => self.add(agent),
                Err(Left::Refused(message)) => self.messages.push(message),
                Err(Left::Faulty(reason)) => self.messages.push(format!(
                    "Agent loading error: Failed to load agent from {}: {reason}",
                    shown(&entry.path)
                )),
            }
        }
    }

    fn add(&mut self, agent: AgentDefinition) {
        let file = agent.file.as_deref().map(shown).unwrap_or_default();
        if self.get(&agent.name).is_some() {
            self.messages.push(format!(
                "Duplicate agent name '{}' detected. The definition in {file} is left out.",
                agent.name
            ));
            return;
        }
        self.agents.push(Arc::new(agent));
    }

    /// Returns the same agents with settings of the user. The names are those of agents.
    #[must_use]
    pub fn with_overrides(mut self, overrides: HashMap<String, AgentOverride>) -> Self {
        self.overrides = overrides;
        self
    }

    /// Returns all agents, also disabled ones, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<AgentDefinition>> {
        self.agents.iter()
    }

    /// Returns true for an agent that may be invoked.
    pub fn is_enabled(&self, name: &str) -> bool {
        self.get(name).is_some()
            && self.overrides.get(name).is_none_or(|settings| settings.enabled != Some(false))
    }

    /// Returns the agents that may be invoked.
    pub fn enabled(&self) -> impl Iterator<Item = &Arc<AgentDefinition>> {
        self.agents.iter().filter(|agent| self.is_enabled(&agent.name))
    }

    /// Returns the agent with a name, as its file defines it.
    pub fn get(&self, name: &str) -> Option<&Arc<AgentDefinition>> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    /// Returns an agent that may be invoked, with the settings of the user; `None` without one.
    pub fn configured(&self, name: &str) -> Option<AgentDefinition> {
        let agent = AgentDefinition::clone(self.get(name).filter(|_| self.is_enabled(name))?);
        let Some(settings) = self.overrides.get(name) else { return Some(agent) };
        Some(AgentDefinition {
            max_turns: settings.max_turns.unwrap_or(agent.max_turns),
            time_limit: settings.time_limit.unwrap_or(agent.time_limit),
            model: settings.model.clone().map_or(agent.model, AgentModel::Named),
            temperature: settings.temperature.or(agent.temperature),
            tools: settings.tools.clone().or(agent.tools),
            servers: agent.servers.into_iter().chain(settings.servers.clone()).collect(),
            ..agent
        })
    }
}

/// Reason why a file is left out.
enum Left {
    /// The caller refuses it, with this message.
    Refused(String),
    /// It defines no agent.
    Faulty(String),
}

/// Returns a path for a message.
fn shown(path: &Path) -> String {
    visible(&path.display().to_string())
}

fn read(path: &Path, folder: &AgentFolder<'_>) -> Result<AgentDefinition, Left> {
    if let Some(within) = folder.within {
        let real = |path: &Path| pollux_fs::real_path(path).ok();
        let inside =
            real(path).zip(real(within)).is_some_and(|(file, within)| file.starts_with(within));
        if !inside {
            let place = shown(within);
            return Err(Left::Faulty(format!("it is a link to a place outside of {place}")));
        }
    }
    let faulty = |error: &dyn std::fmt::Display| Left::Faulty(error.to_string());
    let bytes = pollux_fs::read_bytes(path, MAX_FILE).map_err(|error| faulty(&error))?;
    let text = String::from_utf8_lossy(&bytes);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    if let Some(refusal) = (folder.refuse)(&name, &text) {
        return Err(Left::Refused(refusal));
    }
    let agent = agent_definition(&text, folder.is_tool).map_err(|error| faulty(&error))?;
    let (owner, file) = (folder.owner.clone(), Some(path.to_owned()));
    let agent = AgentDefinition { owner, file, ..agent };
    Ok(match folder.variables {
        Some(variables) => agent.filled(variables),
        None => agent,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    fn folder(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn add(set: &mut AgentSet, folder: &Path, within: Option<&Path>) {
        set.add_folder(&AgentFolder {
            folder,
            owner: AgentOwner::User,
            within,
            variables: None,
            is_tool: &|name| name == "glob",
            refuse: &|name, _| (name == "refused").then(|| "No.".to_owned()),
        });
    }

    const A: &str = "---\nname: a\ndescription: first\n---\nX";

    #[test]
    fn one_bad_file_does_not_stop_the_others() {
        let files = folder(&[
            ("1.md", A),
            ("2.md", "---\nname: a\ndescription: second\n---\n"),
            ("3.md", "---\nname: b\n---\n"),
            ("4.md", "no front matter"),
            ("5.md", "---\nname: generalist\ndescription: mine\n---\n"),
            ("6.md", "---\nname: z\ndescription: last\n---\n"),
            ("refused.md", A),
            ("_draft.md", "---\nname: draft\ndescription: D\n---\n"),
            ("readme.txt", A),
        ]);
        fs::create_dir(files.path().join("folder.md")).unwrap();
        let mut set = AgentSet::built_in();
        add(&mut set, files.path(), None);
        let names: Vec<_> = set.iter().skip(3).map(|agent| agent.name.as_str()).collect();
        assert_eq!(names, ["a", "z"]);
        assert_eq!(set.get("a").unwrap().description, "first");
        assert_eq!(set.get("generalist").unwrap().owner, AgentOwner::BuiltIn);
        let expected = [
            "Duplicate agent name 'a' detected.",
            "(Local Agent) description: Required",
            "does not begin with front matter",
            "Duplicate agent name 'generalist' detected.",
            "No.",
        ];
        for (message, expected) in set.messages.iter().zip(expected) {
            assert!(message.contains(expected), "{message}");
        }
        assert_eq!(set.messages.len(), expected.len(), "{:?}", set.messages);
    }

    #[test]
    fn overrides_disable_and_limit() {
        let files = folder(&[("1.md", A)]);
        let mut set = AgentSet::built_in();
        add(&mut set, files.path(), None);
        let off = AgentOverride { enabled: Some(false), ..AgentOverride::default() };
        let limited = AgentOverride {
            max_turns: Some(2),
            time_limit: Some(Duration::from_secs(5)),
            model: Some("m".to_owned()),
            temperature: Some(0.5),
            ..AgentOverride::default()
        };
        let overrides = [("generalist".to_owned(), off), ("a".to_owned(), limited)];
        let set = set.with_overrides(overrides.into());
        assert!(!set.is_enabled("generalist") && set.configured("generalist").is_none());
        assert!(set.get("generalist").is_some());
        let agent = set.configured("a").unwrap();
        assert_eq!((agent.max_turns, agent.time_limit), (2, Duration::from_secs(5)));
        assert_eq!(agent.model, AgentModel::Named("m".to_owned()));
        assert_eq!(set.configured("nosuch"), None);
        let enabled: Vec<_> = set.enabled().map(|agent| agent.name.as_str()).collect();
        assert_eq!(enabled, ["codebase_investigator", "cli_help", "a"]);
    }

    #[test]
    fn definitions_of_extensions_name_variables() {
        let text = "---\nname: a\ndescription: In ${extensionPath}\n---\n${KEY} ${query} ${x}";
        let files = folder(&[("1.md", text)]);
        let variables = Variables::new(files.path(), Path::new("/w")).with([("KEY", "${/}")]);
        let mut set = AgentSet::default();
        set.add_folder(&AgentFolder {
            folder: files.path(),
            owner: AgentOwner::Extension("x".to_owned()),
            within: Some(files.path()),
            variables: Some(&variables),
            is_tool: &|_| true,
            refuse: &|_, _| None,
        });
        let agent = set.get("a").unwrap();
        assert_eq!(agent.description, format!("In {}", files.path().display()));
        assert_eq!(agent.instructions, "${/} ${query} ${x}");
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out_of_the_project() {
        let (outside, project) = (folder(&[("o.md", A)]), folder(&[]));
        std::os::unix::fs::symlink(outside.path().join("o.md"), project.path().join("l.md"))
            .unwrap();
        let mut set = AgentSet::default();
        add(&mut set, project.path(), Some(project.path()));
        assert_eq!((set.iter().count(), set.messages.len()), (0, 1));
        assert!(set.messages[0].contains("outside"), "{:?}", set.messages);
        add(&mut set, project.path(), None);
        assert_eq!(set.iter().count(), 1);
    }
}
