//! What all tools of a session share, and the list of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pollux_config::Settings;
use pollux_fs::{Access, Error, IgnoreOptions, IgnoreRules, RealPath, Workspace};
use pollux_protocol::{
    ApprovalMode, DISCOVERED_CONTEXT, FileOperation, FileOperationKind, Files, Live, LocalFiles,
    Measurement, Tool, ToolError, ToolErrorKind, ToolOutput,
};

use pollux_shell::sandbox::SandboxPlaces;
use pollux_shell::{BackgroundProcesses, Redaction};
use serde_json::Value;

use crate::ask_user::AskUserTool;
use crate::completion::{BackgroundCompletion, Reporter};
use crate::enter_plan_mode::EnterPlanModeTool;
use crate::exit_plan_mode::ExitPlanModeTool;
use crate::get_internal_docs::{self, GetInternalDocsTool};
use crate::glob::GlobTool;
use crate::google_web_search::GoogleWebSearchTool;
use crate::grep_search::GrepSearchTool;
use crate::ledger::Ledger;
use crate::list_background_processes::ListBackgroundProcessesTool;
use crate::list_directory::ListDirectoryTool;
use crate::read_background_output::ReadBackgroundOutputTool;
use crate::read_file::ReadFileTool;
use crate::read_many_files::ReadManyFilesTool;
use crate::replace::ReplaceTool;
use crate::run_shell_command::RunShellCommandTool;
use crate::save_memory::{self, SaveMemoryTool};
use crate::stop_background_process::StopBackgroundProcessTool;
use crate::tracker;
use crate::update_topic::UpdateTopicTool;
use crate::validation::invalid;
use crate::web_fetch::{WebAccess, WebFetchTool};
use crate::write_file::WriteFileTool;
use crate::write_todos::WriteTodosTool;

/// Finds the text of context files (`GEMINI.md`) that belong to a path and were not given to the model yet. Called after
/// a tool has touched the path, on a thread that may block.
pub type ContextLookup = Arc<dyn Fn(&Path) -> Option<String> + Send + Sync>;

/// The settings that tools follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOptions {
    /// Leave out what `.gitignore` names, unless a call says otherwise (`context.fileFiltering.respectGitIgnore`).
    pub respect_git_ignore: bool,
    /// Leave out what `.geminiignore` names (`context.fileFiltering.respectGeminiIgnore`).
    pub respect_gemini_ignore: bool,
    /// More ignore files, relative to the target folder (`context.fileFiltering.customIgnoreFilePaths`).
    pub custom_ignore_files: Vec<PathBuf>,
    /// Command output of more characters is cut and kept in a file; 0 for never (`tools.truncateToolOutputThreshold`).
    pub truncate_threshold: usize,
    /// How long a command may take in all; none for ever (`pollux.shell.timeout`).
    pub shell_timeout: Option<Duration>,
    /// How long a command may print nothing; none for ever (`tools.shell.inactivityTimeout`).
    pub shell_inactivity: Option<Duration>,
    /// Give commands a terminal where a person is there (`tools.shell.enableInteractiveShell`).
    pub shell_terminal: bool,
    /// Show their output in its colours (`tools.shell.showColor`).
    pub shell_colour: bool,
    /// Commands confined to the workspace may use the network (`tools.sandboxNetworkAccess`).
    pub sandbox_network: bool,
    /// The pager of commands in a terminal (`tools.shell.pager`).
    pub shell_pager: String,
    /// What happens when a background command ends (`tools.shell.backgroundCompletionBehavior`).
    pub background_completion: BackgroundCompletion,
    /// A model may mend edits whose text is not found (`tools.disableLLMCorrection` off).
    pub correct_edits: bool,
    /// There is a plan mode (`general.plan.enabled`).
    pub plan_mode: bool,
    /// What is hidden from commands (`security.environmentVariableRedaction`). It turns strict by itself where the
    /// environment is that of a GitHub action.
    pub redaction: Redaction,
    /// Offer `write_todos` to the models that need it (`useWriteTodos`).
    pub write_todos: bool,
    /// Offer the tracker, which takes the place of `write_todos` (`experimental.taskTracker`).
    pub task_tracker: bool,
    /// Let the model name its topics (`general.topicUpdateNarration`).
    pub topics: bool,
    /// Offer `save_memory` (`pollux.tools.saveMemory`, or a `tools.core` that names it).
    pub save_memory: bool,
    /// `web_fetch` gives back the page itself, without a model (`experimental.directWebFetch`).
    pub direct_web_fetch: bool,
    /// Offer `get_internal_docs` in the main conversation too (a `tools.core` that names it).
    pub internal_docs: bool,
}

