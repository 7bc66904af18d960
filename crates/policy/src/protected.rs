//! Files whose change needs the user's approval in every approval mode: files that determine what
//! Pollux, a shell, git or SSH will run or allow later.
//!
//! [`ResolvedPlaces::concerned`] is pure: it compares paths. Links are followed earlier: tools
//! declare real paths in their [`Effects`](pollux_protocol::Effects), and [`ResolvedPlaces::new`]
//! adds the real paths of the places.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pollux_config::protected::{Protection, is_obeyed_in_state};
use pollux_fs::RealPaths;

use crate::facts::Facts;
use crate::paths::plain_name;

/// Name of the state directory in homes and projects.
const STATE: &str = pollux_config::GEMINI_DIR;
/// Folder of checkpoints in a state directory. File tools must not change it, but an instance of
/// Pollux that a confined command starts writes to it.
const HISTORY: &str = "history";

/// Protected places, with all links followed.
#[derive(Debug)]
pub(crate) struct ResolvedPlaces<'a> {
    /// State directories: those of the homes and the workspace.
    states: BTreeSet<Vec<String>>,
    /// Other protected files and folders.
    places: BTreeSet<(Vec<String>, Protection)>,
    temporary: Vec<String>,
    facts: &'a Facts,
}

/// Protected place that a change affects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProtectedPlace {
    /// Reason of the protection.
    pub(crate) protection: Protection,
    /// Number of components of the changed path that lead to the place.
    pub(crate) depth: usize,
}

impl<'a> ResolvedPlaces<'a> {
    /// Returns the places of a session, as they are now.
    pub(crate) fn on_disk(facts: &'a Facts) -> Self {
        let mut paths = RealPaths::default();
        Self::new(facts, |path| paths.resolve(path).unwrap_or_else(|_| path.to_owned()))
    }

    /// Returns the places of a session; `real` follows the links of a path.
    pub(crate) fn new(facts: &'a Facts, mut real: impl FnMut(&Path) -> PathBuf) -> Self {
        let given = &facts.protected;
        let mut protected = Vec::new();
        let mut states = BTreeSet::new();
        let folders = facts.folders();
        for folder in given.homes.iter().chain(&folders) {
            let state = folder.join(STATE);
            states.extend([names(&state), names(&real(&state))]);
            protected.push((state.join(HISTORY), Protection::State));
            protected.push((folder.join(".git"), Protection::Git));
        }
        let paths = given.paths(&folders).into_iter();
        protected.extend(paths.map(|protected| (protected.path, protected.protection)));
        let mut places = BTreeSet::new();
        for (path, protection) in protected {
            places.extend([names(&path), names(&real(&path))].map(|path| (path, protection)));
        }
        let has_temporary = !given.temporary.as_os_str().is_empty();
        let temporary = if has_temporary { names(&real(&given.temporary)) } else { Vec::new() };
        Self { states, places, temporary, facts }
    }

    /// Returns the protected place that a change of `path` affects. `path` is absolute and without
    /// links.
    pub(crate) fn concerned(&self, path: &Path) -> Option<ProtectedPlace> {
        let changed = names(path);
        if !self.temporary.is_empty() && changed.starts_with(&self.temporary) {
            return None;
        }
        // A change of a folder affects everything in it.
        let covers = |place: &[String]| changed.starts_with(place) || place.starts_with(&changed);
        let found = |place: &[String], protection| ProtectedPlace {
            protection,
            depth: place.len().min(changed.len()),
        };
        let is_state =
            |depth: usize| changed[depth - 1] == STATE || self.states.contains(&changed[..depth]);
        for depth in 1..=changed.len() {
            if is_state(depth) && !self.is_free(path, &changed[depth..]) {
                return Some(found(&changed[..depth], Protection::State));
            }
            if changed[depth - 1] == ".git" {
                return Some(found(&changed[..depth], Protection::Git));
            }
        }
        if let Some((place, protection)) = self.places.iter().find(|(place, _)| covers(place)) {
            return Some(found(place, *protection));
        }
        let state = self.states.iter().find(|state| covers(state))?;
        (state.len() > changed.len()).then(|| found(state, Protection::State))
    }

    /// True for files in a state directory that may change: context files and plans. `below` is the
    /// path from the directory to the file.
    fn is_free(&self, path: &Path, below: &[String]) -> bool {
        let Some(first) = below.first() else { return false };
        if is_obeyed_in_state(first) || first == HISTORY {
            return false;
        }
        let context = &self.facts.protected.context_names;
        let is_context = |name: &String| below.len() == 1 && name.to_lowercase() == *first;
        let is_markdown = Path::new(first).extension().is_some_and(|extension| extension == "md");
        (is_markdown && context.iter().any(is_context)) || self.facts.is_plan(path)
    }
}

/// Returns the components of a path in normalized form for comparison, because file systems may
/// ignore case.
fn names(path: &Path) -> Vec<String> {
    path.components().map(|component| plain_name(component.as_os_str())).collect()
}

#[cfg(test)]
mod tests;
