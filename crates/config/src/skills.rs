//! Skills: folders with a file `SKILL.md`, of the user and of a project.
//!
//! This module finds the folders and says which of them need consent. What the files mean is the
//! business of other crates. The files of a project are untrusted.

use std::path::{Path, PathBuf};

use pollux_fs::EntryKind;
use pollux_protocol::ConsentItem;

use crate::consent::{digest, item, kinds};
use crate::{GEMINI_DIR, files};

/// Name of the file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// Folders of skills, relative to the home directory and to a project. If several have a skill of
/// the same name, the last one wins. Gemini CLI does not read the first one.
pub const SKILL_FOLDERS: [&str; 3] = [".claude/skills", ".gemini/skills", ".agents/skills"];

/// Returns the folder of a home directory or a project in which skills are installed.
pub fn install_folder(root: &Path) -> PathBuf {
    root.join(GEMINI_DIR).join("skills")
}

/// Maximum number of skills in one folder.
pub const MAX_SKILLS: usize = 500;
/// Maximum number of files of a skill for which a user can be asked.
const MAX_FILES: usize = 500;
/// Maximum depth of folders below such a skill.
const MAX_DEPTH: usize = 8;
/// Maximum size of such a skill, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Skills in one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundSkills {
    /// Folders of the skills, in the order of their names. The folder itself is the first one if
    /// it is a skill.
    pub folders: Vec<PathBuf>,
    /// Messages about skills that are left out.
    pub left_out: Vec<String>,
}

/// Finds the skills in a folder: the folder itself, and the folders in it whose names do not begin
/// with a dot. A skill may be a link, with `project` only to a place inside of this folder; its
/// file must be in it. Reads no file. Blocks the thread.
pub fn find_skills(folder: &Path, project: Option<&Path>) -> FoundSkills {
    let mut found = FoundSkills::default();
    let Ok(entries) = pollux_fs::list_directory(folder) else { return found };
    // Even the folder may be a link out of the project.
    let project = project.map(files::real_path_or_given);
    let project = project.as_deref();
    if let Some(left_out) = project.and_then(|project| leads_out(folder, project)) {
        found.left_out.push(left_out);
        return found;
    }
    if entries.iter().any(|entry| entry.name == SKILL_FILE) {
        found.add(folder.to_owned(), None);
    }
    for entry in entries {
        let is_link = entry.kind == EntryKind::Symlink;
        if entry.name.starts_with('.') || !(is_link || entry.kind == EntryKind::Directory) {
            continue;
        }
        if found.folders.len() == MAX_SKILLS {
            found.left_out.push(format!(
                "Only the first {MAX_SKILLS} skills in {} are available.",
                folder.display()
            ));
            break;
        }
        found.add(entry.path, project.filter(|_| is_link));
    }
    found
}

impl FoundSkills {
    /// Adds a folder if it is a skill. A folder that is a link must lead into `project`.
    fn add(&mut self, folder: PathBuf, project: Option<&Path>) {
        let file = folder.join(SKILL_FILE);
        let left_out = match pollux_fs::link_info(&file).map(|info| info.kind) {
            Ok(EntryKind::File) => project.and_then(|project| leads_out(&folder, project)),
            Ok(EntryKind::Symlink) => {
                let link = project.and_then(|project| leads_out(&folder, project));
                link.or_else(|| leads_out(&file, &files::real_path_or_given(&folder)))
            }
            _ => return,
        };
        match left_out {
            Some(message) => self.left_out.push(message),
            None => self.folders.push(folder),
        }
    }
}

/// Returns a message if the real path is not in a folder, which must be a real path.
fn leads_out(path: &Path, folder: &Path) -> Option<String> {
    let is_inside = files::real_path(path).is_ok_and(|real| real.starts_with(folder));
    (!is_inside).then(|| {
        format!(
            "The skill {} is left out: it is a link to a place outside of {}.",
            path.display(),
            folder.display()
        )
    })
}

