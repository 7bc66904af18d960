//! From files to the settings of a run.
//!
//! The order matters, and is that of Gemini CLI: settings files first (with the environment as the
//! person gave it), then trust, then the project's settings, then the `.env` file.

use std::path::{Path, PathBuf};

use pollux_protocol::ConsentItem;
use serde_json::{Map, Value};

use crate::auth::{AuthType, select_auth_type};
use crate::consent::{
    self, Accepted, ConsentStore, Known, ReadCommand, SettingItem, Surroundings, Way, decide,
};
use crate::dotenv::{self, DotEnv, DotEnvOptions};
use crate::error::SyntaxError;
use crate::interpolate::interpolate;
use crate::merge::merge_into;
use crate::trust::TrustQuestion;
use crate::{ConfigError, Environment, Places, Settings, Trust, TrustSource, TrustState};
use crate::{context, files, jsonc, migrate, schema, validate};

mod options;

pub use options::LoadOptions;

/// The largest settings file that is read, in bytes.
pub(crate) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Which layer a file is; the later beats the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayerKind {
    /// What an administrator suggests.
    SystemDefaults,
    /// The person's settings.
    User,
    /// The project's settings.
    Workspace,
    /// What an administrator demands.
    System,
}

/// One settings file as it takes part in the merge.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Which one.
    pub kind: LayerKind,
    /// The file.
    pub path: PathBuf,
    /// Its content: variables replaced, old keys moved, `admin` removed.
    pub value: Value,
}

/// What became of the file of a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// It takes part.
    Read,
    /// There is none.
    Absent,
    /// It was not read, for this reason.
    Skipped(String),
}

/// The file of a layer, whether there is one or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerFile {
    /// Which layer.
    pub kind: LayerKind,
    /// Where the file would be.
    pub path: PathBuf,
    /// What became of it.
    pub state: FileState,
}

/// The configuration of a run.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The merged settings.
    pub settings: Settings,
    /// The files that exist, lowest first. The project's holds only what was accepted.
    pub layers: Vec<Layer>,
    /// The files of all layers, lowest first, with those that are not there or not read.
    pub files: Vec<LayerFile>,
    /// Whether the current folder is trusted.
    pub trust: Trust,
    /// What of the project may take effect.
    pub accepted: Accepted,
    /// The environment with the `.env` file under it.
    pub environment: Environment,
    /// The `.env` file that was read.
    pub dotenv: Option<DotEnv>,
    /// Lines for the person; the run goes on.
    pub warnings: Vec<String>,
    /// Keys that no setting has, with their file; for debug mode.
    pub unknown_keys: Vec<(PathBuf, String)>,
}

/// Finds and merges everything, without asking anybody.
///
/// What the project brings takes effect as far as it is pinned; all of it where nothing was ever asked
/// about the folder, or where the question is switched off. Nothing is pinned. Fails like [`find()`] and
/// [`Found::load`].
pub fn load(options: &LoadOptions<'_>) -> Result<Loaded, ConfigError> {
    let mut found = find(options)?;
    let accepted = match Way::from(found.trust) {
        Way::Untrusted => Accepted::nothing(),
        Way::Unpinned => Accepted::everything(),
        Way::Pinned => {
            found.look();
            let items = found.items();
            let store = ConsentStore::load(options.places);
            let known = Known::of(&store, options.cwd);
            let verdicts = decide(&items, known, Way::Pinned, false);
            let kept = items.iter().zip(verdicts).filter(|(_, verdict)| verdict.takes_effect());
            Accepted::only(kept.map(|(item, _)| item))
        }
    };
    found.load(accepted)
}

