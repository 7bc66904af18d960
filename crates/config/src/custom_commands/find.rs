//! Search for the files of custom commands.

use std::path::{Path, PathBuf};

use pollux_fs::EntryKind;

use crate::files::{self, FileIdentity};

/// Maximum number of commands of one folder.
pub(crate) const MAX_COMMANDS: usize = 1000;
/// Maximum number of entries that are looked at below one folder.
const MAX_ENTRIES: usize = 10_000;
/// Maximum depth of folders.
const MAX_DEPTH: usize = 8;
/// Maximum length of a part of a name, in characters.
const MAX_SEGMENT: usize = 50;

/// File of a custom command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFile {
    /// Name of the command: `git:review` for `git/review.toml`. Only ASCII letters, digits and
    /// `_-.:`, so other files may have the same name.
    pub name: String,
    /// Path below the folder, without the extension, as the user is asked about it:
    /// `/git:review`.
    pub label: String,
    /// Path of the file.
    pub path: PathBuf,
}

/// Files of the custom commands of one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundCommands {
    /// Files in the order of their paths.
    pub files: Vec<CommandFile>,
    /// Messages about files that are left out.
    pub left_out: Vec<String>,
}

/// Finds the `.toml` files below a folder, without reading them. Links are followed; with
/// `project`, only to places inside of this folder. Blocks the thread.
pub fn find_commands(folder: &Path, project: Option<&Path>) -> FoundCommands {
    let mut search = Search {
        folder,
        project: project.map(files::real_path_or_given),
        found: FoundCommands::default(),
        entries: 0,
        visited: Vec::new(),
        is_full: false,
    };
    // The folder itself may be a link out of the project.
    if files::exists(folder) && search.is_inside(folder) {
        search.look_into(folder, &Names::default(), 1);
    }
    search.found
}

struct Search<'a> {
    folder: &'a Path,
    /// Real path of the folder that links must not leave.
    project: Option<PathBuf>,
    found: FoundCommands,
    entries: usize,
    /// Folders behind links that were already searched; links may form a circle.
    visited: Vec<FileIdentity>,
    is_full: bool,
}

/// Names of the folders above a file, each with a `:` behind it.
#[derive(Default)]
struct Names {
    name: String,
    label: String,
}

impl Names {
    fn with(&self, part: &str) -> Self {
        let Self { name, label } = self;
        Self { name: format!("{name}{}", segment(part)), label: format!("{label}{part}") }
    }
}

impl Search<'_> {
    fn look_into(&mut self, folder: &Path, above: &Names, depth: usize) {
        for entry in pollux_fs::list_directory(folder).unwrap_or_default() {
            self.entries += 1;
            if self.found.files.len() == MAX_COMMANDS || self.entries > MAX_ENTRIES {
                return self.fill();
            }
            let path = entry.path;
            let is_named = path.extension().is_some_and(|end| end == "toml");
            let is_link = entry.kind == EntryKind::Symlink;
            let kind = match entry.kind {
                EntryKind::Symlink => pollux_fs::info(&path).ok().map(|info| info.kind),
                kind => Some(kind),
            };
            match kind {
                Some(EntryKind::File) if is_named && (!is_link || self.is_inside(&path)) => {
                    let stem = entry.name.strip_suffix(".toml").unwrap_or(&entry.name);
                    let Names { name, label } = above.with(stem);
                    let label = format!("/{label}");
                    self.found.files.push(CommandFile { name, label, path });
                }
                Some(EntryKind::Directory) if depth == MAX_DEPTH => self.fill(),
                Some(EntryKind::Directory) if !is_link || self.is_new(&path) => {
                    let mut names = above.with(&entry.name);
                    names.name.push(':');
                    names.label.push(':');
                    self.look_into(&path, &names, depth + 1);
                }
                None if is_named => {
                    let text = "[FileCommandLoader] Failed to read file";
                    self.found
                        .left_out
                        .push(format!("{text} {}: the link leads nowhere.", path.display()));
                }
                _ => {}
            }
        }
    }

    /// True for the first visit of a folder behind a link, inside of the project.
    fn is_new(&mut self, path: &Path) -> bool {
        let Some(identity) = files::identity(path) else { return false };
        let is_ancestor = path.ancestors().skip(1).any(|own| {
            own.starts_with(self.folder) && files::identity(own).as_ref() == Some(&identity)
        });
        if is_ancestor || self.visited.contains(&identity) || !self.is_inside(path) {
            return false;
        }
        self.visited.push(identity);
        true
    }

    /// True for a path whose real path links may lead to. Others are reported.
    fn is_inside(&mut self, path: &Path) -> bool {
        let Some(project) = &self.project else { return true };
        if files::real_path(path).is_ok_and(|real| real.starts_with(project)) {
            return true;
        }
        self.found.left_out.push(format!(
            "[FileCommandLoader] Skipping {}: it is a link to a place outside of the project.",
            path.display()
        ));
        false
    }

    fn fill(&mut self) {
        if !std::mem::replace(&mut self.is_full, true) {
            self.found.left_out.push(format!(
                "Pollux only finds the first {MAX_COMMANDS} custom commands in {}, at most {MAX_DEPTH} folders deep. The others are left out.",
                self.folder.display()
            ));
        }
    }
}

