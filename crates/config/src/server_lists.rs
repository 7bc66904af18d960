//! MCP servers that the settings allow: `mcp.allowed` and `mcp.excluded` of all layers.
//!
//! The merged settings contain only the strongest layer's lists. A layer must not allow a server
//! that another layer forbids, so the lists are combined here.

use serde_json::Value;

use crate::load::{Layer, LayerKind};
use crate::schema;

#[cfg(test)]
mod tests;

/// Combined lists of all layers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerLists {
    /// The only servers that may start: those in the lists of all layers that have such a list.
    /// Letter case and blanks around a name are ignored. `None` if no layer has a list.
    pub allowed: Option<Vec<String>>,
    /// Servers that may not start, of all layers.
    pub excluded: Vec<String>,
}

/// Combines the lists of `layers` in Gemini CLI's order: the system's settings, the system's
/// defaults, the user's, the project's.
pub fn server_lists(layers: &[Layer]) -> ServerLists {
    use LayerKind::{System, SystemDefaults, User, Workspace};
    let mut lists = ServerLists::default();
    for kind in [System, SystemDefaults, User, Workspace] {
        let Some(layer) = layers.iter().find(|layer| layer.kind == kind) else { continue };
        lists.excluded.extend(names(&layer.value, "mcp.excluded").unwrap_or_default());
        if let Some(names) = names(&layer.value, "mcp.allowed") {
            lists.allowed = Some(match lists.allowed {
                Some(so_far) => common(so_far, &names),
                None => names,
            });
        }
    }
    lists
}

fn names(layer: &Value, key: &str) -> Option<Vec<String>> {
    let items = schema::lookup(layer, key)?.as_array()?;
    Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn common(names: Vec<String>, others: &[String]) -> Vec<String> {
    let folded = |name: &str| name.trim().to_lowercase();
    let others: Vec<String> = others.iter().map(|name| folded(name)).collect();
    names.into_iter().filter(|name| others.contains(&folded(name))).collect()
}
