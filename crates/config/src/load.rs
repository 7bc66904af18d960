//! From files to the settings of a run.
//!
//! The order matters, and is that of Gemini CLI: settings files first (with the environment as the
//! person gave it), then trust, then the project's settings, then the `.env` file.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::auth::{AuthType, select_auth_type};
use crate::dotenv::{self, DotEnv, DotEnvOptions};
use crate::error::SyntaxError;
use crate::interpolate::interpolate;
use crate::merge::merge_into;
use crate::trust::TrustQuestion;
use crate::{ConfigError, Environment, Places, Settings, Trust};
use crate::{files, jsonc, migrate, schema, validate};

/// The largest settings file that is read, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// What a run starts from.
#[derive(Debug, Clone, Copy)]
pub struct LoadOptions<'a> {
    /// Where files are.
    pub places: &'a Places,
    /// The current directory, absolute; it is the root of the project.
    pub cwd: &'a Path,
    /// The environment of the process.
    pub environment: &'a Environment,
    /// `--skip-trust`. The project's settings are honoured then, which Gemini CLI does only for
    /// `GEMINI_CLI_TRUST_WORKSPACE=true`.
    pub skip_trust: bool,
    /// What the companion in an editor says about trust.
    pub ide_trust: Option<bool>,
    /// `--ignore-env`: no `.env` but those of the home directory.
    pub ignore_env: bool,
}

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

/// The configuration of a run.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The merged settings.
    pub settings: Settings,
    /// The files that exist, lowest first.
    pub layers: Vec<Layer>,
    /// Whether the current folder is trusted.
    pub trust: Trust,
    /// The environment with the `.env` file under it.
    pub environment: Environment,
    /// The `.env` file that was read.
    pub dotenv: Option<DotEnv>,
    /// Lines for the person; the run goes on.
    pub warnings: Vec<String>,
    /// Keys that no setting has, with their file; for debug mode.
    pub unknown_keys: Vec<(PathBuf, String)>,
}

/// Finds and merges everything.
///
/// Fails with [`ConfigError::Broken`] naming every broken settings file, or with
/// [`ConfigError::BrokenTrust`]. The project's file is not even read unless the folder is trusted.
pub fn load(options: &LoadOptions<'_>) -> Result<Loaded, ConfigError> {
    let places = options.places;
    let mut reading = Reading::new(options.environment);
    reading.read(LayerKind::SystemDefaults, &places.system_defaults);
    reading.read(LayerKind::User, &places.user_settings());
    reading.read(LayerKind::System, &places.system_settings);
    let trust = Trust::resolve(&TrustQuestion {
        skip_trust: options.skip_trust,
        environment: options.environment,
        enabled: Settings::new(reading.merged()).security.folder_trust_enabled,
        ide: options.ide_trust,
        places,
        cwd: options.cwd,
    });
    // A broken settings file is told before a broken trust file: it may have said where that is.
    if trust.as_ref().is_ok_and(|trust| trust.is_trusted()) && !is_home(options) {
        reading.read(LayerKind::Workspace, &places.workspace_settings(options.cwd));
    }
    if !reading.broken.is_empty() {
        return Err(ConfigError::Broken(reading.broken));
    }
    let trust = trust?;
    let settings = Settings::new(reading.merged());
    let dotenv = dotenv::load(&DotEnvOptions {
        places,
        cwd: options.cwd,
        trusted: trust.is_trusted(),
        excluded: &settings.advanced.excluded_env_vars,
        ignore_local: options.ignore_env || settings.advanced.ignore_local_env,
    });
    let uses_vertex =
        select_auth_type(&settings.security.auth, options.environment) == Some(AuthType::VertexAi);
    let environment = dotenv::apply(options.environment, dotenv.as_ref(), uses_vertex);
    let Reading { layers, warnings, unknown_keys, .. } = reading;
    Ok(Loaded { settings, layers, trust, environment, dotenv, warnings, unknown_keys })
}

/// Whether the project is the home directory itself, whose settings are the person's already.
fn is_home(options: &LoadOptions<'_>) -> bool {
    files::real_path_or_given(options.cwd) == files::real_path_or_given(&options.places.home)
}

/// The layers as they are being read.
struct Reading<'a> {
    environment: &'a Environment,
    layers: Vec<Layer>,
    broken: Vec<SyntaxError>,
    warnings: Vec<String>,
    unknown_keys: Vec<(PathBuf, String)>,
}

impl<'a> Reading<'a> {
    fn new(environment: &'a Environment) -> Self {
        Self {
            environment,
            layers: Vec::new(),
            broken: Vec::new(),
            warnings: Vec::new(),
            unknown_keys: Vec::new(),
        }
    }

    /// Reads one file if it is there, and notes what is wrong with it.
    fn read(&mut self, kind: LayerKind, path: &Path) {
        let text = match files::read_whole(path, MAX_BYTES) {
            Ok(text) => text,
            Err(error) if files::is_absent(path, &error) => {
                if error.code() == "EACCES" {
                    self.warnings.push(format!("Settings cannot be looked for: {error}."));
                }
                return;
            }
            Err(error) => {
                self.broken.push(SyntaxError::whole(path, files::node_message(&error)));
                return;
            }
        };
        match jsonc::parse(path, &text) {
            Ok(value) => self.add(kind, path, value),
            Err(error) => self.broken.push(error),
        }
    }

    fn add(&mut self, kind: LayerKind, path: &Path, mut value: Value) {
        let old_keys = migrate::migrate(&mut value);
        if !old_keys.is_empty() && matches!(kind, LayerKind::System | LayerKind::SystemDefaults) {
            self.warnings.push(format!(
                "The system settings in {} use deprecated keys: {}.",
                path.display(),
                old_keys.join(", ")
            ));
        }
        interpolate(&mut value, self.environment);
        // Only the account's administrator decides these, and not through a file.
        schema::take(&mut value, "admin");
        let findings = validate::check(&mut value);
        self.warnings.extend(validate::warning(path, &findings.issues));
        let unknown = findings.unknown_keys.into_iter().map(|key| (path.to_owned(), key));
        self.unknown_keys.extend(unknown);
        let layer = Layer { kind, path: path.to_owned(), value };
        let at = self.layers.partition_point(|other| other.kind <= kind);
        self.layers.insert(at, layer);
    }

    /// All layers so far over the defaults.
    fn merged(&self) -> Value {
        let mut merged = schema::defaults();
        for layer in &self.layers {
            merge_into(&mut merged, &layer.value);
        }
        merged
    }
}
