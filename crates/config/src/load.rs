//! Loading of a run's settings from files.
//!
//! The order matters and is that of Gemini CLI: settings files first (with the user's environment),
//! then trust, then the project's settings, then the `.env` file.

use std::path::{Path, PathBuf};

use pollux_protocol::ConsentItem;
use serde_json::{Map, Value};

use crate::auth::{AuthType, select_auth_type};
use crate::consent::{
    self, Accepted, ConsentMode, ConsentStore, EarlierAnswers, ReadCommand, SettingItem,
    Surroundings, decide,
};
use crate::dotenv::{self, DotEnv, DotEnvOptions};
use crate::error::SyntaxError;
use crate::interpolate::{interpolate, interpolate_settings};
use crate::merge::merge_into;
use crate::trust::TrustQuestion;
use crate::{ConfigError, Environment, Places, Settings, Trust, TrustSource, TrustState};
use crate::{context, files, jsonc, migrate, schema, validate};

mod options;

pub use options::LoadOptions;

/// Maximum size of a settings file, in bytes.
pub(crate) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Layer of a settings file. Later layers override earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayerKind {
    /// Defaults of an administrator.
    SystemDefaults,
    /// Settings of the user.
    User,
    /// Settings of the project.
    Workspace,
    /// Overrides of an administrator.
    System,
}

/// A settings file as it is merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Layer of the file.
    pub kind: LayerKind,
    /// Path of the file.
    pub path: PathBuf,
    /// Content after preparation: variables are replaced, old keys moved, `admin` removed.
    pub value: Value,
}

/// State of a layer's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerFileState {
    /// The file was read and is merged.
    Read,
    /// The file does not exist.
    Absent,
    /// The file was not read, for this reason.
    Skipped(String),
}

/// File of a layer, which may not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerFile {
    /// Layer of the file.
    pub kind: LayerKind,
    /// Path of the file.
    pub path: PathBuf,
    /// State of the file.
    pub state: LayerFileState,
}

/// Configuration of a run.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The merged settings.
    pub settings: Settings,
    /// Files that exist, lowest layer first. The project's layer contains accepted items only.
    pub layers: Vec<Layer>,
    /// Files of all layers, lowest first, including those that do not exist or were not read.
    pub files: Vec<LayerFile>,
    /// Trust in the current folder.
    pub trust: Trust,
    /// Items of the project that may take effect.
    pub accepted: Accepted,
    /// The environment, with variables of the `.env` file added.
    pub environment: Environment,
    /// The `.env` file that was read.
    pub dotenv: Option<DotEnv>,
    /// Warnings for the user, one per line. They do not stop the run.
    pub warnings: Vec<String>,
    /// Unknown keys with their file, for debug mode.
    pub unknown_keys: Vec<(PathBuf, String)>,
}

/// Finds and merges everything without asking the user.
///
/// Items of the project take effect if they are pinned. If the user was never asked about the
/// folder, all of its items take effect except those that need a user who is present. All of them
/// take effect if the question is switched off. Nothing is pinned. Fails like [`find()`] and
/// [`PendingSettings::load`].
pub fn load(options: &LoadOptions<'_>) -> Result<Loaded, ConfigError> {
    let mut found = find(options)?;
    let accepted = match ConsentMode::from(found.trust) {
        ConsentMode::Untrusted => Accepted::nothing(),
        ConsentMode::Unpinned => Accepted::everything(),
        ConsentMode::Pinned => {
            let store = ConsentStore::load(options.places);
            let known = EarlierAnswers::of(&store, options.cwd);
            found.look(known);
            let items = found.items();
            let verdicts = decide(&items, known, ConsentMode::Pinned, false);
            let kept = items.iter().zip(verdicts).filter(|(_, verdict)| verdict.takes_effect());
            Accepted::only(kept.map(|(item, _)| item))
        }
    };
    found.load(accepted)
}

/// Finds the settings of the system and the user, and decides about trust. The project's files are
/// not read yet.
///
/// Fails with [`ConfigError::Broken`], which lists every invalid settings file, or with
/// [`ConfigError::BrokenTrust`].
pub fn find(options: &LoadOptions<'_>) -> Result<PendingSettings, ConfigError> {
    let places = options.places;
    let mut reading = Reading::new(options.environment.clone());
    reading.override_with(options.overrides);
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
        enabled: Settings::new(reading.merged()).boolean("security.folderTrust.enabled"),
        ide: options.ide_trust,
        places,
        cwd: options.cwd,
    });
    let mut found = PendingSettings {
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
        // An invalid settings file is reported before an invalid trust file, because it may have
        // set the path of the trust file.
        Err(error) if found.reading.broken.is_empty() => return Err(error),
        Err(_) => {}
    }
    // All invalid files are reported together, including the project's file in a trusted folder.
    if !found.reading.broken.is_empty() {
        if found.trust.is_trusted() {
            found.read_project_settings();
            found.reading.broken.append(&mut found.project.broken);
        }
        return Err(ConfigError::Broken(found.reading.broken));
    }
    Ok(found)
}

