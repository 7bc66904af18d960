//! Installation, links and removal of skills.

use std::path::{Path, PathBuf};

use pollux_config::skills::find_skills;

use super::skill::{Skill, SkillOwner};
use crate::error::InstallError;
use crate::tree;

/// Folder of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFolder(PathBuf);

/// Skill that was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Name of the skill.
    pub name: String,
    /// Folder of the skill.
    pub location: PathBuf,
}

impl SkillFolder {
    /// Creates the value for a folder, which need not exist.
    pub fn new(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the valid skills in the folder. Blocks the thread.
    pub fn skills(&self) -> Vec<Skill> {
        let folders = find_skills(&self.0, None).folders;
        let read = folders.iter().map(|folder| Skill::read(folder, SkillOwner::User));
        read.filter_map(Result::ok).collect()
    }

    /// Returns the folder that a skill has after its installation.
    pub fn location(&self, skill: &Skill) -> PathBuf {
        self.0.join(&skill.name)
    }

    /// Returns true if the installation of a skill would replace something.
    pub fn has(&self, skill: &Skill) -> bool {
        pollux_fs::link_info(&self.location(skill)).is_ok()
    }

    /// Copies a skill into the folder, in place of one with the same name. Blocks the thread.
    ///
    /// # Errors
    /// The reason why the skill was not installed. An earlier one is unchanged.
    pub fn install(&self, skill: &Skill) -> Result<Installed, InstallError> {
        let location = self.location(skill);
        self.check(skill, &location)?;
        tree::install(&skill.folder, &location)?;
        Ok(Installed { name: skill.name.clone(), location })
    }

    /// Puts a link to a skill into the folder, in place of a skill with the same name. Blocks the
    /// thread.
    ///
    /// # Errors
    /// The reason why the skill was not linked. An earlier one is unchanged.
    pub fn link(&self, skill: &Skill) -> Result<Installed, InstallError> {
        let location = self.location(skill);
        self.check(skill, &location)?;
        tree::link(&skill.folder, &location)?;
        Ok(Installed { name: skill.name.clone(), location })
    }

    /// Refuses to install a skill in its own place, or in itself.
    fn check(&self, skill: &Skill, location: &Path) -> Result<(), InstallError> {
        let real = |path: &Path| pollux_fs::real_path(path).unwrap_or_else(|_| path.to_owned());
        let (from, to) = (real(&skill.folder), real(&self.0).join(&skill.name));
        if to.starts_with(&from) || from.starts_with(&to) {
            let reason = format!("it is the place of the installation, {}", location.display());
            return Err(InstallError::folder(&skill.folder, reason));
        }
        Ok(())
    }

    /// Removes the skill with a name, or in the folder with this name. Returns its place; `None` if
    /// there is none. Blocks the thread.
    ///
    /// # Errors
    /// The reason why it was not removed.
    pub fn uninstall(&self, name: &str) -> Result<Option<PathBuf>, InstallError> {
        // The folder itself is not removed: it may contain other skills.
        let found = find_skills(&self.0, None).folders;
        let below = found.iter().filter(|folder| **folder != self.0);
        let is_named = |folder: &&PathBuf| {
            Skill::read(folder, SkillOwner::User).is_ok_and(|skill| skill.name == name)
        };
        let by_name = below.clone().find(is_named);
        let mut below = below;
        let by_folder = || below.find(|folder| folder.file_name().is_some_and(|own| own == name));
        let Some(folder) = by_name.or_else(by_folder) else { return Ok(None) };
        tree::remove(folder)?;
        Ok(Some(folder.clone()))
    }
}
