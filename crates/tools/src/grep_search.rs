//! `grep_search`: finds lines by a regular expression.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use pollux_fs::{
    Access, EntryKind, Exclusions, FileMatches, MAX_PATTERN_BYTES, RealPath, Root, SearchRequest,
    SearchResult,
};
use pollux_protocol::{
    Args, Declaration, Display, Effects, Invocation, RunContext, SubjectArgument, Tool, ToolError,
    ToolFacts, ToolKind, ToolOutput,
};
use regex::RegexBuilder;
use serde::Deserialize;
use serde_json::json;

use crate::blocking::{blocking, check};
use crate::context::ToolContext;
use crate::validation::{Schema, invalid, whole};

mod report;

/// Name of the tool for models and policies.
const NAME: &str = "grep_search";
/// Time limit; after it the search returns the matches found so far.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Number of matches shown if the call does not specify a number.
const DEFAULT_MATCHES: usize = 100;
/// Maximum number of matches, which calls cannot exceed.
const MAX_MATCHES: usize = 20_000;

/// The tool `grep_search`.
pub(crate) struct GrepSearchTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl GrepSearchTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let text = |description: &str| json!({"type": "string", "description": description});
        let flag = |description: &str| json!({"type": "boolean", "description": description});
        let number = |minimum: u32, description: &str| json!({"type": "integer", "minimum": minimum, "description": description});
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "pattern": text("The regular expression (Rust syntax: no look-around, no back-references)."),
                "dir_path": text("The folder or file to search. Default: the project folder."),
                "include_pattern": text("Search only files that match this glob, such as '*.ts' or 'src/**'."),
                "exclude_pattern": text("Exclude lines that match this regular expression."),
                "names_only": flag("Return only the paths of files with matches. Default: false."),
                "case_sensitive": flag("Distinguish upper and lower case. Default: false."),
                "fixed_strings": flag("Treat pattern as plain text. Default: false."),
                "context": number(0, "Number of lines before and after each match."),
                "after": number(0, "Number of lines after each match."),
                "before": number(0, "Number of lines before each match."),
                "no_ignore": flag("Include ignored files and build folders. Default: false."),
                "max_matches_per_file": number(1, "Maximum number of matches per file."),
                "total_max_matches": number(1, "Maximum number of matches in total. Default: 100.")
            },
            "required": ["pattern"]
        }));
        Self { context, schema }
    }
}

#[derive(Clone, Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Params {
    pattern: String,
    dir_path: Option<String>,
    include_pattern: Option<String>,
    exclude_pattern: Option<String>,
    names_only: bool,
    case_sensitive: bool,
    fixed_strings: bool,
    #[serde(deserialize_with = "whole")]
    context: Option<u64>,
    #[serde(deserialize_with = "whole")]
    after: Option<u64>,
    #[serde(deserialize_with = "whole")]
    before: Option<u64>,
    no_ignore: bool,
    #[serde(deserialize_with = "whole")]
    max_matches_per_file: Option<u64>,
    #[serde(deserialize_with = "whole")]
    total_max_matches: Option<u64>,
}

impl Tool for GrepSearchTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "SearchText"
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
            description:
                "Searches file contents for a regular expression. Returns matching lines with \
                          line numbers and paths relative to the searched folder. If there are few \
                          matches, the surrounding lines are included, often enough for an edit. \
                          Ignored files are excluded unless no_ignore is set."
                    .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let params: Params = self.schema.read(args)?;
        for (name, pattern) in [
            ("pattern", Some(&params.pattern)),
            ("exclude_pattern", params.exclude_pattern.as_ref()),
        ] {
            if pattern.is_some_and(|pattern| pattern.len() > MAX_PATTERN_BYTES) {
                return Err(invalid(format!(
                    "The '{name}' parameter is too long: at most {MAX_PATTERN_BYTES} bytes."
                )));
            }
        }
        if !params.fixed_strings {
            compiles(&params.pattern).map_err(|error| {
                invalid(format!("Invalid regular expression pattern provided: {error}"))
            })?;
        }
        if let Some(pattern) = &params.exclude_pattern {
            compiles(pattern).map_err(|error| {
                invalid(format!("Invalid exclude regular expression pattern provided: {error}"))
            })?;
        }
        let given = params.dir_path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
        let path = self.context.locate(given, Access::Read)?;
        let is_file = match path.info().map(|info| info.kind) {
            Ok(EntryKind::Directory) => false,
            Ok(EntryKind::File) => true,
            Ok(_) => {
                let path = path.display();
                return Err(invalid(format!("Path is not a valid directory or file: {path}")));
            }
            Err(_) => return Err(invalid(format!("Path does not exist: {}", path.display()))),
        };
        let context = Arc::clone(&self.context);
        Ok(Box::new(GrepInvocation(Arc::new(Grep { context, path, is_file, params }))))
    }
}

fn compiles(pattern: &str) -> Result<(), String> {
    match RegexBuilder::new(pattern).multi_line(true).build() {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{pattern}. Error: {error}")),
    }
}

