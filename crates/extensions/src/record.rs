//! `.gemini-extension-install.json`: where an installed extension is from. The format is that of
//! Gemini CLI.

use std::path::{Path, PathBuf};

use pollux_fs::WriteOptions;
use serde::{Deserialize, Serialize};

/// Name of the file.
pub const RECORD_FILE: &str = ".gemini-extension-install.json";
/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// Origin of an installed extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallRecord {
    /// Address or absolute path.
    pub source: String,
    /// Kind of the source.
    #[serde(rename = "type")]
    pub kind: SourceKind,
    /// Branch, tag or commit.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Tag of the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_tag: Option<String>,
    /// True if the extension is updated at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_update: Option<bool>,
    /// True if a release that is not final may be installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_pre_release: Option<bool>,
}

/// Kind of the source of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// Copy of a folder.
    Local,
    /// Folder that is used in place.
    Link,
    /// Git repository.
    Git,
    /// Archive of a release on GitHub.
    GithubRelease,
}

impl SourceKind {
    /// Returns the name in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Link => "link",
            Self::Git => "git",
            Self::GithubRelease => "github-release",
        }
    }

    /// Returns true for a source on the network.
    pub fn is_remote(self) -> bool {
        matches!(self, Self::Git | Self::GithubRelease)
    }
}

impl InstallRecord {
    /// Creates a record without options.
    pub fn new(source: impl Into<String>, kind: SourceKind) -> Self {
        Self {
            source: source.into(),
            kind,
            reference: None,
            release_tag: None,
            auto_update: None,
            allow_pre_release: None,
        }
    }

    /// Reads the record in a folder; `None` if there is none. Blocks the thread.
    ///
    /// # Errors
    /// The message about a file that cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Self>, String> {
        let path = folder.join(RECORD_FILE);
        let broken = |reason: String| format!("Cannot read {}: {reason}", path.display());
        match pollux_fs::read_bytes(&path, MAX_BYTES) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map(Some).map_err(|e| broken(e.to_string()))
            }
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(broken(error.to_string())),
        }
    }

    /// Writes the record into a folder. Blocks the thread.
    ///
    /// # Errors
    /// For a file that cannot be written.
    pub fn write(&self, folder: &Path) -> pollux_fs::Result<()> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        // An address may contain credentials.
        let options = WriteOptions { create_parents: true, ..WriteOptions::private() };
        pollux_fs::write_atomic(&folder.join(RECORD_FILE), text.as_bytes(), &options).map(drop)
    }

    /// Returns the folder of a link.
    pub fn linked(&self) -> Option<PathBuf> {
        (self.kind == SourceKind::Link).then(|| PathBuf::from(&self.source))
    }

    /// Returns the address by which an extension is identified.
    pub(crate) fn identity(&self) -> String {
        match github_repository(&self.source).filter(|_| self.kind.is_remote()) {
            Some((owner, name)) => format!("https://github.com/{owner}/{name}"),
            None => self.source.clone(),
        }
    }
}

/// Returns the owner and the name of a repository on GitHub.
pub(crate) fn github_repository(source: &str) -> Option<(&str, &str)> {
    let beginnings = ["https://github.com/", "http://github.com/", "git@github.com:", "github:"];
    let path = beginnings.iter().find_map(|beginning| source.strip_prefix(beginning))?;
    let path = path.trim_end_matches('/');
    let (owner, name) = path.strip_suffix(".git").unwrap_or(path).split_once('/')?;
    let is_plain = |text: &str| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        !text.is_empty() && text.chars().all(is_letter) && !text.starts_with(['.', '-'])
    };
    (is_plain(owner) && is_plain(name)).then_some((owner, name))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_file_is_that_of_gemini_cli() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(InstallRecord::read(folder.path()).unwrap(), None);
        let record = InstallRecord::new("/src/acme", SourceKind::Local);
        record.write(folder.path()).unwrap();
        let path = folder.path().join(RECORD_FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\n  \"source\": \"/src/acme\",\n  \"type\": \"local\"\n}");
        assert_eq!(InstallRecord::read(folder.path()).unwrap(), Some(record));
        let text = r#"{"source": "https://github.com/acme/tools", "type": "github-release",
            "autoUpdate": true, "releaseTag": "v1.2.0"}"#;
        std::fs::write(&path, text).unwrap();
        let record = InstallRecord::read(folder.path()).unwrap().unwrap();
        assert_eq!((record.kind, record.auto_update), (SourceKind::GithubRelease, Some(true)));
        std::fs::write(&path, "{\"source\": 1}").unwrap();
        assert!(InstallRecord::read(folder.path()).unwrap_err().contains(RECORD_FILE));
    }

    #[test]
    fn addresses_of_one_repository_are_one_identity() {
        let whole = "https://github.com/o/r";
        for source in [whole, "https://github.com/o/r.git", "git@github.com:o/r.git", "github:o/r"]
        {
            assert_eq!(InstallRecord::new(source, SourceKind::Git).identity(), whole);
        }
        for source in ["https://gitlab.com/o/r", "https://github.com/o", "https://github.com/../r"]
        {
            assert_eq!(InstallRecord::new(source, SourceKind::Git).identity(), source);
        }
        assert_eq!(InstallRecord::new("/p", SourceKind::Link).linked(), Some("/p".into()));
    }
}
