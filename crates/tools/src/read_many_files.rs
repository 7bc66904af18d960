//! `read_many_files`: reads all files that match patterns.
//!
//! Older versions of Gemini CLI had this tool for models; newer versions keep its engine for
//! `@path`. Pollux offers it again, because one call replaces many. `many_files` finds and reads
//! the files for both.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Display, Effects, Invocation, Part, RunContext, SubjectArgument, Tool,
    ToolError, ToolErrorKind, ToolFacts, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocking::{blocking, check};
use crate::context::ToolContext;
use crate::many_files::{FileSearch, LeftOutFiles};
use crate::validation::{Schema, invalid};
use collected::Collected;

mod collected;

/// Name of the tool for models and policies.
pub(crate) const NAME: &str = "read_many_files";
/// Maximum number of patterns of each kind in one call.
const MAX_PATTERNS: usize = 100;
/// Maximum time for all searches of one call together.
const SEARCH_TIME: Duration = Duration::from_secs(30);

/// The tool `read_many_files`.
pub(crate) struct ReadManyFilesTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl ReadManyFilesTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let patterns = |description: &str| {
            json!({
                "type": "array",
                "items": { "type": "string", "minLength": 1 },
                "description": description
            })
        };
        let mut include =
            patterns("Files, folders or glob patterns, such as ['src/**/*.rs', 'README.md'].");
        include["minItems"] = 1.into();
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "include": include,
                "exclude": patterns("Glob patterns of files to exclude."),
                "recursive": {
                    "type": "boolean",
                    "description": "Has no effect; use ** in a pattern to include subfolders."
                },
                "useDefaultExcludes": {
                    "type": "boolean",
                    "description": "Exclude dependencies, build output and other files that are not source files. \
                                    Default: true."
                },
                "file_filtering_options": {
                    "type": "object",
                    "description": "The ignore files to apply. Default: as in the settings.",
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
            "required": ["include"]
        }));
        Self { context, schema }
    }
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Params {
    include: Vec<String>,
    exclude: Vec<String>,
    use_default_excludes: bool,
    #[serde(rename = "file_filtering_options")]
    filtering: Filtering,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            include: Vec::new(),
            exclude: Vec::new(),
            use_default_excludes: true,
            filtering: Filtering::default(),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Filtering {
    respect_git_ignore: Option<bool>,
    respect_gemini_ignore: Option<bool>,
}

impl Tool for ReadManyFilesTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "ReadManyFiles"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn facts(&self) -> ToolFacts {
        ToolFacts { subject: Some(SubjectArgument::Value("include")), ..ToolFacts::default() }
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Reads several files in one call: files, all files of a folder, or files that \
                          match glob patterns. Each text follows its path: at most 2000 lines per \
                          file and 1 MB in total; the result lists what is omitted. Images, audio, \
                          video and PDF are included only if a pattern contains their name or \
                          extension. Use it if you know that you need the files; to find files, use \
                          grep_search or glob."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let params: Params = self.schema.read(args)?;
        if params.include.len().max(params.exclude.len()) > MAX_PATTERNS {
            return Err(invalid(format!("At most {MAX_PATTERNS} patterns can be given.")));
        }
        let context = Arc::clone(&self.context);
        Ok(Box::new(ReadManyFilesInvocation(Arc::new(ReadManyFiles { context, params }))))
    }
}

struct ReadManyFilesInvocation(Arc<ReadManyFiles>);

struct ReadManyFiles {
    context: Arc<ToolContext>,
    params: Params,
}

#[async_trait]
impl Invocation for ReadManyFilesInvocation {
    fn effects(&self) -> Effects {
        Effects::search(self.0.context.workspace.get().roots())
    }

    fn describe(&self) -> String {
        let Params { include, exclude, .. } = &self.0.params;
        let excluding = match exclude.as_slice() {
            [] => String::new(),
            patterns => format!(", but not {}", patterns.join(", ")),
        };
        format!("Files of {}{excluding}", include.join(", "))
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let inner = Arc::clone(&self.0);
        blocking(&run.cancel, move |stop| inner.read(stop)).await.unwrap_or_else(ToolOutput::from)
    }
}