/// Finds the settings of the system and the person, and decides about trust. Nothing of the project is
/// read yet.
///
/// Fails with [`ConfigError::Broken`] naming every broken settings file, or with
/// [`ConfigError::BrokenTrust`].
pub fn find(options: &LoadOptions<'_>) -> Result<Found, ConfigError> {
    let places = options.places;
    let mut reading = Reading::new(options.environment.clone());
    let mut read_system = |kind, path: &Path, name| match (options.check_system_file)(path) {
        Ok(()) => reading.read(kind, path),
        Err(reason) => {
            let path_shown = path.display();
            reading
                .warnings
                .push(format!("Security Warning: Skipping {name} file '{path_shown}': {reason}"));
            reading.skip(kind, path, reason);
        }
    };
    read_system(LayerKind::System, &places.system_settings, "system settings");
    read_system(LayerKind::SystemDefaults, &places.system_defaults, "system defaults");
    reading.read(LayerKind::User, &places.user_settings());
    let trust = Trust::resolve(&TrustQuestion {
        skip_trust: options.skip_trust,
        environment: options.environment,
        enabled: Settings::new(reading.merged()).security.folder_trust_enabled,
        ide: options.ide_trust,
        places,
        cwd: options.cwd,
    });
    let mut found = Found {
        places: places.clone(),
        cwd: options.cwd.to_owned(),
        ignore_env: options.ignore_env,
        read_command: options.read_command,
        reading,
        trust: Trust { state: TrustState::Unknown, source: TrustSource::Nobody },
        project: Project::default(),
    };
    match trust {
        Ok(trust) => found.trust = trust,
        // A broken settings file is told before a broken trust file: it may have said where that is.
        Err(error) if found.reading.broken.is_empty() => return Err(error),
        Err(_) => {}
    }
    // All that is broken is told at once, what the project brings too, where it counts.
    if !found.reading.broken.is_empty() {
        if found.trust.is_trusted() {
            found.read_project_settings();
            found.reading.broken.append(&mut found.project.broken);
        }
        return Err(ConfigError::Broken(found.reading.broken));
    }
    Ok(found)
}

/// The text of a settings file, within bounds.
pub(crate) fn read_text(path: &Path) -> Result<String, pollux_fs::Error> {
    files::read_whole(path, MAX_BYTES)
}

/// What a run would start from: the settings of the person and the system, the answer about trust, and,
/// once looked at, what the project brings, none of it in effect.
#[derive(Debug)]
pub struct Found {
    /// Whether the current folder is trusted. A frontend that has asked puts the answer here.
    pub trust: Trust,
    places: Places,
    cwd: PathBuf,
    ignore_env: bool,
    read_command: ReadCommand,
    reading: Reading,
    project: Project,
}

/// What a project brings, as data.
#[derive(Debug, Default)]
struct Project {
    has_settings_read: bool,
    /// The settings file, before variables are replaced.
    settings: Option<Value>,
    settings_items: Vec<SettingItem>,
    /// Items of `.env` and of definition files, once looked at.
    other_items: Option<Vec<ConsentItem>>,
    broken: Vec<SyntaxError>,
}

impl Found {
    /// Reads what the project brings, as data. Whether any of it counts is decided later.
    pub fn look(&mut self) {
        self.read_project_settings();
        if self.project.other_items.is_some() || self.is_home() {
            return;
        }
        let file = self.read_dotenv(&self.own_settings(), true).filter(|file| file.of_project);
        let mut items: Vec<_> = file.iter().flat_map(consent::variable_items).collect();
        let (definitions, left_out) = consent::definition_items(&self.cwd);
        items.extend(definitions);
        self.reading.warnings.extend(left_out);
        items.extend(context::items(
            &self.settings_with_all_of_the_project().context,
            &self.cwd,
            &self.places.gemini_dir(),
        ));
        self.project.other_items = Some(items);
    }

    fn read_project_settings(&mut self) {
        if self.project.has_settings_read || self.is_home() {
            return;
        }
        self.project.has_settings_read = true;
        let path = self.places.workspace_settings(&self.cwd);
        match self.reading.parse(&path) {
            Ok(None) => {}
            Ok(Some(mut value)) => {
                migrate::migrate(&mut value);
                let below = self.reading.merged_files();
                let surroundings = Surroundings {
                    below: &below,
                    project: &self.cwd,
                    environment: &self.reading.environment,
                    read_command: self.read_command,
                    locate: &|written| self.policy_path(written),
                };
                self.project.settings_items = consent::setting_items(&value, &surroundings);
                self.project.settings = Some(value);
            }
            Err(error) => self.project.broken.push(error),
        }
    }

