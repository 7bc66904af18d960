//! Expansion of the `@path`, `@server:uri` and `@agent` references of a prompt.
//!
//! The layout of the parts is the same as in Gemini CLI: the prompt with the paths as the workspace
//! knows them, a heading, the label and content of each file, and a closing line. A path that is
//! ignored, outside the workspace or not found stays in the prompt as it was typed. All work is
//! bounded, because piped text is part of the prompt and may hold any number of `@`s.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pollux_fs::{IgnoreOptions, IgnoreRules, NEVER, Workspace};
use pollux_mcp::Servers;
use pollux_protocol::{Body, Files, Live, Notices, Part, PromptSource, SessionFailure};
use pollux_tools::{FileContent, FileReader, FileSearch};

use crate::setup::Setup;

mod at_path;
mod completion;
mod insertion;
mod path_index;
mod report;
mod resolver;
mod resources;
#[cfg(test)]
mod tests;

use at_path::{Token, tokens};
pub(crate) use completion::PathCompleter;
pub(crate) use path_index::PathIndex;
use report::{Report, Unresolved};
use resolver::{Resolved, Resolver, shown_path};
use resources::ResourceParts;

const HEADING: &str = "\n--- Content from referenced files ---";
const CLOSING: &str = "\n--- End of content ---";

/// Maximum number of different names of one prompt that are resolved; further names stay text.
const MAX_NAMES: usize = 1000;
/// Service that expands the `@path` references of prompts with the settings of a run.
#[derive(Clone)]
pub(crate) struct Expander {
    workspace: Live<Workspace>,
    files: Arc<dyn Files>,
    ignore: IgnoreOptions,
    recursive_search: bool,
    /// Sink for messages about files that are missing from the prompt.
    notices: Arc<dyn Notices>,
    /// True to report skipped entries of folders, too.
    debug: bool,
    /// True to report the included files.
    interactive: bool,
    source: PromptSource,
    /// MCP servers whose resources can be named.
    servers: Option<Servers>,
    /// Subagents that can be named.
    agents: Vec<String>,
}

impl Expander {
    pub(crate) fn new(setup: &Setup, source: PromptSource) -> Self {
        let is_recursive = "context.fileFiltering.enableRecursiveFileSearch";
        Self {
            workspace: setup.workspace.clone(),
            files: Arc::clone(&setup.input.request.files),
            ignore: setup.ignore_options(),
            recursive_search: setup.loaded.settings.boolean(is_recursive) && setup.offers("glob"),
            notices: Arc::clone(&setup.input.request.notices),
            debug: setup.input.options.debug,
            interactive: setup.is_interactive(),
            source,
            servers: None,
            agents: Vec::new(),
        }
    }

    /// Also takes the names of these subagents as references.
    pub(crate) fn with_agents(self, agents: Vec<String>) -> Self {
        Self { agents, ..self }
    }

    /// Also expands references to resources of these servers.
    pub(crate) fn with_servers(self, servers: Option<&Servers>) -> Self {
        Self { servers: servers.cloned(), ..self }
    }

    /// Allows these paths in addition to those that the workspace opens for reading.
    pub(crate) fn allowing(mut self, paths: &[PathBuf]) -> Self {
        if !paths.is_empty() {
            let mut workspace = Workspace::clone(&self.workspace.get());
            for path in paths {
                workspace.allow_reading(path);
            }
            self.workspace = Live::new(workspace);
        }
        self
    }

