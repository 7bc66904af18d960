//! Completion of a path after an `@`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pollux_fs::{Access, EntryKind, IgnoreOptions, IgnoreRules, Workspace};
use pollux_mcp::{ServerResource, Servers};
use pollux_protocol::{Completions, Live, escaped_path, unescaped_path};

use super::path_index::{Matches, PathIndex, Query};
use crate::setup::Setup;

/// Maximum number of completions from one source.
const MAX_COMPLETIONS: usize = 1000;
/// Maximum number of paths that match without beginning with the text.
const MAX_MATCHES: usize = 200;

/// Service that completes paths in the workspace, and resources of MCP servers.
#[derive(Clone)]
pub(crate) struct PathCompleter {
    workspace: Live<Workspace>,
    ignore: IgnoreOptions,
    index: Arc<PathIndex>,
    /// True to search below the folders, too.
    is_recursive: bool,
    is_fuzzy: bool,
    servers: Option<Servers>,
    /// Names of subagents.
    agents: Vec<String>,
}

impl PathCompleter {
    pub(crate) fn new(
        setup: &Setup,
        index: &Arc<PathIndex>,
        servers: Option<&Servers>,
        agents: Vec<String>,
    ) -> Self {
        let settings = &setup.loaded.settings;
        let is_recursive = "context.fileFiltering.enableRecursiveFileSearch";
        let is_fuzzy = "context.fileFiltering.enableFuzzySearch";
        Self {
            workspace: setup.workspace.clone(),
            ignore: setup.ignore_options(),
            index: Arc::clone(index),
            is_recursive: settings.boolean(is_recursive),
            is_fuzzy: settings.boolean(is_fuzzy),
            servers: servers.cloned(),
            agents,
        }
    }

    /// Returns the paths that begin with `partial`, as they are written after an `@`, sorted, then
    /// the subagents whose names begin with it, and then paths that match it. A folder ends with
    /// `/`. Ignored paths are left out, and hidden ones unless a name begins with a full stop. The
    /// answer takes little more than `limit`.
    pub(crate) async fn complete(self, partial: String, limit: Duration) -> Completions {
        let resources = self.servers.as_ref().map(Servers::resources).unwrap_or_default();
        let references = resources.iter().map(ServerResource::reference);
        let mut texts: Vec<String> = references
            .filter(|reference| reference.starts_with(&partial))
            .filter(|reference| !reference.contains(char::is_whitespace))
            .take(MAX_COMPLETIONS)
            .collect();
        let work = tokio::task::spawn_blocking(move || self.paths(&partial, limit));
        // A panic means that there are no completions.
        let found = work.await.unwrap_or_default();
        texts.extend(found.texts);
        Completions { texts, is_partial: found.is_partial }
    }

    fn paths(&self, partial: &str, limit: Duration) -> Completions {
        let workspace = self.workspace.get();
        let rules = IgnoreRules::for_roots(workspace.roots(), &self.ignore);
        let mut texts = beginning(&workspace, &rules, partial);
        if !partial.is_empty() {
            let agents = self.agents.iter().filter(|agent| agent.starts_with(partial));
            texts.extend(agents.cloned());
        }
        let text = unescaped_path(partial);
        let text = text.strip_prefix("./").unwrap_or(&text);
        // Paths outside of the workspace are not searched for.
        let is_inside = !text.starts_with('/') && !text.starts_with("..");
        if !self.is_recursive || !is_inside || text.is_empty() || text.ends_with('/') {
            return Completions { texts, is_partial: false };
        }
        let query = Query { text: text.to_owned(), is_fuzzy: self.is_fuzzy };
        let Matches { paths, is_partial } =
            self.index.find(&workspace, &self.ignore, &query, MAX_MATCHES, limit);
        let begins = texts.len();
        for path in paths {
            let path = escaped_path(&path);
            if !texts[..begins].iter().any(|text| text.trim_start_matches("./") == path) {
                texts.push(path);
            }
        }
        Completions { texts, is_partial }
    }
}

/// Returns the paths that begin with a text, sorted.
fn beginning(workspace: &Workspace, rules: &IgnoreRules, partial: &str) -> Vec<String> {
    let (folder, name) = partial.split_at(partial.rfind('/').map_or(0, |slash| slash + 1));
    let name = unescaped_path(name);
    let mut found = Vec::new();
    for root in workspace.roots() {
        let path = pollux_fs::absolute(root, Path::new(&unescaped_path(folder)));
        let entries = workspace.check(&path, Access::Read).and_then(|path| path.list());
        for (entry, info) in entries.unwrap_or_default() {
            let is_folder = info.kind == EntryKind::Directory;
            let is_hidden = entry.name.starts_with('.') && !name.starts_with('.');
            if entry.name.starts_with(&name)
                && !is_hidden
                && !entry.name.contains(char::is_control)
                && !rules.is_ignored(&path.join(&entry.name), is_folder)
                && found.len() < MAX_COMPLETIONS
            {
                let end = if is_folder { "/" } else { "" };
                found.push(format!("{folder}{}{end}", escaped_path(&entry.name)));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pollux_fs::IgnoreOptions;
    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn paths_are_completed_without_ignored_and_hidden_ones() {
        let folder = TempDir::new().unwrap();
        let root = folder.path().join("project");
        for path in ["src/main.rs", "src/a b.rs", "some.txt", ".env", "build/x", ".gitignore"] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "").unwrap();
        }
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join(".gitignore"), "build\n").unwrap();
        let completer = PathCompleter {
            workspace: Live::new(Workspace::new(root, folder.path().join("temp"))),
            ignore: IgnoreOptions::default(),
            index: Arc::default(),
            is_recursive: true,
            is_fuzzy: false,
            servers: None,
            agents: vec!["some_agent".to_owned(), "other".to_owned()],
        };
        let completions = |completer: &PathCompleter, partial| {
            let found = completer.paths(partial, Duration::from_secs(20));
            assert!(!found.is_partial);
            found.texts
        };
        for (partial, expected) in [
            ("", &["some.txt", "src/"][..]),
            ("so", &["some.txt", "some_agent"]),
            ("oth", &["other"]),
            ("sr", &["src/", "src/a\\ b.rs", "src/main.rs"]),
            ("src/", &["src/a\\ b.rs", "src/main.rs"]),
            ("src/a\\ ", &["src/a\\ b.rs"]),
            ("./sr", &["./src/", "src/a\\ b.rs", "src/main.rs"]),
            ("b", &["src/a\\ b.rs"]),
            ("MAIN", &["src/main.rs"]),
            ("x", &["some.txt"]),
            (".gi", &[".gitignore"]),
            ("nosuch/", &[]),
            ("../", &[]),
            ("/", &[]),
        ] {
            assert_eq!(completions(&completer, partial), expected, "{partial:?}");
        }
        let fuzzy = PathCompleter { is_fuzzy: true, ..completer.clone() };
        assert_eq!(completions(&fuzzy, "srmn"), ["src/main.rs"]);
        let flat = PathCompleter { is_recursive: false, ..completer };
        assert_eq!(completions(&flat, "main"), [""; 0]);
    }
}
