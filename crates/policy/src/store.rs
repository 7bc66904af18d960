//! Sources of rules: the folders and files of policies, read at the start of a run.

use std::path::{Path, PathBuf};

use pollux_config::consent::{self, kinds};
use pollux_protocol::{ApprovalMode, ConsentItem};

use crate::file::{self, MAX_BYTES, PolicyFile};
use crate::lint;
use crate::problem::{Problem, ProblemKind};
use crate::rule::{Rule, Ruling, Tier};

mod guard;

/// Maximum number of files of one folder. If there are more, the denials in the others are unknown.
const MAX_FILES: usize = 1000;
/// Maximum number of rules shown to the user before consent to a file of the project.
const SHOWN_RULES: usize = 40;

/// Locations of policies for a run.
pub struct PolicyPlaces<'a> {
    /// Files and folders that the user names. They must exist: a name with a typing error would
    /// silently drop denials.
    pub user: &'a [PathBuf],
    /// Folder of the user if no other place is named; it may be missing.
    pub default_user: &'a Path,
    /// Folder of the administrator.
    pub system: &'a Path,
    /// Further files and folders of the administrator. They must exist.
    pub admin: &'a [PathBuf],
    /// Folders of policies of extensions, each with the name of the extension.
    pub extensions: &'a [(String, PathBuf)],
    /// Folder of the project, if it is trusted.
    pub project: Option<&'a Path>,
    /// Function that returns true if the user has consented to a file of the project.
    pub accepts: &'a dyn Fn(&ConsentItem) -> bool,
}

/// Contents of the locations.
#[derive(Debug, Default)]
pub struct FoundPolicies {
    /// All rules, checkers and problems.
    pub file: PolicyFile,
    /// Warnings for the user in addition to the problems.
    pub warnings: Vec<String>,
    /// Files that were read.
    pub read: Vec<PathBuf>,
}

impl FoundPolicies {
    /// Reads all locations. The default folders may be missing.
    pub fn read(places: &PolicyPlaces<'_>) -> Self {
        let mut found = Self::default();
        let system = match guard::check_folder(places.system) {
            Ok(()) => files(places.system),
            Err(reason) => {
                let folder = places.system.display();
                found.warnings.push(format!(
                    "Security Warning: Skipping system policies from {folder}: {reason}"
                ));
                Ok(Vec::new())
            }
        };
        let has_system = system.as_ref().is_ok_and(|files| !files.is_empty());
        found.take_system(places.system, system);
        for path in places.admin {
            if has_system {
                let folder = places.system.display();
                found.warnings.push(format!(
                    "Security Warning: Ignoring --admin-policy because system policies are already defined in {folder}"
                ));
                break;
            }
            found.take_admin(path);
        }
        let default = places.user.is_empty().then(|| places.default_user.to_owned());
        for path in places.user.iter().chain(&default) {
            if path != places.default_user || pollux_fs::link_info(path).is_ok() {
                found.take(Tier::User, path);
            }
        }
        for (name, folder) in places.extensions {
            found.take_extension(name, folder);
        }
        if let Some(project) = places.project {
            found.take_project(project, places.accepts);
        }
        found.file.problems.extend(lint::doubts(&found.file.rules));
        found
    }

    fn take_system(&mut self, folder: &Path, files: pollux_fs::Result<Vec<PathBuf>>) {
        match files {
            Ok(mut files) => {
                self.cut(Tier::Admin, folder, &mut files);
                for path in files {
                    match guard::check_file(&path) {
                        Ok(()) => self.take_file(Tier::Admin, &path),
                        Err(reason) => self.warnings.push(format!(
                            "Security Warning: Skipping system policy {}: {reason}",
                            path.display()
                        )),
                    }
                }
            }
            Err(error) => self.unreadable(Tier::Admin, folder, &error),
        }
    }

