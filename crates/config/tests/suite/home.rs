//! A temporary home directory with a project beside it.

use std::fs;
use std::path::{Path, PathBuf};

use pollux_config::{ConfigError, Environment, LoadOptions, Loaded, Places, load};
use tempfile::TempDir;

pub(crate) struct Home {
    root: TempDir,
    pub(crate) environment: Environment,
    pub(crate) places: Places,
    /// Replaces the usual check, which no temporary folder passes because it belongs to any user.
    pub(crate) check_system_file: fn(&Path) -> Result<(), String>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        // Real paths, so that expectations also hold if the temporary directory is a link.
        let base = root.path().canonicalize().unwrap();
        for name in ["home/.gemini", "work", "temporary"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        let text = |name: &str| base.join(name).to_str().unwrap().to_owned();
        let environment = Environment::from_pairs([
            ("HOME", text("home")),
            ("USERPROFILE", text("home")),
            ("TMPDIR", text("temporary")),
            ("TEMP", text("temporary")),
            ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", text("system/settings.json")),
        ]);
        let places = Places::new(&environment);
        Self { root, environment, places, check_system_file: |_| Ok(()) }
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.environment = self.environment.with(name, value);
        self.places = Places::new(&self.environment);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn trust(&self, folder: &Path) {
        let text = serde_json::json!({ folder.to_str().unwrap(): "TRUST_FOLDER" }).to_string();
        self.write("home/.gemini/trustedFolders.json", &text);
    }

    pub(crate) fn try_load(&self) -> Result<Loaded, ConfigError> {
        self.load_with(false, false)
    }

    pub(crate) fn load(&self) -> Loaded {
        self.try_load().unwrap()
    }

    pub(crate) fn load_with(
        &self,
        skip_trust: bool,
        ignore_env: bool,
    ) -> Result<Loaded, ConfigError> {
        self.load_in(&self.work(), skip_trust, ignore_env)
    }

    pub(crate) fn load_in(
        &self,
        cwd: &Path,
        skip_trust: bool,
        ignore_env: bool,
    ) -> Result<Loaded, ConfigError> {
        load(&self.options(cwd, skip_trust, ignore_env))
    }

    pub(crate) fn options<'a>(
        &'a self,
        cwd: &'a Path,
        skip_trust: bool,
        ignore_env: bool,
    ) -> LoadOptions<'a> {
        LoadOptions {
            ignore_env,
            check_system_file: self.check_system_file,
            ..LoadOptions::new(&self.places, cwd, &self.environment, skip_trust)
        }
    }
}
