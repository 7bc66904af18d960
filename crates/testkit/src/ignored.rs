//! Reports of tests that cannot run on this machine.

use std::io::Write as _;

/// Variable with the path of a file to which the reports are appended, one line for each test.
const REPORTS: &str = "POLLUX_TESTS_IGNORED";

/// Reports that the current test cannot run here, so that nobody takes it for one that passed. The
/// caller returns after it.
pub fn cannot_run(reason: &str) {
    let thread = std::thread::current();
    let line = format!("ignored: {}: {reason}\n", thread.name().unwrap_or("a test"));
    // The test harness hides what the macros print in a test that passes, but not this.
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(path) = std::env::var_os(REPORTS) {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}
