//! Policy files: any text is read in bounded time, and each error is reported with its place.
//! Comments and rules of other tools change no verdict, and a rule without a decision that Pollux
//! knows allows nothing.

use std::path::Path;

use pollux_policy::{
    Facts, Policy, PolicyFile, PolicyVerdict, ProblemKind, Query, Subject, Tier, read,
};
use pollux_protocol::{ApprovalMode, Effects};
use serde_json::json;

const MODES: [ApprovalMode; 4] =
    [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Plan, ApprovalMode::Yolo];

/// Rule of a tool that no query is about.
const UNRELATED: &str =
    "[[rule]]\ntoolName = \"another_tool\"\ndecision = \"deny\"\npriority = 999\n";

/// Maximum size of a text to which something is added; larger ones may exceed the limit of a file.
const MAX_SIZE: usize = 1 << 19;

fn parse(text: &str) -> PolicyFile {
    read(Tier::User, Path::new("own.toml"), text)
}

/// Returns the verdicts about some calls in all modes.
fn verdicts(file: PolicyFile) -> Vec<PolicyVerdict> {
    let policy = Policy::new(Facts::default(), file);
    let args = json!({"command": "git status", "file_path": "a.md"});
    let effects = Effects::command("git status", Path::new("/p"));
    let decide = |tool| {
        let (policy, args, effects) = (&policy, &args, &effects);
        MODES
            .map(|mode| policy.decide(Query { subject: Subject::named(tool), args, effects, mode }))
    };
    ["run_shell_command", "write_file", "read_file"].into_iter().flat_map(decide).collect()
}

pub(crate) fn run(text: &str) {
    let file = parse(text);
    let errors = file.problems.iter().filter(|problem| problem.is_error());
    assert!(errors.into_iter().all(|problem| problem.position.is_some()), "an error without place");
    assert_eq!(file.problems, parse(text).problems, "not the same twice");
    let given = verdicts(file);
    if text.len() > MAX_SIZE || text.ends_with('\r') {
        return;
    }
    let commented = format!("{text}\n# A comment.\n");
    assert_eq!(verdicts(parse(&commented)), given, "a comment changes a verdict");
    // The text may write its rules in a form to which none can be added.
    let extended = parse(&format!("{text}\n{UNRELATED}"));
    if !extended.problems.iter().any(|problem| problem.kind == ProblemKind::TomlParse) {
        assert_eq!(verdicts(extended), given, "a rule of another tool changes a verdict");
    }

    // In a text with escapes, a key may have other spellings.
    if !text.contains('\\') {
        let undecided = verdicts(parse(&text.replace("decision", "decisions")));
        for (undecided, without) in undecided.iter().zip(verdicts(PolicyFile::default())) {
            let allows = |verdict: &PolicyVerdict| matches!(verdict, PolicyVerdict::Allow);
            assert!(!allows(undecided) || allows(&without), "allowed by an unknown key");
        }
    }
}
