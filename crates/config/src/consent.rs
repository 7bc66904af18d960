//! Parts of a folder that take effect only with the user's consent, and the user's answers.
//!
//! Trust in a folder is not consent to everything in it. Everything that would start a program,
//! send data elsewhere, hold credentials or loosen a rule is a separate [`ConsentItem`]. The item
//! is pinned by the hash of its content, so the user is asked again after a change. Each crate
//! lists the items of its own area; this module lists those of settings, `.env` files and
//! definition files. [`decide`] is pure, [`ConsentStore`] stores the answers, and the frontends
//! ask.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use pollux_protocol::{ConsentItem, ItemDetail};
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

pub use decision::{ConsentMode, ConsentVerdict, EarlierAnswers, decide};
pub use definitions::subagent_items;
use files_of_commands::content_of_policies;
pub use files_of_commands::{CommandFiles, ReadCommand};
pub use store::{ConsentStore, FolderPins};
pub use text::{by_kind, counted, short};

pub(crate) use definitions::items as definition_items;
pub(crate) use settings::{SettingItem, Surroundings, find as setting_items, remove_refused};
pub(crate) use variables::{agreed as agreed_variables, items as variable_items};

/// Kinds of items, as shown to the user. The name of the kind is part of the pinned content.
pub mod kinds {
    /// A setting that loosens a rule, names a program, or sends data elsewhere.
    pub const SETTING: &str = "setting";
    /// A server of `mcpServers`.
    pub const MCP_SERVER: &str = "MCP server";
    /// A variable of a project's `.env` file.
    pub const VARIABLE: &str = "environment variable";
    /// A file below `.gemini/commands`.
    pub const CUSTOM_COMMAND: &str = "custom command";
    /// A file in `.gemini/agents`.
    pub const SUBAGENT: &str = "subagent";
    /// A skill with more files than its text.
    pub const SKILL: &str = "skill";
    /// A context file that is a link to a place outside of the project.
    pub const CONTEXT_FILE: &str = "context file";
    /// A hook of the project's settings.
    pub const HOOK: &str = "hook";
    /// A file of policy rules.
    pub const POLICY: &str = "policy";
}

/// Maximum number of items of one folder. Further items do not take effect.
pub const MAX_ITEMS: usize = 1000;

/// Creates an item. `content` is everything that the user agrees to: after any change the user is
/// asked again.
pub fn item(kind: &str, name: &str, detail: impl Into<ItemDetail>, content: &[u8]) -> ConsentItem {
    let mut hasher = Sha256::new();
    for part in [kind.as_bytes(), name.as_bytes(), content] {
        // The length makes sure that different lists of parts never have the same hash.
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    let hash = hex(&hasher.finalize());
    let (kind, name, detail) = (kind.to_owned(), name.to_owned(), detail.into());
    ConsentItem { kind, name, detail, hash, needs_user: false }
}

/// Returns the SHA-256 of some bytes, in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        write!(text, "{byte:02x}").unwrap_or_default();
        text
    })
}

/// Items that may take effect in this run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accepted {
    everything: bool,
    /// Kind, name and hash of each item.
    items: BTreeSet<(String, String, String)>,
}

impl Accepted {
    /// Accepts all items, because the user has switched the question off.
    pub fn everything() -> Self {
        Self { everything: true, items: BTreeSet::new() }
    }

    /// Accepts no item, because the folder is not trusted.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Accepts exactly these items, with exactly this content.
    pub fn only<'a>(items: impl IntoIterator<Item = &'a ConsentItem>) -> Self {
        Self { everything: false, items: items.into_iter().map(identity).collect() }
    }

    /// Returns true if all items may take effect, including items with later changes.
    pub fn is_everything(&self) -> bool {
        self.everything
    }

    /// Returns the hashes of the accepted items of one kind. The result is meaningless if
    /// everything is accepted.
    pub fn hashes(&self, kind: &str) -> impl Iterator<Item = &str> {
        let of_kind = self.items.iter().filter(move |(own, _, _)| own == kind);
        of_kind.map(|(_, _, hash)| hash.as_str())
    }

    /// Returns true if an item of this kind and name may take effect, with some content.
    pub fn names(&self, kind: &str, name: &str) -> bool {
        let first = (kind.to_owned(), name.to_owned(), String::new());
        self.everything
            || self
                .items
                .range(first..)
                .next()
                .is_some_and(|(own, known, _)| own == kind && known == name)
    }

    /// Accepts a further item, with exactly this content.
    pub fn add(&mut self, item: &ConsentItem) {
        self.items.insert(identity(item));
    }

    /// Returns true if this item may take effect.
    pub fn accepts(&self, item: &ConsentItem) -> bool {
        self.everything || self.items.contains(&identity(item))
    }
}

fn identity(item: &ConsentItem) -> (String, String, String) {
    (item.kind.clone(), item.name.clone(), item.hash.clone())
}