impl ReadManyFiles {
    fn read(&self, stop: &AtomicBool) -> Result<ToolOutput, ToolError> {
        let Params { include, exclude, use_default_excludes, filtering } = &self.params;
        let Filtering { respect_git_ignore, respect_gemini_ignore } = *filtering;
        let workspace = self.context.workspace.get();
        let search = FileSearch {
            workspace: &workspace,
            rules: &self.context.ignore_rules(respect_git_ignore, respect_gemini_ignore),
            exclude,
            default_excludes: *use_default_excludes,
            time_limit: SEARCH_TIME,
        };
        let found = search.find(include, &|| stop.load(Ordering::Relaxed)).map_err(|error| {
            let message = format!("Error during file search: {error}");
            ToolError::new(ToolErrorKind::ReadManyFilesSearchError, message)
        })?;
        let mut collected = Collected::new(&self.context, &workspace, include);
        for path in &found.files {
            check(stop)?;
            collected.add(path);
        }
        if let Some(LeftOutFiles { count, first }) = &found.left_out {
            let first = first.display();
            collected.note(format!(
                "Left out because there are too many files: {count} files, beginning with {first}."
            ));
        }
        if !found.complete {
            collected.note(
                "The search exceeded the time limit and was ended early: there may be more files.",
            );
        }
        Ok(self.output(collected))
    }

    fn output(&self, collected: Collected<'_>) -> ToolOutput {
        let Collected { mut parts, read, skipped, measurements, notes, context, .. } = collected;
        let workspace = context.workspace.get();
        let target = workspace.target();
        let display = json!({
            "summary": summary(target, &read, &skipped),
            "files": read,
            "skipped": skipped
                .iter()
                .map(|(path, reason)| json!({ "path": path, "reason": reason }))
                .collect::<Vec<Value>>(),
            "include": self.params.include,
            "excludes": self.params.exclude,
            "targetDir": target,
        });
        if parts.is_empty() {
            let nothing = "No files matching the criteria were found or all were skipped.";
            parts.push(Part::text([&[nothing.to_owned()], &notes[..]].concat().join("\n")));
        } else {
            parts.extend(notes.into_iter().map(|note| Part::text(format!("[{note}]\n"))));
            parts.push(Part::text("\n--- End of content ---"));
        }
        let display = Some(Display::Structured(display));
        ToolOutput { content: parts, display, measurements, ..ToolOutput::default() }
    }
}

/// Returns the summary for the user in Markdown: the first files that were read, and the first that
/// were skipped.
fn summary(target: &Path, read: &[String], skipped: &[(String, String)]) -> String {
    const READ_SHOWN: usize = 10;
    const SKIPPED_SHOWN: usize = 5;
    let more = |count: usize, shown: usize| {
        let more = count.checked_sub(shown).filter(|more| *more > 0);
        more.map(|more| format!("- ...and {more} more."))
    };
    let mut lines =
        vec![format!("### ReadManyFiles Result (Target Dir: `{}`)\n", target.display())];
    if read.is_empty() {
        lines.push("No files were read.".to_owned());
    } else {
        lines.push(format!("Read **{} file(s)**:", read.len()));
        lines.extend(read.iter().take(READ_SHOWN).map(|path| format!("- `{path}`")));
        lines.extend(more(read.len(), READ_SHOWN));
    }
    if !skipped.is_empty() {
        lines.push(format!("\nSkipped {} item(s):", skipped.len()));
        let items = skipped.iter().take(SKIPPED_SHOWN);
        lines.extend(items.map(|(path, reason)| format!("- `{path}` ({reason})")));
        lines.extend(more(skipped.len(), SKIPPED_SHOWN));
    }
    lines.join("\n")
}
