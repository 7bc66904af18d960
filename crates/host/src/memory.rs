//! Context files of a conversation, as the model and the user see them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pollux_agent::SessionMemory;
use pollux_config::context::{self, ContextFile, ContextFiles, ContextOptions};
use pollux_config::{Accepted, Places, Settings};
use pollux_fs::{Expectation, Workspace, WriteOptions};
use pollux_protocol::{DISCOVERED_CONTEXT, History, Live, Part, estimate};
use pollux_tools::{ContextLookup, with_fact};

use crate::setup::Setup;

/// Maximum size, in bytes, of the context file that facts are added to.
const LARGEST: u64 = 1 << 20;

/// Context files of a conversation. The text of the user's own files is shared with the agent.
pub(crate) struct Memory {
    places: Places,
    workspace: Live<Workspace>,
    private_memory_dir: PathBuf,
    trusted: bool,
    accepted: Accepted,
    settings: Settings,
    /// File that facts are added to.
    own_file: PathBuf,
    /// Files of extensions.
    extensions: Vec<PathBuf>,
    files: Mutex<ContextFiles>,
    reported: Live<SessionMemory>,
}

impl Memory {
    /// Finds and reads the context files, and reports those that cannot be used.
    pub(crate) fn read(setup: &Setup) -> Self {
        let memory = Self {
            places: setup.places.clone(),
            workspace: setup.workspace.clone(),
            private_memory_dir: setup.project.memory_dir(),
            trusted: setup.loaded.trust.is_trusted(),
            accepted: setup.loaded.accepted.clone(),
            settings: setup.loaded.settings.clone(),
            own_file: setup.global_memory(),
            extensions: setup.extensions.context_files(),
            files: Mutex::default(),
            reported: Live::default(),
        };
        let files = context::discover(&memory.options(&memory.folders()));
        files.warnings.iter().for_each(|warning| setup.input.request.notices.warning(warning));
        if setup.input.options.debug {
            for file in files.by_origin().flat_map(|(_, files)| files) {
                setup.input.request.notices.info(&format!("Read context: {}", file.path.display()));
            }
        }
        memory.reported.update(|reported| reported.replace(&memory.system_section(&files), None));
        *memory.files() = files;
        memory
    }

    /// Returns the text of the user's own files and notes, as the system instruction contains it.
    pub(crate) fn reported(&self) -> Live<SessionMemory> {
        self.reported.clone()
    }

    /// Returns the text of the files of extensions and of the project, for the first message.
    pub(crate) fn project_section(&self) -> String {
        let files = self.files();
        let extensions = context::blocks(&files.extensions);
        context::project_section(&extensions, &files.project, "").unwrap_or_default()
    }

    /// Returns a function that finds the context files of a path that the model has not received
    /// yet; `None` if the folder is not trusted.
    pub(crate) fn lookup(self: &Arc<Self>) -> Option<ContextLookup> {
        let memory = Arc::clone(self);
        let look = move |path: &Path| {
            let found = memory.files().jit(&memory.options(&memory.folders()), path);
            (!found.is_empty()).then(|| context::blocks(&found))
        };
        self.trusted.then(|| -> ContextLookup { Arc::new(look) })
    }

    /// Restores the state of a resumed conversation: context files that its tool results contain
    /// are not sent again.
    pub(crate) fn resume(&self, history: &History) {
        let parts = history.entries().iter().flat_map(|entry| entry.content().parts.iter());
        self.files().mark_loaded(parts.flat_map(context_files_in));
    }

    /// Lists every file with its origin and its size in tokens.
    pub(crate) fn list(&self) -> String {
        let files = self.files();
        let mut lines = Vec::new();
        for (origin, files) in files.by_origin() {
            lines.push(format!("{}:", origin.title()));
            lines.extend(files.iter().map(|file| {
                format!("  {} ({})", file.path.display(), tokens(estimate::text(&file.text)))
            }));
        }
        lines.extend(files.warnings.iter().cloned());
        if lines.is_empty() { NONE.to_owned() } else { lines.join("\n") }
    }

    /// Returns the text of every file, grouped by origin.
    pub(crate) fn show(&self) -> String {
        let files = self.files();
        let sections: Vec<String> = files
            .by_origin()
            .map(|(origin, files)| {
                format!("--- {} ---\n{}", origin.title(), context::blocks(files))
            })
            .collect();
        if sections.is_empty() { NONE.to_owned() } else { sections.join("\n\n") }
    }

    /// Reads all context files again. The next prompt reports the changes to the model; files of
    /// sub-folders are sent again when a tool touches these folders.
    pub(crate) fn reload(&self) -> String {
        let new = context::discover(&self.options(&self.folders()));
        let (mut count, mut size) = (0, 0.0);
        for file in new.by_origin().flat_map(|(_, files)| files) {
            count += 1;
            size += estimate::text(&file.text);
        }
        let plural = if count == 1 { "" } else { "s" };
        let mut lines = vec![format!("{count} context file{plural} loaded, {}.", tokens(size))];
        lines.extend(new.warnings.iter().cloned());
        let mut files = self.files();
        let sent =
            |files: &ContextFiles| [files.extensions.clone(), files.project.clone()].concat();
        let (system, notice) =
            (self.system_section(&new), describe_changes(&sent(&files), &sent(&new)));
        self.reported.update(|reported| reported.replace(&system, notice));
        *files = new;
        lines.join("\n")
    }

