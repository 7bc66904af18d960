//! Lists of extensions, in the form of Gemini CLI.

use pollux_config::consent::digest;
use pollux_config::{FileScope, skills};
use pollux_extensions::skills::{Skill, SkillOwner};
use pollux_extensions::{Extension, ExtensionSetting, ValueScope, without_credentials};
use pollux_host::Setup;
use pollux_protocol::plain_text::visible;
use serde_json::{Map, Value, json};

use super::switch;

/// Text for a list without extensions.
const NONE: &str = "No extensions installed.";

/// Returns the names of all extensions, for `--list-extensions`.
pub(crate) fn names(setup: &Setup) -> String {
    let lines = setup.extensions.iter().map(|extension| format!("- {}\n", extension.name()));
    let lines: String = lines.collect();
    if lines.is_empty() { format!("{NONE}\n") } else { format!("Installed extensions:\n{lines}") }
}

/// Returns everything about all extensions.
pub(super) fn list(setup: &Setup, as_json: bool) -> String {
    if as_json {
        let items: Vec<Value> = setup.extensions.iter().map(item).collect();
        return format!("{:#}\n", Value::from(items));
    }
    let entries: Vec<String> =
        setup.extensions.iter().map(|extension| entry(setup, extension)).collect();
    if entries.is_empty() { format!("{NONE}\n") } else { entries.join("\n") }
}

/// Returns the lines about an extension.
fn entry(setup: &Setup, extension: &Extension) -> String {
    let switch = switch(setup);
    let is_enabled = |scope| switch.is_enabled(extension, scope);
    let mark = if is_enabled(FileScope::Project) { "✓" } else { "✗" };
    let (name, version) = (extension.name(), visible(&extension.manifest.version));
    let mut text = format!("{mark} {name} ({version})\n");
    let mut line = |line: String| text.extend([" ", &line, "\n"]);
    line(format!("ID: {}", extension.id));
    line(format!("name: {}", digest(name.as_bytes())));
    line(format!("Path: {}", extension.folder.display()));
    if let Some(record) = &extension.record {
        line(format!(
            "Source: {} (Type: {})",
            visible(&without_credentials(&record.source)),
            record.kind.as_str()
        ));
        let reference = record.reference.iter().map(|reference| format!("Ref: {reference}"));
        let tag = record.release_tag.iter().map(|tag| format!("Release tag: {tag}"));
        reference.chain(tag).for_each(&mut line);
    }
    line(format!("Enabled (User): {}", is_enabled(FileScope::User)));
    line(format!("Enabled (Workspace): {}", is_enabled(FileScope::Project)));
    let mut group = |title: &str, items: Vec<String>| {
        if !items.is_empty() {
            line(format!("{title}:"));
            for item in &items {
                line(format!(" {}", visible(item)));
            }
        }
    };
    let files = extension.context_files.iter().map(|file| file.display().to_string());
    group("Context files", files.collect());
    let servers = extension.manifest.servers.iter().map(|(name, _)| name.clone());
    group("MCP servers", servers.collect());
    group("Excluded tools", extension.manifest.exclude_tools.clone());
    let skills = skills_of(extension);
    let skills = skills.iter().map(|skill| format!("{}: {}", skill.name, skill.description));
    group("Agent skills", skills.collect());
    group("Settings", extension.settings.iter().map(|one| setting(extension, one)).collect());
    text
}

fn setting(extension: &Extension, setting: &ExtensionSetting) -> String {
    let value = match &setting.value {
        None => "[not set]",
        Some(_) if setting.declaration.is_sensitive => "***",
        Some(value) => value,
    };
    let place = setting.scope.map(|scope| {
        let name = match scope {
            ValueScope::User => "User",
            ValueScope::Workspace => "Workspace",
        };
        let file = match scope {
            _ if setting.declaration.is_sensitive => "encrypted".to_owned(),
            ValueScope::User => extension.home.join(".env").display().to_string(),
            ValueScope::Workspace => ".env".to_owned(),
        };
        format!("({name} - {file})")
    });
    format!("{}: {value} {}", setting.declaration.name, place.unwrap_or_default())
}

/// Returns the skills that can be used.
fn skills_of(extension: &Extension) -> Vec<Skill> {
    let owner = SkillOwner::Extension(extension.name().into());
    let found = skills::find_skills(&extension.skills(), Some(&extension.folder)).folders;
    found.iter().filter_map(|folder| Skill::read(folder, owner.clone()).ok()).collect()
}

/// Returns an extension with the keys of Gemini CLI. Secrets are left out.
fn item(extension: &Extension) -> Value {
    let manifest = &extension.manifest;
    let servers: Map<String, Value> = manifest.servers.iter().cloned().collect();
    let settings = extension.settings.iter().map(|setting| {
        let declaration = &setting.declaration;
        let value = setting.value.as_ref().filter(|_| !declaration.is_sensitive);
        json!({
            "name": declaration.name,
            "envVar": declaration.variable,
            "value": value,
            "sensitive": declaration.is_sensitive,
            "scope": setting.scope.map(|scope| match scope {
                ValueScope::User => "user",
                ValueScope::Workspace => "workspace",
            }),
        })
    });
    let skills = skills_of(extension);
    let skills = skills.iter().map(|skill| {
        json!({"name": skill.name, "description": skill.description, "location": skill.file()})
    });
    json!({
        "name": manifest.name,
        "version": manifest.version,
        "path": extension.folder,
        "contextFiles": extension.context_files,
        "installMetadata": extension.record,
        "mcpServers": pollux_config::masked("mcpServers", &Value::Object(servers)),
        "excludeTools": manifest.exclude_tools,
        "hooks": extension.hooks,
        "isActive": extension.is_active,
        "id": extension.id,
        "resolvedSettings": settings.collect::<Vec<_>>(),
        "skills": skills.collect::<Vec<_>>(),
        "themes": manifest.themes,
        "plan": manifest.plan_directory.as_ref().map(|directory| json!({"directory": directory})),
        "migratedTo": manifest.migrated_to,
    })
}