    /// Expands a prompt, on a thread where blocking is allowed.
    ///
    /// # Errors
    /// [`SessionFailure::Input`] for a named file that cannot be read.
    pub(crate) async fn expand(&self, prompt: &str) -> Result<Vec<Part>, SessionFailure> {
        if !prompt.contains('@') {
            return Ok(vec![Part::text(prompt)]);
        }
        let resources = self.resources(prompt).await?;
        let Self { workspace, files, ignore, recursive_search, source, agents, .. } = self.clone();
        let (workspace, prompt) = (workspace.get(), prompt.to_owned());
        let work = tokio::task::spawn_blocking(move || {
            let rules = IgnoreRules::for_roots(workspace.roots(), &ignore);
            let (git, piped) = match source {
                PromptSource::Typed => (false, 0),
                PromptSource::Linked => (ignore.git, 0),
                PromptSource::Piped { typed } => (ignore.git, prompt.len().saturating_sub(typed)),
            };
            let kept = IgnoreRules::for_roots(workspace.roots(), &IgnoreOptions { git, ..ignore });
            let (files, rules, kept) = (&*files, &rules, &kept);
            References {
                workspace: &workspace,
                files,
                rules,
                kept,
                recursive_search,
                piped,
                resources: &resources,
                agents: &agents,
            }
            .expand(&prompt)
        });
        let expanded = work.await.map_err(|error| SessionFailure::general(&error))?;
        let Expansion { parts, report } =
            expanded.map_err(|error| SessionFailure::input(&error))?;
        let notes = report.notes.iter().filter(|_| self.debug).cloned();
        for message in report.for_user(false).into_iter().chain(notes) {
            self.notices.warning(&message);
        }
        if let Some(message) = report.included().filter(|_| self.interactive) {
            self.notices.info(&message);
        }
        Ok(parts)
    }
}

/// Returns the part that tells the model which subagents the user has chosen.
fn agent_note(agents: &[String]) -> Part {
    let names = agents.join(", ");
    Part::text(format!(
        "\n<system_note>\nThe user has chosen these subagents with an @: {names}. Delegate the \
         work that the prompt describes to them.\n</system_note>\n"
    ))
}

/// Error of a named file that cannot be read, with the message of Gemini CLI; becomes
/// [`SessionFailure::Input`].
#[derive(Debug, thiserror::Error)]
#[error(
    "Exiting due to an error processing the @ command: Error reading files ({label}): {source}"
)]
struct ReferenceError {
    label: String,
    source: pollux_fs::Error,
}

/// A prompt together with the contents that it refers to.
#[derive(Debug, Clone, PartialEq)]
struct Expansion {
    /// Parts for the model. A prompt without references is one part, unchanged.
    parts: Vec<Part>,
    /// Everything that is missing, and what is included.
    report: Report,
}

/// Folders, rules and limits for the expansion of one prompt.
struct References<'a> {
    /// Folders of the workspace, and the rules about which paths may be read.
    workspace: &'a Workspace,
    /// Text of files; takes precedence over the disk.
    files: &'a dyn Files,
    /// Ignore rules for paths that no reference names explicitly.
    rules: &'a IgnoreRules,
    /// Ignore rules for explicitly named paths. In a typed prompt Git's ignore files are not among
    /// them: they are about commits and must not keep the user from showing a file. Files that hide
    /// content from models always count. In a piped prompt and for links all ignore files count,
    /// because their author is unknown.
    kept: &'a IgnoreRules,
    /// True if a name without a file at its path is searched for: the setting
    /// `context.fileFiltering.enableRecursiveFileSearch`.
    recursive_search: bool,
    /// Number of bytes at the start of the prompt that came through a pipe. Names in them that are
    /// not found are not reported, because any text can contain an `@`.
    piped: usize,
    /// Contents of the resources that the prompt names, by reference.
    resources: &'a ResourceParts,
    /// Subagents that the prompt can name. They win over files of the same name, as in Gemini CLI.
    agents: &'a [String],
}

/// File to read.
struct Wanted {
    label: String,
    /// True if the prompt names the file itself, not only a folder that holds it.
    named: bool,
}

