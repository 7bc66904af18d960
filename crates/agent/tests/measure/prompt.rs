//! Cost of building the system instruction: the largest one, with fifty skills and as many
//! subagents.
//!
//! `cargo bench -p pollux-agent --bench prompt_cost` prints medians in microseconds.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, missing_docs)]

use std::path::Path;
use std::time::{Duration, Instant};

use pollux_agent::{OfferedSkill, PromptInputs, Situation, Subagent, system_prompt};
use pollux_protocol::{ApprovalMode, Live, PromptFamily};

const ROUNDS: usize = 500;
const TOOLS: [&str; 14] = [
    "update_topic",
    "read_file",
    "grep_search",
    "glob",
    "replace",
    "write_file",
    "run_shell_command",
    "ask_user",
    "enter_plan_mode",
    "exit_plan_mode",
    "write_todos",
    "tracker_create_task",
    "invoke_agent",
    "activate_skill",
];

fn main() {
    let memory = "A line of a context file, as people write them.\n".repeat(2000);
    let situation = Situation {
        mode: ApprovalMode::Default,
        family: PromptFamily::Modern,
        tools: &TOOLS,
        approved_plan: Some(Path::new("/tmp/plans/a.md")),
        topic: Some("Mend the parser"),
        memory: "",
    };
    let plain = PromptInputs { interactive: true, git: true, ..PromptInputs::default() };
    let equipped = PromptInputs {
        subagents: Live::new(subagents()),
        skills: Live::new(skills()),
        ..plain.clone()
    };
    let with_memory = Situation { memory: &memory, ..situation };
    for (name, inputs, situation) in [
        ("nothing but the sections", &plain, situation),
        ("fifty skills, fifty subagents", &equipped, situation),
        ("the same, and context files of 96 kB", &equipped, with_memory),
    ] {
        let bytes = system_prompt(inputs, situation).text().len();
        let took = time(|| system_prompt(inputs, situation).text());
        println!("{name:<38} {bytes:>7} bytes {took:>6} us");
    }
}

fn subagents() -> Vec<Subagent> {
    let agent = |number| Subagent {
        name: format!("agent{number}"),
        description: "Does one kind of work that fills a conversation of its own.".to_owned(),
    };
    (0..50).map(agent).collect()
}

fn skills() -> Vec<OfferedSkill> {
    let skill = |number| OfferedSkill {
        name: format!("skill{number}"),
        description: "Instructions for work of one kind, with what it needs.".to_owned(),
        location: format!("/home/me/.gemini/skills/skill{number}/SKILL.md").into(),
    };
    (0..50).map(skill).collect()
}

/// Returns the median time, in microseconds.
fn time<T>(work: impl Fn() -> T) -> u128 {
    let once = || {
        let began = Instant::now();
        std::hint::black_box(work());
        began.elapsed()
    };
    let mut rounds: Vec<Duration> = (0..ROUNDS).map(|_| once()).collect();
    rounds.sort();
    rounds[ROUNDS / 2].as_micros()
}
