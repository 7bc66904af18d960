//! Inbox of proposed facts and skills. Nothing here takes effect before the user accepts it: skills
//! are not loaded from the project's memory folder, and patches are text.

use std::path::{Path, PathBuf};

use pollux_config::context::PRIVATE_INDEX;
use pollux_fs::{Expectation, TextFile, WriteOptions};
use pollux_tools::with_fact;

use crate::extraction::{Proposals, ProposedSkill, is_skill_name};
use crate::patch::{self, FilePatch};

/// Maximum size, in bytes, of a file that is read.
const LARGEST: u64 = 1 << 20;
/// Name of the file of a skill in its folder.
const SKILL_FILE: &str = "SKILL.md";
/// Maximum number of pending skills. Further skills are not written: a user who never opens the
/// inbox has no use for them.
const WAITING: usize = 50;

const EMPTY: &str = "The inbox is empty.";

/// Paths of the proposals, and of the files that accepted proposals change.
#[derive(Debug, Clone)]
pub struct MemoryInbox {
    /// Folder of the user's notes on this project.
    pub memory: PathBuf,
    /// Context file of the user for all projects.
    pub global_file: PathBuf,
    /// Folder of the user's skills.
    pub skills: PathBuf,
}

/// Kind of a patch; each kind has a folder of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Private,
    Global,
}

impl Target {
    const ALL: [Self; 2] = [Self::Private, Self::Global];

    fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Global => "global",
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Private => "your notes on this project",
            Self::Global => "your context file for all projects",
        }
    }
}

impl MemoryInbox {
    /// Writes proposals to the inbox. Returns the names of the new skills, and true if anything is
    /// new.
    ///
    /// # Errors
    /// Fails if a file cannot be written.
    pub(crate) fn propose(&self, proposals: &Proposals) -> pollux_fs::Result<(Vec<String>, bool)> {
        let mut written = Vec::new();
        let waiting = self.waiting_skills().len();
        let room = WAITING.saturating_sub(waiting);
        for skill in proposals.skills.iter().filter(|skill| !self.has(skill)).take(room) {
            let file = self.proposed(&skill.name);
            pollux_fs::write_atomic(&file, skill.to_markdown().as_bytes(), &new_file())?;
            written.push(skill.name.clone());
        }
        let mut is_new = !written.is_empty();
        for (target, facts) in
            [(Target::Private, &proposals.private), (Target::Global, &proposals.global)]
        {
            is_new |= self.propose_facts(target, facts)?;
        }
        Ok((written, is_new))
    }

    fn has(&self, skill: &ProposedSkill) -> bool {
        let is_there = |path: &Path| pollux_fs::link_info(path).is_ok();
        is_there(&self.proposed(&skill.name)) || is_there(&self.skills.join(&skill.name))
    }

    /// Adds facts to the patch of a target. A patch that no longer applies is left unchanged for
    /// the user to review.
    fn propose_facts(&self, target: Target, facts: &[String]) -> pollux_fs::Result<bool> {
        if facts.is_empty() {
            return Ok(false);
        }
        let path = self.file_of(target);
        let there = read(&path)?;
        let old = there.as_ref().map(|file| file.text.as_str());
        let waiting = read(&self.patch_of(target))?;
        let proposed = match &waiting {
            None => Some(old.unwrap_or_default().to_owned()),
            Some(waiting) => {
                let files = patch::parse(&waiting.text).unwrap_or_default();
                match files.as_slice() {
                    [file] if file.path == path => file.apply(old.unwrap_or_default()),
                    _ => None,
                }
            }
        };
        let Some(before) = proposed else { return Ok(false) };
        let is_known = |fact: &&String| {
            !before.lines().any(|line| line.trim_start_matches("- ") == fact.as_str())
        };
        let after = facts
            .iter()
            .filter(is_known)
            .fold(before.clone(), |text, fact| with_fact(&text, fact).unwrap_or(text));
        if after == before {
            return Ok(false);
        }
        let patch = patch::make(&path, old, &after);
        let options = WriteOptions::private();
        pollux_fs::write_atomic(&self.patch_of(target), patch.as_bytes(), &options)?;
        Ok(true)
    }

