//! The skills of a session.

use std::collections::HashSet;
use std::path::Path;

use pollux_config::skills::{SKILL_FOLDERS, find_skills};

use super::skill::{Skill, SkillOwner};
use crate::{Extension, ExtensionSet};

/// Folders in which skills are searched.
#[derive(Clone, Copy)]
pub struct SkillPlaces<'a> {
    /// Extensions, whose skills the others replace.
    pub extensions: &'a ExtensionSet,
    /// Home directory of the user.
    pub home: &'a Path,
    /// Folder of a trusted project that is not the home directory.
    pub project: Option<&'a Path>,
    /// Returns why the project's skill in a folder is not offered; `None` if it is.
    pub refuse: &'a dyn Fn(&Path) -> Option<String>,
}

/// Skills by name. A search by name ignores case if no name is exactly the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillSet {
    skills: Vec<Skill>,
    /// Names of disabled skills, in lower case.
    disabled: HashSet<String>,
    /// Messages for the user about skills that are left out.
    pub messages: Vec<String>,
    /// Messages for the user about skills that replace others with the same name.
    pub conflicts: Vec<String>,
}

impl SkillSet {
    /// Finds the skills: those of extensions, of the user, and of the project. Of several skills
    /// with one name, the last one wins. Reads only the front matter of files. Blocks the thread.
    pub fn find(places: SkillPlaces<'_>) -> Self {
        let mut set = Self::default();
        places.extensions.active().for_each(|extension| set.add_extension(extension));
        for folder in SKILL_FOLDERS {
            set.add_all(&places.home.join(folder), &SkillOwner::User, None, &|_| None);
        }
        if let Some(project) = places.project {
            for folder in SKILL_FOLDERS {
                let folder = project.join(folder);
                set.add_all(&folder, &SkillOwner::Project, Some(project), places.refuse);
            }
        }
        set
    }

    fn add_extension(&mut self, extension: &Extension) {
        // A skill is text of the extension, so no link leads out of it.
        let found = find_skills(&extension.skills(), Some(&extension.folder));
        self.messages.extend(found.left_out);
        for folder in found.folders {
            match Skill::read(&folder, SkillOwner::Extension(extension.name().into())) {
                Ok(mut skill) => {
                    skill.description = extension.variables.fill_text(&skill.description);
                    skill.variables = extension.variables.clone();
                    self.add(skill);
                }
                Err(error) => self.messages.push(error.to_string()),
            }
        }
    }

    fn add_all(
        &mut self,
        folder: &Path,
        owner: &SkillOwner,
        project: Option<&Path>,
        refuse: &dyn Fn(&Path) -> Option<String>,
    ) {
        let found = find_skills(folder, project);
        self.messages.extend(found.left_out);
        for folder in found.folders {
            match refuse(&folder) {
                Some(reason) => self.messages.push(reason),
                None => match Skill::read(&folder, owner.clone()) {
                    Ok(skill) => self.add(skill),
                    Err(error) => self.messages.push(error.to_string()),
                },
            }
        }
    }

    fn add(&mut self, skill: Skill) {
        let Some(known) = self.skills.iter_mut().find(|known| known.name == skill.name) else {
            self.skills.push(skill);
            return;
        };
        // Several folders may be links to one.
        let real = |skill: &Skill| pollux_fs::real_path(&skill.folder).ok();
        if real(&skill) != real(known) {
            self.conflicts.push(format!(
                "Skill conflict detected: \"{}\" from \"{}\" is overriding the same skill from \"{}\".",
                skill.name,
                skill.file().display(),
                known.file().display()
            ));
        }
        *known = skill;
    }

    /// Returns the same skills, of which those with these names are disabled. Case does not count.
    #[must_use]
    pub fn without<N: AsRef<str>>(mut self, disabled: &[N]) -> Self {
        let folded = |name: &N| name.as_ref().trim().to_lowercase();
        self.disabled = disabled.iter().map(folded).collect();
        self
    }

    /// Returns the names of disabled skills, in lower case.
    pub fn disabled(&self) -> impl Iterator<Item = &str> {
        self.disabled.iter().map(String::as_str)
    }

