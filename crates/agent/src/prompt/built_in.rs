//! Built-in tools and agents that texts of the system instruction describe. This is the only file
//! of the crate that contains names of tools. All other tools are described by their declarations
//! alone.

/// Agent that answers questions about a code base.
pub(super) const INVESTIGATOR: &str = "codebase_investigator";

/// Conditions in the texts, each with the tools of which at least one must be offered.
const CONDITIONS: [(&str, &[&str]); 11] = [
    ("agents", &["invoke_agent"]),
    ("skill_tool", &["activate_skill"]),
    ("topics", &["update_topic"]),
    ("todos", &["write_todos"]),
    ("tracker", &["tracker_create_task"]),
    ("ask", &["ask_user"]),
    ("enter_plan", &["enter_plan_mode"]),
    ("exit_plan", &["exit_plan_mode"]),
    ("find", &["grep_search", "glob"]),
    ("write", &["write_file", "replace"]),
    ("shell", &["run_shell_command"]),
];

/// Returns the conditions about tools, each with its value for the offered tools.
pub(super) fn conditions(offered: &[&str]) -> impl Iterator<Item = (&'static str, bool)> {
    let is_offered = |tools: &[&str]| tools.iter().any(|tool| offered.contains(tool));
    CONDITIONS.into_iter().map(move |(condition, tools)| (condition, is_offered(tools)))
}
