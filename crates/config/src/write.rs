//! Changes to settings files on disk.
//!
//! The file is locked against other runs of Pollux, read, changed as text ([`crate::edit`]) and put in
//! its place whole, unless somebody else has changed it meanwhile: then all of it is done again.

use std::path::{Path, PathBuf};

use pollux_fs::{Expectation, Fingerprint, WriteOptions};

use crate::error::SyntaxError;
use crate::load::MAX_BYTES;
use crate::migrate::{self, Step};
use crate::{ConfigError, Places, edit, files, jsonc};

#[cfg(test)]
mod tests;

/// How often a file that others change at the same time is tried.
const ATTEMPTS: usize = 5;

/// Whose file is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileScope {
    /// The person's.
    #[default]
    User,
    /// The project's.
    Project,
    /// The system's, which beats all others.
    System,
}

impl FileScope {
    /// The name of the scope in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::System => "system",
        }
    }

    /// The settings file of the scope; `cwd` is the project's folder.
    pub fn path(self, places: &Places, cwd: &Path) -> PathBuf {
        match self {
            Self::User => places.user_settings(),
            Self::Project => places.workspace_settings(cwd),
            Self::System => places.system_settings.clone(),
        }
    }

    /// Permission bits of a new file: the person's may hold credentials.
    fn mode(self) -> Option<u32> {
        match self {
            Self::User => Some(0o600),
            Self::Project => None,
            Self::System => Some(0o644),
        }
    }
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// It was written.
    Yes,
    /// It says already what it was to say.
    No,
}

/// Changes the text of a settings file, which is made with its folder where there is none. `change` gets
/// the text, empty for a new file, and may be asked again.
///
/// # Errors
/// [`ConfigError::Broken`] for a file that cannot be understood, which stays as it is;
/// [`ConfigError::Save`] for one that cannot be written.
pub fn edit_file(
    scope: FileScope,
    path: &Path,
    change: &dyn Fn(&str) -> Result<String, SyntaxError>,
) -> Result<Changed, ConfigError> {
    let failed = |error: pollux_fs::Error| ConfigError::Save {
        path: path.to_owned(),
        message: files::node_message(&error),
    };
    // A change that leaves everything as it is makes no folder either.
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
        let options = WriteOptions { expected: Some(expected), mode, create_parents: false };
        match pollux_fs::write_atomic(path, changed.as_bytes(), &options) {
            Ok(_) => return Ok(Changed::Yes),
            Err(pollux_fs::Error::ChangedOnDisk { .. }) if attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Gives the old keys of a settings file their new names. Returns the old keys that were found.
///
/// # Errors
/// Those of [`edit_file`].
pub fn migrate_file(scope: FileScope, path: &Path) -> Result<Vec<&'static str>, ConfigError> {
    let Some((text, _)) = read(path)? else { return Ok(Vec::new()) };
    let broken = |error: SyntaxError| ConfigError::Broken(vec![error]);
    let mut value = jsonc::parse(path, &text).map_err(broken)?;
    let found = migrate::old_keys(&migrate::migrate(&mut value));
    edit_file(scope, path, &|text| {
        // Of a new or empty file there is nothing to bring up to date.
        let Ok(mut value) = jsonc::parse(path, text) else { return Ok(text.to_owned()) };
        migrate::migrate(&mut value).iter().try_fold(text.to_owned(), |text, step| match step {
            Step::Set(key, value) => edit::set(path, &text, &names(key), value),
            Step::Remove(key) => edit::unset(path, &text, &names(key)),
        })
    })?;
    Ok(found)
}

fn names(key: &str) -> Vec<&str> {
    key.split('.').collect()
}

/// The text of a file with what it takes to tell whether it has changed; nothing when it is not there.
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

/// A file that was read with replacement characters must not be written with them.
fn not_utf8(path: &Path, error: &std::string::FromUtf8Error) -> SyntaxError {
    let text = String::from_utf8_lossy(error.as_bytes());
    let valid = error.utf8_error().valid_up_to();
    let message = match jsonc::parse(path, &text) {
        Err(error) if error.position.is_none() => error.message,
        Ok(_) | Err(_) => "The file is not UTF-8, and is not changed for that".to_owned(),
    };
    let position = Some(jsonc::position(&text, valid));
    SyntaxError { path: path.to_owned(), position, message }
}
