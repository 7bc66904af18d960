//! Tool names that the formats of policy files and settings prescribe: the only file of this crate
//! that contains names of tools.

/// Tools that had another name in older versions of Gemini CLI, which recordings and policies still
/// use: the old name and the current one.
const RENAMED: &[(&str, &str)] = &[("search_file_content", "grep_search")];

/// Class names that old settings and rules use for tools, with the names of the tools.
const CLASSES: &[(&str, &str)] = &[
    ("ShellTool", SHELL),
    ("ReadFileTool", "read_file"),
    ("WriteFileTool", "write_file"),
    ("EditTool", "replace"),
    ("LSTool", "list_directory"),
    ("GlobTool", "glob"),
    ("GrepTool", "grep_search"),
    ("RipGrepTool", "grep_search"),
    ("ListBackgroundProcessesTool", "list_background_processes"),
    ("ReadBackgroundOutputTool", "read_background_output"),
    ("ReadManyFilesTool", "read_many_files"),
    ("MemoryTool", "save_memory"),
    ("WriteTodosTool", "write_todos"),
    ("WebFetchTool", "web_fetch"),
    ("WebSearchTool", "google_web_search"),
];

/// Tool whose rules may have `commandPrefix` and `commandRegex`, and whose entries in settings may
/// have a prefix in parentheses.
pub(crate) const SHELL: &str = "run_shell_command";

/// Beginning of the names of tools that programs of the project or the user declare.
pub(crate) const DISCOVERED: &str = "discovered_tool_";

/// Tool that delegates work to the agent named by its argument [`AGENT_ARGUMENT`]: rules may name
/// the agent instead of the tool.
pub(crate) const INVOKE_AGENT: &str = "invoke_agent";
/// Argument of [`INVOKE_AGENT`] that names the agent.
pub(crate) const AGENT_ARGUMENT: &str = "agent_name";

/// Names of [`KNOWN`] that are agents, not tools.
const AGENTS: [&str; 2] = ["cli_help", "codebase_investigator"];

/// Names that rules may use.
pub(crate) const KNOWN: &[&str] = &[
    "activate_skill",
    "ask_user",
    "cli_help",
    "codebase_investigator",
    "complete_task",
    "enter_plan_mode",
    "exit_plan_mode",
    "get_internal_docs",
    "glob",
    "google_web_search",
    "grep_search",
    INVOKE_AGENT,
    "list_background_processes",
    "list_directory",
    "list_mcp_resources",
    "read_background_output",
    "read_file",
    "read_many_files",
    "read_mcp_resource",
    "replace",
    SHELL,
    "save_memory",
    "search_file_content",
    "stop_background_process",
    "tracker_add_dependency",
    "tracker_create_task",
    "tracker_get_task",
    "tracker_list_tasks",
    "tracker_update_task",
    "tracker_visualize",
    "update_topic",
    "web_fetch",
    "write_file",
    "write_todos",
];

/// Returns the current name of a tool that had this one in older versions.
pub fn renamed(name: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(old, _)| *old == name).map(|(_, tool)| *tool)
}

/// Returns the current name of the tool that a rule or a setting calls `name`.
pub(crate) fn current_name(name: &str) -> &str {
    let of_class = || CLASSES.iter().find(|(class, _)| *class == name).map(|(_, tool)| *tool);
    renamed(name).or_else(of_class).unwrap_or(name)
}

/// True if this is the name of a tool, now or in an older version.
pub fn is_tool_name(name: &str) -> bool {
    let current = renamed(name).unwrap_or(name);
    KNOWN.contains(&current) && !AGENTS.contains(&current) || name.starts_with(DISCOVERED)
}
