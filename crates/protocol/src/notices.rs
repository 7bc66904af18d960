//! Messages to the person that belong to no prompt.

/// Sink for messages that come up while a session is opened, runs or ends, and that are part of no prompt: a setting
/// that does nothing, a session that was mended. The library that has something to say knows no standard stream and no
/// screen; whoever opens sessions gives it a sink.
pub trait Notices: Send + Sync {
    /// Shows a message. It is complete: one line or several, without the last line end, with its own prefix
    /// (`[WARNING]`) where it has one. It may hold text from files; the sink makes it safe for where it prints it.
    fn notice(&self, text: &str);
}

impl<F: Fn(&str) + Send + Sync> Notices for F {
    fn notice(&self, text: &str) {
        self(text);
    }
}
