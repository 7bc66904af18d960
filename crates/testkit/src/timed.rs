//! Tests that measure time, one after the other.

use std::fs::File;

/// Guard of a test that measures time: while it exists, no other test of the workspace has one.
pub struct TimedTest(#[expect(dead_code, reason = "closing the file releases the lock")] File);

/// Waits until no other test measures time.
///
/// For a test that can only show a promise about time by measuring it. Any number of other tests
/// still run, so its limit must be many times the promise.
#[must_use = "the test is alone only while the guard exists"]
pub fn timed_test() -> TimedTest {
    // A file that all test programs of the workspace know, and that everybody can open.
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/src/timed.rs")).unwrap();
    file.lock().unwrap();
    TimedTest(file)
}
