//! State that all tools of a session share.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pollux_config::environment::names;
use pollux_config::protected::ProtectedPlaces;
use pollux_fs::{Access, Error, IgnoreOptions, IgnoreRules, RealPath, Workspace};
use pollux_protocol::{
    ApprovalMode, DISCOVERED_CONTEXT, FileOperation, FileOperationKind, Files, Live, LocalFiles,
    Measurement, ToolError, ToolErrorKind, ToolOutput,
};

use pollux_shell::sandbox::SandboxPlaces;
use pollux_shell::{BackgroundProcess, BackgroundProcesses, Redaction};

use crate::completion::{BackgroundCompletion, Reporter, report_end};
use crate::ledger::Ledger;
use crate::validation::invalid;
use crate::web_page::WebAccess;

/// Function that returns the text of context files (`GEMINI.md`) that belong to a path and were not
/// given to the model yet. Called after a tool has touched the path, on a thread that may block.
pub type ContextLookup = Arc<dyn Fn(&Path) -> Option<String> + Send + Sync>;

/// Settings of the tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOptions {
    /// True to skip files that `.gitignore` names, unless a call overrides it
    /// (`context.fileFiltering.respectGitIgnore`).
    pub respect_git_ignore: bool,
    /// True to skip files that `.geminiignore` names (`context.fileFiltering.respectGeminiIgnore`).
    pub respect_gemini_ignore: bool,
    /// Further ignore files, relative to the target folder
    /// (`context.fileFiltering.customIgnoreFilePaths`).
    pub custom_ignore_files: Vec<PathBuf>,
    /// Maximum length of command output in characters. Longer output is cut and saved to a file; 0
    /// for no limit (`tools.truncateToolOutputThreshold`).
    pub truncate_threshold: usize,
    /// Maximum total run time of a command; `None` for no limit (`pollux.shell.timeout`).
    pub shell_timeout: Option<Duration>,
    /// Maximum time without output of a command; `None` for no limit
    /// (`tools.shell.inactivityTimeout`).
    pub shell_inactivity: Option<Duration>,
    /// True to run commands in a terminal in interactive sessions
    /// (`tools.shell.enableInteractiveShell`).
    pub shell_terminal: bool,
    /// True to show command output in colour (`tools.shell.showColor`).
    pub shell_colour: bool,
    /// True if commands confined to the workspace may use the network
    /// (`tools.sandboxNetworkAccess`).
    pub sandbox_network: bool,
    /// Pager of commands in a terminal (`tools.shell.pager`).
    pub shell_pager: String,
    /// Receiver of the report when a background command ends
    /// (`tools.shell.backgroundCompletionBehavior`).
    pub background_completion: BackgroundCompletion,
    /// True if a model may correct edits whose text is not found (`tools.disableLLMCorrection`
    /// off).
    pub correct_edits: bool,
    /// True if plan mode is available (`general.plan.enabled`).
    pub plan_mode: bool,
    /// Environment variables to hide from commands (`security.environmentVariableRedaction`). The
    /// redaction is always strict in the environment of a GitHub action.
    pub redaction: Redaction,
    /// True to offer `write_todos` to the models that need it (`useWriteTodos`).
    pub write_todos: bool,
    /// True to offer the tracker tools instead of `write_todos` (`experimental.taskTracker`).
    pub task_tracker: bool,
    /// True to let the model name its topics (`general.topicUpdateNarration`).
    pub topics: bool,
    /// True to offer `save_memory` (`pollux.tools.saveMemory`, or a `tools.core` that names it).
    pub save_memory: bool,
    /// True if `web_fetch` returns the page itself, without a model
    /// (`experimental.directWebFetch`).
    pub direct_web_fetch: bool,
    /// True to offer `get_internal_docs` also in the main conversation (a `tools.core` that names
    /// it).
    pub internal_docs: bool,
}

impl Default for ToolOptions {
    /// Returns the default values of the settings.
    fn default() -> Self {
        Self {
            respect_git_ignore: true,
            respect_gemini_ignore: true,
            custom_ignore_files: Vec::new(),
            truncate_threshold: 40_000,
            shell_timeout: Some(Duration::from_mins(10)),
            shell_inactivity: Some(Duration::from_mins(5)),
            shell_terminal: true,
            shell_colour: true,
            sandbox_network: false,
            shell_pager: "cat".to_owned(),
            background_completion: BackgroundCompletion::default(),
            correct_edits: false,
            plan_mode: true,
            redaction: Redaction::default(),
            write_todos: true,
            task_tracker: false,
            topics: true,
            save_memory: false,
            direct_web_fetch: false,
            internal_docs: false,
        }
    }
}