    /// Returns the policy file or folder that a text of the project's settings names; `None` for what is below the
    /// person's own state, which no project brings.
    fn policy_path(&self, written: &str) -> Option<PathBuf> {
        let mut text = Value::from(written);
        interpolate(&mut text, &self.reading.environment);
        let path = self.places.expand_home(text.as_str()?);
        let path = pollux_fs::absolute(&self.cwd, &path);
        let own = files::real_path_or_given(&self.places.gemini_dir());
        (!files::real_path_or_given(&path).starts_with(own)).then_some(path)
    }

    /// What of the project takes effect only after a yes, as far as this crate knows: settings, variables,
    /// and definition files. Empty before [`Found::look`].
    pub fn items(&self) -> Vec<ConsentItem> {
        let settings = self.project.settings_items.iter().map(|found| &found.item);
        settings.chain(self.project.other_items.iter().flatten()).cloned().collect()
    }

    /// The project's settings as they would take part in the merge if all of them were accepted; none before
    /// [`Found::look`], or without a file.
    pub fn project_layer(&self) -> Option<Layer> {
        let mut value = self.project.settings.clone()?;
        interpolate(&mut value, &self.reading.environment);
        validate::check(&mut value);
        let path = self.places.workspace_settings(&self.cwd);
        Some(Layer { kind: LayerKind::Workspace, path, value })
    }

    /// What is wrong with the project's settings file. It ends the run only in a trusted folder.
    pub fn project_errors(&self) -> &[SyntaxError] {
        &self.project.broken
    }

    /// The settings of the person and the system alone.
    pub fn own_settings(&self) -> Settings {
        Settings::new(self.reading.merged())
    }

    /// Merges everything, of the project only what is accepted, and nothing where the folder is not
    /// trusted.
    ///
    /// Fails with [`ConfigError::Broken`] when the settings file of a trusted project is broken.
    pub fn load(mut self, accepted: Accepted) -> Result<Loaded, ConfigError> {
        let trusted = self.trust.is_trusted();
        let accepted = if trusted { accepted } else { Accepted::nothing() };
        if trusted {
            self.read_project_settings();
            if !self.project.broken.is_empty() {
                return Err(ConfigError::Broken(self.project.broken));
            }
        }
        let path = self.places.workspace_settings(&self.cwd);
        match self.project.settings.take() {
            _ if self.is_home() => {
                self.reading.skip(LayerKind::Workspace, &path, "the folder is the home directory");
            }
            _ if !trusted => {
                self.reading.skip(LayerKind::Workspace, &path, "the folder is not trusted");
            }
            Some(mut value) => {
                consent::remove_refused(&mut value, &self.project.settings_items, &accepted);
                self.reading.add(LayerKind::Workspace, &path, value);
            }
            None => self.reading.note(LayerKind::Workspace, &path, FileState::Absent),
        }
        let settings = Settings::new(self.reading.merged());
        let dotenv = self.read_dotenv(&settings, trusted);
        let dotenv = dotenv.map(|file| consent::agreed_variables(file, &accepted));
        let base = &self.reading.environment;
        let uses_vertex =
            select_auth_type(&settings.security.auth, base) == Some(AuthType::VertexAi);
        let environment = dotenv::apply(base, dotenv.as_ref(), uses_vertex);
        self.reading.tell_old_system_keys();
        let (trust, reading) = (self.trust, self.reading);
        let Reading { layers, files, warnings, unknown_keys, .. } = reading;
        Ok(Loaded {
            settings,
            layers,
            files,
            trust,
            accepted,
            environment,
            dotenv,
            warnings,
            unknown_keys,
        })
    }

    /// The settings as if all of the project's were accepted, to look for what they would bring.
    fn settings_with_all_of_the_project(&self) -> Settings {
        let mut merged = self.reading.merged();
        if let Some(layer) = self.project_layer() {
            merge_into(&mut merged, &layer.value);
        }
        Settings::new(merged)
    }

