//! Reports about background commands that have ended, on their way from the tools to the agent.

use std::sync::Arc;

use pollux_agent::WeakHandle;
use pollux_protocol::{CommandReport, Op};
use pollux_tools::{BackgroundEnd, Reporter};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Queue of reports that wait until the agent is running.
pub(crate) struct BackgroundReports(UnboundedReceiver<BackgroundEnd>);

/// Creates the sender for the tools and the queue for the agent.
pub(crate) fn channel() -> (Reporter, BackgroundReports) {
    let (sender, receiver) = unbounded_channel();
    // The receiver is gone only when the program ends.
    (Arc::new(move |end| drop(sender.send(end))), BackgroundReports(receiver))
}

impl BackgroundReports {
    /// Sends all reports to the agent, until the tools are gone.
    pub(crate) async fn deliver(mut self, agent: WeakHandle) {
        while let Some(end) = self.0.recv().await {
            agent.send(Op::Report(match end {
                BackgroundEnd::ForModel(text) => CommandReport::ForModel(text),
                BackgroundEnd::ForUser(text) => CommandReport::ForUser(text),
            }));
        }
    }
}