/// Reads the text of a settings file, up to the size limit.
pub(crate) fn read_text(path: &Path) -> Result<String, pollux_fs::Error> {
    files::read_whole(path, MAX_BYTES)
}

/// Starting point of a run: the settings of the user and the system, the trust decision, and, after
/// [`PendingSettings::look`], the items of the project. None of the items is in effect.
#[derive(Debug)]
pub struct PendingSettings {
    /// Trust in the current folder. A frontend that has asked the user stores the answer here.
    pub trust: Trust,
    places: Places,
    cwd: PathBuf,
    ignore_env: bool,
    read_command: ReadCommand,
    reading: Reading,
    project: Project,
}

/// Content of a project, as data.
#[derive(Debug, Default)]
struct Project {
    has_settings_read: bool,
    /// Content of the settings file, before variables are replaced.
    settings: Option<Value>,
    settings_items: Vec<SettingItem>,
    /// Consent items of `.env` and of definition files, once they were read.
    other_items: Option<Vec<ConsentItem>>,
    broken: Vec<SyntaxError>,
}

impl PendingSettings {
    /// Reads the project's items, as data. A later step decides whether they take effect. In a
    /// trusted folder, a custom command whose content the user agreed to before is listed as it was
    /// then, without reading its file: the content must be compared with the answers when the
    /// command is called.
    pub fn look(&mut self, known: EarlierAnswers<'_>) {
        self.read_project_settings();
        if self.project.other_items.is_some() || self.is_home() {
            return;
        }
        let file = self.read_dotenv(&self.own_settings(), true).filter(|file| file.of_project);
        let mut items: Vec<_> = file.iter().flat_map(consent::variable_items).collect();
        // The question about the folder lists everything that has changed.
        let known = if self.trust.is_trusted() { known } else { EarlierAnswers::Nothing };
        let (definitions, left_out) = consent::definition_items(&self.cwd, known);
        items.extend(definitions);
        self.reading.warnings.extend(left_out);
        items.extend(context::items(
            &self.settings_with_all_of_the_project().context(),
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
                schema::remove_users_own(&mut value);
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

    /// Returns the policy file or folder that a text of the project's settings names. Returns
    /// `None` for paths below the user's own state, which does not belong to the project.
    fn policy_path(&self, written: &str) -> Option<PathBuf> {
        let mut text = Value::from(written);
        interpolate(&mut text, &self.reading.environment);
        let path = self.places.expand_home(text.as_str()?);
        let path = pollux_fs::absolute(&self.cwd, &path);
        let own = files::real_path_or_given(&self.places.gemini_dir());
        (!files::real_path_or_given(&path).starts_with(own)).then_some(path)
    }

    /// Returns the project's items that need consent, as far as this crate knows them: settings,
    /// variables and definition files. Empty before [`PendingSettings::look`].
    pub fn items(&self) -> Vec<ConsentItem> {
        let settings = self.project.settings_items.iter().map(|found| &found.item);
        settings.chain(self.project.other_items.iter().flatten()).cloned().collect()
    }

    /// Returns the project's settings as they would be merged if all of them were accepted. Returns
    /// `None` before [`PendingSettings::look`], or if there is no file.
    pub fn project_layer(&self) -> Option<Layer> {
        let mut value = self.project.settings.clone()?;
        interpolate_settings(&mut value, &self.reading.environment);
        validate::check(&mut value);
        let path = self.places.workspace_settings(&self.cwd);
        Some(Layer { kind: LayerKind::Workspace, path, value })
    }

    /// Returns the errors in the project's settings file. They stop the run only in a trusted
    /// folder.
    pub fn project_errors(&self) -> &[SyntaxError] {
        &self.project.broken
    }

    /// Returns the settings of the user and the system, without the project's.
    pub fn own_settings(&self) -> Settings {
        Settings::new(self.reading.merged())
    }

    /// Merges all settings. Of the project's settings, only accepted ones are included, and none if
    /// the folder is not trusted.
    ///
    /// Fails with [`ConfigError::Broken`] if the settings file of a trusted project is invalid.
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
            None => self.reading.note(LayerKind::Workspace, &path, LayerFileState::Absent),
        }
        let settings = Settings::new(self.reading.merged());
        let dotenv = self.read_dotenv(&settings, trusted);
        let dotenv = dotenv.map(|file| consent::agreed_variables(file, &accepted));
        let base = &self.reading.environment;
        let uses_vertex = select_auth_type(&settings.auth(), base) == Some(AuthType::VertexAi);
        let environment = dotenv::apply(base, dotenv.as_ref(), uses_vertex);
        let refusal = dotenv.as_ref().and_then(|file| dotenv::refusal(base, file));
        self.reading.warnings.extend(refusal);
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

    /// Returns the settings as if all of the project's settings were accepted, to find further
    /// items.
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
            excluded: &settings.texts("advanced.excludedEnvVars").unwrap_or_default(),
            ignore_local: self.ignore_env || settings.boolean("advanced.ignoreLocalEnv"),
        })
    }

    /// Returns true if the project is the home directory itself, whose settings are already the
    /// user's.
    fn is_home(&self) -> bool {
        files::real_path_or_given(&self.cwd) == files::real_path_or_given(&self.places.home)
    }
}