    /// Returns the pending proposals, one per line.
    pub fn list(&self) -> String {
        let mut lines = Vec::new();
        for target in self.waiting_patches() {
            let text =
                read(&self.patch_of(target)).ok().flatten().map_or(String::new(), |file| file.text);
            let added = text.lines().filter(|line| is_change(line)).count();
            lines.push(format!("  {}: {added} lines for {}", target.name(), target.describe()));
        }
        for name in self.waiting_skills() {
            lines.push(format!("  {name}: a skill"));
        }
        if lines.is_empty() {
            return EMPTY.to_owned();
        }
        lines.insert(0, "Proposed by earlier sessions, not in use yet:".to_owned());
        lines.push("/memory inbox show NAME, accept NAME or discard NAME".to_owned());
        lines.join("\n")
    }

    /// Returns the path and the text of a proposal.
    ///
    /// # Errors
    /// Fails if no proposal has that name, or it cannot be read.
    pub fn show(&self, name: &str) -> Result<String, String> {
        let (path, text) = self.find(name)?;
        Ok(format!("{}\n{}", path.display(), text.trim_end()))
    }

    /// Puts a proposal into effect.
    ///
    /// # Errors
    /// Fails if no proposal has that name, the patch no longer applies, or a file cannot be
    /// written.
    pub fn accept(&self, name: &str) -> Result<String, String> {
        let (path, text) = self.find(name)?;
        let reported = if let Some(target) = target(name) {
            self.apply(target, &text)?
        } else {
            let file = self.skills.join(name).join(SKILL_FILE);
            pollux_fs::write_atomic(&file, text.as_bytes(), &new_file()).map_err(|error| {
                format!("Nothing was changed: {error}\nDiscard the proposal, or remove that skill first.")
            })?;
            vec![file]
        };
        self.remove(&path, name)?;
        let files: Vec<String> = reported.iter().map(|file| file.display().to_string()).collect();
        Ok(format!("Written: {}", files.join(", ")))
    }

    /// Removes a proposal.
    ///
    /// # Errors
    /// Fails if no proposal has that name, or it cannot be removed.
    pub fn discard(&self, name: &str) -> Result<String, String> {
        let (path, _) = self.find(name)?;
        self.remove(&path, name)?;
        Ok(format!("Discarded: {name}"))
    }

    /// Returns the names of all proposals, for command completion.
    pub fn names(&self) -> Vec<String> {
        let patches = self.waiting_patches().into_iter().map(|target| target.name().to_owned());
        patches.chain(self.waiting_skills()).collect()
    }

    /// Applies a patch completely or not at all: every file is checked before the first is written.
    fn apply(&self, target: Target, text: &str) -> Result<Vec<PathBuf>, String> {
        let stale = |path: &Path| {
            format!(
                "Nothing was changed: the patch does not apply to {} any more. Discard it, or add the useful parts by hand.",
                path.display()
            )
        };
        let files = patch::parse(text).ok_or("Nothing was changed: the patch cannot be read.")?;
        let mut changes = Vec::new();
        for file in &files {
            if !self.may_change(target, file) {
                let path = file.path.display();
                return Err(format!("Nothing was changed: {path} is not {}.", target.describe()));
            }
            let there =
                read(&file.path).map_err(|error| format!("Nothing was changed: {error}"))?;
            let old = there.as_ref().map_or("", |there| there.text.as_str());
            let new = file.apply(old).ok_or_else(|| stale(&file.path))?;
            changes.push((&file.path, there, new));
        }
        let mut written = Vec::new();
        for (path, there, new) in changes {
            write(path, there.as_ref(), &new).map_err(|error| {
                format!("{} files were changed, then an error occurred: {error}", written.len())
            })?;
            written.push(path.clone());
        }
        Ok(written)
    }