/// State that all tools of an agent share.
#[derive(Clone)]
pub struct ToolContext {
    /// Folders of the session.
    pub workspace: Live<Workspace>,
    /// Holder of the text of files, asked before the disk.
    pub files: Arc<dyn Files>,
    /// Settings of the tools.
    pub options: ToolOptions,
    /// Environment that commands start with, before credentials are removed.
    pub environment: Vec<(OsString, OsString)>,
    /// Names of variables that commands must not see: the model credentials that Pollux uses.
    pub credentials: Vec<String>,
    /// Approval mode of the session. In plan mode tools write only to the plans folder.
    pub mode: Live<ApprovalMode>,
    /// Absolute path of the folder for plans in plan mode.
    pub plans_directory: PathBuf,
    /// Folder of the tracker's tasks of this session; created when needed.
    pub tracker_directory: PathBuf,
    /// The user's own context file, which is part of the context in every project
    /// (`~/.gemini/GEMINI.md`).
    pub memory_file: PathBuf,
    /// The user's private notes about the project, which are part of the context in this project
    /// (`~/.gemini/tmp/<project>/memory/MEMORY.md`).
    pub project_memory_file: PathBuf,
    /// Record of the files that were read and written in this session.
    pub ledger: Arc<Ledger>,
    /// Folder for output that is too long for a model (`…/tool-outputs/session-<id>`); created
    /// when needed.
    pub spill_directory: PathBuf,
    /// Commands that run in the background. They end when the last tool of the session is dropped.
    pub background: Arc<BackgroundProcesses>,
    /// Receiver of reports when a background command ends; `None` for no reports.
    pub reporter: Option<Reporter>,
    /// True if a user is present who can type.
    pub interactive: bool,
    /// Lookup of the context files of touched paths.
    pub context_for: Option<ContextLookup>,
    /// Access to web pages; `None` without web access.
    pub web: Option<WebAccess>,
    /// Inputs of the confinement of commands.
    pub sandbox: SandboxInputs,
}

/// Inputs of the confinement of commands, besides the workspace.
#[derive(Debug, Clone, Default)]
pub struct SandboxInputs {
    /// Locations from which the protected places are derived.
    pub protected: ProtectedPlaces,
    /// Private folder of Pollux.
    pub state: PathBuf,
    /// Secret files and folders that the settings name.
    pub secrets: Vec<PathBuf>,
}

impl ToolContext {
    /// Returns the places that the confinement of a command refers to.
    pub fn sandbox_places(&self) -> SandboxPlaces {
        let folders = self.workspace.get().roots().map(Path::to_owned).collect();
        let SandboxInputs { protected, state, secrets } = &self.sandbox;
        let temporary = std::env::temp_dir();
        let mut places = SandboxPlaces::standard(protected, folders, state.clone(), temporary);
        places.secrets.extend_from_slice(secrets);
        places
    }

    /// Creates a context with default options, an empty ledger and an empty environment.
    pub fn new(workspace: Workspace, spill_directory: PathBuf) -> Self {
        Self {
            workspace: Live::new(workspace),
            files: Arc::new(LocalFiles),
            options: ToolOptions::default(),
            environment: Vec::new(),
            credentials: Vec::new(),
            mode: Live::default(),
            plans_directory: PathBuf::new(),
            tracker_directory: PathBuf::new(),
            memory_file: PathBuf::new(),
            project_memory_file: PathBuf::new(),
            ledger: Arc::new(Ledger::new()),
            background: Arc::new(BackgroundProcesses::new(
                spill_directory.join("background-processes"),
            )),
            reporter: None,
            interactive: false,
            spill_directory,
            context_for: None,
            web: None,
            sandbox: SandboxInputs::default(),
        }
    }

    /// Returns the context for the tools of a subagent. It has its own record of the files that it
    /// has read, so no agent overwrites what another one has written since. `internal_docs` is true
    /// for a subagent that reads the documentation of Pollux.
    #[must_use]
    pub fn for_subagent(&self, internal_docs: bool) -> Self {
        let internal_docs = internal_docs || self.options.internal_docs;
        let options = ToolOptions { internal_docs, topics: false, ..self.options.clone() };
        Self { ledger: Arc::new(Ledger::new()), options, ..self.clone() }
    }

    /// Returns true if commands run in a terminal: the session is interactive, and neither the
    /// settings nor the environment turn terminals off.
    pub(crate) fn gives_terminals(&self) -> bool {
        // Gemini CLI's variable for the source of its terminals; users can turn terminals off with
        // it.
        let off = |(name, value): &(OsString, OsString)| {
            name == names::GEMINI_PTY_INFO && value == "child_process"
        };
        self.interactive && self.options.shell_terminal && !self.environment.iter().any(off)
    }

    /// Reports the end of a process that continues in the background to the session's reporter.
    /// Must be called inside a tokio runtime.
    pub(crate) fn report_end(&self, process: &Arc<BackgroundProcess>) {
        if let Some(reporter) = self.reporter.clone() {
            report_end(reporter, self.options.background_completion, process);
        }
    }

