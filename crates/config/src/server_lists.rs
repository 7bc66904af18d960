//! Which MCP servers the settings let start: `mcp.allowed` and `mcp.excluded` of all layers.
//!
//! The merged settings hold only the strongest layer's lists. No layer may give back what another
//! takes away, so the lists are joined here.

use serde_json::Value;

use crate::load::{Layer, LayerKind};
use crate::schema;

#[cfg(test)]
mod tests;

/// The lists of all layers together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerLists {
    /// The only servers that may start: those that every layer with such a list names. Letter case and
    /// blanks around a name do not matter. `None` when no layer has one.
    pub allowed: Option<Vec<String>>,
    /// Servers that may not start, of all layers.
    pub excluded: Vec<String>,
}

/// Joins the lists of `layers`, as Gemini CLI does: first the system's, its defaults, the person's, the
/// project's.
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