    /// Returns true if a patch of this kind may change the file. A patch never changes files that
    /// belong to the other kind.
    fn may_change(&self, target: Target, file: &FilePatch) -> bool {
        let is_note = |path: &Path| {
            let is_hidden =
                path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
            let is_text = path.extension().is_some_and(|extension| extension == "md");
            path.parent() == Some(&*self.memory) && is_text && !is_hidden
        };
        match target {
            Target::Private => is_note(&file.path),
            Target::Global => file.path == self.global_file,
        }
    }

    fn find(&self, name: &str) -> Result<(PathBuf, String), String> {
        let path = match target(name) {
            Some(target) => self.patch_of(target),
            None if is_skill_name(name) => self.proposed(name),
            None => return Err(unknown(name)),
        };
        match read(&path) {
            Ok(Some(file)) => Ok((path, file.text)),
            Ok(None) => Err(unknown(name)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn remove(&self, path: &Path, name: &str) -> Result<(), String> {
        let removed = match target(name) {
            Some(_) => pollux_fs::remove_file(path),
            None => pollux_fs::remove_tree(&self.memory.join("skills").join(name)),
        };
        removed.map_err(|error| format!("The proposal is still there: {error}"))
    }

    fn waiting_patches(&self) -> Vec<Target> {
        let waits = |target: &Target| pollux_fs::link_info(&self.patch_of(*target)).is_ok();
        Target::ALL.into_iter().filter(waits).collect()
    }

    fn waiting_skills(&self) -> Vec<String> {
        let entries = pollux_fs::list_directory(&self.memory.join("skills")).unwrap_or_default();
        let names = entries.into_iter().map(|entry| entry.name);
        let mut names: Vec<String> = names
            .filter(|name| {
                is_skill_name(name) && pollux_fs::link_info(&self.proposed(name)).is_ok()
            })
            .collect();
        names.sort();
        names
    }

    /// Returns the file that facts of a kind are added to.
    fn file_of(&self, target: Target) -> PathBuf {
        match target {
            Target::Private => self.memory.join(PRIVATE_INDEX),
            Target::Global => self.global_file.clone(),
        }
    }

    fn patch_of(&self, target: Target) -> PathBuf {
        self.memory.join(".inbox").join(target.name()).join("extraction.patch")
    }

    fn proposed(&self, skill: &str) -> PathBuf {
        self.memory.join("skills").join(skill).join(SKILL_FILE)
    }
}

fn target(name: &str) -> Option<Target> {
    Target::ALL.into_iter().find(|target| target.name() == name)
}

fn unknown(name: &str) -> String {
    format!("The inbox contains no entry \"{name}\". /memory inbox lists its entries.")
}

fn is_change(line: &str) -> bool {
    let is_heading = line.starts_with("+++ ") || line.starts_with("--- ");
    line.starts_with(['+', '-']) && !is_heading
}

fn new_file() -> WriteOptions {
    WriteOptions { expected: Some(Expectation::Absent), ..WriteOptions::private() }
}

/// Reads a file; returns `None` if it does not exist.
fn read(path: &Path) -> pollux_fs::Result<Option<TextFile>> {
    match pollux_fs::read_text(path, LARGEST) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

fn write(path: &Path, there: Option<&TextFile>, text: &str) -> pollux_fs::Result<()> {
    let (bytes, expected) = match there {
        Some(file) => (file.replaced(text)?, Expectation::Unchanged(file.fingerprint)),
        None => (text.as_bytes().to_vec(), Expectation::Absent),
    };
    let mode = there.is_none().then_some(0o600);
    let options = WriteOptions {
        expected: Some(expected),
        create_parents: true,
        mode,
        ..WriteOptions::default()
    };
    pollux_fs::write_atomic(path, &bytes, &options).map(drop)
}

#[cfg(test)]
mod tests;
