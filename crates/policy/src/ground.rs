//! Assumptions of a verdict about the disk, and their verification.
//!
//! Rules and command lines are judged by their texts only. If a text is not sufficient (a file or a
//! directory may be a link), the judgement lists its assumptions, which this module verifies.

use std::path::{Path, PathBuf};

use pollux_shell::command_line::{OpenedPath, Word};
use pollux_shell::sandbox::is_closed_at_inspect;

use crate::facts::Facts;
use crate::paths::{lexical, path_fault};
use crate::protected::ResolvedPlaces;

/// Condition on the disk under which a call may run without a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Assumption {
    /// A file that edits may change without a question, with all links followed. Absolute path.
    Editable(PathBuf),
    /// `cd` from one directory to another stays inside the workspace, with all links followed.
    Inside {
        /// Directory in which the line starts. Absolute path.
        start: PathBuf,
        /// Argument of `cd`.
        folder: Word,
    },
    /// A command at the level `inspect` can read a file, with all links followed.
    Readable {
        /// Directory in which the command runs. Absolute path.
        folder: PathBuf,
        /// The file or folder.
        opened: OpenedPath,
    },
}

impl Assumption {
    /// Returns the reason why the assumption does not hold.
    pub(crate) fn fault(&self, facts: &Facts) -> Option<String> {
        match self {
            Self::Editable(path) => (!is_editable(path, facts)).then(|| leads_elsewhere(path)),
            Self::Inside { start, folder } => (!is_inside(start, folder, facts))
                .then(|| format!("{} leads out of the workspace", folder.shown())),
            Self::Readable { folder, opened } => closed(folder, opened, facts).map(|path| {
                format!(
                    "it reads {}, which is secret or outside of what a command may read without a question",
                    path.display()
                )
            }),
        }
    }

    /// Returns true if the level of the judgement is too strict for a call that the user allows
    /// although the assumption does not hold.
    pub(crate) fn is_about_level(&self) -> bool {
        matches!(self, Self::Readable { .. })
    }
}

fn leads_elsewhere(path: &Path) -> String {
    match pollux_fs::real_path(path) {
        Ok(real) => {
            format!("its output goes to {}, which is {}", path.display(), real.display())
        }
        Err(error) => format!("the target of its output is not known: {error}"),
    }
}

/// Returns true if the file, with all links followed, is in the workspace and not protected.
fn is_editable(path: &Path, facts: &Facts) -> bool {
    let Ok(real) = pollux_fs::real_path(path) else { return false };
    if ResolvedPlaces::on_disk(facts).concerned(&real).is_some() {
        return false;
    }
    let roots = facts.real_folders();
    let below = roots.iter().find_map(|root| real.strip_prefix(root).ok());
    below.is_some_and(|below| path_fault(below).is_none())
}

/// Returns the path if a command at the level `inspect` cannot read it.
fn closed(folder: &Path, opened: &OpenedPath, facts: &Facts) -> Option<PathBuf> {
    let mut is_tree = opened.is_tree;
    let path = match &opened.path {
        Word::Literal(text) => folder.join(text),
        Word::InFolder(rest) => folder.join(rest.trim_start_matches('/')),
        Word::InHome(rest) => facts.home.as_ref()?.join(rest.trim_start_matches('/')),
        Word::Pattern(text) => {
            // The folder whose names are matched.
            let (above, _) = text.split(['*', '?', '[']).next()?.rsplit_once('/')?;
            is_tree = true;
            match above.strip_prefix('~') {
                Some(rest) => facts.home.as_ref()?.join(rest.trim_start_matches('/')),
                None => folder.join(if above.is_empty() { "/" } else { above }),
            }
        }
        Word::Unknown(_) => return None,
    };
    is_closed_at_inspect(&facts.sandbox_places(), &path, is_tree).then_some(path)
}

/// Returns true if `cd` leads to a directory of the workspace. A shell first resolves `..` in the
/// text; if that fails, it follows links first. Both targets must be inside the workspace.
fn is_inside(start: &Path, folder: &Word, facts: &Facts) -> bool {
    let target = match folder {
        Word::Literal(text) => text.clone(),
        Word::InFolder(rest) => format!(".{rest}"),
        Word::InHome(rest) => match &facts.home {
            Some(home) => format!("{}{rest}", home.display()),
            None => return false,
        },
        Word::Pattern(_) | Word::Unknown(_) => return false,
    };
    let roots = facts.real_folders();
    let is_in_root = |path: PathBuf| {
        pollux_fs::real_path(&path)
            .is_ok_and(|real| roots.iter().any(|root| real.starts_with(root)))
    };
    // If CDPATH is set, a relative path may lead anywhere.
    !facts.environment.contains("CDPATH")
        && is_in_root(lexical(start, &target))
        && is_in_root(start.join(&target))
}

#[cfg(test)]
mod tests;
