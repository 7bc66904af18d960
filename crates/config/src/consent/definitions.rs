//! The items among a project's definition files: custom commands, subagents and skills.
//!
//! They are read as data, within bounds, and listed with what they would run.

use std::path::{Path, PathBuf};

use pollux_fs::EntryKind;
use pollux_protocol::ConsentItem;

use super::{digest, item, kinds};
use crate::{GEMINI_DIR, files};

/// The largest definition file that is read, in bytes. A larger one is no definition.
const MAX_BYTES: u64 = 1024 * 1024;
/// How deep folders of commands, and folders of a skill, are followed.
const MAX_DEPTH: usize = 8;
/// The most files below one folder.
const MAX_FILES: usize = 500;
/// Lines of a definition that are told.
const TOLD_LINES: usize = 12;

/// Lists what a project's folder defines, in the order of names.
pub(crate) fn items(project: &Path) -> Vec<ConsentItem> {
    let own = project.join(GEMINI_DIR);
    let mut items = commands(&own.join("commands"));
    items.extend(subagents(&own.join("agents")));
    for folder in [own.join("skills"), project.join(".agents").join("skills")] {
        items.extend(skills(&folder));
    }
    items
}

/// Every `.toml` below the folder.
fn commands(folder: &Path) -> Vec<ConsentItem> {
    let found = files_below(folder).into_iter().filter(|path| ends_in(path, "toml"));
    let listed = found.filter_map(|path| {
        let text = files::read_whole(&path, MAX_BYTES).ok()?;
        let relative = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
        let names: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        let name = format!("/{}", names.join(":"));
        Some(item(kinds::CUSTOM_COMMAND, &name, command_detail(&text), text.as_bytes()))
    });
    listed.collect()
}

/// What a custom command would run and read.
fn command_detail(text: &str) -> String {
    let Ok(table) = text.parse::<toml::Table>() else {
        return "cannot be read as TOML".to_owned();
    };
    let value = |key: &str| table.get(key).and_then(toml::Value::as_str).unwrap_or_default();
    let prompt = value("prompt");
    let mut lines: Vec<String> =
        inserted(prompt, "!{").map(|command| format!("runs: {command}")).collect();
    lines.extend(inserted(prompt, "@{").map(|path| format!("reads: {path}")));
    if lines.is_empty() {
        let first = prompt.trim().lines().next().unwrap_or_default();
        lines.push(format!("only a prompt: {first}"));
    }
    lines.join("\n")
}

/// What stands between `open` and its closing brace, each time.
fn inserted<'a>(prompt: &'a str, open: &'a str) -> impl Iterator<Item = &'a str> {
    let mut rest = prompt;
    std::iter::from_fn(move || {
        let begin = rest.find(open)? + open.len();
        let after = &rest[begin..];
        let mut depth = 1usize;
        let end = after.char_indices().find_map(|(at, letter)| {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(at)
        });
        // One that is not closed is told to its end.
        let end = end.unwrap_or(after.len());
        rest = &after[end..];
        Some(after[..end].trim())
    })
}

/// Every `.md` in the folder whose name does not begin with `_`.
fn subagents(folder: &Path) -> Vec<ConsentItem> {
    let entries = pollux_fs::list_directory(folder).unwrap_or_default();
    let found = entries.into_iter().filter(|entry| {
        !entry.name.starts_with('_') && ends_in(&entry.path, "md") && files::is_file(&entry.path)
    });
    let listed = found.take(MAX_FILES).filter_map(|entry| {
        let text = files::read_whole(&entry.path, MAX_BYTES).ok()?;
        let name = entry.name.trim_end_matches(".md");
        Some(item(kinds::SUBAGENT, name, front_matter(&text), text.as_bytes()))
    });
    listed.collect()
}

/// The lines between the first two `---`, as they are: they name tools, servers and commands.
fn front_matter(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).skip_while(|line| *line != "---").skip(1);
    let mut told: Vec<&str> = lines.take_while(|line| *line != "---").collect();
    if told.is_empty() {
        return "has no front matter".to_owned();
    }
    let more = told.len().saturating_sub(TOLD_LINES);
    told.truncate(TOLD_LINES);
    let more = if more > 0 { format!("\n({more} more lines)") } else { String::new() };
    told.join("\n") + &more
}

/// Every folder with a `SKILL.md` that has more files: a skill of words alone runs nothing.
fn skills(folder: &Path) -> Vec<ConsentItem> {
    let entries = pollux_fs::list_directory(folder).unwrap_or_default();
    let found = entries.into_iter().filter(|entry| files::is_file(&entry.path.join("SKILL.md")));
    found.take(MAX_FILES).filter_map(|entry| skill(&entry.name, &entry.path)).collect()
}

fn skill(name: &str, folder: &Path) -> Option<ConsentItem> {
    let brought = files_below(folder);
    let names: Vec<String> = brought
        .iter()
        .filter_map(|path| Some(path.strip_prefix(folder).ok()?.display().to_string()))
        .collect();
    if names.iter().all(|name| name == "SKILL.md") {
        return None;
    }
    let content: String = brought
        .iter()
        .zip(&names)
        .map(|(path, name)| match pollux_fs::read_bytes(path, MAX_BYTES) {
            Ok(bytes) => format!("{} {name}\n", digest(&bytes)),
            Err(error) => format!("{} {name}\n", error.code()),
        })
        .collect();
    let beside: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| *name != "SKILL.md").collect();
    let detail = format!("brings: {}", beside.join(", "));
    Some(item(kinds::SKILL, name, detail, content.as_bytes()))
}

/// The regular files below a folder, links followed, in the order of their paths.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    gather(folder, MAX_DEPTH, &mut found);
    found
}

fn gather(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let mut entries = pollux_fs::list_directory(folder).unwrap_or_default();
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    for entry in entries {
        if found.len() >= MAX_FILES {
            return;
        }
        match pollux_fs::info(&entry.path).map(|info| info.kind) {
            Ok(EntryKind::File) => found.push(entry.path),
            Ok(EntryKind::Directory) if depth > 1 => gather(&entry.path, depth - 1, found),
            _ => {}
        }
    }
}

fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|end| end == extension)
}
