//! What the administrator of an account decides, as the service tells it (`fetchAdminControls`).
//!
//! The answer replaces the whole of `admin`: no file has a say in it. What an answer leaves out is
//! forbidden, and what it says in a form that cannot be understood is forbidden too. Pure: who asks the
//! service passes the answer in.

use serde_json::{Map, Value, json};

use crate::schema::{self, Kind};
use crate::validate::check_value;
use crate::{Settings, jsonc};

#[cfg(test)]
mod tests;

/// The decisions for one account.
#[derive(Debug, Clone, PartialEq)]
pub struct AdminControls {
    /// The `admin` object of the settings.
    admin: Value,
    /// What could not be understood, in sentences.
    pub warnings: Vec<String>,
}

impl AdminControls {
    /// Reads the service's answer; none when it has no say over this account.
    pub fn from_response(response: &Value) -> Option<Self> {
        if response.get("adminControlsApplicable") != Some(&Value::Bool(true)) {
            return None;
        }
        let is_true = |pointer: &str| response.pointer(pointer) == Some(&Value::Bool(true));
        let strict_mode_disabled = match response.get("strictModeDisabled") {
            Some(Value::Bool(disabled)) => *disabled,
            // The name of older answers, which says the opposite.
            None => response.get("secureModeEnabled") == Some(&Value::Bool(false)),
            Some(_) => false,
        };
        let mut warnings = Vec::new();
        let config = response.pointer("/mcpSetting/mcpConfigJson");
        let lists = config.map_or(Ok(AdminServers::default()), |config| {
            AdminServers::read(config, &mut warnings)
        });
        let is_understood = lists.is_ok();
        let lists = lists.unwrap_or_else(|message| {
            warnings.push(message);
            AdminServers::default()
        });
        let admin = json!({
            "secureModeEnabled": !strict_mode_disabled,
            "extensions": {
                "enabled": is_true("/cliFeatureSetting/extensionsSetting/extensionsEnabled"),
            },
            "mcp": {
                "enabled": is_true("/mcpSetting/mcpEnabled") && is_understood,
                "config": lists.allowed,
                "requiredConfig": lists.required,
            },
            "skills": {"enabled": is_true("/cliFeatureSetting/unmanagedCapabilitiesEnabled")},
        });
        Some(Self { admin, warnings })
    }

    /// The settings under these decisions, as a new snapshot.
    #[must_use]
    pub fn apply(&self, settings: &Settings) -> Settings {
        let mut merged = settings.merged().clone();
        if let Value::Object(root) = &mut merged {
            root.insert("admin".to_owned(), self.admin.clone());
        }
        Settings::new(merged)
    }
}

/// The servers of `mcpConfigJson`.
#[derive(Debug, Default)]
struct AdminServers {
    allowed: Map<String, Value>,
    required: Map<String, Value>,
}

impl AdminServers {
    fn read(config: &Value, warnings: &mut Vec<String>) -> Result<Self, String> {
        let broken = |reason: &str| {
            format!(
                "The administrator's list of MCP servers cannot be read, so there are none: {reason}"
            )
        };
        let text = config.as_str().ok_or_else(|| broken("it is no text."))?;
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let path = std::path::Path::new("mcpConfigJson");
        let value = jsonc::parse(path, text).map_err(|error| broken(&error.to_string()))?;
        let mut list = |name: &str, key: &str| match value.get(name) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(servers)) => Ok(fitting(servers, key, warnings)),
            Some(_) => Err(broken(&format!("{name} is no object."))),
        };
        Ok(Self {
            allowed: list("mcpServers", "admin.mcp.config")?,
            required: list("requiredMcpServers", "admin.mcp.requiredConfig")?,
        })
    }
}

/// The servers whose definitions have the types of the schema; the others are named.
fn fitting(
    servers: &Map<String, Value>,
    key: &str,
    warnings: &mut Vec<String>,
) -> Map<String, Value> {
    let kind = match schema::find(key).map(|setting| setting.kind) {
        Some(Kind::Map(kind)) => *kind,
        _ => Kind::OBJECT,
    };
    let mut fitting = Map::new();
    for (name, server) in servers {
        let mut server = server.clone();
        match check_value(kind, name, &mut server).first() {
            None => {
                fitting.insert(name.clone(), server);
            }
            Some(issue) => warnings.push(format!(
                "The administrator's MCP server \"{name}\" is left out: {} ({}).",
                issue.message, issue.key
            )),
        }
    }
    fitting
}

/// The servers of a run under the administrator's decisions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GovernedServers {
    /// The servers that may be started, by name.
    pub servers: Map<String, Value>,
    /// The names of those that may not.
    pub blocked: Vec<String>,
}

/// The keys of a local server that starts a program or goes elsewhere; a listed server has none of them.
const LOCAL_KEYS: [&str; 6] = ["command", "args", "env", "cwd", "httpUrl", "tcp"];

/// Lays the administrator's lists over the servers of the settings (`mcpServers`, and those that
/// extensions bring).
///
/// With a list of allowed servers only those on it are left, with the list's address, type and trust, and
/// its tools where it names any; nothing of them starts a program. Required servers are always there, and
/// trusted unless the list says otherwise.
pub fn govern_servers(local: &Map<String, Value>, settings: &Settings) -> GovernedServers {
    let mut governed = GovernedServers::default();
    if !settings.boolean("admin.mcp.enabled") {
        governed.blocked = local.keys().cloned().collect();
        return governed;
    }
    let list = |key| settings.value(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let (allowed, required) = (list("admin.mcp.config"), list("admin.mcp.requiredConfig"));
    for (name, server) in local {
        match allowed.get(name) {
            Some(listed) => {
                governed.servers.insert(name.clone(), overlaid(server, listed));
            }
            None if allowed.is_empty() => {
                governed.servers.insert(name.clone(), server.clone());
            }
            None if required.contains_key(name) => {}
            None => governed.blocked.push(name.clone()),
        }
    }
    for (name, mut server) in required {
        if let Value::Object(fields) = &mut server {
            fields.entry("trust").or_insert(Value::Bool(true));
        }
        governed.servers.insert(name, server);
    }
    governed
}

fn overlaid(local: &Value, listed: &Value) -> Value {
    let mut server = local.as_object().cloned().unwrap_or_default();
    let take = |server: &mut Map<String, Value>, key: &str| match listed.get(key) {
        Some(value) => {
            server.insert(key.to_owned(), value.clone());
        }
        None => {
            server.shift_remove(key);
        }
    };
    for key in LOCAL_KEYS {
        server.shift_remove(key);
    }
    for key in ["url", "type", "trust"] {
        take(&mut server, key);
    }
    if listed.get("includeTools").is_some() || listed.get("excludeTools").is_some() {
        take(&mut server, "includeTools");
        take(&mut server, "excludeTools");
    }
    Value::Object(server)
}