/// Layers read so far.
#[derive(Debug)]
struct Reading {
    environment: Environment,
    layers: Vec<Layer>,
    files: Vec<LayerFile>,
    broken: Vec<SyntaxError>,
    /// Settings between the project's and those of the system.
    overrides: Value,
    /// Old keys in files that only an administrator can change.
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
            overrides: Value::Object(Map::new()),
            old_system_keys: Vec::new(),
            warnings: Vec::new(),
            unknown_keys: Vec::new(),
        }
    }

    /// Reads one file if it exists, and records its errors.
    fn read(&mut self, kind: LayerKind, path: &Path) {
        match self.parse(path) {
            Ok(Some(value)) => self.add(kind, path, value),
            Ok(None) => self.note(kind, path, LayerFileState::Absent),
            Err(error) => self.broken.push(error),
        }
    }

    /// Parses one file as written. Returns `None` if the file does not exist.
    fn parse(&mut self, path: &Path) -> Result<Option<Value>, SyntaxError> {
        match read_text(path) {
            Ok(text) => jsonc::parse(path, &text).map(Some),
            Err(error) if files::is_absent(path, &error) => {
                if error.code() == "EACCES" {
                    self.warnings.push(format!("Cannot search for settings files: {error}."));
                }
                Ok(None)
            }
            Err(error) => Err(SyntaxError::whole(path, files::node_message(&error))),
        }
    }

    fn add(&mut self, kind: LayerKind, path: &Path, mut value: Value) {
        self.note(kind, path, LayerFileState::Read);
        let steps = migrate::migrate(&mut value);
        if matches!(kind, LayerKind::System | LayerKind::SystemDefaults) {
            self.old_system_keys.extend(migrate::old_keys(&steps));
        }
        interpolate_settings(&mut value, &self.environment);
        let findings = validate::check(&mut value);
        // Only the account's administrator can set these, and not through a file.
        schema::take(&mut value, "admin");
        self.warnings.extend(validate::warning(path, &findings.issues));
        let fields = findings.unknown_fields.into_iter().map(|(key, _)| key);
        let unknown = findings.unknown_keys.into_iter().chain(fields);
        self.unknown_keys.extend(unknown.map(|key| (path.to_owned(), key)));
        let layer = Layer { kind, path: path.to_owned(), value };
        let at = self.layers.partition_point(|other| other.kind <= kind);
        self.layers.insert(at, layer);
    }

    fn override_with(&mut self, given: Option<&Map<String, Value>>) {
        let mut overrides = Map::new();
        for (key, value) in given.into_iter().flatten() {
            schema::insert(&mut overrides, key, value.clone());
        }
        self.overrides = Value::Object(overrides);
        let findings = validate::check(&mut self.overrides);
        schema::take(&mut self.overrides, "admin");
        let place = Path::new("the settings of the session request");
        self.warnings.extend(validate::warning(place, &findings.issues));
    }

    fn skip(&mut self, kind: LayerKind, path: &Path, reason: impl Into<String>) {
        self.note(kind, path, LayerFileState::Skipped(reason.into()));
    }

    fn note(&mut self, kind: LayerKind, path: &Path, state: LayerFileState) {
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

    /// Returns all layers read so far, merged over the defaults.
    fn merged(&self) -> Value {
        self.merged_over(schema::defaults())
    }

    /// Returns all layers read so far, merged without defaults.
    fn merged_files(&self) -> Value {
        self.merged_over(Value::Object(Map::new()))
    }

    fn merged_over(&self, mut base: Value) -> Value {
        let at = self.layers.partition_point(|layer| layer.kind < LayerKind::System);
        let (files, system) = self.layers.split_at(at);
        let (files, system) = (files.iter(), system.iter());
        let values = files.map(|layer| &layer.value).chain([&self.overrides]);
        for value in values.chain(system.map(|layer| &layer.value)) {
            merge_into(&mut base, value);
        }
        base
    }
}
