//! Completion of a path after an `@`.

use std::path::Path;
use std::time::Duration;

use pollux_fs::{Access, EntryKind, IgnoreRules, WalkOptions, Workspace};

use pollux_mcp::{ServerResource, Servers};

use super::Expander;

/// Maximum number of completions.
const MAX_COMPLETIONS: usize = 1000;
/// Time limit of a search for paths that contain the typed text.
const SEARCH: Duration = Duration::from_secs(1);

impl Expander {
    /// Returns the paths that begin with `partial`, as they are written after an `@`, sorted. A
    /// folder ends with `/`. Ignored paths are left out, and hidden ones unless a name begins with
    /// a full stop.
    pub(crate) async fn complete(&self, partial: String) -> Vec<String> {
        let resources = self.servers.as_ref().map(Servers::resources).unwrap_or_default();
        let references = resources.iter().map(ServerResource::reference);
        let mut named: Vec<String> = references
            .filter(|reference| reference.starts_with(&partial))
            .filter(|reference| !reference.contains(char::is_whitespace))
            .take(MAX_COMPLETIONS)
            .collect();
        let (workspace, ignore) = (self.workspace.get(), self.ignore.clone());
        let work = tokio::task::spawn_blocking(move || {
            let rules = IgnoreRules::for_roots(workspace.roots(), &ignore);
            complete(&workspace, &rules, &partial)
        });
        // A panic means that there are no completions.
        named.extend(work.await.unwrap_or_default());
        named
    }
}

fn complete(workspace: &Workspace, rules: &IgnoreRules, partial: &str) -> Vec<String> {
    let (folder, name) = partial.split_at(partial.rfind('/').map_or(0, |slash| slash + 1));
    let name = unescaped(name);
    let mut found = Vec::new();
    for root in workspace.roots() {
        let path = pollux_fs::absolute(root, Path::new(&unescaped(folder)));
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
                found.push(format!("{folder}{}{end}", escaped(&entry.name)));
            }
        }
    }
    if found.is_empty() && !name.is_empty() {
        found = below(workspace, rules, &unescaped(partial));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the paths in the workspace that contain a text, in any case.
fn below(workspace: &Workspace, rules: &IgnoreRules, text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let options =
        WalkOptions { rules: Some(rules), time_limit: Some(SEARCH), ..WalkOptions::default() };
    let mut found = Vec::new();
    for root in workspace.walk_roots() {
        let walk = pollux_fs::walk(std::slice::from_ref(&root), &options, pollux_fs::NEVER);
        let relative = walk.entries.iter().filter_map(|entry| {
            let end = if entry.kind == EntryKind::Directory { "/" } else { "" };
            let path = entry.path.strip_prefix(&root.path).ok()?.to_str()?;
            let is_found = path.to_lowercase().contains(&text) && !path.contains(char::is_control);
            is_found.then(|| format!("{}{end}", escaped(path)))
        });
        found.extend(relative.take(MAX_COMPLETIONS - found.len()));
    }
    found
}

/// Returns a name with a backslash before the characters that would end it.
fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for letter in name.chars() {
        if " ,;!?()[]{}\"\\@".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Returns a text without its backslashes, except for an escaped one.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.extend(letters.next()),
            letter => plain.push(letter),
        }
    }
    plain
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
        let workspace = Workspace::new(root, folder.path().join("temp"));
        let rules = IgnoreRules::for_roots(workspace.roots(), &IgnoreOptions::default());
        for (partial, expected) in [
            ("", &["some.txt", "src/"][..]),
            ("s", &["some.txt", "src/"]),
            ("sr", &["src/"]),
            ("src/", &["src/a\\ b.rs", "src/main.rs"]),
            ("src/a\\ ", &["src/a\\ b.rs"]),
            ("./sr", &["./src/"]),
            ("b", &["src/a\\ b.rs"]),
            ("MAIN", &["src/main.rs"]),
            ("x", &["some.txt"]),
            (".gi", &[".gitignore"]),
            ("nosuch/", &[]),
            ("../", &[]),
            ("/", &[]),
        ] {
            assert_eq!(complete(&workspace, &rules, partial), expected, "{partial:?}");
        }
    }
}