/// Returns a part of a path as part of a name, as in Gemini CLI.
fn segment(part: &str) -> String {
    let mut segment = String::with_capacity(part.len());
    for letter in part.chars() {
        if letter.is_ascii_alphanumeric() || "_-.".contains(letter) {
            segment.push(letter);
        } else {
            segment.extend(std::iter::repeat_n('_', letter.len_utf16()));
        }
    }
    if segment.len() > MAX_SEGMENT {
        segment.truncate(MAX_SEGMENT - 3);
        segment.push_str("...");
    }
    segment
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
            fs::write(path, "prompt = 'x'").unwrap();
        }
        folder
    }

    fn names(found: &FoundCommands) -> Vec<&str> {
        found.files.iter().map(|file| file.name.as_str()).collect()
    }

    #[test]
    fn paths_become_names() {
        let long = format!("{}.toml", "n".repeat(51));
        let folder = folder(&[
            "b.toml",
            "a.txt",
            "git/review.toml",
            "git/a b/é😀:.toml",
            ".hidden/x.toml",
            ".y.toml",
            "z.min.toml",
            &long,
        ]);
        let found = find_commands(folder.path(), None);
        let cut = format!("{}...", "n".repeat(47));
        let expected =
            [".hidden:x", ".y", "b", "git:a_b:____", "git:review", cut.as_str(), "z.min"];
        assert_eq!(names(&found), expected);
        assert_eq!(found.files[3].label, "/git:a b:é😀:");
        assert_eq!(found.left_out, [""; 0]);
        assert_eq!(find_commands(&folder.path().join("nosuch"), None), FoundCommands::default());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once_and_only_inside_of_a_project() {
        use std::os::unix::fs::symlink;

        let project = folder(&["commands/a.toml", "more/b.toml"]);
        let outside = folder(&["out.toml", "deep/c.toml"]);
        let commands = project.path().join("commands");
        symlink(outside.path().join("out.toml"), commands.join("out.toml")).unwrap();
        symlink(outside.path().join("deep"), commands.join("deep")).unwrap();
        symlink(project.path().join("more"), commands.join("more")).unwrap();
        symlink(&commands, commands.join("circle")).unwrap();
        symlink("nosuch", commands.join("gone.toml")).unwrap();
        let users = find_commands(&commands, None);
        assert_eq!(names(&users), ["a", "deep:c", "more:b", "out"]);
        assert_eq!(users.left_out.len(), 1, "{:?}", users.left_out);
        let projects = find_commands(&commands, Some(project.path()));
        assert_eq!(names(&projects), ["a", "more:b"]);
        let left_out = projects.left_out.join("\n");
        for name in ["out.toml", "deep", "gone.toml"] {
            assert!(left_out.contains(&format!("/commands/{name}: ")), "{left_out}");
        }
        let linked = project.path().join("linked");
        symlink(outside.path(), &linked).unwrap();
        let refused = find_commands(&linked, Some(project.path()));
        assert_eq!((refused.files.len(), refused.left_out.len()), (0, 1));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_not_unicode_is_a_name_too() {
        use std::os::unix::ffi::OsStrExt as _;

        let folder = folder(&[]);
        let path = folder.path().join(std::ffi::OsStr::from_bytes(b"a\xff.toml"));
        fs::write(path, "prompt = 'x'").unwrap();
        let found = find_commands(folder.path(), None);
        assert_eq!(names(&found), ["a_"]);
        assert!(found.files[0].read().is_ok());
    }

    #[test]
    fn the_search_is_bounded() {
        let deep = format!("{}x.toml", "d/".repeat(MAX_DEPTH));
        let folder = folder(&[&deep, "a.toml"]);
        let found = find_commands(folder.path(), None);
        assert_eq!(names(&found), ["a"]);
        assert_eq!(found.left_out.len(), 1, "{:?}", found.left_out);
        for number in 0..MAX_COMMANDS + 5 {
            fs::write(folder.path().join(format!("b{number:04}.toml")), "").unwrap();
        }
        let found = find_commands(folder.path(), None);
        assert_eq!((found.files.len(), found.left_out.len()), (MAX_COMMANDS, 1));
    }
}
