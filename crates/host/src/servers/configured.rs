//! Servers of the settings, of extensions and of the frontend, and whether they may start.

use std::path::PathBuf;

use pollux_config::{LayerKind, interpolate_server, server_lists};
use pollux_extensions::Extension;
use pollux_mcp::ServerConfig;
use pollux_shell::{Dialect, command_line};
use serde_json::{Map, Value, json};

use super::enablement::Enablement;
use crate::setup::Setup;

/// Name of the server of `mcp.serverCommand`.
const COMMAND_SERVER: &str = "mcp";

/// A server of the settings or of an extension.
#[derive(Debug)]
pub struct Configured {
    /// Name of the server.
    pub name: String,
    /// The entry of the settings, in which variables are replaced.
    pub entry: Value,
    /// Extension that brings the server. The entry may have parts of the settings.
    pub extension: Option<String>,
    /// Settings file that the entry is from.
    pub source: Option<(LayerKind, PathBuf)>,
    /// Meaning of the entry; `None` if it has no address, and an error message if it cannot be
    /// used.
    pub config: Result<Option<ServerConfig>, String>,
    /// Permission of the server to start.
    pub permission: StartPermission,
}

/// Permission of a server to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartPermission {
    /// It may.
    Open,
    /// The settings or the trust in the folder prevent it, for this reason.
    Blocked(String),
    /// The user has disabled it.
    Disabled,
}

/// Returns true if an entry of the settings defines a server, also in a wrong way. Otherwise the
/// entry only changes a server that an extension brings.
fn defines_server(name: &str, entry: &Value) -> bool {
    !matches!(ServerConfig::read(name, entry), Ok(None))
}

/// Returns the entry of an extension with the changes of the user's entry of the same name, which
/// has no address. Of the server's tools, those remain that both entries leave.
fn merged(extension: &Value, own: &Value) -> Value {
    let (Value::Object(brought), Value::Object(changes)) = (extension, own) else {
        return own.clone();
    };
    let mut merged = brought.clone();
    merged.extend(changes.clone());
    let list = |map: &Map<String, Value>, key: &str| map.get(key)?.as_array().cloned();
    if let (Some(one), Some(other)) = (list(brought, "includeTools"), list(changes, "includeTools"))
    {
        let both = one.into_iter().filter(|tool| other.contains(tool)).collect();
        merged.insert("includeTools".to_owned(), Value::Array(both));
    }
    let excluded = [brought, changes].map(|map| list(map, "excludeTools").unwrap_or_default());
    if excluded.iter().any(|tools| !tools.is_empty()) {
        merged.insert("excludeTools".to_owned(), Value::Array(excluded.concat()));
    }
    let variables = |map: &Map<String, Value>| map.get("env").and_then(Value::as_object).cloned();
    if let (Some(mut env), Some(own)) = (variables(brought), variables(changes)) {
        env.extend(own);
        merged.insert("env".to_owned(), Value::Object(env));
    }
    Value::Object(merged)
}

impl Setup {
    /// Returns the servers of the settings, with their entries.
    fn entries_of_settings(&self) -> Vec<(String, Value)> {
        let settings = &self.loaded.settings;
        let entries = settings.value("mcpServers").and_then(Value::as_object);
        let mut found: Vec<(String, Value)> = entries
            .into_iter()
            .flatten()
            .map(|(name, entry)| (name.clone(), entry.clone()))
            .collect();
        if let Some(line) =
            settings.text("mcp.serverCommand").filter(|line| !line.trim().is_empty())
        {
            let words = command_line::constant_words(line, Dialect::Posix);
            let entry = match words.as_deref() {
                Some([command, args @ ..]) => json!({ "command": command, "args": args }),
                _ => json!({ "command": line }),
            };
            found.push((COMMAND_SERVER.to_owned(), entry));
        }
        found
    }

    /// Returns messages about servers of extensions that are not used, because the settings define
    /// servers of the same names.
    pub(crate) fn replaced_servers(&self) -> Vec<String> {
        let brought = self.extensions.servers();
        if brought.is_empty() {
            return Vec::new();
        }
        let own = self.entries_of_settings();
        let is_replaced = |name: &str| {
            own.iter().any(|(known, entry)| known == name && defines_server(known, entry))
        };
        let replaced = brought.into_iter().filter(|(_, name, _)| is_replaced(name));
        replaced
            .map(|(extension, name, _)| {
                format!(
                    "Warning: Skipping the MCP server \"{name}\" of the extension \"{}\": your \
                     settings have a server of this name.",
                    extension.name()
                )
            })
            .collect()
    }

