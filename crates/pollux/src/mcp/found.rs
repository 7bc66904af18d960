//! The servers of all settings files, with what prevents each of them from starting.

use std::path::{Path, PathBuf};

use pollux_config::{FileScope, LayerKind, ValueSource, jsonc, masked, unset_in_headers};
use pollux_host::{ServerConfig, Setup, StartPermission};
use serde_json::{Map, Value};

/// Maximum size, in bytes, of a project's settings file that is only looked at.
const LARGEST: usize = 4 << 20;

/// A server of the settings.
pub(super) struct FoundServer {
    pub(super) name: String,
    /// Extension that brings the server.
    pub(super) extension: Option<String>,
    /// The entry, with credentials hidden.
    pub(super) entry: Value,
    /// Settings file that the entry is from.
    pub(super) source: Option<(LayerKind, PathBuf)>,
    pub(super) finding: Finding,
    /// Messages about the entry that do not prevent the start.
    pub(super) problems: Vec<String>,
    /// Command line or address, without credentials; empty for an unusable entry.
    pub(super) target: String,
    /// `stdio`, `http` or `sse`; empty for an unusable entry.
    pub(super) transport: &'static str,
}

/// Ability of a server to start.
pub(super) enum Finding {
    /// It can.
    Open(Box<ServerConfig>),
    /// The user has disabled it.
    Disabled,
    /// The folder is not trusted.
    Untrusted,
    /// The user has not accepted this server of the project.
    NotAccepted,
    /// The settings prevent it, for this reason.
    Blocked(String),
    /// The entry cannot be used, for this reason.
    Unusable(String),
}

impl Finding {
    /// Returns the name of the state in output.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Open(_) => "enabled",
            Self::Disabled | Self::Untrusted | Self::NotAccepted => "disabled",
            Self::Blocked(_) => "blocked",
            Self::Unusable(_) => "invalid",
        }
    }

    /// Returns the reason why the server cannot start, as a sentence.
    pub(super) fn reason(&self, called_as: &str) -> Option<String> {
        Some(match self {
            Self::Open(_) => return None,
            Self::Disabled => "You have disabled it.".to_owned(),
            Self::Untrusted => format!("The folder is not trusted: {called_as} trust."),
            Self::NotAccepted => {
                format!("You have not approved it: {called_as} asks you at the terminal.")
            }
            Self::Blocked(reason) => reason.clone(),
            Self::Unusable(reason) => format!("The entry cannot be used: {reason}."),
        })
    }
}

impl FoundServer {
    /// Returns the name of the settings file's owner: `user`, `project`, `system`.
    pub(super) fn scope(&self) -> Option<&'static str> {
        self.source.as_ref().map(|(kind, _)| ValueSource::File(*kind).as_str())
    }
}

/// Returns all servers: those of the settings that are in effect, then those of the project that
/// are not in effect.
pub(super) fn found(setup: &Setup) -> Vec<FoundServer> {
    let is_trusted = setup.loaded.trust.is_trusted();
    let mut servers: Vec<FoundServer> = Vec::new();
    for server in setup.configured_servers() {
        let finding = match (server.permission, server.config) {
            _ if !is_trusted => Finding::Untrusted,
            (StartPermission::Blocked(reason), _) => Finding::Blocked(reason),
            (_, Err(reason)) => Finding::Unusable(reason),
            (_, Ok(None)) => {
                Finding::Unusable("it has neither `command` nor `url` nor `httpUrl`".to_owned())
            }
            (StartPermission::Disabled, _) => Finding::Disabled,
            (StartPermission::Open, Ok(Some(config))) => Finding::Open(Box::new(config)),
        };
        // The entry of an extension is completed by that of the settings.
        let written = server.source.as_ref().filter(|_| server.extension.is_none());
        let entry = as_written(&server.name, server.entry, written);
        let described = described(setup, server.name, &entry, server.source, finding);
        servers.push(FoundServer { extension: server.extension, ..described });
    }
    let path = FileScope::Project.path(&setup.places, &setup.input.request.folder);
    // In the home directory the project's file is the user's.
    let is_own = real(&path) == real(&setup.places.user_settings());
    for (name, entry) in written(&path).filter(|_| !is_own).into_iter().flatten() {
        let is_in_effect = |server: &FoundServer| {
            server.name == name
                && matches!(server.source, Some((LayerKind::Workspace | LayerKind::System, _)))
        };
        if servers.iter().any(is_in_effect) {
            continue;
        }
        let finding = if is_trusted { Finding::NotAccepted } else { Finding::Untrusted };
        servers.retain(|server| server.name != name || is_trusted);
        let source = Some((LayerKind::Workspace, path.clone()));
        servers.push(described(setup, name, &entry, source, finding));
    }
    servers
}

/// Returns a path without links; the path itself if it does not exist.
pub(super) fn real(path: &Path) -> PathBuf {
    pollux_fs::real_path(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the entry with references to variables, if the file still has it.
fn as_written(name: &str, entry: Value, source: Option<&(LayerKind, PathBuf)>) -> Value {
    let servers = source.and_then(|(_, path)| written(path));
    servers.and_then(|mut servers| servers.remove(name)).unwrap_or(entry)
}

fn described(
    setup: &Setup,
    name: String,
    entry: &Value,
    source: Option<(LayerKind, PathBuf)>,
    finding: Finding,
) -> FoundServer {
    let unset = unset_in_headers(entry, &setup.loaded.environment).into_iter();
    let unset = unset.map(|(header, name)| {
        format!("The variable {name} in the header {header} is not set, so it is empty.")
    });
    let problems = unset.collect();
    let entry = masked("mcpServers", entry);
    let shown = ServerConfig::read(&name, &entry).ok().flatten();
    let target = shown.as_ref().map(ServerConfig::target).unwrap_or_default();
    let transport = shown.as_ref().map(ServerConfig::transport).unwrap_or_default();
    FoundServer { name, extension: None, entry, source, finding, problems, target, transport }
}

/// Returns the servers of a settings file as written; `None` if it has none or cannot be read.
pub(super) fn written(path: &Path) -> Option<Map<String, Value>> {
    let bytes = pollux_fs::read_head(path, LARGEST).ok()?;
    let mut value = jsonc::parse(path, &String::from_utf8_lossy(&bytes)).ok()?;
    match value.get_mut("mcpServers").map(Value::take) {
        Some(Value::Object(servers)) => Some(servers),
        _ => None,
    }
}
