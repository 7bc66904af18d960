//! List of the built-in tools, and the settings that select and limit them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pollux_config::Settings;
use pollux_protocol::Tool;
use pollux_shell::Redaction;
use serde_json::Value;

use crate::ask_user::AskUserTool;
use crate::completion::BackgroundCompletion;
use crate::context::{ToolContext, ToolOptions};
use crate::enter_plan_mode::EnterPlanModeTool;
use crate::exit_plan_mode::ExitPlanModeTool;
use crate::get_internal_docs::{self, GetInternalDocsTool};
use crate::glob::GlobTool;
use crate::google_web_search::GoogleWebSearchTool;
use crate::grep_search::GrepSearchTool;
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
use crate::web_fetch::WebFetchTool;
use crate::write_file::WriteFileTool;
use crate::write_todos::WriteTodosTool;

/// Returns the tool that runs the commands which a custom command inserts into its prompt. It has
/// the name and the effects of `run_shell_command`; its result is the output alone.
pub fn inserted_command(context: &Arc<ToolContext>) -> Arc<dyn Tool> {
    Arc::new(RunShellCommandTool::inserting(Arc::clone(context)))
}

/// Returns the built-in tools, in the order in which they are declared to models.
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
    /// Reads the options from the settings. Time limits are seconds; zero or less turns a limit
    /// off.
    pub fn from_settings(settings: &Settings) -> Self {
        let limit = |seconds: f64| {
            Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero())
        };
        let custom_files = settings.texts("context.fileFiltering.customIgnoreFilePaths");
        let threshold = settings.integer("tools.truncateToolOutputThreshold");
        let inactivity = settings.number("tools.shell.inactivityTimeout").unwrap_or(300.0);
        let own_limit = settings.value("pollux.shell.timeout").and_then(Value::as_f64);
        Self {
            respect_git_ignore: settings.boolean("context.fileFiltering.respectGitIgnore"),
            respect_gemini_ignore: settings.boolean("context.fileFiltering.respectGeminiIgnore"),
            custom_ignore_files: custom_files.into_iter().flatten().map(PathBuf::from).collect(),
            truncate_threshold: usize::try_from(threshold).unwrap_or(0),
            shell_timeout: own_limit.map_or(Self::default().shell_timeout, limit),
            shell_inactivity: limit(inactivity),
            shell_terminal: settings.boolean("tools.shell.enableInteractiveShell"),
            shell_colour: settings.boolean("tools.shell.showColor"),
            sandbox_network: settings.boolean("tools.sandboxNetworkAccess"),
            shell_pager: settings.text("tools.shell.pager").unwrap_or_default().to_owned(),
            background_completion: BackgroundCompletion::from_settings(settings),
            correct_edits: !settings.boolean("tools.disableLLMCorrection"),
            plan_mode: settings.boolean("general.plan.enabled"),
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

/// Returns true if `tools.core` lists the available tools and this tool is one of them.
fn is_named(settings: &Settings, tool: &str) -> bool {
    settings.texts("tools.core").iter().flatten().any(|name| name.trim() == tool)
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
