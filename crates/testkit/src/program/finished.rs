//! Result of a finished run.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// Number of the signal that ended the program.
    pub signal: Option<i32>,
    /// All of standard output.
    pub stdout: Vec<u8>,
    /// All of standard error.
    pub stderr: Vec<u8>,
    /// Time from just before the start to just after the end.
    pub duration: Duration,
    /// Maximum resident memory of the program in bytes, without its children. Sampled every 2 ms,
    /// so a peak in the last moment can be missed. `None` without
    /// [`measure_memory`](crate::Pollux::measure_memory), and on systems that do not report it.
    pub peak_rss: Option<u64>,
}

impl Finished {
    /// Returns standard output as text, with replacement characters for invalid UTF-8.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns standard error as text, with replacement characters for invalid UTF-8.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Parses standard output as one JSON value; fails the test if it is anything else.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| {
            panic!("stdout is not one JSON value: {error}\n{}", self.report())
        })
    }

    /// Parses standard output as JSON lines; fails the test if a line is not JSON or the last line
    /// does not end with a newline.
    pub fn json_lines(&self) -> Vec<Value> {
        let text = self.stdout_text();
        assert!(text.is_empty() || text.ends_with('\n'), "half a line\n{}", self.report());
        let parse = |(number, line): (usize, &str)| {
            serde_json::from_str(line).unwrap_or_else(|error| {
                panic!("line {} is no JSON: {error}\n{}", number + 1, self.report())
            })
        };
        text.lines().enumerate().map(parse).collect()
    }

    /// Fails the test, with the output, unless the program ended with this exit code.
    pub fn assert_code(&self, code: i32) -> &Self {
        assert!(self.code == Some(code), "expected exit code {code}\n{}", self.report());
        self
    }

    /// Returns code, signal, duration and output, for the message of a failed test.
    pub fn report(&self) -> String {
        let mut report =
            format!("code {:?}, signal {:?}, {:?}\n", self.code, self.signal, self.duration);
        write!(report, "{}", streams(&self.stdout, &self.stderr)).unwrap();
        report
    }
}

/// Returns both streams under headings; the middle of a long stream is omitted.
pub(super) fn streams(stdout: &[u8], stderr: &[u8]) -> String {
    format!("--- stdout\n{}\n--- stderr\n{}\n", shorten(stdout), shorten(stderr))
}

fn shorten(bytes: &[u8]) -> String {
    const SHOWN: usize = 16 * 1024;
    if bytes.len() <= 2 * SHOWN {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let (head, tail) = (&bytes[..SHOWN], &bytes[bytes.len() - SHOWN..]);
    let left_out = bytes.len() - 2 * SHOWN;
    format!(
        "{}\n[{left_out} bytes left out]\n{}",
        String::from_utf8_lossy(head),
        String::from_utf8_lossy(tail)
    )
}
