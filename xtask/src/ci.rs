//! `cargo xtask ci`, `gate` and `nightly`: the checks of a change, of a submission, and of a night.
//! The checks that fail soonest run first.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::steps::{self, AfterFailure, Step};
use crate::{process, prove};

/// Variable with the file in which tests report that they cannot run here.
const IGNORED: &str = "POLLUX_TESTS_IGNORED";
/// Variable with the folder in which tests leave the requests that they sent to model servers.
const REQUESTS: &str = "POLLUX_TESTKIT_REQUESTS";

/// Number of seconds that each fuzz target is searched for inputs at night.
const FUZZ_SECONDS: &str = "60";

/// Runs what every change must pass.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    sequence(root, AfterFailure::Stop, |ignored| basic(root, ignored))
}

/// Runs what every submission must pass: the checks of a change, the demo, and samples of the long
/// tests. Each commit has other samples. About 20 minutes on two cores.
pub(crate) fn gate(root: &Path) -> Result<ExitCode> {
    let count = process::capture(git(root, &["rev-list", "--count", "HEAD"]))?;
    let seed = count.trim();
    let proof = |name: &str, sample: &str| {
        Step::task(root, &["prove", name, "--sample", sample, "--seed", seed])
    };
    sequence(root, AfterFailure::Stop, |ignored| {
        let mut steps = basic(root, ignored);
        steps.extend([
            Step::cargo(root, &["run", "--locked", "--release", "--", "demo"]),
            Step::task(root, &["prove", "kill", "--runs", "30", "--seed", seed]),
            Step::task(root, &["prove", "edits"]),
            proof("bypass", "60"),
            proof("sandbox", "24"),
            proof("shell", "16"),
            proof("plan", "12"),
            Step::task(root, &["prove", "hostile"]),
            proof("compress", "4"),
            proof("acp", "5"),
            proof("mcp", "8"),
            proof("terminal", "24"),
            lines(root, "5000", seed),
            Step::new(process::python(root, "bench/test_bench.py")),
            licences(root),
            requests(root),
            Step::task(root, &["interop", "gemini-session"]),
            Step::task(root, &["interop", "google-auth"]),
            Step::task(root, &["interop", "llmock"]),
            Step::task(root, &["interop", "aimock"]),
            Step::task(root, &["interop", "skills"]),
            Step::task(root, &["interop", "parity", "--sample", "24", "--seed", seed]),
            Step::task(root, &["interop", "acp", "--sample", "8", "--seed", seed]),
            Step::task(root, &["interop", "mcp", "--sample", "3", "--seed", seed]),
            Step::task(root, &["interop", "mcp-serve", "--sample", "3"]),
        ]);
        steps
    })
}

/// Runs everything whole. Takes hours; a failure does not stop the rest.
pub(crate) fn nightly(root: &Path) -> Result<ExitCode> {
    sequence(root, AfterFailure::Continue, |ignored| {
        let mut steps = basic(root, ignored);
        steps.push(Step::cargo(root, &["run", "--locked", "--release", "--", "demo"]));
        steps.extend(prove::NAMES.iter().map(|name| Step::task(root, &["prove", name])));
        steps.extend([
            lines(root, "600000", "1"),
            Step::new(process::python(root, "bench/test_bench.py")),
            licences(root),
            Step::cargo(root, &["deny", "--locked", "check", "advisories"]),
            requests(root),
            Step::task(root, &["interop", "saved-approvals"]),
            Step::task(root, &["interop", "gemini-session"]),
            Step::task(root, &["interop", "google-auth"]),
            Step::task(root, &["interop", "llmock"]),
            Step::task(root, &["interop", "aimock"]),
            Step::task(root, &["interop", "parity"]),
            Step::task(root, &["interop", "acp"]),
            Step::task(root, &["interop", "mcp"]),
            Step::task(root, &["interop", "mcp-serve"]),
            Step::task(root, &["interop", "mcp-conformance"]),
            Step::task(root, &["interop", "skills"]),
            Step::task(root, &["interop", "litellm"]),
            Step::task(root, &["interop", "llama-cpp"]),
            Step::task(root, &["interop", "mitmproxy"]),
            Step::task(root, &["screens"]),
            Step::task(root, &["fuzz", "--seconds", FUZZ_SECONDS]),
            Step::task(root, &["mutants", "--sample", "60"]),
        ]);
        steps
    })
}

fn basic(root: &Path, ignored: &Path) -> Vec<Step> {
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    let test = Step::cargo(root, &["test", "--workspace", "--locked"]);
    vec![
        Step::task(root, &["check"]),
        Step::cargo(root, &clippy),
        test.with(IGNORED, ignored).with(REQUESTS, &recorded_requests(root)),
    ]
}

/// Compares what bash, dash and the reader of command lines make of a sample of lines.
fn lines(root: &Path, count: &str, seed: &str) -> Step {
    // With the features and the profile of the tests, so that nothing is compiled again.
    let bench = ["bench", "--locked", "--workspace", "--profile", "dev", "--bench", "shells"];
    Step::cargo(root, &[&bench[..], &["--", count, seed]].concat())
}

fn licences(root: &Path) -> Step {
    Step::cargo(root, &["deny", "--locked", "check", "bans", "licenses", "sources"])
}

/// Checks the requests that the tests have recorded.
fn requests(root: &Path) -> Step {
    Step::task(root, &["interop", "request-types"]).with(REQUESTS, &recorded_requests(root))
}

/// Returns the folder of the requests that the tests of this run record.
fn recorded_requests(root: &Path) -> PathBuf {
    root.join("target/interop/requests")
}

fn git(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(root);
    command
}

/// Runs the steps. They get the path of the file in which tests report that they cannot run here;
/// these reports are printed.
fn sequence(
    root: &Path,
    after: AfterFailure,
    steps: impl FnOnce(&Path) -> Vec<Step>,
) -> Result<ExitCode> {
    let requests = recorded_requests(root);
    // Requests of an earlier run would be checked again.
    std::fs::remove_dir_all(&requests).ok();
    std::fs::create_dir_all(&requests)
        .with_context(|| format!("cannot create {}", requests.display()))?;
    let reports = std::env::temp_dir().join(format!("pollux-ignored-{}", std::process::id()));
    let failed = steps::run(steps(&reports), after)?;
    // There is no file if all tests ran.
    let ignored = std::fs::read_to_string(&reports).unwrap_or_default();
    std::fs::remove_file(&reports).ok();
    println!("tests that could not run here: {}", ignored.lines().count());
    print!("{ignored}{}", steps::report(&failed));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
