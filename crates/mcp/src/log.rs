//! Messages of a server and the error output of its program, for the user.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use pollux_shell::DuplexProcess;

use crate::handler::LogSink;
use crate::incoming::shown_line;
use crate::stdio::Ending;

/// Maximum number of lines of error output in the log.
const MOST_ERROR_LINES: usize = 50;

/// Lines of a server's log. The oldest are dropped.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<VecDeque<String>>>);

impl Log {
    const MOST_LINES: usize = 200;

    pub(crate) fn sink(&self) -> LogSink {
        let log = self.clone();
        Arc::new(move |line| log.push(line))
    }

    pub(crate) fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= Self::MOST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Returns the last lines of a program's error output, for the log.
pub(crate) fn error_lines(process: &Ending) -> Vec<String> {
    let process = process.lock().unwrap_or_else(PoisonError::into_inner);
    let text = process.as_ref().map(|process| process.stderr().text()).unwrap_or_default();
    let lines = text.lines().rev().filter(|line| !line.trim().is_empty()).take(MOST_ERROR_LINES);
    let mut lines: Vec<String> = lines.map(shown_line).collect();
    lines.reverse();
    lines
}

/// Error output of a server's program, as long as the connection is open. It does not keep the
/// program running.
#[derive(Clone, Default)]
pub(crate) struct ErrorOutput(Weak<Mutex<Option<DuplexProcess>>>);

impl ErrorOutput {
    pub(crate) fn of(process: Option<&Ending>) -> Self {
        Self(process.map(Arc::downgrade).unwrap_or_default())
    }

    /// Returns the last lines until now.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.upgrade().as_ref().map(error_lines).unwrap_or_default()
    }
}
