//! The folders that a line may run its commands in.

use std::path::PathBuf;

use pollux_protocol::Effects;
use pollux_shell::analysis::Analysis;

use super::redirection::folder_of;
use crate::facts::Facts;
use crate::policy::lexical;

/// Folders of one line that are told apart.
const MOST: usize = 32;

/// Where commands of the line may run, as far as its text tells; none when that cannot be told.
pub(super) fn folders(
    analysis: &Analysis,
    facts: &Facts,
    effects: &Effects,
) -> Option<Vec<PathBuf>> {
    let mut folders = vec![folder_of(facts, effects)];
    for built_in in &analysis.built_ins {
        match built_in.name.as_str() {
            "cd" => {}
            "pushd" | "popd" => return None,
            _ => continue,
        }
        let [argument] = built_in.arguments.as_slice() else { return None };
        let target = argument.constant().filter(|text| !text.starts_with(['~', '-']))?;
        // Whether a command comes before it or behind it, or is in a shell of its own, makes no difference here.
        let moved: Vec<PathBuf> = folders.iter().map(|folder| lexical(folder, target)).collect();
        folders.extend(moved.into_iter().filter(|folder| folder.is_absolute()));
        folders.dedup();
        if folders.len() > MOST {
            return None;
        }
    }
    Some(folders)
}
