//! `glob`: finds files by name patterns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use pollux_fs::{Access, EntryKind, Exclusions, GlobOptions, GlobResult, Root, sort_by_recency};
use pollux_protocol::{
    Args, Declaration, Display, Effects, Invocation, RunContext, SubjectArgument, Tool, ToolError,
    ToolErrorKind, ToolFacts, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;

use crate::blocking::{blocking, check};
use crate::context::{ToolContext, failed};
use crate::validation::{Schema, invalid};

/// Name of the tool for models and policies.
const NAME: &str = "glob";
/// Time limit; after it the search returns the files found so far.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Maximum number of files that are listed; further files are only counted, because no model could
/// read them.
const MAX_NAMED: usize = 10_000;

/// The tool `glob`.
pub(crate) struct GlobTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl GlobTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string",
                    "description": "The glob pattern, such as '**/*.rs' or 'docs/*.{md,txt}'."
                },
                "dir_path": {
                    "type": "string",
                    "description": "The folder to search. Default: all folders of the project."
                },
                "case_sensitive": {
                    "type": "boolean",
                    "description": "Distinguish upper and lower case. Default: false."
                },
                "respect_git_ignore": {
                    "type": "boolean",
                    "description": "Exclude files that .gitignore lists. Default: true."
                },
                "respect_gemini_ignore": {
                    "type": "boolean",
                    "description": "Exclude files that .geminiignore lists. Default: true."
                }
            },
            "required": ["pattern"]
        }));
        Self { context, schema }
    }
}

#[derive(Clone, Deserialize)]
struct Params {
    pattern: String,
    #[serde(default)]
    dir_path: Option<String>,
    #[serde(default)]
    case_sensitive: bool,
    #[serde(default)]
    respect_git_ignore: Option<bool>,
    #[serde(default)]
    respect_gemini_ignore: Option<bool>,
}

impl Tool for GlobTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "FindFiles"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn facts(&self) -> ToolFacts {
        ToolFacts { subject: Some(SubjectArgument::Value("pattern")), ..ToolFacts::default() }
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Finds files by name with a glob pattern (*, ?, [..], {a,b}, ** for any \
                          folders). Returns absolute paths: files changed in the last day first, \
                          newest first, then all others by name."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let params: Params = self.schema.read(args)?;
        if params.pattern.trim().is_empty() {
            return Err(invalid("The 'pattern' parameter cannot be empty."));
        }
        let context = Arc::clone(&self.context);
        let roots = match params.dir_path.as_deref().filter(|path| !path.is_empty()) {
            None => context.workspace.get().walk_roots(),
            Some(given) => {
                let path = context.locate(given, Access::Read)?;
                match path.info().map(|info| info.kind) {
                    Ok(EntryKind::Directory) => {
                        vec![Root { path: path.to_path_buf(), real: path }]
                    }
                    Ok(_) => {
                        let path = path.display();
                        return Err(invalid(format!("Search path is not a directory: {path}")));
                    }
                    Err(_) => {
                        let path = path.display();
                        return Err(invalid(format!("Search path does not exist {path}")));
                    }
                }
            }
        };
        Ok(Box::new(GlobInvocation(Arc::new(Glob { context, roots, params }))))
    }
}

struct GlobInvocation(Arc<Glob>);

struct Glob {
    context: Arc<ToolContext>,
    roots: Vec<Root>,
    params: Params,
}

#[async_trait]
impl Invocation for GlobInvocation {
    fn effects(&self) -> Effects {
        Effects::search(self.0.roots.iter().map(|root| &root.path))
    }

    fn describe(&self) -> String {
        let Glob { params, roots, context } = &*self.0;
        let place = match (&params.dir_path, roots.first()) {
            (Some(_), Some(root)) => {
                format!(" within {}", context.workspace.get().display_path(&root.path))
            }
            _ => String::new(),
        };
        format!("'{}'{place}", params.pattern)
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let inner = Arc::clone(&self.0);
        blocking(&run.cancel, move |stop| inner.find(stop)).await.unwrap_or_else(
            |error| match error.kind {
                ToolErrorKind::GlobExecutionError => {
                    failed(error, "Error: An unexpected error occurred.")
                }
                _ => error.into(),
            },
        )
    }
}

impl Glob {
    fn find(&self, stop: &AtomicBool) -> Result<ToolOutput, ToolError> {
        let failure = |error: pollux_fs::Error| {
            let message = format!("Error during glob search operation: {error}");
            ToolError::new(ToolErrorKind::GlobExecutionError, message)
        };
        for root in &self.roots {
            self.context.recheck(&root.real, Access::Read)?;
        }
        let Params { pattern, case_sensitive, respect_git_ignore, respect_gemini_ignore, .. } =
            &self.params;
        let rules = self.context.ignore_rules(*respect_git_ignore, *respect_gemini_ignore);
        let exclude = Exclusions::for_glob().map_err(failure)?;
        let workspace = self.context.workspace.get();
        let options = GlobOptions {
            workspace: Some(&workspace),
            case_sensitive: *case_sensitive,
            rules: Some(&rules),
            exclude: Some(&exclude),
            time_limit: Some(TIME_LIMIT),
        };
        let mut result =
            pollux_fs::glob(&self.roots, pattern, &options, &|| stop.load(Ordering::Relaxed))
                .map_err(failure)?;
        check(stop)?;
        let is_git = |part: std::path::Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
        result.files.retain(|file| !file.path.components().any(is_git));
        sort_by_recency(&mut result.files, SystemTime::now());
        Ok(self.output(&result))
    }

    fn output(&self, result: &GlobResult) -> ToolOutput {
        let pattern = &self.params.pattern;
        let place = match self.roots.as_slice() {
            [only] => format!("within {}", only.path.display()),
            several => format!("across {} workspace directories", several.len()),
        };
        let incomplete = if result.complete {
            ""
        } else {
            "\n\nThe search exceeded the time limit and was ended early: there may be more. Use a dir_path or a narrower pattern."
        };
        let (count, ignored) = (result.files.len(), result.ignored);
        if count == 0 {
            let ignored = if ignored > 0 {
                format!(" ({ignored} files were ignored)")
            } else {
                String::new()
            };
            let text = format!(
                "No files found matching pattern \"{pattern}\" {place}{ignored}{incomplete}"
            );
            return ToolOutput::quiet(text).display(Display::Text("No files found".to_owned()));
        }
        let ignored = if ignored > 0 {
            format!(" ({ignored} additional files were ignored)")
        } else {
            String::new()
        };
        let paths: Vec<String> = result
            .files
            .iter()
            .take(MAX_NAMED)
            .map(|file| file.path.display().to_string())
            .collect();
        let more = match count.saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!("\n... and {more} more files"),
        };
        let text = format!(
            "Found {count} file(s) matching \"{pattern}\" {place}{ignored}, sorted by modification time (newest first):\n{}{more}{incomplete}",
            paths.join("\n")
        );
        ToolOutput::quiet(text).display(Display::Text(format!("Found {count} matching file(s)")))
    }
}