    /// Returns all servers: of the settings, of extensions and of the frontend. An extension never
    /// changes a server that the settings define: it would get the server's secrets and its trust.
    pub fn configured_servers(&self) -> Vec<Configured> {
        let own = self.entries_of_settings().into_iter();
        let mut found: Vec<(String, Value, Option<&Extension>)> =
            own.map(|(name, entry)| (name, entry, None)).collect();
        for (extension, name, entry) in self.extensions.servers() {
            match found.iter_mut().find(|(known, ..)| known == name) {
                Some((_, own, _)) if defines_server(name, own) => {}
                Some((_, own, brings)) => {
                    *own = merged(entry, own);
                    *brings = Some(extension);
                }
                None => found.push((name.to_owned(), entry.clone(), Some(extension))),
            }
        }
        for (name, entry) in &self.input.request.servers {
            found.retain(|(known, ..)| known != name);
            found.push((name.clone(), entry.clone(), None));
        }
        if found.is_empty() {
            return Vec::new();
        }
        let enablement = Enablement::at(&self.places);
        let disabled = enablement.disabled();
        let configured = |(name, entry, extension): (String, Value, Option<&Extension>)| {
            let permission = self.permission(&name, disabled.contains(&Enablement::key(&name)));
            let mut config = ServerConfig::read(&name, &entry);
            if let (Some(extension), Ok(Some(config))) = (extension, &mut config) {
                config.inherit(extension.values());
            }
            let extension = extension.map(|extension| extension.name().to_owned());
            let source = self.source(&name);
            Configured { name, entry, extension, source, config, permission }
        };
        found.into_iter().map(configured).collect()
    }

    /// Returns a server that a subagent brings.
    pub(crate) fn server_of_subagent(&self, name: &str, entry: &Value) -> Configured {
        let mut entry = entry.clone();
        interpolate_server(&mut entry, &self.loaded.environment);
        let is_disabled = Enablement::at(&self.places).disabled().contains(&Enablement::key(name));
        Configured {
            name: name.to_owned(),
            config: ServerConfig::read(name, &entry),
            permission: self.permission(name, is_disabled),
            entry,
            extension: None,
            source: None,
        }
    }

    /// Returns the settings file that the entry of a server is from: the strongest one that has it.
    fn source(&self, name: &str) -> Option<(LayerKind, PathBuf)> {
        let of_entry = |value: &Value| value.get("mcpServers")?.get(name).map(drop);
        let of_command = |value: &Value| value.get("mcp")?.get("serverCommand").map(drop);
        let strongest = |has: &dyn Fn(&Value) -> Option<()>| {
            self.loaded.layers.iter().rev().find(|layer| has(&layer.value).is_some())
        };
        let layer = strongest(&of_entry).or_else(|| strongest(&of_command))?;
        Some((layer.kind, layer.path.clone()))
    }

    fn permission(&self, name: &str, is_disabled: bool) -> StartPermission {
        let listed = server_lists(&self.loaded.layers);
        let given = self.input.options.rules.allowed_servers.as_ref();
        let is_allowed = match (given, &listed.allowed) {
            (Some(names), _) | (None, Some(names)) => names.iter().any(|allowed| allowed == name),
            (None, None) => true,
        };
        if !is_allowed {
            return StartPermission::Blocked(match given {
                Some(_) => format!("Server '{name}' is not in --allowed-mcp-server-names."),
                None => format!("Server '{name}' is not in mcp.allowed list."),
            });
        }
        if given.is_none() && listed.excluded.iter().any(|excluded| excluded == name) {
            return StartPermission::Blocked(format!(
                "Server '{name}' is blocked by mcp.excluded."
            ));
        }
        if is_disabled {
            return StartPermission::Disabled;
        }
        if !self.loaded.trust.is_trusted() {
            return StartPermission::Blocked(format!(
                "The folder is not trusted. Use '{} trust' to enable the server.",
                self.input.called_as
            ));
        }
        StartPermission::Open
    }
}