struct GrepInvocation(Arc<Grep>);

struct Grep {
    context: Arc<ToolContext>,
    path: RealPath,
    is_file: bool,
    params: Params,
}

#[async_trait]
impl Invocation for GrepInvocation {
    fn effects(&self) -> Effects {
        Effects::search([&self.0.path])
    }

    fn describe(&self) -> String {
        let Grep { params, path, context, .. } = &*self.0;
        let include = params.include_pattern.as_ref().map(|include| format!(" in {include}"));
        let place = match params.dir_path {
            Some(_) => context.workspace.get().display_path(path),
            None => "./".to_owned(),
        };
        format!("'{}'{} within {place}", params.pattern, include.unwrap_or_default())
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let inner = Arc::clone(&self.0);
        blocking(&run.cancel, move |stop| inner.search(stop)).await.unwrap_or_else(ToolOutput::from)
    }
}

impl Grep {
    fn search(&self, stop: &AtomicBool) -> Result<ToolOutput, ToolError> {
        self.context.recheck(&self.path, Access::Read)?;
        let result = self.find(stop);
        check(stop)?;
        Ok(match result {
            // Gemini CLI reports these as results, not as failures; scripts read the text.
            Err(error) => failure(&error.to_string()),
            Ok(result) if result.timed_out && result.files.is_empty() => failure(&format!(
                "Operation timed out after {}ms. In large repositories, consider narrowing your search scope by \
                 specifying a 'dir_path' or an 'include_pattern'.",
                TIME_LIMIT.as_millis()
            )),
            Ok(result) => report::output(&result, &self.params, self.base()),
        })
    }

    /// Returns the folder to which shown paths are relative.
    fn base(&self) -> &Path {
        if self.is_file { self.path.parent().unwrap_or(&self.path) } else { &self.path }
    }

    fn find(&self, stop: &AtomicBool) -> Result<SearchResult, pollux_fs::Error> {
        let params = &self.params;
        let rules = (!params.no_ignore).then(|| self.context.ignore_rules(None, None));
        let exclude = if params.no_ignore { None } else { Some(Exclusions::for_search()?) };
        let lines = |count: Option<u64>| count.map(|count| count.min(MAX_MATCHES as u64) as usize);
        let workspace = self.context.workspace.get();
        let paths = [Root { path: self.path.to_path_buf(), real: self.path.clone() }];
        let request = SearchRequest {
            workspace: Some(&workspace),
            include: params.include_pattern.as_deref().filter(|glob| !glob.is_empty()),
            exclude_pattern: params
                .exclude_pattern
                .as_deref()
                .filter(|pattern| !pattern.is_empty()),
            fixed_strings: params.fixed_strings,
            case_sensitive: params.case_sensitive,
            before: lines(params.before),
            after: lines(params.after),
            context: lines(params.context).unwrap_or(0),
            rules: rules.as_ref(),
            exclude: exclude.as_ref(),
            max_per_file: lines(params.max_matches_per_file),
            max_total: lines(params.total_max_matches).unwrap_or(DEFAULT_MATCHES),
            names_only: params.names_only,
            time_limit: Some(TIME_LIMIT),
            ..SearchRequest::new(&params.pattern, &paths)
        };
        let cancelled = || stop.load(Ordering::Relaxed);
        let mut result = pollux_fs::search(&request, &cancelled)?;
        // A pattern can name a file that must not be read, such as `.env`.
        result.files.retain(|file| workspace.allows(&file.path, Access::Read));
        result.binary.retain(|file| workspace.allows(file, Access::Read));
        result.matches = result.files.iter().map(|file| file.matches).sum();
        let Some(context) = self.automatic_context(&result) else { return Ok(result) };
        // The few files that matched are searched again, to get the lines around the matches.
        // A file may have become a link since; what is read now is what is checked here.
        let root = |file: &FileMatches| Root::new(file.path.clone());
        let is_allowed = |root: &Root| workspace.allows(&root.real, Access::Read);
        let paths: Vec<Root> = result.files.iter().map(root).filter(is_allowed).collect();
        let again = SearchRequest { paths: &paths, context, rules: None, ..request };
        let richer = pollux_fs::search(&again, &cancelled)?;
        Ok(SearchResult { files: richer.files, matches: richer.matches, ..result })
    }

    /// Returns the number of lines to show around each match if there are few matches and the call
    /// does not specify the number.
    fn automatic_context(&self, result: &SearchResult) -> Option<usize> {
        let Params { names_only, context, before, after, .. } = &self.params;
        if *names_only || context.or(*before).or(*after).is_some() {
            return None;
        }
        match result.matches {
            1 => Some(50),
            2 | 3 => Some(15),
            _ => None,
        }
    }
}

fn failure(message: &str) -> ToolOutput {
    ToolOutput::quiet(format!("Error during grep search operation: {message}"))
        .display(Display::Text(format!("Error: {message}")))
}
