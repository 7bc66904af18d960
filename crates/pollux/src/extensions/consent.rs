//! Everything that the user agrees to with an extension.

use std::path::Path;

use pollux_config::custom_commands::find_commands;
use pollux_config::skills::find_skills;
use pollux_extensions::manifest::Manifest;
use pollux_extensions::skills::{Skill, SkillOwner};
use pollux_extensions::{Variables, hooks_in};
use pollux_protocol::plain_text::visible;
use serde_json::Value;

/// Warnings of Gemini CLI before an installation.
const WARNING: &str = "The extension you are about to install may have been created by a third-party developer and sourced from a public repository. Google does not vet, endorse, or guarantee the functionality or security of extensions. Please carefully inspect any extension and its source code before installing to understand the permissions it requires and the actions it may perform.";
const SKILL_WARNING: &str = "Agent skills inject specialized instructions and domain-specific knowledge into the agent's system prompt. This can change how the agent interprets your requests and interacts with your environment. Review the skill definitions at the location(s) provided below to ensure they meet your security standards.";

/// Returns everything that an extension in a folder brings, item by item. Invisible characters of
/// the extension's own text are written as escapes.
pub(super) fn details(manifest: &Manifest, folder: &Path, variables: &Variables) -> String {
    let mut lines = Vec::new();
    servers(manifest, &mut lines);
    if let Some(files) = &manifest.context_files {
        let files = visible(&files.join(","));
        lines.push(format!(
            "This extension will append info to your gemini.md context using {files}"
        ));
    }
    if !manifest.exclude_tools.is_empty() {
        let tools = visible(&manifest.exclude_tools.join(","));
        lines.push(format!("This extension will exclude the following core tools: {tools}"));
    }
    hooks(folder, variables, &mut lines);
    let commands = find_commands(&folder.join("commands"), Some(folder)).files;
    list("Custom commands:", commands.iter().map(|file| file.label.clone()), &mut lines);
    let policies = names_in(&folder.join("policies"), "toml");
    list("Policies:", policies, &mut lines);
    let agents = names_in(&folder.join("agents"), "md");
    list("Subagents:", agents, &mut lines);
    let themes = manifest.themes.iter().filter_map(|theme| theme.get("name")?.as_str());
    list("Themes:", themes.map(str::to_owned), &mut lines);
    let settings = manifest
        .settings
        .iter()
        .map(|setting| format!("{} ({}): {}", setting.name, setting.variable, setting.description));
    list("Settings that you enter:", settings, &mut lines);
    let has_skills = skills(manifest, folder, variables, &mut lines);
    let text = lines.join("\n");
    let text = if text.is_empty() { WARNING.to_owned() } else { format!("{text}\n\n{WARNING}") };
    if has_skills { format!("{text}\n\n{SKILL_WARNING}") } else { text }
}

fn list(title: &str, items: impl Iterator<Item = String>, lines: &mut Vec<String>) {
    let items: Vec<String> = items.map(|item| item_line(&item)).collect();
    if !items.is_empty() {
        lines.push(title.to_owned());
        lines.extend(items);
    }
}

/// Returns the line of an item, with escapes in place of characters that would be invisible.
fn item_line(item: &str) -> String {
    format!("  * {}", visible(item))
}

/// Returns the names of the files in a folder that have an extension.
fn names_in(folder: &Path, extension: &'static str) -> impl Iterator<Item = String> + use<> {
    let entries = pollux_fs::list_directory(folder).unwrap_or_default().into_iter();
    let is_fitting = move |entry: &pollux_fs::DirectoryEntry| {
        entry.path.extension().is_some_and(|end| end == extension)
    };
    entries.filter(is_fitting).map(|entry| entry.name)
}

fn servers(manifest: &Manifest, lines: &mut Vec<String>) {
    let server = |(name, entry): &(String, Value)| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        if let Some(address) = text("httpUrl").or(text("url")) {
            return format!("{name} (remote): {address}");
        }
        let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
        let words = text("command").into_iter().chain(args.filter_map(Value::as_str));
        format!("{name} (local): {}", words.collect::<Vec<_>>().join(" "))
    };
    let servers = manifest.servers.iter().map(server);
    list("This extension will run the following MCP servers:", servers, lines);
}

fn hooks(folder: &Path, variables: &Variables, lines: &mut Vec<String>) {
    let Ok(Some(Value::Object(events))) = hooks_in(folder, variables) else { return };
    lines.push(
        "⚠️  This extension contains Hooks which can automatically execute commands.".to_owned(),
    );
    for (event, definitions) in &events {
        let definitions = definitions.as_array().into_iter().flatten();
        let hooks = definitions.filter_map(|definition| definition.get("hooks")?.as_array());
        for hook in hooks.flatten() {
            let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
            lines.push(item_line(&format!("{event}: {command}")));
        }
    }
}

/// Adds the skills, and returns true if there are any.
fn skills(
    manifest: &Manifest,
    folder: &Path,
    variables: &Variables,
    lines: &mut Vec<String>,
) -> bool {
    let found = find_skills(&folder.join("skills"), Some(folder)).folders;
    let owner = SkillOwner::Extension(manifest.name.as_str().into());
    let read = found.iter().filter_map(|skill| Skill::read(skill, owner.clone()).ok());
    let skills = read.map(|skill| {
        let place = skill.folder.strip_prefix(folder).unwrap_or(&skill.folder).to_path_buf();
        let items = pollux_fs::list_directory(&skill.folder).map_or(0, |entries| entries.len());
        format!(
            "{}: {} (Source: {}) ({items} items in directory)",
            skill.name,
            variables.fill_text(&skill.description),
            place.join("SKILL.md").display()
        )
    });
    let skills: Vec<String> = skills.collect();
    let has_skills = !skills.is_empty();
    list("This extension will install the following agent skills:", skills.into_iter(), lines);
    has_skills
}