    /// Resolves the path in an argument and checks it for `access`.
    pub(crate) fn locate(&self, given: &str, access: Access) -> Result<RealPath, ToolError> {
        let refused = |error: Error| invalid(error.to_string());
        let workspace = self.workspace.get();
        let named = workspace.absolute(given).map_err(refused)?;
        workspace.check(&named, access).map_err(|error| {
            // The error of the link's target says more than that of its name, but the name itself
            // can be the forbidden path.
            let led_to = workspace.resolve(given);
            let reported = led_to.and_then(|real| workspace.check(&real, access)).err();
            invalid(reported.unwrap_or(error).to_string())
        })
    }

    /// Resolves the path of a file to write. In plan mode it must be in the plans folder: relative
    /// paths start there, absolute paths outside are refused.
    pub(crate) fn locate_to_write(&self, given: &str) -> Result<RealPath, ToolError> {
        if *self.mode.get() != ApprovalMode::Plan {
            return self.locate(given, Access::Write);
        }
        let plans = &self.plans_directory;
        let as_given = self.workspace.get().absolute(given);
        let as_given = as_given.map_err(|error| invalid(error.to_string()))?;
        let meant = if as_given.starts_with(plans) {
            as_given
        } else if Path::new(given).is_absolute() {
            return Err(outside_plans(given, plans));
        } else {
            pollux_fs::absolute(plans, Path::new(given))
        };
        let real_plans = pollux_fs::real_path(plans).unwrap_or_else(|_| plans.clone());
        let path = self.locate(&meant.to_string_lossy(), Access::Write)?;
        if path.starts_with(&real_plans) { Ok(path) } else { Err(outside_plans(given, plans)) }
    }

    /// Returns the description of a writing tool; in plan mode it starts with the restriction to
    /// plans.
    pub(crate) fn in_plan_mode_only_plans(&self, description: &str) -> String {
        match *self.mode.get() {
            ApprovalMode::Plan => format!(
                "In plan mode, only for plans: .md files in {}. {description}",
                self.plans_directory.display()
            ),
            _ => description.to_owned(),
        }
    }

    /// Checks a path again just before it is used, because a folder can have become a link in the
    /// meantime. A later change is caught by the [`RealPath`] itself; this check can report the
    /// target of the link.
    pub(crate) fn recheck(&self, path: &Path, access: Access) -> Result<(), ToolError> {
        let workspace = self.workspace.get();
        match workspace.check(path, access) {
            Ok(real) if *real == *path || path == workspace.target() => Ok(()),
            Ok(_) => Err(changed(&Error::PathChanged { path: path.into() })),
            Err(error) => Err(changed(&error)),
        }
    }

    /// Returns the ignore rules of the whole workspace; a call may override the settings.
    pub(crate) fn ignore_rules(&self, git: Option<bool>, gemini: Option<bool>) -> IgnoreRules {
        IgnoreRules::for_roots(self.workspace.get().roots(), &self.ignore_options(git, gemini))
    }

    /// Returns the ignore files to use for a call.
    pub(crate) fn ignore_options(&self, git: Option<bool>, gemini: Option<bool>) -> IgnoreOptions {
        IgnoreOptions {
            git: git.unwrap_or(self.options.respect_git_ignore),
            gemini: gemini.unwrap_or(self.options.respect_gemini_ignore),
            custom_files: self.options.custom_ignore_files.clone(),
        }
    }

    /// Returns the block with context files that the model has not seen, after a tool has touched
    /// `path`.
    pub(crate) fn discovered_context(&self, path: &Path) -> Option<String> {
        let text = self.context_for.as_ref()?(path)?;
        let [opening, closing] = DISCOVERED_CONTEXT;
        Some(format!("\n\n{opening}\n{text}\n{closing}"))
    }
}

/// Returns the error for a path that has changed since it was checked.
pub(crate) fn changed(error: &Error) -> ToolError {
    ToolError::new(ToolErrorKind::PathNotInWorkspace, error.to_string())
}

pub(crate) fn outside_plans(given: &str, plans: &Path) -> ToolError {
    let plans = plans.display();
    invalid(format!(
        "Access denied: plan path ({given}) must be within the designated plans directory ({plans})."
    ))
}

/// Returns the measurement of an operation on a file, for telemetry and statistics.
pub(crate) fn file_operation(
    tool: &str,
    kind: FileOperationKind,
    path: &Path,
    lines: Option<u64>,
) -> Measurement {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let mime_type = mime_guess::from_ext(&extension).first_raw().map(str::to_owned);
    let (tool, path) = (tool.to_owned(), path.to_path_buf());
    Measurement::File(FileOperation { tool, kind, path, lines, mime_type })
}

/// Returns a failed result whose message for the user differs from the message for the model.
pub(crate) fn failed(error: ToolError, display: impl Into<String>) -> ToolOutput {
    ToolOutput::from(error).display(pollux_protocol::Display::Text(display.into()))
}