/// Returns the item of a project's skill: everything in its folder. `None` for a skill of text
/// only, which cannot run anything. Blocks the thread.
///
/// # Errors
/// The message about a skill that cannot be read as a whole. A later change of it would not be
/// noticed.
pub fn skill_item(project: &Path, folder: &Path) -> Result<Option<ConsentItem>, String> {
    let disabled =
        |reason: String| format!("The skill {} is disabled: {reason}.", folder.display());
    let mut below = Vec::new();
    let is_whole = gather(folder, MAX_DEPTH, &mut below);
    if !is_whole {
        return Err(disabled(format!(
            "it contains more than {MAX_FILES} files, or folders nested deeper than {MAX_DEPTH} levels"
        )));
    }
    let named = below.iter().map(|path| (path, below_folder(path, folder)));
    let named: Vec<(&PathBuf, String)> = named.collect();
    if named.iter().all(|(_, name)| name == SKILL_FILE) {
        return Ok(None);
    }
    let mut left = MAX_BYTES;
    let mut content = String::new();
    for (path, name) in &named {
        let bytes = files::read_bytes(path, left).map_err(|error| disabled(error.to_string()))?;
        left = left.saturating_sub(bytes.len() as u64);
        content.extend([digest(&bytes).as_str(), " ", name, "\n"]);
    }
    let beside = named.iter().map(|(_, name)| name.as_str()).filter(|name| *name != SKILL_FILE);
    let detail = format!("brings: {}", beside.collect::<Vec<_>>().join(", "));
    let label = below_folder(folder, project);
    Ok(Some(item(kinds::SKILL, &label, detail, content.as_bytes())))
}

/// Returns the items of all skills of a project, and messages about skills that have none and do
/// not take effect. Blocks the thread.
pub fn skill_items(project: &Path) -> (Vec<ConsentItem>, Vec<String>) {
    let (mut items, mut left_out) = (Vec::new(), Vec::new());
    for folder in SKILL_FOLDERS {
        let found = find_skills(&project.join(folder), Some(project));
        left_out.extend(found.left_out);
        for skill in found.folders {
            match skill_item(project, &skill) {
                Ok(item) => items.extend(item),
                Err(message) => left_out.push(message),
            }
        }
    }
    (items, left_out)
}

/// Returns the name of the item of a project's skill, if the skill has one. Blocks the thread, but
/// reads no file.
pub fn skill_item_name(project: &Path, folder: &Path) -> Option<String> {
    has_other_files(folder, true, MAX_DEPTH).then(|| below_folder(folder, project))
}

/// Returns true if a folder contains more than the file of a skill. A folder that is too deep does.
fn has_other_files(folder: &Path, is_skill: bool, depth: usize) -> bool {
    let entries = pollux_fs::list_directory(folder).unwrap_or_default();
    entries.into_iter().any(|entry| match entry.kind {
        EntryKind::File => !is_skill || entry.name != SKILL_FILE,
        EntryKind::Directory => depth == 1 || has_other_files(&entry.path, false, depth - 1),
        // The link may lead to anything.
        EntryKind::Symlink => true,
        EntryKind::Special => false,
    })
}

