//! The file of trusted folders.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstObjectProp, CstRootNode};
use serde_json::Value;

use super::{comparable, rule_path};
use crate::error::SyntaxError;
use crate::{ConfigError, Places, files, jsonc};

/// Maximum size of the file of trusted folders, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Level of trust of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustLevel {
    /// `TRUST_FOLDER`: the path and everything below it is trusted.
    TrustFolder,
    /// `TRUST_PARENT`: the parent of the path and everything below it is trusted.
    TrustParent,
    /// `DO_NOT_TRUST`: the path and everything below it is not trusted.
    DoNotTrust,
}

impl TrustLevel {
    /// Returns the name of the level in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TrustFolder => "TRUST_FOLDER",
            Self::TrustParent => "TRUST_PARENT",
            Self::DoNotTrust => "DO_NOT_TRUST",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::TrustFolder, Self::TrustParent, Self::DoNotTrust]
            .into_iter()
            .find(|level| level.as_str() == word)
    }
}

/// Rules of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustStore {
    rules: Vec<(String, TrustLevel)>,
}

impl TrustStore {
    /// Reads the file. A missing file contains no rules.
    ///
    /// Fails with [`ConfigError::BrokenTrust`], which lists all errors.
    pub fn load(places: &Places) -> Result<Self, ConfigError> {
        let path = &places.trusted_folders;
        match files::read_whole(path, MAX_BYTES) {
            Ok(text) => Self::parse(path, &text).map_err(ConfigError::BrokenTrust),
            // Without rules no folder is trusted, so an unusable home directory is safe.
            Err(error) if files::is_absent(path, &error) => Ok(Self::default()),
            Err(error) => Err(ConfigError::BrokenTrust(vec![SyntaxError::whole(
                path,
                files::node_message(&error),
            )])),
        }
    }

    /// Parses the text of the file. `path` is only used in errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Vec<SyntaxError>> {
        let value = jsonc::parse(path, text).map_err(|error| vec![error])?;
        let mut store = Self::default();
        let mut errors = Vec::new();
        for (folder, level) in value.as_object().into_iter().flatten() {
            match level.as_str().and_then(TrustLevel::from_word) {
                Some(level) => store.rules.push((folder.clone(), level)),
                None => errors.push(SyntaxError::whole(path, invalid_level(folder, level))),
            }
        }
        if errors.is_empty() { Ok(store) } else { Err(errors) }
    }

    /// Returns whether `location` is trusted, or `None` if no rule covers it. Real paths are
    /// compared. Of the rules that cover the location, the rule for the deepest folder decides; of
    /// two rules for the same folder, `DO_NOT_TRUST` decides. The length of the path in a rule is
    /// irrelevant, because `TRUST_PARENT` with a long path covers more than `DO_NOT_TRUST` with a
    /// short path beside it.
    pub fn decide(&self, location: &Path) -> Option<bool> {
        if self.rules.is_empty() {
            return None;
        }
        let location = comparable(location);
        // A relative path would have a different meaning in every folder, and an empty one would
        // cover everything.
        let rules = self.rules.iter().filter(|(folder, _)| Path::new(folder).is_absolute());
        let reaches = rules.map(|(folder, level)| (covered(folder, *level), level));
        let nearest = reaches.filter(|(covered, _)| location.starts_with(covered)).max_by_key(
            |(covered, level)| (covered.components().count(), **level == TrustLevel::DoNotTrust),
        );
        nearest.map(|(_, level)| *level != TrustLevel::DoNotTrust)
    }

    /// Saves a rule for `folder`: locks the file, reads it again, and keeps everything else in it,
    /// including comments.
    ///
    /// Fails if the file is invalid, in which case it stays unchanged, or if it cannot be written.
    pub fn set(places: &Places, folder: &Path, level: TrustLevel) -> Result<(), ConfigError> {
        let path = &places.trusted_folders;
        let failed = |error: pollux_fs::Error| ConfigError::Save {
            path: path.clone(),
            message: files::node_message(&error),
        };
        if let Some(parent) = path.parent() {
            files::create_private_dir(parent).map_err(failed)?;
        }
        let _lock = files::lock(path).map_err(failed)?;
        let text = match files::read_whole(path, MAX_BYTES) {
            Ok(text) => text,
            Err(error) if error.is_not_found() => "{}".to_owned(),
            Err(error) => return Err(failed(error)),
        };
        Self::parse(path, &text).map_err(ConfigError::BrokenTrust)?;
        let text = Self::with_rule(path, &text, folder, level)?;
        files::write_private(path, &text).map_err(failed)
    }

    /// Returns the text of the file with a rule for `folder`. Everything else in the text is kept,
    /// including comments. `path` is only used in errors.
    ///
    /// Fails with [`ConfigError::BrokenTrust`] if the text is invalid.
    pub fn with_rule(
        path: &Path,
        text: &str,
        folder: &Path,
        level: TrustLevel,
    ) -> Result<String, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = CstRootNode::parse(text, &jsonc::strict())
            .map_err(|error| ConfigError::BrokenTrust(vec![jsonc::syntax_error(path, &error)]))?;
        let (rules, folder) = (root.object_value_or_set(), rule_path(&absolute(folder)));
        let real = comparable(Path::new(&folder));
        // Includes other spellings of the folder, such as one with a slash at its end.
        let is_own = |rule: &CstObjectProp| {
            rule.name()
                .and_then(|name| name.decoded_value().ok())
                .is_some_and(|name| name == folder || comparable(Path::new(&name)) == real)
        };
        // Of two rules for one folder the later is used, so all of them are set to the new level.
        let own: Vec<_> = rules.properties().into_iter().filter(is_own).collect();
        if own.is_empty() {
            rules.append(&folder, level.as_str().into());
        }
        for rule in own {
            rule.set_value(level.as_str().into());
        }
        Ok(root.to_string())
    }
}

/// Returns the path that a rule covers, in the form for comparisons.
fn covered(folder: &str, level: TrustLevel) -> PathBuf {
    let path = Path::new(folder);
    let path = match level {
        TrustLevel::TrustParent => path.parent().unwrap_or(path),
        TrustLevel::TrustFolder | TrustLevel::DoNotTrust => path,
    };
    comparable(path)
}

fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

fn invalid_level(folder: &str, level: &Value) -> String {
    let shown = level.as_str().map_or_else(|| level.to_string(), str::to_owned);
    format!(
        "Invalid trust level \"{shown}\" for path \"{folder}\". \
         Possible values are: TRUST_FOLDER, TRUST_PARENT, DO_NOT_TRUST."
    )
}