impl References<'_> {
    /// Expands a prompt. Reads files, so call it where blocking is allowed.
    ///
    /// # Errors
    /// [`ReferenceError`] for a named file that cannot be read. A file that is too large or is not
    /// text is reported to the model instead.
    fn expand(&self, prompt: &str) -> Result<Expansion, ReferenceError> {
        let mut resolver =
            Resolver::new(self.workspace, self.rules, self.kept, self.recursive_search);
        let mut report = Report::default();
        let mut tokens = tokens(prompt);
        let agents = self.take_agents(prompt, &mut tokens);
        for token in tokens.iter_mut().take(MAX_NAMES) {
            if !self.resources.contains_key(&token.path) {
                self.read_as_meant(token, prompt);
            }
        }
        let found = self.resolve_all(&tokens, &mut resolver, &mut report);
        self.report_unresolved(prompt, &tokens, &found, &mut report);
        let mut text = String::with_capacity(prompt.len());
        let mut end = 0;
        for token in &tokens {
            let Some(Ok(resolved)) = found.get(token.path.as_str()) else { continue };
            text.push_str(&prompt[end..=token.range.start]);
            text.push_str(&resolved.shown);
            end = token.range.end;
        }
        if end == 0 && self.resources.is_empty() && agents.is_empty() {
            return Ok(Expansion { parts: vec![Part::text(prompt)], report });
        }
        text.push_str(&prompt[end..]);
        let files = self.files(found.into_values().flatten(), &resolver, &mut report);
        let mut parts = vec![Part::text(text.trim())];
        parts.extend((!agents.is_empty()).then(|| agent_note(&agents)));
        let mut content = self.read(&files, &mut report)?;
        for (reference, blocks) in self.resources {
            content.push(Part::text(format!("\nContent from @{reference}:\n")));
            content.extend(blocks.iter().cloned());
        }
        if !content.is_empty() {
            parts.push(Part::text(HEADING));
            parts.extend(content);
            parts.push(Part::text(CLOSING));
        }
        Ok(Expansion { parts, report })
    }

    /// Removes the tokens that name subagents; returns the names, each once. Text that came through
    /// a pipe names none.
    fn take_agents(&self, prompt: &str, tokens: &mut Vec<Token>) -> Vec<String> {
        let mut named = Vec::new();
        tokens.retain(|token| {
            let start = token.range.start;
            let is_agent = start >= self.piped
                && !prompt[..start].ends_with(char::is_alphanumeric)
                && self.agents.contains(&token.path);
            if is_agent && !named.contains(&token.path) {
                named.push(token.path.clone());
            }
            !is_agent
        });
        named
    }

    /// Shortens a token that names no existing path to a reading that does.
    fn read_as_meant(&self, token: &mut Token, prompt: &str) {
        let exists = |token: &Token| {
            let name = Path::new(&token.path);
            let mut roots = self.workspace.roots();
            roots.any(|root| pollux_fs::info(&pollux_fs::absolute(root, name)).is_ok())
        };
        let shorter = token.shorter(prompt);
        if !shorter.is_empty()
            && !exists(token)
            && let Some(meant) = shorter.into_iter().find(exists)
        {
            *token = meant;
        }
    }

    /// Resolves every distinct name once.
    fn resolve_all<'t>(
        &self,
        tokens: &'t [Token],
        resolver: &mut Resolver<'_>,
        report: &mut Report,
    ) -> HashMap<&'t str, Result<Resolved, Unresolved>> {
        let mut found = HashMap::new();
        for token in tokens {
            let name = token.path.as_str();
            if found.contains_key(name) || self.resources.contains_key(name) {
                continue;
            }
            if found.len() == MAX_NAMES {
                report.too_many_names(MAX_NAMES);
                break;
            }
            let resolved = resolver.resolve(name);
            found.insert(name, resolved);
        }
        found
    }

    /// Reports the names that the user has typed and that stay text. An `@` inside of a word is
    /// part of an address.
    fn report_unresolved(
        &self,
        prompt: &str,
        tokens: &[Token],
        found: &HashMap<&str, Result<Resolved, Unresolved>>,
        report: &mut Report,
    ) {
        let mut reported = HashSet::new();
        for token in tokens {
            let name = token.path.as_str();
            let start = token.range.start;
            let is_name = start >= self.piped
                && !prompt[..start].ends_with(char::is_alphanumeric)
                && (name.contains(char::is_alphanumeric) || name.starts_with("../"));
            if let Some(Err(reason)) = found.get(name)
                && is_name
                && reported.insert(name)
            {
                report.unresolved(name, reason);
            }
        }
    }

    /// Returns all referenced files, sorted by path.
    fn files(
        &self,
        found: impl Iterator<Item = Resolved>,
        resolver: &Resolver<'_>,
        report: &mut Report,
    ) -> BTreeMap<PathBuf, Wanted> {
        let mut files = BTreeMap::new();
        let mut folders = Vec::new();
        for resolved in found {
            if resolved.is_directory {
                folders.push(resolved);
            } else {
                let wanted = Wanted { label: resolved.label, named: true };
                files.insert(resolved.path, wanted);
            }
        }
        folders.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        for folder in folders {
            self.add_folder(&folder, &mut files, resolver.time_left(), report);
        }
        files
    }

    /// Adds all files below a folder, except dependencies, build products and ignored files.
    fn add_folder(
        &self,
        folder: &Resolved,
        files: &mut BTreeMap<PathBuf, Wanted>,
        time_limit: Duration,
        report: &mut Report,
    ) {
        let search = FileSearch {
            workspace: self.workspace,
            rules: if folder.despite_rules { self.kept } else { self.rules },
            exclude: &[],
            default_excludes: true,
            time_limit,
        };
        let Resolved { path: folder, label, .. } = folder;
        let found =
            search.find(&[folder.to_string_lossy().into_owned()], NEVER).unwrap_or_default();
        let root = self.workspace.root_of(folder).unwrap_or(folder);
        let left_out = found.left_out.as_ref().map(|left_out| {
            (left_out, shown_path(root, left_out.first.parent().unwrap_or(&left_out.first)))
        });
        report.folder(label, found.files.len(), left_out, found.complete);
        let unnamed = found.excluded.iter().filter(|path| !files.contains_key(*path));
        report.excluded(unnamed.map(|path| shown_path(root, path)));
        for path in found.files {
            let label = shown_path(root, &path);
            files.entry(path).or_insert(Wanted { label, named: false });
        }
    }

    /// Returns label and content of each file that may be sent.
    fn read(
        &self,
        files: &BTreeMap<PathBuf, Wanted>,
        report: &mut Report,
    ) -> Result<Vec<Part>, ReferenceError> {
        let mut parts = Vec::new();
        for (label, mut body) in self.contents(files, report)? {
            if let Body::Text(text) = &mut body.body {
                *text = trim(text).to_owned();
            }
            parts.push(Part::text(format!("\nContent from @{label}:\n")));
            parts.push(body);
        }
        parts.extend(report.for_model.iter().map(|message| Part::text(format!("\n{message}"))));
        Ok(parts)
    }

    /// Returns label and content of each file that may be sent.
    fn contents<'f>(
        &self,
        files: &'f BTreeMap<PathBuf, Wanted>,
        report: &mut Report,
    ) -> Result<Vec<(&'f str, Part)>, ReferenceError> {
        let mut contents = Vec::new();
        let mut reader = FileReader::new(self.workspace, self.files);
        let mut left_out: Vec<&str> = Vec::new();
        for (path, Wanted { label, named }) in files {
            if reader.is_full() {
                left_out.push(label);
                continue;
            }
            let body = match reader.read(path, label, *named) {
                Ok(FileContent::Text(file)) => {
                    report.text(label, &file);
                    Part::text(file.text)
                }
                Ok(FileContent::Media(part)) => {
                    report.media(label);
                    part
                }
                Ok(FileContent::Skipped { reason, reported }) if *named => {
                    report.not_sent(label, &reason);
                    Part::text(reported)
                }
                Ok(FileContent::TooMuch) => {
                    left_out.push(label);
                    continue;
                }
                Ok(FileContent::Skipped { reason, .. }) => {
                    report.skipped(label, &reason);
                    continue;
                }
                Err(source) if *named => {
                    return Err(ReferenceError { label: label.clone(), source });
                }
                Err(error) => {
                    report.failed(label);
                    report.notes.push(format!("Skipped {label}: {error}"));
                    continue;
                }
            };
            contents.push((label.as_str(), body));
        }
        report.left_out(&left_out);
        Ok(contents)
    }
}

/// Removes the blank lines around a text. The indentation of the first line stays, because edits
/// need it.
fn trim(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let first_line = text[..blank].rfind('\n').map_or(0, |end| end + 1);
    &text[first_line..]
}