    /// Adds a fact to the user's own file, and reads all context files again.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written, or would become too large.
    pub(crate) fn add(&self, fact: &str) -> Result<String, String> {
        let path = &self.own_file;
        let reported = |error: pollux_fs::Error| format!("Nothing was added: {error}");
        let old = match pollux_fs::read_text(path, LARGEST) {
            Ok(file) => Some(file),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(reported(error)),
        };
        let text = with_fact(old.as_ref().map_or("", |file| &file.text), fact)
            .ok_or("Nothing was added: the fact is empty.")?;
        let (bytes, expected) = match &old {
            Some(file) => {
                (file.replaced(&text).map_err(reported)?, Expectation::Unchanged(file.fingerprint))
            }
            None => (text.into_bytes(), Expectation::Absent),
        };
        let expected = Some(expected);
        let options = WriteOptions { create_parents: true, expected, ..WriteOptions::default() };
        pollux_fs::write_atomic(path, &bytes, &options).map_err(reported)?;
        Ok(format!("Added to {}.\n{}", path.display(), self.reload()))
    }

    fn system_section(&self, files: &ContextFiles) -> String {
        let names = context::names(&self.settings.context().file_names);
        let section = context::system_section(&names, &files.global, files.private_memory.as_ref());
        section.unwrap_or_default()
    }

    fn folders(&self) -> Vec<PathBuf> {
        self.workspace.get().roots().map(Path::to_owned).collect()
    }

    fn options<'a>(&'a self, folders: &'a [PathBuf]) -> ContextOptions<'a> {
        ContextOptions {
            places: &self.places,
            workspace: folders,
            private_memory_dir: Some(self.private_memory_dir.clone()),
            extensions: &self.extensions,
            trusted: self.trusted,
            accepted: &self.accepted,
            settings: self.settings.context(),
        }
    }

    fn files(&self) -> MutexGuard<'_, ContextFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Message for a conversation without context files.
const NONE: &str = "There are no context files here.";

fn tokens(estimate: f64) -> String {
    format!("{} tokens", estimate.round() as u64)
}

/// Returns a message to the model about changes of the files of its first message; `None` if
/// nothing has changed.
fn describe_changes(old: &[ContextFile], new: &[ContextFile]) -> Option<String> {
    let changed: Vec<ContextFile> =
        new.iter().filter(|file| !old.contains(file)).cloned().collect();
    let there: BTreeSet<&Path> = new.iter().map(|file| file.path.as_path()).collect();
    let gone = old.iter().map(|file| file.path.as_path()).filter(|path| !there.contains(path));
    let gone: Vec<String> =
        gone.map(|path| format!("Removed files: {}\n", path.display())).collect();
    let changed = context::project_section("", &changed, "").map(|section| section + "\n");
    if changed.is_none() && gone.is_empty() {
        return None;
    }
    Some(format!(
        "<context_update>\nThe project's context files have changed. This replaces the earlier content of the same files.\n{}{}</context_update>",
        changed.unwrap_or_default(),
        gone.concat(),
    ))
}

/// Returns the context files that are contained in the result of a tool.
fn context_files_in(part: &Part) -> Vec<PathBuf> {
    let output = part.as_response().and_then(|answer| answer.response.get("output")?.as_str());
    let Some((_, block)) = output.and_then(|output| output.rsplit_once(DISCOVERED_CONTEXT[0]))
    else {
        return Vec::new();
    };
    let paths = block.lines().filter_map(|line| {
        line.strip_prefix("--- Context from: ")?.strip_suffix(" ---").map(PathBuf::from)
    });
    paths.collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn file(path: &str, text: &str) -> ContextFile {
        ContextFile { path: path.into(), text: text.into() }
    }

    #[test]
    fn only_what_has_changed_is_reported_again() {
        let (a, b) = (file("/p/A.md", "a"), file("/p/B.md", "b"));
        let old = [a.clone(), b.clone()];
        assert_eq!(describe_changes(&old, &old), None);
        assert_eq!(describe_changes(&[], &[]), None);
        let reported = describe_changes(&old, &[a.clone(), file("/p/B.md", "new")]).unwrap();
        assert!(reported.contains("\nnew\n") && !reported.contains("A.md"), "{reported}");
        let reported = describe_changes(&old, &[b]).unwrap();
        assert!(reported.contains("\nRemoved files: /p/A.md\n</context_update>"), "{reported}");
        assert!(!reported.contains("loaded_context"), "{reported}");
    }

    #[test]
    fn a_file_with_an_imitation_of_the_block_hides_nothing() {
        let block = |path: &str| {
            format!("--- Context from: {path} ---\nx\n--- End of Context from: {path} ---")
        };
        let [opening, closing] = DISCOVERED_CONTEXT;
        let output = format!(
            "{opening}\n{}\nthe file continues\n\n{opening}\n{}\n{closing}",
            block("/p/imitated.md"),
            block("/p/sub/GEMINI.md")
        );
        assert_eq!(
            context_files_in(&Part::output("1", "read_file", output)),
            [PathBuf::from("/p/sub/GEMINI.md")]
        );
        assert_eq!(
            context_files_in(&Part::output("1", "read_file", block("/p/imitated.md"))),
            Vec::<PathBuf>::new()
        );
        assert_eq!(context_files_in(&Part::text(block("/p/imitated.md"))), Vec::<PathBuf>::new());
    }
}
