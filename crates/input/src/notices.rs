//! Messages that belong to no prompt, shown on the page while there is one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pollux_protocol::{Notices, Severity};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Sink that shows messages on the page of a conversation, and forwards them otherwise.
pub(crate) struct PageNotices {
    page: Mutex<Option<UnboundedSender<String>>>,
    otherwise: Arc<dyn Notices>,
}

impl PageNotices {
    pub(crate) fn new(otherwise: Arc<dyn Notices>) -> Self {
        Self { page: Mutex::default(), otherwise }
    }

    /// Starts to send messages to a page; returns the receiver for them.
    pub(crate) fn show_on_page(&self) -> UnboundedReceiver<String> {
        let (sender, receiver) = unbounded_channel();
        *self.page() = Some(sender);
        receiver
    }

    /// Stops sending messages to the page.
    pub(crate) fn leave_page(&self) {
        *self.page() = None;
    }

    fn page(&self) -> MutexGuard<'_, Option<UnboundedSender<String>>> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notices for PageNotices {
    fn notice(&self, severity: Severity, text: &str) {
        let page = self.page().clone();
        let is_shown = page.is_some_and(|page| page.send(text.to_owned()).is_ok());
        if !is_shown {
            self.otherwise.notice(severity, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn messages_go_to_the_page_while_there_is_one() {
        let passed_on: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&passed_on);
        let sink = move |_: Severity, text: &str| seen.lock().unwrap().push(text.to_owned());
        let notices = PageNotices::new(Arc::new(sink));
        notices.info("before");
        let mut page = notices.show_on_page();
        notices.info("during");
        assert_eq!(page.try_recv().unwrap(), "during");
        notices.leave_page();
        notices.info("after");
        assert!(page.try_recv().is_err());
        assert_eq!(*passed_on.lock().unwrap(), ["before", "after"]);
    }
}
