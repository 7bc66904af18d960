//! Consent items of a project's definition files: custom commands, subagents and skills.
//!
//! The files are read as data, with limits, and listed with the commands that they would run. The
//! exception are custom commands that the user has agreed to before: these files are read when the
//! command is called, and their content is compared with the answers then.

use std::collections::HashMap;
use std::path::Path;

use pollux_fs::DirectoryEntry;
use pollux_protocol::ConsentItem;

use super::store::Pin;
use super::{EarlierAnswers, item, kinds};
use crate::custom_commands::{CommandFile, CommandFileError, find_commands};
use crate::skills::skill_items;
use crate::{GEMINI_DIR, files};

/// Maximum size of a definition file, in bytes. Larger files are not read.
const MAX_BYTES: u64 = 1024 * 1024;
/// Maximum number of files below one folder.
const MAX_FILES: usize = 500;
/// Number of files of custom commands that one thread reads.
const TOGETHER: usize = 64;
/// Maximum number of messages about skipped files.
const MAX_REPORTED: usize = 10;
/// Maximum number of lines of a definition that are shown.
const REPORTED_LINES: usize = 12;

/// Returns the items of a project's folder in the order of their names, and messages about
/// definitions that are not listed and therefore do not take effect.
pub(crate) fn items(project: &Path, known: EarlierAnswers<'_>) -> (Vec<ConsentItem>, Vec<String>) {
    let own = project.join(GEMINI_DIR);
    let mut listed = Listed::default();
    listed.commands(project, known);
    listed.subagents(&own.join("agents"));
    let (skills, left_out) = skill_items(project);
    listed.items.extend(skills);
    listed.left_out.extend(left_out);
    let more = listed.left_out.len().saturating_sub(MAX_REPORTED);
    listed.left_out.truncate(MAX_REPORTED);
    listed.left_out.extend((more > 0).then(|| format!("{more} more definitions are disabled.")));
    (listed.items, listed.left_out)
}

/// Returns the items of a project's subagents in the order of their names, and messages about files
/// that cannot be read. Blocks the thread.
pub fn subagent_items(project: &Path) -> (Vec<ConsentItem>, Vec<String>) {
    let mut listed = Listed::default();
    listed.subagents(&project.join(GEMINI_DIR).join("agents"));
    (listed.items, listed.left_out)
}

/// Returns the items of custom commands, in their order. Files whose item is known are not read.
/// Many files are read in parallel, because the user waits for the start.
fn read_together(
    files: &[CommandFile],
    known: &HashMap<&str, &Pin>,
) -> Vec<Result<ConsentItem, CommandFileError>> {
    let read = |file: &CommandFile| match known.get(&*file.label) {
        Some(pin) => Ok(pin.item()),
        None => file.read().map(|text| file.item(&text)),
    };
    if files.len() <= TOGETHER || files.iter().all(|file| known.contains_key(&*file.label)) {
        return files.iter().map(read).collect();
    }
    std::thread::scope(|scope| {
        let chunks = files.chunks(TOGETHER);
        let reading: Vec<_> = chunks
            .map(|chunk| scope.spawn(move || chunk.iter().map(read).collect::<Vec<_>>()))
            .collect();
        // A file that is not read has no item, so its command does not take effect.
        reading.into_iter().flat_map(|read| read.join().unwrap_or_default()).collect()
    })
}

/// Items found so far.
#[derive(Default)]
struct Listed {
    items: Vec<ConsentItem>,
    /// Messages for the user about definitions that do not take effect because they were not read,
    /// with the reason.
    left_out: Vec<String>,
}

impl Listed {
    /// Lists the custom commands of a project.
    fn commands(&mut self, project: &Path, known: EarlierAnswers<'_>) {
        let agreed = match known {
            EarlierAnswers::Pins(pins) => pins.agreed(kinds::CUSTOM_COMMAND),
            EarlierAnswers::Nothing | EarlierAnswers::Unreadable => HashMap::new(),
        };
        let found = find_commands(&project.join(GEMINI_DIR).join("commands"), Some(project));
        self.left_out.extend(found.left_out);
        for read in read_together(&found.files, &agreed) {
            match read {
                Ok(item) => self.items.push(item),
                Err(error) => self.left_out.push(format!("A definition is disabled: {error}")),
            }
        }
    }

    /// Lists every `.md` file in the folder whose name does not begin with `_`.
    fn subagents(&mut self, folder: &Path) {
        let is_one = |entry: &DirectoryEntry| {
            !entry.name.starts_with('_')
                && ends_in(&entry.path, "md")
                && files::is_file(&entry.path)
        };
        for entry in self.entries(folder, is_one) {
            let Some(text) = self.read(&entry.path) else { continue };
            let name = entry.name.trim_end_matches(".md");
            self.items.push(item(kinds::SUBAGENT, name, front_matter(&text), text.as_bytes()));
        }
    }

    /// Returns the first entries of this kind, in the order of their names.
    fn entries(
        &mut self,
        folder: &Path,
        is_one: impl Fn(&DirectoryEntry) -> bool,
    ) -> Vec<DirectoryEntry> {
        let mut entries = pollux_fs::list_directory(folder).unwrap_or_default();
        entries.retain(is_one);
        if entries.len() > MAX_FILES {
            entries.truncate(MAX_FILES);
            self.has_more(folder);
        }
        entries
    }

    fn read(&mut self, path: &Path) -> Option<String> {
        match files::read_whole(path, MAX_BYTES) {
            Ok(text) => Some(text),
            Err(error) => {
                self.left_out.push(format!("A definition is disabled: {error}."));
                None
            }
        }
    }

    fn has_more(&mut self, folder: &Path) {
        self.left_out.push(format!(
            "Pollux only reads the first {MAX_FILES} files of {}. The others are disabled.",
            folder.display()
        ));
    }
}

/// Returns the lines between the first two `---`, unchanged: they name tools, servers and commands.
fn front_matter(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).skip_while(|line| *line != "---").skip(1);
    let mut reported: Vec<&str> = lines.take_while(|line| *line != "---").collect();
    if reported.is_empty() {
        return "has no front matter".to_owned();
    }
    let more = reported.len().saturating_sub(REPORTED_LINES);
    reported.truncate(REPORTED_LINES);
    let more = if more > 0 { format!("\n({more} more lines)") } else { String::new() };
    reported.join("\n") + &more
}

fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|end| end == extension)
}
