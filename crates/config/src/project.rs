//! Identity of the project, and the directories of its state.
//!
//! A project is identified by its root directory: the current directory at start, not the Git root.
//! Its state is stored under a short name ("slug"). `projects.json` maps the root's path to this
//! name, and marker files in the state directories confirm it. The format and the lock are those of
//! Gemini CLI, so that both programs find the same state.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::{Places, files};

mod registry;
#[cfg(test)]
mod tests;

/// A project and its directories. The state directories exist; their subdirectories may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectIdentity {
    /// Root directory of the project.
    pub root: PathBuf,
    /// SHA-256 of the root's path in hexadecimal, stored in session records.
    pub hash: String,
    /// Short name: lower-case letters, digits and dashes.
    pub slug: String,
    /// State directory of the project, `~/.gemini/tmp/<slug>`.
    pub temporary_dir: PathBuf,
    /// Shadow repository of the project, `~/.gemini/history/<slug>`.
    pub history_dir: PathBuf,
    /// Warning for the user that the home directory could not be used.
    pub warning: Option<String>,
}

impl ProjectIdentity {
    /// Identifies the project at `cwd` (absolute).
    ///
    /// A known project costs three small reads; a new one is registered under a lock. If the home
    /// directory cannot be used, a new private directory in the temporary directory replaces it and
    /// `warning` is set: the run continues, but later runs do not find its state.
    pub fn resolve(places: &Places, cwd: &Path) -> Self {
        let key = registry::key(cwd);
        let found = match registry::find(places, &key) {
            Some(slug) => Ok(slug),
            None => registry::register(places, &key, &path_hash(&key)),
        };
        match found {
            Ok(slug) => Self {
                temporary_dir: places.projects_temporary().join(&slug),
                history_dir: places.projects_history().join(&slug),
                slug,
                hash: path_hash(&key),
                root: cwd.to_owned(),
                warning: None,
            },
            Err(error) => Self::fallback(places, cwd, &error),
        }
    }

    /// Returns the root of the project with this state directory, according to its marker. It may
    /// no longer exist.
    pub fn root_of_state(state: &Path) -> Option<PathBuf> {
        registry::owner(state).map(PathBuf::from)
    }

    /// Returns the directory of recorded sessions.
    pub fn chats_dir(&self) -> PathBuf {
        self.temporary_dir.join("chats")
    }

    /// Returns the directory of logs, one file per session.
    pub fn logs_dir(&self) -> PathBuf {
        self.temporary_dir.join("logs")
    }

    /// Returns the path of the file of prompts that the user typed.
    pub fn prompts_file(&self) -> PathBuf {
        self.temporary_dir.join("logs.json")
    }

    /// Returns the directory of long tool outputs of one session.
    pub fn tool_outputs_dir(&self, session_id: &str) -> PathBuf {
        let safe = |character: char| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => character,
            _ => '_',
        };
        let session: String = session_id.chars().map(safe).collect();
        self.temporary_dir.join("tool-outputs").join(format!("session-{session}"))
    }

    /// Returns the directory of the user's private notes about the project.
    pub fn memory_dir(&self) -> PathBuf {
        self.temporary_dir.join("memory")
    }

    /// Returns the directory of checkpoints.
    pub fn checkpoints_dir(&self) -> PathBuf {
        self.temporary_dir.join("checkpoints")
    }

    /// Creates state in a directory with a name that nobody can guess or create beforehand.
    fn fallback(places: &Places, cwd: &Path, error: &pollux_fs::Error) -> Self {
        let key = registry::key(cwd);
        let slug = registry::slug_of(cwd);
        let state = places.temporary.join(format!("pollux-{}", uuid::Uuid::new_v4()));
        let temporary_dir = state.join("tmp").join(&slug);
        let mut warning = format!(
            "Could not use {} ({error}). The state of this run is stored in {} instead.",
            places.gemini_dir().display(),
            temporary_dir.display()
        );
        if let Err(error) = files::create_private_dir(&temporary_dir) {
            warning = format!(
                "Could not use {} nor {} ({error}). The state of this run cannot be stored.",
                places.gemini_dir().display(),
                temporary_dir.display()
            );
        }
        Self {
            history_dir: state.join("history").join(&slug),
            temporary_dir,
            slug,
            hash: path_hash(&key),
            root: cwd.to_owned(),
            warning: Some(warning),
        }
    }
}

/// Returns the SHA-256 of a path's text, in lower-case hexadecimal.
fn path_hash(path: &str) -> String {
    let digest = Sha256::digest(path.as_bytes());
    let halves = digest.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
    halves.filter_map(|half| char::from_digit(half.into(), 16)).collect()
}
