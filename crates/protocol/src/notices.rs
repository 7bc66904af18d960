//! Messages to the user that belong to no prompt.

/// Sink for messages that occur while a session is opened, runs or ends, and that belong to no
/// prompt: a setting without effect, a session that was repaired. Libraries do not write to
/// standard streams or the screen; the code that opens sessions gives them a sink.
pub trait Notices: Send + Sync {
    /// Shows a complete message: one line or several, without the final line ending, with its own
    /// prefix (`[WARNING]`) if it has one. It may contain text from files; the sink removes control
    /// characters as needed for its output.
    fn notice(&self, text: &str);
}

impl<F: Fn(&str) + Send + Sync> Notices for F {
    fn notice(&self, text: &str) {
        self(text);
    }
}
