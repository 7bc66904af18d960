//! Changes to settings files on disk.
//!
//! The file is locked against other runs of Pollux, read, changed as text ([`crate::edit`]) and
//! replaced as a whole. If another program has changed the file in the meantime, all of this is
//! repeated.

use std::path::{Path, PathBuf};

use pollux_fs::{Expectation, Fingerprint, WriteOptions};
use serde_json::Value;

use crate::error::SyntaxError;
use crate::load::MAX_BYTES;
use crate::migrate::{self, Step};
use crate::schema::lookup;
use crate::{ConfigError, Places, edit, files, jsonc};

#[cfg(test)]
mod tests;

/// Maximum number of attempts to change a file that other programs change at the same time.
const ATTEMPTS: usize = 5;

/// Owner of the settings file to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileScope {
    /// The user's file.
    #[default]
    User,
    /// The project's file.
    Project,
    /// The system's file, which overrides all others.
    System,
}

impl FileScope {
    /// Returns the name of the scope in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::System => "system",
        }
    }

    /// Returns the path of the scope's settings file; `cwd` is the project's folder.
    pub fn path(self, places: &Places, cwd: &Path) -> PathBuf {
        match self {
            Self::User => places.user_settings(),
            Self::Project => places.workspace_settings(cwd),
            Self::System => places.system_settings.clone(),
        }
    }

    /// Returns the permission bits of a new file. The user's file may contain credentials.
    fn mode(self) -> Option<u32> {
        match self {
            Self::User => Some(0o600),
            Self::Project => None,
            Self::System => Some(0o644),
        }
    }
}

/// Result of changing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// The file was written.
    Yes,
    /// The file already had the requested content.
    No,
}

/// Changes the text of a settings file. A missing file is created with its folder. `change`
/// receives the text, which is empty for a new file, and may be called more than once.
///
/// # Errors
/// Fails with [`ConfigError::Broken`] for an invalid file, which stays unchanged, and with
/// [`ConfigError::Save`] for a file that cannot be written.
pub fn edit_file(
    scope: FileScope,
    path: &Path,
    change: &dyn Fn(&str) -> Result<String, SyntaxError>,
) -> Result<Changed, ConfigError> {
    let failed = |error: pollux_fs::Error| ConfigError::Save {
        path: path.to_owned(),
        message: files::node_message(&error),
    };
    // A change without effect must not create a folder.
    let text = read(path)?.map(|(text, _)| text).unwrap_or_default();
    if change(&text).map_err(|error| ConfigError::Broken(vec![error]))? == text {
        return Ok(Changed::No);
    }
    if let Some(folder) = path.parent() {
        pollux_fs::create_directories(folder).map_err(failed)?;
    }
    let _lock = files::lock(path).map_err(failed)?;
    let mut attempt = 1;
    loop {
        let old = read(path)?;
        let text = old.as_ref().map(|(text, _)| text.as_str()).unwrap_or_default();
        let changed = change(text).map_err(|error| ConfigError::Broken(vec![error]))?;
        if changed == text {
            return Ok(Changed::No);
        }
        let expected = match &old {
            Some((_, fingerprint)) => Expectation::Unchanged(*fingerprint),
            None => Expectation::Absent,
        };
        let mode = scope.mode().filter(|_| old.is_none());
        let options = WriteOptions { expected: Some(expected), mode, ..WriteOptions::default() };
        match pollux_fs::write_atomic(path, changed.as_bytes(), &options) {
            Ok(_) => return Ok(Changed::Yes),
            Err(pollux_fs::Error::ChangedOnDisk { .. }) if attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Replaces the old keys of a settings file by the new ones. Returns the old keys that were found.
///
/// # Errors
/// Fails like [`edit_file`].
pub fn migrate_file(scope: FileScope, path: &Path) -> Result<Vec<&'static str>, ConfigError> {
    let Some((text, _)) = read(path)? else { return Ok(Vec::new()) };
    let broken = |error: SyntaxError| ConfigError::Broken(vec![error]);
    let mut value = jsonc::parse(path, &text).map_err(broken)?;
    let original = value.clone();
    let mut found = migrate::old_keys(&all_steps(&mut value));
    // A key may be moved twice, by way of a location that the file does not have.
    found.retain(|key| lookup(&original, key).is_some());
    edit_file(scope, path, &|text| {
        // A new or empty file contains nothing to migrate.
        let Ok(mut value) = jsonc::parse(path, text) else { return Ok(text.to_owned()) };
        all_steps(&mut value).iter().try_fold(text.to_owned(), |text, step| match step {
            Step::Set(key, value) => edit::set(path, &text, &names(key), value),
            Step::Remove(key) => edit::unset(path, &text, &names(key)),
        })
    })?;
    Ok(found)
}

/// Moves the old keys of a layer, those of the first format included.
fn all_steps(layer: &mut Value) -> Vec<Step> {
    let mut steps = migrate::flat::migrate(layer);
    steps.extend(migrate::migrate(layer));
    steps
}

fn names(key: &str) -> Vec<&str> {
    key.split('.').collect()
}

/// Reads the text of a file, with a fingerprint to detect later changes. Returns `None` if the file
/// does not exist.
fn read(path: &Path) -> Result<Option<(String, Fingerprint)>, ConfigError> {
    let whole = |message: String| ConfigError::Broken(vec![SyntaxError::whole(path, message)]);
    let bytes = match pollux_fs::read_bytes(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(whole(files::node_message(&error))),
    };
    let fingerprint = Fingerprint::of_bytes(&bytes, None);
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some((text, fingerprint))),
        Err(error) => Err(ConfigError::Broken(vec![not_utf8(path, &error)])),
    }
}

/// Returns the error for a file that is not UTF-8: it must not be written back with replacement
/// characters.
fn not_utf8(path: &Path, error: &std::string::FromUtf8Error) -> SyntaxError {
    let text = String::from_utf8_lossy(error.as_bytes());
    let valid = error.utf8_error().valid_up_to();
    let message = match jsonc::parse(path, &text) {
        Err(error) if error.position.is_none() => error.message,
        Ok(_) | Err(_) => "The file is not UTF-8, so Pollux does not change it".to_owned(),
    };
    let position = Some(jsonc::position(&text, valid));
    SyntaxError { path: path.to_owned(), position, message }
}