    fn take_admin(&mut self, path: &Path) {
        if let Err(reason) = guard::check_writers(path) {
            let path = path.display();
            self.warnings.push(format!(
                "Security Warning: Policies of the administrator in {path}: {reason}"
            ));
        }
        self.take(Tier::Admin, path);
    }

    /// Reads a file, or the files of a folder.
    fn take(&mut self, tier: Tier, path: &Path) {
        match pollux_fs::info(path) {
            Err(error) => self.unreadable(tier, path, &error),
            Ok(info) if info.kind == pollux_fs::EntryKind::Directory => match files(path) {
                Ok(mut files) => {
                    self.cut(tier, path, &mut files);
                    for path in files {
                        self.take_file(tier, &path);
                    }
                }
                Err(error) => self.unreadable(tier, path, &error),
            },
            Ok(_) if is_policy(path) => self.take_file(tier, path),
            Ok(_) => {
                let message = "The name of a policy file must end in .toml";
                self.file.problems.push(Problem::new(path, tier, ProblemKind::FileRead, message));
            }
        }
    }

    /// Reads those of the project's files that the user has consented to.
    fn take_project(&mut self, project: &Path, accepts: &dyn Fn(&ConsentItem) -> bool) {
        let folder = project_folder(project);
        let mut files = match files(&folder) {
            Ok(files) => files,
            Err(error) => return self.unreadable(Tier::Workspace, &folder, &error),
        };
        self.cut(Tier::Workspace, &folder, &mut files);
        for path in files {
            match read_text(&path) {
                Ok(text) if accepts(&consent_item(project, &path, &text)) => {
                    self.add(Tier::Workspace, &path, &text);
                }
                Ok(_) => {}
                Err(error) => self.unreadable(Tier::Workspace, &path, &error),
            }
        }
    }

    /// Reads the files of an extension. Its rules can only restrict what others allow, and one that
    /// cannot be read does not stop the run: the user reads why.
    fn take_extension(&mut self, name: &str, folder: &Path) {
        let mut warn = |text: String| {
            self.warnings.push(format!("Policies of the extension \"{name}\": {text}"));
        };
        let mut files = match files(folder) {
            Ok(files) => files,
            Err(error) => return warn(error.to_string()),
        };
        if files.len() > MAX_FILES {
            warn(too_many(files.len()));
            files.truncate(MAX_FILES);
        }
        for path in files {
            let text = match read_text(&path) {
                Ok(text) => text,
                Err(error) => {
                    warn(error.to_string());
                    continue;
                }
            };
            let mut file = file::read(Tier::Extension, &path, &text);
            let given = file.rules.len() + file.checkers.len();
            file.rules.retain(|rule| rule.ruling != Ruling::Allow && !names_yolo(rule));
            file.checkers.retain(|checker| !names_yolo(&checker.rule));
            let ignored = given - file.rules.len() - file.checkers.len();
            if ignored > 0 {
                let file = path.display();
                warn(format!(
                    "{ignored} in {file} without effect: an extension cannot allow calls, and cannot restrict yolo mode"
                ));
            }
            let rules = file.rules.iter_mut();
            for rule in rules.chain(file.checkers.iter_mut().map(|checker| &mut checker.rule)) {
                let label = rule.source.label.strip_prefix(Tier::Extension.name());
                rule.source.label =
                    format!("{} ({name}){}", Tier::Extension.name(), label.unwrap_or_default());
            }
            let (errors, doubts) =
                std::mem::take(&mut file.problems).into_iter().partition(Problem::is_error);
            file.problems = doubts;
            let errors: Vec<Problem> = errors;
            for error in &errors {
                warn(error.to_string());
            }
            self.read.push(path);
            self.file.extend(file);
        }
    }

    fn take_file(&mut self, tier: Tier, path: &Path) {
        match read_text(path) {
            Ok(text) => self.add(tier, path, &text),
            Err(error) => self.unreadable(tier, path, &error),
        }
    }

