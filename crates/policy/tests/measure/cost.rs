//! Benchmark of a decision about a command line of twenty commands under five hundred rules, and of
//! reading fifty files.
//!
//! `cargo bench -p pollux-policy --bench cost` prints medians in microseconds.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pollux_fs::Workspace;
use pollux_policy::{Facts, FoundPolicies, Policy, PolicyPlaces, Query, Subject, Tier};
use pollux_protocol::{ApprovalMode, Effects, Live};
use pollux_shell::Dialect;
use pollux_shell::command_line::read;
use serde_json::json;

const ROUNDS: usize = 500;
const RULES: usize = 500;
const PARTS: usize = 20;

/// Kinds of rules about commands: their first words, a pattern, or alternating kinds.
const KINDS: [(&str, &[&str]); 5] = [
    ("prefixes that allow", &["allow"]),
    ("prefixes that allow and deny", &["allow", "deny"]),
    ("prefixes and patterns", &["allow", "deny", "pattern"]),
    ("patterns of commands", &["pattern"]),
    ("patterns of arguments", &["arguments"]),
];

/// Ends of the commands.
const ENDS: [(&str, &str); 3] = [
    ("plain commands", ""),
    ("commands with redirections", " 2>/dev/null"),
    ("commands with paths in the home", " \"$HOME/x\""),
];

fn main() {
    for (lines, end) in ENDS {
        let line = line(end);
        let (args, effects) = (json!({ "command": line }), Effects::command(line.as_str(), ""));
        let subject = Subject::named("run_shell_command");
        let query = Query { subject, args: &args, effects: &effects, mode: ApprovalMode::Default };
        let reading = time(|| read(&line, Dialect::Bash));
        println!("reading {PARTS} {lines:<41} {reading:>6} us");
        for (name, kinds) in KINDS {
            let file = pollux_policy::read(Tier::User, Path::new("rules.toml"), &rules(kinds));
            assert!(file.problems.iter().all(|problem| !problem.is_error()));
            let workspace = Live::new(Workspace::new("/p".into(), "/temporary".into()));
            let facts = Facts { interactive: true, workspace, ..Facts::default() };
            let policy = Policy::new(facts, file);
            let started = Instant::now();
            let judgement = policy.judge(query);
            let first = started.elapsed().as_micros();
            assert_eq!((judgement.parts.len(), judgement.verdict.as_str()), (PARTS, "allow"));
            let decision = time(|| policy.judge(query).verdict);
            println!("a decision, {RULES} {name:<37} {decision:>6} us (the first: {first} us)");
        }
    }
    let folder = files();
    let reading = time(|| {
        FoundPolicies::read(&PolicyPlaces {
            extensions: &[],
            user: std::slice::from_ref(&folder),
            default_user: Path::new("/nonexistent"),
            system: Path::new("/nonexistent"),
            admin: &[],
            project: None,
            accepts: &|_| false,
        })
    });
    println!("50 files with 10 rules each {reading:>31} us");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Twenty commands; only the last rules name the last command.
fn line(end: &str) -> String {
    let command = |number: usize| {
        let last = RULES - 1 - number % 3 * 3;
        format!("program{last} run --verbose \"a file {number}.txt\" -n {number}{end}")
    };
    (0..PARTS).map(command).collect::<Vec<_>>().join(" && ")
}

fn rules(kinds: &[&str]) -> String {
    let mut text = String::new();
    for number in 0..RULES {
        // The commands of the line are the last ones of their kind, and allowed.
        let is_one = kinds.len() == 1;
        let kind =
            if number + 9 > RULES && !is_one { "allow" } else { kinds[number % kinds.len()] };
        let (decision, condition) = match kind {
            "pattern" => ("allow", format!("commandRegex = \"program{number} (run|test)\"")),
            "arguments" => {
                ("allow", format!("argsPattern = '\"command\":\"program{number} (run|test)'"))
            }
            kind => (kind, format!("commandPrefix = \"program{number} run\"")),
        };
        let priority = 999 - number;
        writeln!(
            text,
            "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"{decision}\"\npriority = {priority}\n{condition}"
        )
        .unwrap();
    }
    text
}

fn files() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("pollux-policy-cost-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let rules = rules(KINDS[2].1);
    let rules: Vec<&str> = rules.split_inclusive("[[rule]]\n").collect();
    for (number, ten) in rules[1..].chunks(10).enumerate() {
        let text = format!("[[rule]]\n{}", ten.concat());
        let text = text.trim_end_matches("[[rule]]\n");
        std::fs::write(folder.join(format!("{number:02}.toml")), text).unwrap();
    }
    folder
}

/// Returns the median time in microseconds.
fn time<T>(mut work: impl FnMut() -> T) -> u128 {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            std::hint::black_box(work());
            started.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2].as_micros()
}