impl Default for ToolOptions {
    /// The defaults of the settings.
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

/// What all tools of a session share.
pub struct ToolContext {
    /// The folders of the session.
    pub workspace: Arc<Workspace>,
    /// Holder of the text of files, asked before the disk.
    pub files: Arc<dyn Files>,
    /// The settings that tools follow.
    pub options: ToolOptions,
    /// The environment that commands start from, before credentials are taken out.
    pub environment: Vec<(OsString, OsString)>,
    /// Names of variables that commands must not see: the model credentials that Pollux itself uses.
    pub credentials: Vec<String>,
    /// The approval mode of the session. In plan mode only the plans folder is written to.
    pub mode: Live<ApprovalMode>,
    /// Where plans are written in plan mode, absolute.
    pub plans_directory: PathBuf,
    /// Where the tracker keeps the tasks of the session; made when needed.
    pub tracker_directory: PathBuf,
    /// The person's own context file, which every project is told of (`~/.gemini/GEMINI.md`).
    pub memory_file: PathBuf,
    /// What was read and written in this session.
    pub ledger: Arc<Ledger>,
    /// Where output goes that is too long for a model (`…/tool-outputs/session-<id>`); made when needed.
    pub spill_directory: PathBuf,
    /// The commands that run in the background. They end with the last tool of the session.
    pub background: BackgroundProcesses,
    /// Is told when one of them ends; none where nobody is to know.
    pub reporter: Option<Reporter>,
    /// A person is there, who may type.
    pub interactive: bool,
    /// Finds context files of touched paths.
    pub context_for: Option<ContextLookup>,
    /// The way to pages of the web; none where there is none.
    pub web: Option<WebAccess>,
    /// Places that the confinement of commands refers to.
    pub sandbox: Arc<SandboxPlaces>,
}

/// The built-in tools, in the order in which they are declared to models.
pub fn builtin(context: &Arc<ToolContext>) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(UpdateTopicTool::new(Arc::clone(context))),
        Arc::new(ListDirectoryTool::new(Arc::clone(context))),
        Arc::new(ReadFileTool::new(Arc::clone(context))),
        Arc::new(GrepSearchTool::new(Arc::clone(context))),
        Arc::new(GlobTool::new(Arc::clone(context))),
        Arc::new(ReplaceTool::new(Arc::clone(context))),
        Arc::new(WriteFileTool::new(Arc::clone(context))),
        Arc::new(WebFetchTool::new(Arc::clone(context))),
        Arc::new(ReadManyFilesTool::new(Arc::clone(context))),
        Arc::new(RunShellCommandTool::new(Arc::clone(context))),
        Arc::new(ListBackgroundProcessesTool::new(Arc::clone(context))),
        Arc::new(ReadBackgroundOutputTool::new(Arc::clone(context))),
        Arc::new(StopBackgroundProcessTool::new(Arc::clone(context))),
    ];
    tools.push(Arc::new(GoogleWebSearchTool::new()));
    tools.push(Arc::new(AskUserTool::new()));
    tools.push(Arc::new(WriteTodosTool::new(Arc::clone(context))));
    if context.options.plan_mode {
        tools.push(Arc::new(ExitPlanModeTool::new(Arc::clone(context))));
        tools.push(Arc::new(EnterPlanModeTool::new(Arc::clone(context))));
    }
    tools.extend(tracker::tools(context));
    tools.push(Arc::new(SaveMemoryTool::new(Arc::clone(context))));
    tools.push(Arc::new(GetInternalDocsTool::new(Arc::clone(context))));
    tools
}