    fn add(&mut self, tier: Tier, path: &Path, text: &str) {
        self.read.push(path.to_owned());
        self.file.extend(file::read(tier, path, text));
    }

    /// Keeps the maximum number of files and reports the others.
    fn cut(&mut self, tier: Tier, folder: &Path, files: &mut Vec<PathBuf>) {
        if files.len() > MAX_FILES {
            let message = too_many(files.len());
            self.file.problems.push(Problem::new(folder, tier, ProblemKind::FileRead, message));
            files.truncate(MAX_FILES);
        }
    }

    fn unreadable(&mut self, tier: Tier, path: &Path, error: &pollux_fs::Error) {
        let message = format!("Failed to read policy file: {error}");
        self.file.problems.push(Problem::new(path, tier, ProblemKind::FileRead, message));
    }
}

/// Reads a text up to one byte more than the limit, so that the parser rejects a longer text.
fn read_text(path: &Path) -> pollux_fs::Result<String> {
    let bytes = pollux_fs::read_head(path, MAX_BYTES + 1)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns true for a rule that is explicitly for yolo mode.
fn names_yolo(rule: &Rule) -> bool {
    rule.modes.named().any(|mode| mode == ApprovalMode::Yolo)
}

fn is_policy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

/// Returns the policy files of a folder in the order of their names; an empty list if there is no
/// such folder.
fn files(folder: &Path) -> pollux_fs::Result<Vec<PathBuf>> {
    let entries = match pollux_fs::list_directory(folder) {
        Ok(entries) => entries,
        Err(pollux_fs::Error::NotFound { .. } | pollux_fs::Error::NotADirectory { .. }) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut files: Vec<PathBuf> = entries
        .into_iter()
        .map(|entry| folder.join(entry.name))
        .filter(|path| is_policy(path))
        // Anything that is not a file, or a broken link, is an error when it is read.
        .filter(|path| {
            !pollux_fs::info(path).is_ok_and(|info| info.kind == pollux_fs::EntryKind::Directory)
        })
        .collect();
    files.sort();
    Ok(files)
}

fn too_many(files: usize) -> String {
    format!("The folder contains {files} policy files; only the first {MAX_FILES} of them are read")
}

fn project_folder(project: &Path) -> PathBuf {
    project.join(".gemini").join("policies")
}

/// Returns the project's policy files as items that need consent one by one.
pub fn consent_items(project: &Path) -> Vec<ConsentItem> {
    let files = files(&project_folder(project)).unwrap_or_default();
    let texts = files.iter().take(MAX_FILES).filter_map(|path| Some((path, read_text(path).ok()?)));
    texts.map(|(path, text)| consent_item(project, path, &text)).collect()
}

fn consent_item(project: &Path, path: &Path, text: &str) -> ConsentItem {
    let name = path.strip_prefix(project).unwrap_or(path).display().to_string();
    let file = file::read(Tier::Workspace, path, text);
    let mut lines: Vec<String> = file.rules.iter().map(Rule::in_words).collect();
    // Rules that allow calls come first, because they are the reason for the question.
    let is_allow = |index: &usize| file.rules[*index].ruling == Ruling::Allow;
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|index| !is_allow(index));
    lines = order.into_iter().map(|index| std::mem::take(&mut lines[index])).collect();
    let more = lines.len().saturating_sub(SHOWN_RULES);
    lines.truncate(SHOWN_RULES);
    if more > 0 {
        lines.push(format!("and {more} more rules"));
    }
    let broken = file.problems.iter().find(|problem| problem.is_error());
    lines.extend(broken.map(|problem| format!("broken: {}", problem.message)));
    lines
        .extend(file.checkers.iter().map(|checker| format!("checked by {}", checker.checker.name)));
    consent::item(kinds::POLICY, &name, lines.join("\n"), text.as_bytes())
}

#[cfg(test)]
mod tests;
