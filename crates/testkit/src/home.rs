//! A temporary home and a project next to it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use tempfile::TempDir;

/// A home, a project and a folder for temporary files, all deleted when the value is dropped.
///
/// ```text
/// <root>/home/.gemini/settings.json    settings()
/// <root>/project/                      project(), the program's current directory
/// <root>/tmp/                          $TMPDIR
/// ```
#[derive(Debug)]
pub struct TestHome {
    root: PathBuf,
    _folder: TempDir,
}

impl TestHome {
    /// Creates the three folders; the home has an empty `.gemini`.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("pollux-test-").tempdir().unwrap();
        // Canonical paths, because programs print and compare them.
        let root = folder.path().canonicalize().unwrap();
        for name in ["home/.gemini", "project", "tmp"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        Self { root, _folder: folder }
    }

    /// Returns the folder that contains the three folders.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the child's `$HOME`.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Returns the folder of the user's settings, `$HOME/.gemini`.
    pub fn gemini(&self) -> PathBuf {
        self.root.join("home/.gemini")
    }

    /// Returns the project folder, in which the program works.
    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Returns the child's `$TMPDIR`.
    pub fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Writes the user's `settings.json`.
    pub fn settings(&self, settings: &impl Serialize) -> &Self {
        self.write("home/.gemini/settings.json", serde_json::to_vec_pretty(settings).unwrap())
    }

    /// Writes the project's `.gemini/settings.json`.
    pub fn project_settings(&self, settings: &impl Serialize) -> &Self {
        self.write("project/.gemini/settings.json", serde_json::to_vec_pretty(settings).unwrap())
    }

    /// Writes a file of the user's `.gemini` folder.
    pub fn user_file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        self.write(&format!("home/.gemini/{path}"), content)
    }

    /// Writes a file of the project.
    pub fn project_file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        self.write(&format!("project/{path}"), content)
    }

    /// Reads a file of the project as text.
    pub fn read_project_file(&self, path: &str) -> String {
        let file = self.project().join(path);
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// Lists the project in `trustedFolders.json`, as the trust dialog does after the user's
    /// answer.
    pub fn trust_project(&self) -> &Self {
        self.trust(&self.project(), "TRUST_FOLDER")
    }

    /// Writes `trustedFolders.json` with one folder at the level `TRUST_FOLDER`, `TRUST_PARENT` or
    /// `DO_NOT_TRUST`.
    pub fn trust(&self, folder: &Path, level: &str) -> &Self {
        let folders = json!({folder.to_str().unwrap(): level});
        self.user_file("trustedFolders.json", serde_json::to_vec_pretty(&folders).unwrap())
    }

    /// Returns the whole environment of a child. It takes only `PATH` from the environment of the
    /// test and adds an invalid API key, no colour, conversations line by line, a trusted
    /// workspace, and retries without delay. It does not contain the server's address; see
    /// [`Pollux::server`](crate::Pollux::server).
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut pairs: Vec<(OsString, OsString)> =
            vec![("HOME".into(), self.home().into()), ("TMPDIR".into(), self.temporary().into())];
        let fixed = [
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("NO_COLOR", "1"),
            // Tests of the screen say so themselves.
            ("POLLUX_TERMINAL", "line"),
            // Makes git, which tools may run, ignore the settings of the machine.
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GEMINI_API_KEY", "test-key"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ("POLLUX_RETRY_BASE_MS", "1"),
            // No search for model servers on the machine.
            ("POLLUX_LOCAL_PORTS", ""),
        ];
        pairs.extend(fixed.map(|(name, value)| (name.into(), value.into())));
        pairs.extend(std::env::var_os("PATH").map(|path| ("PATH".into(), path)));
        if cfg!(windows) {
            pairs.push(("USERPROFILE".into(), self.home().into()));
            pairs.push(("TEMP".into(), self.temporary().into()));
            let kept = ["SystemRoot", "PATHEXT", "ComSpec"];
            pairs.extend(
                kept.into_iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))),
            );
        }
        pairs
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let file = self.root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
        self
    }
}

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}
