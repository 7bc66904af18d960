//! File of the servers that the user has disabled: `mcp-server-enablement.json`, as Gemini CLI
//! writes it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use pollux_config::Places;
use pollux_fs::{DirLock, WriteOptions};
use serde_json::{Map, Value, json};

/// Maximum size of the file, in bytes.
const LARGEST: u64 = 1 << 20;

/// Time that a change waits for the change of another process.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// The file.
#[derive(Debug, Clone)]
pub struct Enablement {
    file: PathBuf,
}

impl Enablement {
    /// Returns the file of the user.
    pub fn at(places: &Places) -> Self {
        Self { file: places.gemini_dir().join("mcp-server-enablement.json") }
    }

    /// Returns the key of a server: letter case and blanks around a name do not count.
    pub fn key(name: &str) -> String {
        name.trim().to_lowercase()
    }

    /// Returns the keys of all disabled servers.
    pub fn disabled(&self) -> HashSet<String> {
        let is_disabled = |entry: &Value| entry.get("enabled") == Some(&Value::Bool(false));
        let entries = self.read().unwrap_or_default().into_iter();
        entries.filter(|(_, entry)| is_disabled(entry)).map(|(name, _)| name).collect()
    }

    /// Records whether a server is enabled. Processes that change the file at the same time wait
    /// for each other, at most for [`LOCK_WAIT`]. Blocks the thread.
    ///
    /// # Errors
    /// A message for the user if the file cannot be read or written.
    pub fn set(&self, name: &str, enabled: bool) -> Result<(), String> {
        let cannot = |error: &dyn std::fmt::Display| {
            format!("Cannot change {}: {error}", self.file.display())
        };
        if let Some(folder) = self.file.parent() {
            pollux_fs::create_private_directories(folder).map_err(|error| cannot(&error))?;
        }
        let _lock = DirLock::acquire(&self.file, LOCK_WAIT).map_err(|error| cannot(&error))?;
        let mut entries = self.read().map_err(|error| cannot(&error))?;
        if enabled {
            entries.shift_remove(&Self::key(name));
        } else {
            entries.insert(Self::key(name), json!({ "enabled": false }));
        }
        let text = serde_json::to_string_pretty(&entries).unwrap_or_default();
        let written =
            pollux_fs::write_atomic(&self.file, text.as_bytes(), &WriteOptions::private());
        written.map(drop).map_err(|error| cannot(&error))
    }

    /// Reads the file. A missing file is empty.
    fn read(&self) -> Result<Map<String, Value>, String> {
        match pollux_fs::read_bytes(&self.file, LARGEST) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
            Err(error) if error.is_not_found() => Ok(Map::new()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_file_is_that_of_gemini_cli() {
        let folder = tempfile::tempdir().unwrap();
        let enablement = Enablement { file: folder.path().join("new/e.json") };
        assert_eq!(enablement.disabled(), HashSet::new());
        enablement.set(" Foo", false).unwrap();
        let text = std::fs::read_to_string(&enablement.file).unwrap();
        assert_eq!(text, "{\n  \"foo\": {\n    \"enabled\": false\n  }\n}");
        assert_eq!(enablement.disabled(), HashSet::from(["foo".to_owned()]));
        enablement.set("FOO", true).unwrap();
        assert_eq!(std::fs::read_to_string(&enablement.file).unwrap(), "{}");
        std::fs::write(&enablement.file, "not JSON").unwrap();
        assert!(enablement.set("foo", true).unwrap_err().contains("e.json"));
        assert_eq!(std::fs::read_to_string(&enablement.file).unwrap(), "not JSON");
    }

    #[test]
    fn no_change_at_the_same_time_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let enablement = Enablement { file: folder.path().join("e.json") };
        let names: Vec<String> = (0..16).map(|number| format!("s{number}")).collect();
        std::thread::scope(|scope| {
            for name in &names {
                let enablement = &enablement;
                scope.spawn(move || enablement.set(name, false).unwrap());
            }
        });
        assert_eq!(enablement.disabled(), names.into_iter().collect());
    }
}
