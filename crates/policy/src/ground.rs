//! What a verdict takes for granted about the disk, and whether it is so.
//!
//! Rules and command lines are judged by their texts alone. Where a text is only half of the truth (a file may be a link,
//! a repository may name programs that git runs) the judgement says what it assumes, and that is looked up here.

use std::path::{Path, PathBuf};

use crate::checker::path_fault;
use crate::facts::Facts;
use crate::protected::ResolvedPlaces;

mod git;
mod index;

/// Something that must hold on the disk for a call to run without a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Assumption {
    /// A file that edits may change without a question, wherever links lead. Absolute.
    Editable(PathBuf),
    /// Started in one of these folders, git runs nothing that a repository names; none where it is not known in which.
    PlainGit(Option<Vec<PathBuf>>),
}

impl Assumption {
    /// Why it does not hold, in words.
    pub(crate) fn fault(&self, facts: &Facts) -> Option<String> {
        match self {
            Self::Editable(path) => (!is_editable(path, facts)).then(|| leads_elsewhere(path)),
            Self::PlainGit(Some(folders)) => {
                folders.iter().find_map(|folder| git::programs(folder))
            }
            Self::PlainGit(None) => Some("cannot tell in which folder git runs".to_owned()),
        }
    }
}

fn leads_elsewhere(path: &Path) -> String {
    match pollux_fs::real_path(path) {
        Ok(real) => {
            format!("its output goes to {}, which is {}", path.display(), real.display())
        }
        Err(error) => format!("its output goes where nobody can tell: {error}"),
    }
}

/// The file is in the workspace and protected neither by its folder nor for itself, all links followed.
fn is_editable(path: &Path, facts: &Facts) -> bool {
    let Ok(real) = pollux_fs::real_path(path) else { return false };
    let places = ResolvedPlaces::new(facts, |path| {
        pollux_fs::real_path(path).unwrap_or_else(|_| path.into())
    });
    if places.concerned(&real).is_some() {
        return false;
    }
    let mut roots = facts.workspace.iter().filter_map(|root| pollux_fs::real_path(root).ok());
    let below = roots.find_map(|root| real.strip_prefix(&root).ok().map(Path::to_owned));
    below.is_some_and(|below| path_fault(&below).is_none())
}

#[cfg(test)]
mod tests;
