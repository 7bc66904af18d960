//! Messages to the user that belong to no prompt.

use crate::Severity;

/// Sink for messages that occur while a session is opened, runs or ends, and that belong to no
/// prompt: a setting without effect, a session that was repaired. Libraries do not write to
/// standard streams or the screen; the code that opens sessions gives them a sink.
pub trait Notices: Send + Sync {
    /// Shows a complete message: one line or several, without the final line ending, with its own
    /// prefix (`[WARNING]`) if it has one, which a sink need not add. It may contain text from
    /// files; the sink removes control characters as needed for its output.
    fn notice(&self, severity: Severity, text: &str);

    /// Shows a message for information.
    fn info(&self, text: &str) {
        self.notice(Severity::Info, text);
    }

    /// Shows a message that needs the user's attention.
    fn warning(&self, text: &str) {
        self.notice(Severity::Warning, text);
    }
}

impl<F: Fn(Severity, &str) + Send + Sync> Notices for F {
    fn notice(&self, severity: Severity, text: &str) {
        self(severity, text);
    }
}
