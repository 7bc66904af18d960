//! Extensions to begin with.

use std::path::Path;

use pollux_fs::{Expectation, WriteOptions};
use serde_json::{Map, Value, json};

use crate::error::InstallError;
use crate::manifest::{MANIFEST_FILE, check_name};

/// Files of a template, besides its manifest: path and content.
type Files = &'static [(&'static str, &'static str)];

/// Kind of extension to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensionTemplate {
    /// Name of the template.
    pub name: &'static str,
    files: Files,
}

/// All templates, with the names that they have in Gemini CLI.
pub const TEMPLATES: [ExtensionTemplate; 7] = [
    ExtensionTemplate {
        name: "custom-commands",
        files: &[(
            "commands/fs/grep-code.toml",
            include_str!("../templates/custom-commands/grep-code.toml"),
        )],
    },
    ExtensionTemplate { name: "exclude-tools", files: &[] },
    ExtensionTemplate {
        name: "hooks",
        files: &[
            ("hooks/hooks.json", include_str!("../templates/hooks/hooks.json")),
            ("scripts/on-start.js", include_str!("../templates/hooks/on-start.js")),
        ],
    },
    ExtensionTemplate {
        name: "mcp-server",
        files: &[("server.js", include_str!("../templates/mcp-server/server.js"))],
    },
    ExtensionTemplate {
        name: "policies",
        files: &[("policies/policies.toml", include_str!("../templates/policies/policies.toml"))],
    },
    ExtensionTemplate {
        name: "skills",
        files: &[("skills/greeter/SKILL.md", include_str!("../templates/skills/SKILL.md"))],
    },
    ExtensionTemplate { name: "themes-example", files: &[] },
];

impl ExtensionTemplate {
    /// Returns the template with a name.
    pub fn named(name: &str) -> Option<Self> {
        TEMPLATES.into_iter().find(|template| template.name == name)
    }

    /// Returns the fields of the manifest besides name and version.
    fn fields(self) -> Map<String, Value> {
        let fields = match self.name {
            "exclude-tools" => json!({"excludeTools": ["google_web_search", "web_fetch"]}),
            "mcp-server" => json!({
                "mcpServers": {
                    "example": {"command": "node", "args": ["${extensionPath}${/}server.js"]}
                }
            }),
            "themes-example" => json!({
                "themes": [{
                    "name": "Harbour",
                    "type": "custom",
                    "background": {"primary": "#10222e"},
                    "text": {"primary": "#e6edf0", "secondary": "#9fb4bf", "link": "#6cc7e0"},
                    "status": {"success": "#7fc48b", "warning": "#e0b665", "error": "#e07a6c"}
                }]
            }),
            _ => Value::Null,
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

/// Creates an extension in a new folder, whose name becomes that of the extension. Blocks the
/// thread.
///
/// # Errors
/// [`InstallError::Folder`] if there is something at the path, or if its name is not allowed;
/// [`InstallError::File`].
pub fn create(folder: &Path, template: Option<ExtensionTemplate>) -> Result<(), InstallError> {
    if pollux_fs::link_info(folder).is_ok() {
        return Err(InstallError::Exists(folder.to_owned()));
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    check_name(&name).map_err(InstallError::Name)?;
    let mut manifest = json!({"name": name, "version": "1.0.0"});
    if let (Some(map), Some(template)) = (manifest.as_object_mut(), template) {
        map.extend(template.fields());
    }
    let text = format!("{manifest:#}\n");
    let files = template.map_or(&[] as Files, |template| template.files);
    for (path, text) in [(MANIFEST_FILE, text.as_str())].into_iter().chain(files.iter().copied()) {
        let options = WriteOptions {
            create_parents: true,
            expected: Some(Expectation::Absent),
            ..WriteOptions::default()
        };
        pollux_fs::write_atomic(&folder.join(path), text.as_bytes(), &options)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::{Validation, validate};

    #[test]
    fn every_template_is_a_valid_extension() {
        let base = tempfile::tempdir().unwrap();
        for template in TEMPLATES.map(Some).into_iter().chain([None]) {
            let name = template.map_or("plain", |template| template.name);
            let folder = base.path().join("new").join(name);
            create(&folder, template).unwrap();
            assert_eq!(validate(&folder).unwrap(), Validation::default(), "{name}");
            assert!(matches!(create(&folder, template), Err(InstallError::Exists(_))));
        }
        let error = create(&base.path().join("a b"), None).unwrap_err().to_string();
        assert!(error.starts_with("Invalid extension name: \"a b\""), "{error}");
        assert!(!base.path().join("a b").exists());
    }
}
