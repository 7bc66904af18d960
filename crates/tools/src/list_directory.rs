//! `list_directory`: lists the content of one folder.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use pollux_fs::{Access, DirectoryEntry, EntryKind, Error, FileInfo, IgnoreRules, RealPath};
use pollux_protocol::{
    Args, Declaration, Display, Effects, Invocation, RunContext, SubjectArgument, Tool, ToolError,
    ToolErrorKind, ToolFacts, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;

use crate::blocking::{blocking, check};
use crate::context::{ToolContext, changed, failed};
use crate::validation::Schema;

mod names;

/// Name of the tool for models and policies.
const NAME: &str = "list_directory";

/// The tool `list_directory`.
pub(crate) struct ListDirectoryTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl ListDirectoryTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "dir_path": {
                    "type": "string",
                    "description": "The folder: an absolute path, or a path relative to the project folder."
                },
                "ignore": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Names to exclude; * and ? are wildcards."
                },
                "file_filtering_options": {
                    "type": "object",
                    "description": "The ignore files to apply. Default: both.",
                    "properties": {
                        "respect_git_ignore": {
                            "type": "boolean",
                            "description": "Exclude files that .gitignore lists."
                        },
                        "respect_gemini_ignore": {
                            "type": "boolean",
                            "description": "Exclude files that .geminiignore lists."
                        }
                    }
                }
            },
            "required": ["dir_path"]
        }));
        Self { context, schema }
    }
}

#[derive(Clone, Deserialize)]
struct Params {
    dir_path: String,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    file_filtering_options: Filtering,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Filtering {
    respect_git_ignore: Option<bool>,
    respect_gemini_ignore: Option<bool>,
}

impl Tool for ListDirectoryTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "ReadFolder"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn facts(&self) -> ToolFacts {
        ToolFacts { subject: Some(SubjectArgument::Path("dir_path")), ..ToolFacts::default() }
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description:
                "Lists the files (with sizes) and folders directly in one folder, folders \
                          first. To search subfolders, use glob."
                    .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let params: Params = self.schema.read(args)?;
        let given = if params.dir_path.is_empty() { "." } else { &params.dir_path };
        let path = self.context.locate(given, Access::Read)?;
        Ok(Box::new(ListDirectory { context: Arc::clone(&self.context), path, params }))
    }
}

struct ListDirectory {
    context: Arc<ToolContext>,
    path: RealPath,
    params: Params,
}

#[async_trait]
impl Invocation for ListDirectory {
    fn effects(&self) -> Effects {
        Effects::search([&self.path])
    }

    fn describe(&self) -> String {
        self.context.workspace.get().display_path(&self.path)
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let (context, path) = (Arc::clone(&self.context), self.path.clone());
        let params = self.params.clone();
        blocking(&run.cancel, move |stop| list(&context, &path, &params, stop))
            .await
            .unwrap_or_else(|error| {
                let display = match error.kind {
                    ToolErrorKind::PathIsNotADirectory => "Error: Path is not a directory.",
                    ToolErrorKind::LsExecutionError => "Error: Failed to list directory.",
                    _ => return error.into(),
                };
                failed(error, display)
            })
    }
}

/// Content of a listing.
#[derive(Default)]
struct Listing {
    folders: Vec<String>,
    files: Vec<(String, u64)>,
    ignored: usize,
}

fn list(
    context: &ToolContext,
    path: &RealPath,
    params: &Params,
    stop: &AtomicBool,
) -> Result<ToolOutput, ToolError> {
    context.recheck(path, Access::Read)?;
    let failure = |error: Error| match error {
        Error::PathChanged { .. } => changed(&error),
        error => ToolError::new(
            ToolErrorKind::LsExecutionError,
            format!("Error listing directory: {error}"),
        ),
    };
    if path.info().map_err(failure)?.kind != EntryKind::Directory {
        return Err(ToolError::new(
            ToolErrorKind::PathIsNotADirectory,
            format!("Error: Path is not a directory: {}", path.display()),
        ));
    }
    let entries = path.list().map_err(failure)?;
    let mut output = if entries.is_empty() {
        ToolOutput::quiet(format!("Directory {} is empty.", path.display()))
            .display(Display::Text("Directory is empty.".to_owned()))
    } else {
        let Filtering { respect_git_ignore, respect_gemini_ignore } = params.file_filtering_options;
        let rules = context.ignore_rules(respect_git_ignore, respect_gemini_ignore);
        let mut listing = Listing::default();
        for (entry, info) in entries {
            check(stop)?;
            listing.add(&entry, info, &params.ignore, &rules);
        }
        listing.output(path)
    };
    if let Some(block) = context.discovered_context(path) {
        let text = output.content.first().and_then(|part| part.as_text()).unwrap_or_default();
        output.content = ToolOutput::quiet(format!("{text}{block}")).content;
    }
    Ok(output)
}

impl Listing {
    /// Adds an entry. A link counts as its target.
    fn add(
        &mut self,
        entry: &DirectoryEntry,
        info: FileInfo,
        ignore: &[String],
        rules: &IgnoreRules,
    ) {
        let is_directory = info.kind == EntryKind::Directory;
        if rules.is_ignored(&entry.path, is_directory) {
            self.ignored += 1;
        } else if ignore.iter().any(|pattern| names::matches(pattern, &entry.name)) {
            // Left out on request of the call, so it is not reported.
        } else if is_directory {
            self.folders.push(entry.name.clone());
        } else {
            self.files.push((entry.name.clone(), info.size));
        }
    }

    fn output(mut self, path: &Path) -> ToolOutput {
        self.folders.sort_by_cached_key(|name| pollux_fs::collation_key(name));
        self.files.sort_by_cached_key(|(name, _)| pollux_fs::collation_key(name));
        let folders = self.folders.iter().map(|name| format!("[DIR] {name}"));
        let shown: Vec<String> =
            folders.clone().chain(self.files.iter().map(|(name, _)| name.clone())).collect();
        let with_sizes: Vec<String> = folders
            .chain(self.files.iter().map(|(name, size)| format!("{name} ({size} bytes)")))
            .collect();
        let ignored = |space: &str| match self.ignored {
            0 => String::new(),
            count => format!("{space}({count} ignored)"),
        };
        let text = format!(
            "Directory listing for {}:\n{}{}",
            path.display(),
            with_sizes.join("\n"),
            ignored("\n\n")
        );
        let summary = format!("Found {} item(s).{}", shown.len(), ignored(" "));
        ToolOutput::quiet(text)
            .display(Display::Structured(json!({"summary": summary, "files": shown})))
    }
}
