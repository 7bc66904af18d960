//! `extension-enablement.json`: in which folders an extension is enabled. The format is that of
//! Gemini CLI.

use std::path::{Path, PathBuf};

use pollux_fs::WriteOptions;
use serde_json::{Map, Value, json};

/// Name of the file, in the folder of the extensions.
const FILE: &str = "extension-enablement.json";
/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Key of the rules of an extension.
const OVERRIDES: &str = "overrides";

/// The file.
#[derive(Debug, Clone)]
pub struct ExtensionEnablement {
    file: PathBuf,
    entries: Map<String, Value>,
}

/// One rule: `/home/u/*`, `!/home/u/project/`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    disables: bool,
    /// True if the rule applies to everything that begins with its path.
    is_deep: bool,
    /// Path with slashes, without the star.
    base: String,
}

impl ExtensionEnablement {
    /// Reads the file in the folder of the extensions. A missing file has no rules. Blocks the
    /// thread.
    ///
    /// # Errors
    /// The message about a file that cannot be read.
    pub fn read(extensions: &Path) -> Result<Self, String> {
        let file = extensions.join(FILE);
        let broken = |reason: String| format!("Cannot read {}: {reason}", file.display());
        let entries = match pollux_fs::read_bytes(&file, MAX_BYTES) {
            Ok(bytes) => match crate::manifest::parse(&bytes).map_err(broken)? {
                Value::Object(entries) => entries,
                _ => return Err(format!("Cannot read {}: it is not an object.", file.display())),
            },
            Err(error) if error.is_not_found() => Map::new(),
            Err(error) => return Err(broken(error.to_string())),
        };
        Ok(Self { file, entries })
    }

    /// Returns true if an extension is enabled in a folder. The last rule that applies decides.
    pub fn is_enabled(&self, name: &str, folder: &Path) -> bool {
        let path = normalised(folder);
        let rules = self.rules(name);
        rules.iter().rev().find(|rule| rule.matches(&path)).is_none_or(|rule| !rule.disables)
    }

    /// Enables or disables an extension in a folder and below it. The change is saved by
    /// [`Self::save`].
    pub fn set(&mut self, name: &str, folder: &Path, enabled: bool) {
        let new = Rule { disables: !enabled, is_deep: true, base: normalised(folder) };
        let mut rules = self.rules(name);
        rules.retain(|rule| !rule.base.starts_with(&new.base));
        rules.push(new);
        let texts: Vec<String> = rules.iter().map(Rule::text).collect();
        self.entries.insert(name.to_owned(), json!({ OVERRIDES: texts }));
    }

    /// Forgets an extension. The change is saved by [`Self::save`].
    pub fn remove(&mut self, name: &str) {
        self.entries.shift_remove(name);
    }

    /// Gives the rules of an extension to another name. The change is saved by [`Self::save`].
    pub fn rename(&mut self, from: &str, to: &str) {
        if let Some(rules) = self.entries.shift_remove(from) {
            self.entries.insert(to.to_owned(), rules);
        }
    }

    /// Writes the file. Blocks the thread.
    ///
    /// # Errors
    /// For a file that cannot be written.
    pub fn save(&self) -> pollux_fs::Result<()> {
        let text = format!("{:#}", Value::Object(self.entries.clone()));
        let options = WriteOptions { create_parents: true, ..WriteOptions::default() };
        pollux_fs::write_atomic(&self.file, text.as_bytes(), &options).map(drop)
    }

    fn rules(&self, name: &str) -> Vec<Rule> {
        let rules = self.entries.get(name).and_then(|entry| entry.get(OVERRIDES)?.as_array());
        rules.into_iter().flatten().filter_map(Value::as_str).map(Rule::of).collect()
    }
}

impl Rule {
    fn of(text: &str) -> Self {
        let (disables, text) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        match text.strip_suffix('*') {
            Some(base) => Self { disables, is_deep: true, base: base.to_owned() },
            None => Self { disables, is_deep: false, base: text.to_owned() },
        }
    }

    fn text(&self) -> String {
        let mark = if self.disables { "!" } else { "" };
        let star = if self.is_deep { "*" } else { "" };
        format!("{mark}{}{star}", self.base)
    }

    fn matches(&self, path: &str) -> bool {
        if self.is_deep { path.starts_with(&self.base) } else { path == self.base }
    }
}

/// Returns a folder with slashes, one at each end.
fn normalised(folder: &Path) -> String {
    let text = folder.to_string_lossy().replace('\\', "/");
    match text.trim_matches('/') {
        "" => "/".to_owned(),
        inner => format!("/{inner}/"),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn overrides(enablement: &ExtensionEnablement) -> Vec<String> {
        enablement.rules("x").iter().map(Rule::text).collect()
    }

    #[test]
    fn the_last_rule_decides_as_in_gemini_cli() {
        let folder = tempfile::tempdir().unwrap();
        let mut enablement = ExtensionEnablement::read(folder.path()).unwrap();
        let (home, project) = (Path::new("/home/u"), Path::new("/home/u/proj"));
        assert!(enablement.is_enabled("x", home));
        enablement.set("x", home, true);
        assert_eq!(overrides(&enablement), ["/home/u/*"]);
        enablement.set("x", project, false);
        assert_eq!(overrides(&enablement), ["/home/u/*", "!/home/u/proj/*"]);
        for (path, is_enabled) in [
            ("/home/u", true),
            ("/home/u/proj", false),
            ("/home/u/proj/sub", false),
            ("/home/u/project", true),
            ("/elsewhere", true),
        ] {
            assert_eq!(enablement.is_enabled("x", Path::new(path)), is_enabled, "{path}");
        }
        enablement.set("x", project, true);
        assert_eq!(overrides(&enablement), ["/home/u/*", "/home/u/proj/*"]);
        enablement.set("x", home, false);
        assert_eq!(overrides(&enablement), ["!/home/u/*"]);
        assert!(!enablement.is_enabled("x", project) && enablement.is_enabled("y", project));
        enablement.save().unwrap();
        let text = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        let expected = "{\n  \"x\": {\n    \"overrides\": [\n      \"!/home/u/*\"\n    ]\n  }\n}";
        assert_eq!(text, expected);
        let mut again = ExtensionEnablement::read(folder.path()).unwrap();
        again.rename("x", "y");
        assert!(again.is_enabled("x", home) && !again.is_enabled("y", home));
        again.remove("y");
        assert!(again.is_enabled("y", home));
    }

    #[test]
    fn rules_written_by_hand() {
        for (text, path, matches) in [
            ("/a/b/", "/a/b", true),
            ("/a/b/", "/a/b/c", false),
            ("!/a*", "/abc", true),
            ("/a/*", "/a", true),
            ("*", "/", true),
            ("", "/", false),
        ] {
            let rule = Rule::of(text);
            assert_eq!(rule.matches(&normalised(Path::new(path))), matches, "{text} {path}");
            assert_eq!(rule.text(), text);
        }
    }

    #[test]
    fn a_broken_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["{", "[]"] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            let error = ExtensionEnablement::read(folder.path()).unwrap_err();
            assert!(error.starts_with("Cannot read ") && error.contains(FILE), "{error}");
        }
    }
}
