//! Skills that the user enables and disables, in settings files.

use std::path::{Path, PathBuf};

use pollux_config::{Changed, ConfigError, FileScope, Places, edit, edit_file, jsonc};
use serde_json::Value;

/// Key of the setting.
const KEY: [&str; 2] = ["skills", "disabled"];

/// Settings files in which skills are enabled and disabled.
#[derive(Debug, Clone)]
pub struct SkillSwitch {
    /// Paths of the user.
    pub places: Places,
    /// Folder of the project.
    pub cwd: PathBuf,
}

/// Result of a change, as the message for the user in the words of Gemini CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedSkill(pub String);

impl SkillSwitch {
    /// Adds a skill to the disabled ones in a file. Blocks the thread.
    ///
    /// # Errors
    /// For a file that cannot be used.
    pub fn disable(&self, name: &str, scope: FileScope) -> Result<SwitchedSkill, ConfigError> {
        let scope = self.scope(scope);
        self.edit(scope, &|names| {
            if !names.iter().any(|known| is_same(known, name)) {
                names.push(name.into());
            }
        })?;
        Ok(SwitchedSkill(format!(
            "Skill \"{name}\" disabled by adding it to the disabled list in {} settings.",
            self.place(scope)
        )))
    }

    /// Removes a skill from the disabled ones in the files of the user and the project. Blocks the
    /// thread.
    ///
    /// # Errors
    /// For a file that cannot be used.
    pub fn enable(&self, name: &str) -> Result<SwitchedSkill, ConfigError> {
        let mut places = Vec::new();
        for scope in [FileScope::User, FileScope::Project] {
            if self.scope(scope) != scope {
                continue;
            }
            let remove = |names: &mut Vec<Value>| names.retain(|known| !is_same(known, name));
            if self.edit(scope, &remove)? == Changed::Yes {
                places.push(self.place(scope));
            }
        }
        Ok(SwitchedSkill(if places.is_empty() {
            format!("Skill \"{name}\" is already enabled.")
        } else {
            format!(
                "Skill \"{name}\" enabled by removing it from the disabled list in {} settings.",
                places.join(" and ")
            )
        }))
    }

    /// Changes the list in a file. A list that becomes empty is removed.
    fn edit(
        &self,
        scope: FileScope,
        change: &dyn Fn(&mut Vec<Value>),
    ) -> Result<Changed, ConfigError> {
        let path = scope.path(&self.places, &self.cwd);
        edit_file(scope, &path, &|text| {
            let is_empty = text.trim_start_matches('\u{feff}').trim().is_empty();
            let file = if is_empty { Value::Null } else { jsonc::parse(&path, text)? };
            let known = KEY.iter().try_fold(&file, |value, key| value.get(key));
            let known = known.and_then(Value::as_array).cloned().unwrap_or_default();
            let mut names = known.clone();
            change(&mut names);
            if names == known {
                Ok(text.to_owned())
            } else if names.is_empty() {
                edit::unset(&path, text, &KEY)
            } else {
                edit::set(&path, text, &KEY, &Value::Array(names))
            }
        })
    }

    /// Returns the scope of a file. In the home directory the project's file is the user's.
    fn scope(&self, scope: FileScope) -> FileScope {
        let real = |path: &Path| pollux_fs::real_path(path).unwrap_or_else(|_| path.to_owned());
        let is_home = real(&self.cwd) == real(&self.places.home);
        if is_home && scope == FileScope::Project { FileScope::User } else { scope }
    }

    fn place(&self, scope: FileScope) -> String {
        let name = match scope {
            FileScope::Project => "workspace",
            scope => scope.as_str(),
        };
        format!("{name} ({})", scope.path(&self.places, &self.cwd).display())
    }
}

fn is_same(known: &Value, name: &str) -> bool {
    known.as_str().is_some_and(|known| known.trim().to_lowercase() == name.trim().to_lowercase())
}

#[cfg(test)]
mod tests {
    use pollux_config::Environment;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_lists_of_both_files_are_changed() {
        let home = tempfile::tempdir().unwrap();
        let text = home.path().display().to_string();
        let environment = Environment::from_pairs([("HOME", text.as_str())]);
        let switch = SkillSwitch { places: Places::new(&environment), cwd: home.path().join("p") };
        std::fs::create_dir_all(home.path().join(".gemini")).unwrap();
        let user = home.path().join(".gemini/settings.json");
        let project = home.path().join("p/.gemini/settings.json");
        std::fs::write(&user, "{\n  // mine\n  \"skills\": {\"disabled\": [\"Deploy\", 1]}\n}")
            .unwrap();
        let already = "Skill \"deploy\" disabled by adding it to the disabled list in user";
        let said = switch.disable("deploy", FileScope::User).unwrap().0;
        assert!(said.starts_with(already), "{said}");
        switch.disable("deploy", FileScope::Project).unwrap();
        assert!(std::fs::read_to_string(&project).unwrap().contains("\"deploy\""));
        assert_eq!(
            switch.enable("DEPLOY").unwrap().0,
            format!(
                "Skill \"DEPLOY\" enabled by removing it from the disabled list in user ({}) and workspace ({}) settings.",
                user.display(),
                project.display()
            )
        );
        let kept = std::fs::read_to_string(&user).unwrap();
        assert!(
            kept.contains("// mine") && kept.contains('1') && !kept.contains("Deploy"),
            "{kept}"
        );
        assert_eq!(switch.enable("x").unwrap().0, "Skill \"x\" is already enabled.");
    }
}
