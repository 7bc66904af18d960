//! One installed extension.

use std::path::{Path, PathBuf};

use pollux_config::consent::digest;
use pollux_config::interpolate_settings;
use pollux_fs::EntryKind;
use pollux_net::credentials::SecretStore;
use serde_json::Value;

use crate::manifest::{MANIFEST_FILE, Manifest, ManifestError, parse};
use crate::record::InstallRecord;
use crate::set::ExtensionPlaces;
use crate::values::{ExtensionSetting, ValueError, ValueStore};
use crate::variables::Variables;

/// Context file of an extension that names none.
const CONTEXT_FILE: &str = "GEMINI.md";
/// Maximum size of the file with the hooks, in bytes.
const MAX_HOOKS: u64 = 1 << 20;

/// An installed extension.
#[derive(Debug, Clone, PartialEq)]
pub struct Extension {
    /// Content of the manifest, with the values of its variables.
    pub manifest: Manifest,
    /// SHA-256 of its origin, in hexadecimal digits.
    pub id: String,
    /// Folder with its files. For a link, the folder that it leads to.
    pub folder: PathBuf,
    /// Folder below the folder of the extensions, with the record and the values of settings.
    pub home: PathBuf,
    /// Its origin; `None` if nobody has recorded it.
    pub record: Option<InstallRecord>,
    /// True if it takes effect in this session.
    pub is_active: bool,
    /// Context files that exist.
    pub context_files: Vec<PathBuf>,
    /// Settings that the user enters, with their values.
    pub settings: Vec<ExtensionSetting>,
    /// Hooks by event, in the form of the setting `hooks`.
    pub hooks: Option<Value>,
    /// Message about a file with hooks that cannot be used.
    pub hooks_problem: Option<String>,
    /// Variables that its files may name.
    pub variables: Variables,
}

/// Reason why an extension cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ExtensionError {
    /// Its manifest cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The record of its installation cannot be read.
    #[error("{0}")]
    Record(String),
    /// A setting of its user cannot be read.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// A context file is outside of its folder.
    #[error("Invalid context file path: \"{}\". It leads out of the extension.", .0.display())]
    ContextFile(PathBuf),
    /// The settings of the user or the system do not allow its source.
    #[error("{0}")]
    NotAllowed(String),
}

impl Extension {
    /// Reads the extension in a folder below the folder of the extensions. Blocks the thread.
    ///
    /// # Errors
    /// The reason why it cannot be used.
    pub(crate) fn read(
        home: &Path,
        record: Option<InstallRecord>,
        places: &ExtensionPlaces<'_>,
        secrets: &SecretStore,
    ) -> Result<Self, ExtensionError> {
        let linked = record.as_ref().and_then(InstallRecord::linked);
        let folder = linked.unwrap_or_else(|| home.to_owned());
        let variables = Variables::new(&folder, places.workspace);
        let (first, mut value) = Manifest::read(&folder, &variables)?;
        let id = id(record.as_ref(), &first.name);
        let values = ValueStore::new(home, places.workspace, (&first.name, &id), secrets);
        let settings = values.read(&first.settings, places.accepts_value)?;
        let pairs = settings.iter().filter_map(|setting| {
            Some((setting.declaration.variable.as_str(), setting.value.as_deref()?))
        });
        let pairs: Vec<(&str, &str)> = pairs.collect();
        let mut environment = places.environment.clone();
        for (name, value) in &pairs {
            environment = environment.with(name, value);
        }
        interpolate_settings(&mut value, &environment);
        let path = folder.join(MANIFEST_FILE);
        let unusable = |reason| ManifestError::Unusable { path: path.clone(), reason };
        let manifest = Manifest::of(&value, &path).map_err(unusable)?;
        let variables = variables.with(pairs);
        let (hooks, hooks_problem) = match read_hooks(&folder, &variables) {
            Ok(hooks) => (hooks, None),
            Err(problem) => (None, Some(problem)),
        };
        Ok(Self {
            context_files: context_files(&folder, manifest.context_files.as_deref())?,
            manifest,
            id,
            folder,
            home: home.to_owned(),
            record,
            is_active: false,
            settings,
            hooks,
            hooks_problem,
            variables,
        })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// Returns the folder with its custom commands, which may be missing.
    pub fn commands(&self) -> PathBuf {
        self.folder.join("commands")
    }

    /// Returns the folder with its skills, which may be missing.
    pub fn skills(&self) -> PathBuf {
        self.folder.join("skills")
    }

    /// Returns the folder with its policy files, which may be missing.
    pub fn policies(&self) -> PathBuf {
        self.folder.join("policies")
    }

    /// Returns the folder with its subagents, which may be missing.
    pub fn agents(&self) -> PathBuf {
        self.folder.join("agents")
    }

    /// Returns the path of the file with its hooks, which may be missing.
    pub fn hooks_file(&self) -> PathBuf {
        hooks_file(&self.folder)
    }

    /// Returns the names and values of the settings that the user has entered.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().filter_map(|setting| {
            Some((setting.declaration.variable.as_str(), setting.value.as_deref()?))
        })
    }

    /// Returns the names of the settings that the user has not entered.
    pub fn missing_settings(&self) -> Vec<&str> {
        let missing = self.settings.iter().filter(|setting| setting.value.is_none());
        missing.map(|setting| setting.declaration.name.as_str()).collect()
    }

    /// Returns the place of the values of its settings, for a session in the folder `workspace`.
    pub fn value_store(&self, state: &Path, workspace: &Path) -> ValueStore {
        let secrets = SecretStore::in_state(state);
        ValueStore::new(&self.home, workspace, (self.name(), &self.id), &secrets)
    }
}

