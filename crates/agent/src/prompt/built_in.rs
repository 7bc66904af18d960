//! Built-in tools and agents that texts of the system instruction describe: the one file of this crate
//! in which tools have names. All other tools are described by their declarations alone.

/// Agent that answers questions about a code base.
pub(super) const INVESTIGATOR: &str = "codebase_investigator";

/// Conditions of the texts that hold when any of these tools is on offer.
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

/// Returns the conditions that are about tools, and whether they hold where these are on offer.
pub(super) fn conditions(offered: &[&str]) -> impl Iterator<Item = (&'static str, bool)> {
    let is_offered = |tools: &[&str]| tools.iter().any(|tool| offered.contains(tool));
    CONDITIONS.into_iter().map(move |(condition, tools)| (condition, is_offered(tools)))
}
