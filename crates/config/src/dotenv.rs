//! `.env` files: their syntax, the choice of the file, and the variables that it may set.
//!
//! The syntax is that of the dotenv package, version 17, which Gemini CLI uses. As in that package,
//! lines that cannot be parsed are skipped silently.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::environment::names;
use crate::{Environment, GEMINI_DIR, Places, files};

mod edit;
mod launch;
mod syntax;
#[cfg(test)]
mod tests;

pub use edit::assign;
pub use syntax::parse;

/// Name of the files.
const FILE_NAME: &str = ".env";
/// Maximum size of a `.env` file, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// The only variables that a `.env` file of an untrusted folder can set.
pub const UNTRUSTED_KEYS: [&str; 4] = [
    names::GEMINI_API_KEY,
    names::GOOGLE_API_KEY,
    names::GOOGLE_CLOUD_PROJECT,
    names::GOOGLE_CLOUD_LOCATION,
];

/// Variables that determine the sources of configuration, the trusted folders, or which of the
/// user's files is written. A project's file cannot set them, because it could then change the very
/// rules that restrict it.
const PROTECTED: [&str; 8] = [
    names::GEMINI_WRITE_SYSTEM_MD,
    names::GEMINI_CLI_HOME,
    names::GEMINI_CLI_SYSTEM_SETTINGS_PATH,
    names::GEMINI_CLI_SYSTEM_DEFAULTS_PATH,
    names::GEMINI_CLI_TRUSTED_FOLDERS_PATH,
    names::GEMINI_CLI_TRUST_WORKSPACE,
    names::HOME,
    names::USERPROFILE,
];

/// Options that determine the file to read and the variables that it may set.
#[derive(Debug, Clone)]
pub struct DotEnvOptions<'a> {
    /// Paths of the user, including the home directory.
    pub places: &'a Places,
    /// Directory at which the search starts.
    pub cwd: &'a Path,
    /// True if the current folder is trusted. Unknown trust counts as not trusted.
    pub trusted: bool,
    /// Variables that are never read from a plain `.env` (`advanced.excludedEnvVars`).
    pub excluded: &'a [String],
    /// True to skip plain `.env` files outside of the home directory (`advanced.ignoreLocalEnv`).
    pub ignore_local: bool,
}

/// A `.env` file that was read, and the variables that it may set.
///
/// `Debug` prints no values, because they are mostly credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct DotEnv {
    /// Path of the file.
    pub path: PathBuf,
    /// True for a project's file, false for the two files in the home directory.
    pub of_project: bool,
    /// Names and values in the order of the file. Of repeated names the last one is kept.
    pub variables: Vec<(String, String)>,
    /// Names that are left out because they make programs load code or start other programs.
    pub refused: Vec<String>,
}

impl fmt::Debug for DotEnv {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("DotEnv")
            .field("path", &self.path)
            .field("of_project", &self.of_project)
            .field("names", &names)
            .field("refused", &self.refused)
            .finish()
    }
}

/// Finds and reads the `.env` file of this run. Returns `None` if there is no such file or if it
/// cannot be read.
///
/// Each directory from the current one upward is searched for `.gemini/.env` (trusted folders
/// only), then for `.env`. After the root of the file system, the home directory is searched for
/// the same files. Only the first file found is read.
pub fn load(options: &DotEnvOptions<'_>) -> Option<DotEnv> {
    let path = find(options)?;
    let text = files::read_text_lossy(&path, MAX_BYTES).ok()?.text;
    let plain = !path.components().any(|component| component.as_os_str() == GEMINI_DIR);
    let of_project = is_project_file(&path, &options.places.home);
    let (refused, variables): (Vec<_>, Vec<_>) = parse(&text)
        .into_iter()
        .filter(|(name, _)| !(plain && options.excluded.contains(name)))
        .filter(|(name, _)| !(of_project && is_protected(name)))
        .filter_map(|(name, value)| admit(name, value, options.trusted))
        .partition(|(name, _)| launch::is_launch_variable(name));
    let refused = refused.into_iter().map(|(name, _)| name).collect();
    Some(DotEnv { path, of_project, variables, refused })
}

/// Returns a warning about the variables of the file that are left out because they start programs.
/// Variables that the base environment has are not mentioned: a file never changes them.
pub(crate) fn refusal(base: &Environment, file: &DotEnv) -> Option<String> {
    let names: Vec<&str> =
        file.refused.iter().map(String::as_str).filter(|name| !base.is_set(name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Ignored in {}: {}. A .env file cannot set variables that make programs load code or start other programs. Set them in the environment that you start Pollux from.",
            file.path.display(),
            names.join(", ")
        )
    })
}

/// Returns the base environment with the variables of a `.env` file added. The base environment
/// takes precedence.
///
/// Inside Cloud Shell the shell's project is replaced by the project that Code Assist uses there,
/// unless the file sets a project or Vertex AI is in use.
pub fn apply(base: &Environment, file: Option<&DotEnv>, uses_vertex: bool) -> Environment {
    let pairs = file.map(|file| file.variables.as_slice()).unwrap_or_default();
    let merged = base.overlay(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    if !base.is_true(names::CLOUD_SHELL) || uses_vertex {
        return merged;
    }
    let from_file = pairs.iter().find(|(name, _)| name == names::GOOGLE_CLOUD_PROJECT);
    let project = from_file.map_or("cloudshell-gca", |(_, value)| value.as_str());
    merged.with(names::GOOGLE_CLOUD_PROJECT, project)
}

fn find(options: &DotEnvOptions<'_>) -> Option<PathBuf> {
    let home = &options.places.home;
    let upward = options.cwd.ancestors();
    upward.chain([home.as_path()]).find_map(|directory| {
        let [own, plain] = files_in(directory);
        if options.trusted && files::is_file(&own) {
            return Some(own);
        }
        let skipped = options.ignore_local && directory != home;
        (!skipped && files::is_file(&plain)).then_some(plain)
    })
}

/// Returns the paths of the two `.env` files of a directory: the one in the state directory, which
/// takes precedence, and the one directly in the directory.
pub(crate) fn files_in(directory: &Path) -> [PathBuf; 2] {
    [directory.join(GEMINI_DIR).join(FILE_NAME), directory.join(FILE_NAME)]
}

/// Returns true if the file belongs to a project rather than to the user: any file except the two
/// directly in the home directory.
fn is_project_file(path: &Path, home: &Path) -> bool {
    !files_in(home).iter().any(|file| file == path)
}

fn is_protected(name: &str) -> bool {
    PROTECTED.iter().any(|protected| {
        if cfg!(windows) { name.eq_ignore_ascii_case(protected) } else { name == *protected }
    })
}

/// Returns the variables that an untrusted folder may set: four names, with values that contain no
/// character with a special meaning in a shell or a header.
fn admit(name: String, value: String, trusted: bool) -> Option<(String, String)> {
    if trusted {
        return Some((name, value));
    }
    let harmless = |character: &char| {
        character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.' | '/')
    };
    UNTRUSTED_KEYS
        .contains(&name.as_str())
        .then(|| (name, value.chars().filter(harmless).collect()))
}
