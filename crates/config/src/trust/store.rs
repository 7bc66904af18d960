//! The file of trusted folders.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstObjectProp, CstRootNode};
use serde_json::Value;

use super::{comparable, rule_path};
use crate::error::SyntaxError;
use crate::{ConfigError, Places, files, jsonc};

/// The largest file of trusted folders that is read, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What a rule says, with the words of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustLevel {
    /// `TRUST_FOLDER`: the path and everything below.
    TrustFolder,
    /// `TRUST_PARENT`: the parent of the path and everything below.
    TrustParent,
    /// `DO_NOT_TRUST`: the path and everything below is not trusted.
    DoNotTrust,
}

impl TrustLevel {
    /// The word in the file.
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

/// The rules that were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustStore {
    rules: Vec<(String, TrustLevel)>,
}

impl TrustStore {
    /// Reads the file; none is no rules.
    ///
    /// Fails with [`ConfigError::BrokenTrust`], which lists everything that is wrong.
    pub fn load(places: &Places) -> Result<Self, ConfigError> {
        let path = &places.trusted_folders;
        match files::read_whole(path, MAX_BYTES) {
            Ok(text) => Self::parse(path, &text).map_err(ConfigError::BrokenTrust),
            // Without rules nothing is trusted, so a home that cannot be used is safe.
            Err(error) if files::is_absent(path, &error) => Ok(Self::default()),
            Err(error) => Err(ConfigError::BrokenTrust(vec![SyntaxError::whole(
                path,
                files::node_message(&error),
            )])),
        }
    }

    /// Reads the text of the file. `path` only names it in errors.
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

    /// Whether `location` is trusted; `None` when no rule covers it. Real paths are compared. Of the
    /// rules that cover it the one with the smallest reach decides, and of two a no: the length of the
    /// rule's own path says nothing, since `TRUST_PARENT` of a long name reaches further than a no to
    /// a short one beside it.
    pub fn decide(&self, location: &Path) -> Option<bool> {
        if self.rules.is_empty() {
            return None;
        }
        let location = comparable(location);
        // A relative path would mean something else in every folder, and an empty one everything.
        let rules = self.rules.iter().filter(|(folder, _)| Path::new(folder).is_absolute());
        let reaches = rules.map(|(folder, level)| (covered(folder, *level), level));
        let nearest = reaches.filter(|(covered, _)| location.starts_with(covered)).max_by_key(
            |(covered, level)| (covered.components().count(), **level == TrustLevel::DoNotTrust),
        );
        nearest.map(|(_, level)| *level != TrustLevel::DoNotTrust)
    }

    /// Saves a rule for `folder`: locked, read again, everything else in the file kept with its
    /// comments.
    ///
    /// Fails when the file is broken, which leaves it as it is, or cannot be written.
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

    /// The text of the file with a rule for `folder`, everything else in it kept with its comments.
    /// `path` only names it in errors.
    ///
    /// Fails with [`ConfigError::BrokenTrust`] when the text cannot be read.
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
        // Also another spelling of the folder, such as one with a slash at its end.
        let is_own = |rule: &CstObjectProp| {
            rule.name()
                .and_then(|name| name.decoded_value().ok())
                .is_some_and(|name| name == folder || comparable(Path::new(&name)) == real)
        };
        // Of two rules for one folder the later counts, so all say the same from now on.
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

/// What a rule covers, in the form that locations are compared in.
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
