//! Policy files: any text is read in bounded time, each error is reported with its place, and the
//! resulting rules can be used for decisions.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pollux_policy::{Facts, Policy, Query, Subject, Tier, read};
use pollux_protocol::{ApprovalMode, Effects};
use serde_json::json;

fuzz_target!(|text: &str| {
    let file = read(Tier::User, Path::new("own.toml"), text);
    assert_eq!(
        file.problems,
        read(Tier::User, Path::new("own.toml"), text).problems,
        "not the same twice"
    );
    let policy = Policy::new(Facts::default(), file);
    let (args, effects) = (
        json!({"command": "git status", "file_path": "a.md"}),
        Effects::command("git status", "/p"),
    );
    for tool in ["run_shell_command", "write_file"] {
        for mode in [ApprovalMode::Default, ApprovalMode::Plan, ApprovalMode::Yolo] {
            let query =
                Query { subject: Subject::named(tool), args: &args, effects: &effects, mode };
            policy.decide(query);
        }
    }
});
