//! Checks of an extension by its author.

use std::path::Path;

use pollux_config::skills::find_skills;

use crate::extension::{context_files, read_hooks};
use crate::manifest::{Manifest, ManifestError};
use crate::servers::server_faults;
use crate::skills::{Skill, SkillOwner};
use crate::variables::Variables;

/// Faults of an extension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validation {
    /// Faults that do not prevent its use.
    pub warnings: Vec<String>,
    /// Faults that prevent the use of the extension, or of a part of it.
    pub errors: Vec<String>,
}

/// Checks the extension in a folder. The definitions in the file with its hooks are not checked.
/// Blocks the thread.
///
/// # Errors
/// The reason why its manifest cannot be used at all.
pub fn validate(folder: &Path) -> Result<Validation, ManifestError> {
    let variables = Variables::new(folder, folder);
    let (manifest, _) = Manifest::read(folder, &variables)?;
    let mut found = Validation::default();
    if !is_semantic(&manifest.version) {
        found.warnings.push(format!(
            "Warning: Version '{}' does not appear to be standard semver (e.g., 1.0.0).",
            manifest.version
        ));
    }
    match context_files(folder, manifest.context_files.as_deref()) {
        Ok(existing) => {
            let names = manifest.context_files.iter().flatten();
            let missing: Vec<&str> = names
                .filter(|name| !existing.contains(&folder.join(name)))
                .map(String::as_str)
                .collect();
            if !missing.is_empty() {
                found.errors.push(format!(
                    "The following context files referenced in gemini-extension.json are missing: {}",
                    missing.join(",")
                ));
            }
        }
        Err(error) => found.errors.push(error.to_string()),
    }
    let (severe, slight): (Vec<_>, Vec<_>) =
        server_faults(&manifest, folder).into_iter().partition(|fault| fault.is_severe);
    found.errors.extend(severe.into_iter().map(|fault| fault.text));
    found.warnings.extend(slight.into_iter().map(|fault| fault.text));
    found.errors.extend(read_hooks(folder, &variables).err());
    let skills = find_skills(&folder.join("skills"), Some(folder));
    found.errors.extend(skills.left_out);
    let owner = SkillOwner::Extension(manifest.name.into());
    let read = skills.folders.iter().map(|skill| Skill::read(skill, owner.clone()));
    found.errors.extend(read.filter_map(Result::err).map(|error| error.to_string()));
    Ok(found)
}

/// Returns true for a semantic version: `1.2.3`, `1.2.3-beta.1+build`.
fn is_semantic(version: &str) -> bool {
    let version = version.strip_prefix('v').unwrap_or(version);
    let end = version.find(['-', '+']).unwrap_or(version.len());
    let (numbers, rest) = version.split_at(end);
    let is_number = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|digit| digit.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'))
    };
    let is_rest = |letter: char| letter.is_ascii_alphanumeric() || "-+.".contains(letter);
    numbers.split('.').filter(|part| is_number(part)).count() == 3
        && numbers.split('.').count() == 3
        && rest.chars().all(is_rest)
        && rest.len() != 1
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn versions() {
        for version in ["1.0.0", "0.10.2", "1.2.3-beta.1+b", "v1.0.0"] {
            assert!(is_semantic(version), "{version}");
        }
        for version in ["x", "1", "1.0", "01.0.0", "1.0.0.0", "1.0.0-", "1..0", ""] {
            assert!(!is_semantic(version), "{version}");
        }
    }

    #[test]
    fn faults_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert!(matches!(validate(folder.path()), Err(ManifestError::Missing(_))));
        write("gemini-extension.json", r#"{"name": "n", "version": "1.0.0"}"#);
        assert_eq!(validate(folder.path()).unwrap(), Validation::default());
        let text = r#"{"name": "n", "version": "x", "contextFileName": ["A.md", "B.md"],
            "mcpServers": {"s": {"command": "", "comand": "c"}, "t": {"args": []}}}"#;
        write("gemini-extension.json", text);
        write("A.md", "");
        write("hooks/hooks.json", "[]");
        write("skills/s/SKILL.md", "no front matter");
        let found = validate(folder.path()).unwrap();
        assert_eq!(found.warnings.len(), 2);
        let reasons = [
            "are missing: B.md",
            "mcpServers.t\" has neither",
            "Invalid hooks configuration",
            "The skill ",
        ];
        assert_eq!(found.errors.len(), reasons.len(), "{found:?}");
        for (error, reason) in found.errors.iter().zip(reasons) {
            assert!(error.contains(reason), "{error}");
        }
    }
}