    /// Returns all skills, also disabled ones, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter()
    }

    /// Returns true for a skill that may be activated.
    pub fn is_enabled(&self, skill: &Skill) -> bool {
        self.disabled.is_empty() || !self.disabled.contains(&skill.name.to_lowercase())
    }

    /// Returns the skills that may be activated.
    pub fn enabled(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| self.is_enabled(skill))
    }

    /// Returns the skill with a name, also a disabled one.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        let exact = self.skills.iter().find(|skill| skill.name == name);
        let folded = name.to_lowercase();
        exact.or_else(|| self.skills.iter().find(|skill| skill.name.to_lowercase() == folded))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    /// Creates skills, each a file with its name and its description.
    fn tree(skills: &[(&str, &str)]) -> TempDir {
        let base = tempfile::tempdir().unwrap();
        for (path, text) in skills {
            let file = base.path().join(path).join("SKILL.md");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        base
    }

    fn find(base: &Path, refuse: &dyn Fn(&Path) -> Option<String>) -> SkillSet {
        let project = base.join("work");
        let extensions = &ExtensionSet::default();
        SkillSet::find(SkillPlaces { extensions, home: base, project: Some(&project), refuse })
    }

    const ALL: [&str; 6] = [
        ".claude/skills",
        ".gemini/skills",
        ".agents/skills",
        "work/.claude/skills",
        "work/.gemini/skills",
        "work/.agents/skills",
    ];

    #[test]
    fn the_last_folder_wins() {
        let base = tree(&[]);
        for (index, folder) in ALL.iter().enumerate() {
            let file = base.path().join(folder).join("s/SKILL.md");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, format!("---\nname: s\ndescription: {index}\n---\n")).unwrap();
            let set = find(base.path(), &|_| None);
            let descriptions: Vec<_> = set.iter().map(|skill| &skill.description).collect();
            assert_eq!(descriptions, [&index.to_string()]);
            assert_eq!((set.conflicts.len(), set.messages.len()), (index, 0));
        }
        let set = find(base.path(), &|_| Some("No.".to_owned()));
        assert_eq!(set.get("S").unwrap().description, "2");
        let path = |index: usize| base.path().join(ALL[index]).join("s/SKILL.md");
        let conflict = format!(
            "Skill conflict detected: \"s\" from \"{}\" is overriding the same skill from \"{}\".",
            path(1).display(),
            path(0).display()
        );
        assert_eq!(set.conflicts[0], conflict);
        assert_eq!(set.messages, ["No.", "No.", "No."]);
    }

    #[cfg(unix)]
    #[test]
    fn links_to_one_folder_are_no_conflict() {
        let base = tree(&[(".agents/skills/s", "---\nname: s\ndescription: D\n---\n")]);
        fs::create_dir(base.path().join(".claude")).unwrap();
        let (folder, link) = (base.path().join(ALL[2]), base.path().join(ALL[0]));
        std::os::unix::fs::symlink(folder, link).unwrap();
        let set = find(base.path(), &|_| None);
        assert_eq!((set.iter().count(), set.conflicts.len()), (1, 0));
    }

    #[test]
    fn one_bad_file_does_not_stop_the_others() {
        let late = format!("---\nname: late\nx: {}\ndescription: D\n---\n", "y".repeat(9000));
        let endless = format!("---\nname: endless\nx: {}", "y".repeat(200_000));
        let base = tree(&[
            (".gemini/skills/a", "text"),
            (".gemini/skills/b", "---\nname: b\n---\n"),
            (".gemini/skills/c", "---\nname: c\ndescription: D\n---\n"),
            (".gemini/skills/d", &late),
            (".gemini/skills/e", &endless),
        ]);
        let set = find(base.path(), &|_| None);
        let names: Vec<_> = set.iter().map(|skill| skill.name.as_str()).collect();
        assert_eq!(names, ["c", "late"]);
        let reasons = ["does not begin with", "has no description", "has no end"];
        for (message, reason) in set.messages.iter().zip(reasons) {
            assert!(message.contains(reason), "{message}");
        }
        assert_eq!(set.messages.len(), reasons.len());
    }

    #[test]
    fn disabled_skills_are_found_but_not_enabled() {
        let base = tree(&[
            (".gemini/skills/a", "---\nname: Deploy\ndescription: D\n---\n"),
            (".gemini/skills/b", "---\nname: other\ndescription: D\n---\n"),
        ]);
        let set = find(base.path(), &|_| None).without(&[" deploy ", "nosuch"]);
        let enabled: Vec<_> = set.enabled().map(|skill| skill.name.as_str()).collect();
        assert_eq!(enabled, ["other"]);
        assert!(!set.is_enabled(set.get("DEPLOY").unwrap()));
        assert_eq!(set.iter().count(), 2);
    }
}