    fn read_dotenv(&self, settings: &Settings, trusted: bool) -> Option<DotEnv> {
        dotenv::load(&DotEnvOptions {
            places: &self.places,
            cwd: &self.cwd,
            trusted,
            excluded: &settings.advanced.excluded_env_vars,
            ignore_local: self.ignore_env || settings.advanced.ignore_local_env,
        })
    }

    /// Whether the project is the home directory itself, whose settings are the person's already.
    fn is_home(&self) -> bool {
        files::real_path_or_given(&self.cwd) == files::real_path_or_given(&self.places.home)
    }
}

/// The layers as they are being read.
#[derive(Debug)]
struct Reading {
    environment: Environment,
    layers: Vec<Layer>,
    files: Vec<LayerFile>,
    broken: Vec<SyntaxError>,
    /// Old keys in files that only an administrator can mend.
    old_system_keys: Vec<&'static str>,
    warnings: Vec<String>,
    unknown_keys: Vec<(PathBuf, String)>,
}

impl Reading {
    fn new(environment: Environment) -> Self {
        Self {
            environment,
            layers: Vec::new(),
            files: Vec::new(),
            broken: Vec::new(),
            old_system_keys: Vec::new(),
            warnings: Vec::new(),
            unknown_keys: Vec::new(),
        }
    }

    /// Reads one file if it is there, and notes what is wrong with it.
    fn read(&mut self, kind: LayerKind, path: &Path) {
        match self.parse(path) {
            Ok(Some(value)) => self.add(kind, path, value),
            Ok(None) => self.note(kind, path, FileState::Absent),
            Err(error) => self.broken.push(error),
        }
    }

    /// Reads one file as it is written; none when there is none.
    fn parse(&mut self, path: &Path) -> Result<Option<Value>, SyntaxError> {
        match read_text(path) {
            Ok(text) => jsonc::parse(path, &text).map(Some),
            Err(error) if files::is_absent(path, &error) => {
                if error.code() == "EACCES" {
                    self.warnings.push(format!("Settings cannot be looked for: {error}."));
                }
                Ok(None)
            }
            Err(error) => Err(SyntaxError::whole(path, files::node_message(&error))),
        }
    }

    fn add(&mut self, kind: LayerKind, path: &Path, mut value: Value) {
        self.note(kind, path, FileState::Read);
        let steps = migrate::migrate(&mut value);
        if matches!(kind, LayerKind::System | LayerKind::SystemDefaults) {
            self.old_system_keys.extend(migrate::old_keys(&steps));
        }
        interpolate(&mut value, &self.environment);
        let findings = validate::check(&mut value);
        // Only the account's administrator decides these, and not through a file.
        schema::take(&mut value, "admin");
        self.warnings.extend(validate::warning(path, &findings.issues));
        let unknown = findings.unknown_keys.into_iter().map(|key| (path.to_owned(), key));
        self.unknown_keys.extend(unknown);
        let layer = Layer { kind, path: path.to_owned(), value };
        let at = self.layers.partition_point(|other| other.kind <= kind);
        self.layers.insert(at, layer);
    }

    fn skip(&mut self, kind: LayerKind, path: &Path, reason: impl Into<String>) {
        self.note(kind, path, FileState::Skipped(reason.into()));
    }

    fn note(&mut self, kind: LayerKind, path: &Path, state: FileState) {
        let at = self.files.partition_point(|other| other.kind <= kind);
        self.files.insert(at, LayerFile { kind, path: path.to_owned(), state });
    }

    fn tell_old_system_keys(&mut self) {
        if !self.old_system_keys.is_empty() {
            self.warnings.push(format!(
                "The system configuration contains deprecated settings: [{}]. These could not be migrated automatically as system settings are read-only. Please update the system configuration manually.",
                self.old_system_keys.join(", ")
            ));
        }
    }

    /// All layers so far over the defaults.
    fn merged(&self) -> Value {
        self.merged_over(schema::defaults())
    }

    /// All layers so far, without defaults.
    fn merged_files(&self) -> Value {
        self.merged_over(Value::Object(Map::new()))
    }

    fn merged_over(&self, mut base: Value) -> Value {
        for layer in &self.layers {
            merge_into(&mut base, &layer.value);
        }
        base
    }
}
