//! What a folder brings that takes effect only after a yes, and what was answered.
//!
//! Trusting a folder is not agreeing to everything in it. Whatever would start a program, send
//! something elsewhere, hold credentials or loosen a rule is a [`ConsentItem`] of its own, pinned by
//! the hash of its content: what has changed is asked about again. Each crate lists the items of its
//! own subject; those of settings, `.env` files and definition files are listed here. [`decide`] is
//! pure, [`ConsentStore`] keeps the answers, and the frontends ask.

use std::collections::HashSet;
use std::fmt::Write as _;

use pollux_protocol::ConsentItem;
use sha2::{Digest as _, Sha256};

mod decision;
mod definitions;
mod files_of_commands;
mod judged;
mod settings;
mod store;
#[cfg(test)]
mod tests;
mod text;
mod variables;

pub use decision::{Known, Verdict, Way, decide};
use files_of_commands::content_of_policies;
pub use files_of_commands::{CommandFiles, ReadCommand};
pub use store::{ConsentStore, FolderPins};
pub use text::{by_kind, counted, short};

pub(crate) use definitions::items as definition_items;
pub(crate) use settings::{SettingItem, Surroundings, find as setting_items, remove_refused};
pub(crate) use variables::{agreed as agreed_variables, items as variable_items};

/// What items are, as the person reads it. The words are part of what is pinned.
pub mod kinds {
    /// A setting that loosens a rule, names a program, or sends something elsewhere.
    pub const SETTING: &str = "setting";
    /// A server of `mcpServers`.
    pub const MCP_SERVER: &str = "MCP server";
    /// A variable of a project's `.env` file.
    pub const VARIABLE: &str = "environment variable";
    /// A file below `.gemini/commands`.
    pub const CUSTOM_COMMAND: &str = "custom command";
    /// A file in `.gemini/agents`.
    pub const SUBAGENT: &str = "subagent";
    /// A skill that brings files beside its text.
    pub const SKILL: &str = "skill";
    /// A context file that is a link out of the project.
    pub const CONTEXT_FILE: &str = "context file";
    /// A hook of the project's settings.
    pub const HOOK: &str = "hook";
    /// A file of policy rules.
    pub const POLICY: &str = "policy";
}

/// The most items that one folder can ask for; what comes after them stays off.
pub const MAX_ITEMS: usize = 1000;

/// Makes an item. `content` is everything that was agreed to: any change of it asks again.
pub fn item(kind: &str, name: &str, detail: String, content: &[u8]) -> ConsentItem {
    let mut hasher = Sha256::new();
    for part in [kind.as_bytes(), name.as_bytes(), content] {
        // With its length, so that no two lists of parts look alike.
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    let hash = hex(&hasher.finalize());
    ConsentItem { kind: kind.to_owned(), name: name.to_owned(), detail, hash, needs_person: false }
}

/// SHA-256 of some bytes, in hex.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        write!(text, "{byte:02x}").unwrap_or_default();
        text
    })
}

/// What may take effect in this run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accepted {
    everything: bool,
    items: HashSet<(String, String, String)>,
}

impl Accepted {
    /// All there is: the person has switched the question off.
    pub fn everything() -> Self {
        Self { everything: true, items: HashSet::new() }
    }

    /// Nothing: the folder is not trusted.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Exactly these, with exactly this content.
    pub fn only<'a>(items: impl IntoIterator<Item = &'a ConsentItem>) -> Self {
        Self { everything: false, items: items.into_iter().map(identity).collect() }
    }

    /// Whether all there is may take effect, whatever it becomes.
    pub fn is_everything(&self) -> bool {
        self.everything
    }

    /// The hashes of the items of one kind; of no use where everything is accepted.
    pub fn hashes(&self, kind: &str) -> impl Iterator<Item = &str> {
        let of_kind = self.items.iter().filter(move |(own, _, _)| own == kind);
        of_kind.map(|(_, _, hash)| hash.as_str())
    }

    /// Whether this item may take effect.
    pub fn accepts(&self, item: &ConsentItem) -> bool {
        self.everything || self.items.contains(&identity(item))
    }
}

fn identity(item: &ConsentItem) -> (String, String, String) {
    (item.kind.clone(), item.name.clone(), item.hash.clone())
}