impl ToolOptions {
    /// The options that settings name. Time limits are seconds; zero or less turns one off.
    pub fn from_settings(settings: &Settings) -> Self {
        let limit = |seconds: f64| {
            Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero())
        };
        let filtering = &settings.context.file_filtering;
        let own_limit = settings.value("pollux.shell.timeout").and_then(Value::as_f64);
        Self {
            respect_git_ignore: filtering.respect_git_ignore,
            respect_gemini_ignore: filtering.respect_gemini_ignore,
            custom_ignore_files: filtering
                .custom_ignore_file_paths
                .iter()
                .map(PathBuf::from)
                .collect(),
            truncate_threshold: settings.tools.truncate_output_threshold.unwrap_or(0),
            shell_timeout: own_limit.map_or(Self::default().shell_timeout, limit),
            shell_inactivity: limit(settings.tools.shell.inactivity_timeout),
            shell_terminal: settings.tools.shell.enable_interactive_shell,
            shell_colour: settings.tools.shell.show_color,
            sandbox_network: settings.boolean("tools.sandboxNetworkAccess"),
            shell_pager: settings.tools.shell.pager.clone(),
            background_completion: BackgroundCompletion::from_settings(settings),
            correct_edits: !settings.boolean("tools.disableLLMCorrection"),
            plan_mode: settings.general.plan_enabled,
            redaction: redaction(settings),
            write_todos: settings.boolean("useWriteTodos"),
            task_tracker: settings.boolean("experimental.taskTracker"),
            topics: settings.boolean("general.topicUpdateNarration"),
            save_memory: settings.boolean("pollux.tools.saveMemory")
                || is_named(settings, save_memory::NAME),
            direct_web_fetch: settings.boolean("experimental.directWebFetch"),
            internal_docs: is_named(settings, get_internal_docs::NAME),
        }
    }
}

/// The settings list the tools that there are, and this is one of them.
fn is_named(settings: &Settings, tool: &str) -> bool {
    settings.tools.core.iter().flatten().any(|name| name.trim() == tool)
}

fn redaction(settings: &Settings) -> Redaction {
    let names = |key| settings.texts(key).unwrap_or_default();
    Redaction {
        enabled: settings.boolean("security.environmentVariableRedaction.enabled"),
        strict: false,
        allowed: names("security.environmentVariableRedaction.allowed"),
        blocked: names("security.environmentVariableRedaction.blocked"),
    }
}

impl ToolContext {
    /// A context with default options, an empty ledger and the environment of nobody.
    pub fn new(workspace: Arc<Workspace>, spill_directory: PathBuf) -> Self {
        Self {
            workspace,
            files: Arc::new(LocalFiles),
            options: ToolOptions::default(),
            environment: Vec::new(),
            credentials: Vec::new(),
            mode: Live::default(),
            plans_directory: PathBuf::new(),
            tracker_directory: PathBuf::new(),
            memory_file: PathBuf::new(),
            ledger: Arc::new(Ledger::new()),
            background: BackgroundProcesses::new(spill_directory.join("background-processes")),
            reporter: None,
            interactive: false,
            spill_directory,
            context_for: None,
            web: None,
            sandbox: Arc::default(),
        }
    }

    /// Commands run in a terminal: a person is there to see it, and has nothing against it.
    pub(crate) fn gives_terminals(&self) -> bool {
        // Gemini CLI's variable for where its terminals come from; a person can switch them off by it.
        let off = |(name, value): &(OsString, OsString)| {
            name == "GEMINI_PTY_INFO" && value == "child_process"
        };
        self.interactive && self.options.shell_terminal && !self.environment.iter().any(off)
    }

    /// The real path that an argument means, checked for `access`.
    pub(crate) fn locate(&self, given: &str, access: Access) -> Result<RealPath, ToolError> {
        let refused = |error: Error| invalid(error.to_string());
        let named = self.workspace.absolute(given).map_err(refused)?;
        self.workspace.check(&named, access).map_err(|error| {
            // Where a link leads says more than its name; but the name itself may be what is closed.
            let led_to = self.workspace.resolve(given);
            let told = led_to.and_then(|real| self.workspace.check(&real, access)).err();
            invalid(told.unwrap_or(error).to_string())
        })
    }