/// Returns the id of an extension.
pub(crate) fn id(record: Option<&InstallRecord>, name: &str) -> String {
    let identity = record.map_or_else(|| name.to_owned(), InstallRecord::identity);
    digest(identity.as_bytes())
}

/// Returns the context files that exist.
pub(crate) fn context_files(
    folder: &Path,
    names: Option<&[String]>,
) -> Result<Vec<PathBuf>, ExtensionError> {
    let default = [CONTEXT_FILE.to_owned()];
    let mut files = Vec::new();
    for name in names.unwrap_or(&default) {
        let file = folder.join(name);
        // A file directly in the folder that is no link is inside.
        let is_direct = !name.contains(['/', '\\']);
        if is_direct && pollux_fs::link_info(&file).is_ok_and(|info| info.kind == EntryKind::File) {
            files.push(file);
            continue;
        }
        if !pollux_fs::info(&file).is_ok_and(|info| info.kind == EntryKind::File) {
            continue;
        }
        // The file may be a link to a place outside of the extension.
        let real = |path: &Path| pollux_fs::real_path(path).unwrap_or_else(|_| path.to_owned());
        if !real(&file).starts_with(real(folder)) {
            return Err(ExtensionError::ContextFile(file));
        }
        files.push(file);
    }
    Ok(files)
}

/// Returns the path of the file with the hooks of the extension in a folder, which may be missing.
pub fn hooks_file(folder: &Path) -> PathBuf {
    folder.join("hooks").join("hooks.json")
}

/// Reads the hooks by event of the extension in a folder. Blocks the thread.
///
/// # Errors
/// The message about a file that cannot be used.
pub fn read_hooks(folder: &Path, variables: &Variables) -> Result<Option<Value>, String> {
    let path = hooks_file(folder);
    let invalid =
        |reason: &str| format!("Invalid hooks configuration in {}: {reason}", path.display());
    let bytes = match pollux_fs::read_bytes(&path, MAX_HOOKS) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(invalid(&error.to_string())),
    };
    let mut value = parse(&bytes).map_err(|error| invalid(&error))?;
    match value.get_mut("hooks").map(Value::take) {
        Some(mut hooks @ Value::Object(_)) => {
            variables.fill(&mut hooks);
            Ok(Some(hooks))
        }
        _ => Err(invalid("\"hooks\" property must be an object")),
    }
}
