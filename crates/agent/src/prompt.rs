//! The system instruction: a pure function of what the session is. The words are in `prompts/`.

use std::path::PathBuf;

use pollux_protocol::ApprovalMode;

/// What the system instruction depends on, beside mode and tools.
#[derive(Debug, Clone, Default)]
pub struct PromptInputs {
    /// A person can answer.
    pub interactive: bool,
    /// The project is a Git repository.
    pub git: bool,
    /// The program runs inside a sandbox.
    pub sandboxed: bool,
    /// Where plan mode may write.
    pub plans_directory: PathBuf,
    /// The context file of all projects.
    pub global_memory: PathBuf,
    /// The index of the user's private notes on this project.
    pub private_memory: PathBuf,
    /// Contents of the user's own context files, ready to append; empty without any.
    pub memory: String,
}

/// Puts the system instruction together for this mode and these tools. `family` is the model's prompt
/// family; both families get the same text so far.
pub fn system_prompt(
    inputs: &PromptInputs,
    mode: ApprovalMode,
    _family: &str,
    tools: &[&str],
) -> String {
    let can_write = tools.contains(&"write_file") || tools.contains(&"replace");
    let memory_habit = include_str!("../prompts/memory.md")
        .replace("{global_memory}", &inputs.global_memory.display().to_string())
        .replace("{private_memory}", &inputs.private_memory.display().to_string());
    let planning = include_str!("../prompts/planning.md")
        .replace("{plans_directory}", &inputs.plans_directory.display().to_string());
    let mode_line = format!("Approval mode: {}.\n", mode_name(mode));
    let plan = mode == ApprovalMode::Plan;
    let autonomous = mode == ApprovalMode::Yolo && inputs.interactive;
    let preamble = if inputs.interactive {
        include_str!("../prompts/preamble_interactive.md")
    } else {
        include_str!("../prompts/preamble_headless.md")
    };
    let sections: &[(bool, &[&str])] = &[
        (true, &[include_str!("../prompts/preamble.md"), preamble, &mode_line]),
        (true, &[include_str!("../prompts/mandates.md")]),
        (plan, &[&planning]),
        (!plan, &[include_str!("../prompts/workflow.md")]),
        (
            true,
            &[include_str!("../prompts/operations.md"), if can_write { &memory_habit } else { "" }],
        ),
        (tools.contains(&"update_topic"), &[include_str!("../prompts/topics.md")]),
        (autonomous, &[include_str!("../prompts/autonomous.md")]),
        (inputs.sandboxed, &[include_str!("../prompts/sandbox.md")]),
        (inputs.git, &[include_str!("../prompts/git.md")]),
        (!inputs.memory.is_empty(), &[&inputs.memory]),
    ];
    let chosen: Vec<String> = sections
        .iter()
        .filter(|(wanted, _)| *wanted)
        .map(|(_, texts)| texts.concat().trim_end().to_owned())
        .collect();
    chosen.join("\n\n")
}

fn mode_name(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Default => "Default",
        ApprovalMode::AutoEdit => "Auto-Edit",
        ApprovalMode::Yolo => "YOLO",
        ApprovalMode::Plan => "Plan",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_follow_what_the_session_is() {
        let headless =
            PromptInputs { git: true, memory: "MEMORY".into(), ..PromptInputs::default() };
        let text = system_prompt(&headless, ApprovalMode::Default, "modern", &["read_file"]);
        assert!(text.contains("nobody can answer") && text.contains("# Git"));
        assert!(text.ends_with("\n\nMEMORY"));
        assert!(!text.contains("# Plan mode") && !text.contains("# Sandbox"));
        assert!(!text.contains("Lasting instructions"), "nothing can be written");

        let inputs = PromptInputs { plans_directory: "/plans".into(), ..PromptInputs::default() };
        let text = system_prompt(&inputs, ApprovalMode::Plan, "modern", &["write_file"]);
        assert!(text.contains("plans folder `/plans`") && !text.contains("# How to work"));
        assert!(!text.contains("\n\n\n") && !text.contains('{'));

        let person = PromptInputs { interactive: true, sandboxed: true, ..PromptInputs::default() };
        let text = system_prompt(&person, ApprovalMode::Yolo, "modern", &[]);
        assert!(text.contains("# Autonomy") && text.contains("# Sandbox"));
        assert!(!text.contains("nobody can answer") && !text.contains("# Topics"));
        let text = system_prompt(&person, ApprovalMode::Yolo, "modern", &["update_topic"]);
        assert!(text.contains("# Topics"));
    }
}