/// Returns a path relative to a folder, with slashes.
fn below_folder(path: &Path, folder: &Path) -> String {
    let relative = path.strip_prefix(folder).unwrap_or(path);
    let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Lists the regular files below a folder, including those behind links, in the order of their
/// paths. Returns false if there are more.
fn gather(folder: &Path, depth: usize, below: &mut Vec<PathBuf>) -> bool {
    let entries = pollux_fs::list_directory(folder).unwrap_or_default();
    entries.into_iter().all(|entry| {
        match pollux_fs::info(&entry.path).map(|info| info.kind) {
            Ok(EntryKind::File) if below.len() < MAX_FILES => below.push(entry.path),
            Ok(EntryKind::Directory) if depth > 1 => return gather(&entry.path, depth - 1, below),
            Ok(EntryKind::File | EntryKind::Directory) => return false,
            _ => {}
        }
        true
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    fn folder(paths: &[&str]) -> TempDir {
        let folder = TempDir::new().unwrap();
        for path in paths {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        folder
    }

    fn names(found: &FoundSkills, root: &Path) -> Vec<String> {
        found.folders.iter().map(|folder| below_folder(folder, root)).collect()
    }

    #[test]
    fn skills_are_the_folder_itself_and_those_in_it() {
        let root = folder(&["SKILL.md", "b/SKILL.md", "a/SKILL.md", "c/readme.md", "d/e/SKILL.md"]);
        fs::create_dir_all(root.path().join(".old")).unwrap();
        fs::write(root.path().join(".old/SKILL.md"), "x").unwrap();
        fs::create_dir_all(root.path().join("f/SKILL.md")).unwrap();
        let found = find_skills(root.path(), None);
        assert_eq!(names(&found, root.path()), ["", "a", "b"]);
        assert_eq!(found.left_out, [""; 0]);
        assert_eq!(find_skills(&root.path().join("nosuch"), None), FoundSkills::default());
    }

    #[test]
    fn the_number_is_bounded() {
        let root = folder(&[]);
        for number in 0..=MAX_SKILLS {
            let skill = root.path().join(format!("s{number:03}"));
            fs::create_dir(&skill).unwrap();
            fs::write(skill.join(SKILL_FILE), "x").unwrap();
        }
        let found = find_skills(root.path(), None);
        assert_eq!((found.folders.len(), found.left_out.len()), (MAX_SKILLS, 1));
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out_of_a_project_or_a_skill() {
        use std::os::unix::fs::symlink;

        let project = folder(&["skills/a/SKILL.md", "lib/inner/SKILL.md", "skills/f/x"]);
        let outside = folder(&["deep/SKILL.md"]);
        let skills = project.path().join("skills");
        symlink(outside.path().join("deep"), skills.join("deep")).unwrap();
        symlink(project.path().join("lib/inner"), skills.join("inner")).unwrap();
        symlink(outside.path().join("deep/SKILL.md"), skills.join("f/SKILL.md")).unwrap();
        let users = find_skills(&skills, None);
        assert_eq!(names(&users, &skills), ["a", "deep", "inner"]);
        assert_eq!(users.left_out.len(), 1, "{:?}", users.left_out);
        let projects = find_skills(&skills, Some(project.path()));
        assert_eq!(names(&projects, &skills), ["a", "inner"]);
        assert_eq!(projects.left_out.len(), 2, "{:?}", projects.left_out);
        let linked = project.path().join("linked");
        symlink(outside.path(), &linked).unwrap();
        let refused = find_skills(&linked, Some(project.path()));
        assert_eq!((refused.folders.len(), refused.left_out.len()), (0, 1));
    }

    #[test]
    fn the_item_is_about_every_file() {
        let project = folder(&["s/a/SKILL.md", "s/b/SKILL.md", "s/b/bin/run.sh"]);
        let of = |name: &str| skill_item(project.path(), &project.path().join(name));
        let name = |name: &str| skill_item_name(project.path(), &project.path().join(name));
        assert_eq!((of("s/a").unwrap(), name("s/a")), (None, None));
        assert_eq!(name("s/b").as_deref(), Some("s/b"));
        let item = of("s/b").unwrap().unwrap();
        assert_eq!(item.name, "s/b");
        for (file, text) in [("s/b/bin/run.sh", "y"), ("s/b/SKILL.md", "z"), ("s/b/more", "")] {
            let before = of("s/b").unwrap().unwrap().hash;
            fs::write(project.path().join(file), text).unwrap();
            assert_ne!(of("s/b").unwrap().unwrap().hash, before, "{file}");
        }
        let large = fs::File::create(project.path().join("s/b/large")).unwrap();
        large.set_len(MAX_BYTES).unwrap();
        assert!(of("s/b").unwrap_err().contains("is disabled"));
    }
}