    /// The same for a file that is to be written. In plan mode a plan is meant: a path that is not in the
    /// plans folder already is taken to start there.
    pub(crate) fn locate_to_write(&self, given: &str) -> Result<RealPath, ToolError> {
        if *self.mode.get() != ApprovalMode::Plan {
            return self.locate(given, Access::Write);
        }
        let plans = &self.plans_directory;
        let as_given =
            self.workspace.absolute(given).map_err(|error| invalid(error.to_string()))?;
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

    /// What a tool that writes says of itself: in plan mode, what it is there for.
    pub(crate) fn in_plan_mode_only_plans(&self, description: &str) -> String {
        match *self.mode.get() {
            ApprovalMode::Plan => format!(
                "Plan mode: only for plans, which are .md files in {}. {description}",
                self.plans_directory.display()
            ),
            _ => description.to_owned(),
        }
    }

    /// Checks a path again just before it is touched: a folder may have become a link in the meantime. What becomes one
    /// after this is met by the [`RealPath`] itself; here it is told where the link leads.
    pub(crate) fn recheck(&self, path: &Path, access: Access) -> Result<(), ToolError> {
        match self.workspace.check(path, access) {
            Ok(real) if *real == *path || path == self.workspace.target() => Ok(()),
            Ok(_) => Err(changed(&Error::PathChanged { path: path.into() })),
            Err(error) => Err(changed(&error)),
        }
    }

    /// The ignore rules of the whole workspace; a call may override what the settings say.
    pub(crate) fn ignore_rules(&self, git: Option<bool>, gemini: Option<bool>) -> IgnoreRules {
        IgnoreRules::for_roots(self.workspace.roots(), &self.ignore_options(git, gemini))
    }

    /// Which ignore files count for a call.
    pub(crate) fn ignore_options(&self, git: Option<bool>, gemini: Option<bool>) -> IgnoreOptions {
        IgnoreOptions {
            git: git.unwrap_or(self.options.respect_git_ignore),
            gemini: gemini.unwrap_or(self.options.respect_gemini_ignore),
            custom_files: self.options.custom_ignore_files.clone(),
        }
    }

    /// The block that tells a model of context files it has not seen, now that a tool has touched `path`.
    pub(crate) fn discovered_context(&self, path: &Path) -> Option<String> {
        let text = self.context_for.as_ref()?(path)?;
        let [opening, closing] = DISCOVERED_CONTEXT;
        Some(format!("\n\n{opening}\n{text}\n{closing}"))
    }
}

/// The failure of a path that is not any more what was checked.
pub(crate) fn changed(error: &Error) -> ToolError {
    ToolError::new(ToolErrorKind::PathNotInWorkspace, error.to_string())
}

pub(crate) fn outside_plans(given: &str, plans: &Path) -> ToolError {
    let plans = plans.display();
    invalid(format!(
        "Access denied: plan path ({given}) must be within the designated plans directory ({plans})."
    ))
}

/// What was done to a file, for telemetry and statistics.
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

/// A failed result whose words for the person differ from those for the model.
pub(crate) fn failed(error: ToolError, display: impl Into<String>) -> ToolOutput {
    ToolOutput::from(error).display(pollux_protocol::Display::Text(display.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_settings_mean_the_defaults() {
        assert_eq!(ToolOptions::from_settings(&Settings::defaults()), ToolOptions::default());
    }

    #[test]
    fn redaction_follows_the_settings() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().display().to_string();
        let pairs = [("HOME", folder.as_str()), ("GEMINI_CLI_HOME", &folder)];
        let environment = pollux_config::Environment::from_pairs(pairs);
        let places = pollux_config::Places::new(&environment);
        std::fs::create_dir_all(places.user_settings().parent().unwrap()).unwrap();
        let settings = r#"{"security": {"environmentVariableRedaction":
            {"enabled": true, "allowed": ["A", 1], "blocked": ["B"]}}}"#;
        std::fs::write(places.user_settings(), settings).unwrap();
        let project = home.path().join("project");
        let loaded = pollux_config::load(&pollux_config::LoadOptions {
            ignore_env: true,
            ..pollux_config::LoadOptions::new(&places, &project, &environment, false)
        });
        let options = ToolOptions::from_settings(&loaded.unwrap().settings);
        let expected = Redaction {
            enabled: true,
            strict: false,
            allowed: vec!["A".to_owned()],
            blocked: vec!["B".to_owned()],
        };
        assert_eq!(options.redaction, expected);
    }
}
