//! News from commands that have ended in the background, on their way from the tools to the agent.

use std::sync::Arc;

use pollux_agent::WeakHandle;
use pollux_protocol::{Op, Report};
use pollux_tools::{BackgroundEnd, Reporter};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// News that wait until there is an agent.
pub(crate) struct News(UnboundedReceiver<BackgroundEnd>);

/// Where tools bring news, and where they come out.
pub(crate) fn channel() -> (Reporter, News) {
    let (sender, receiver) = unbounded_channel();
    // Nobody listens any more when the program ends.
    (Arc::new(move |end| drop(sender.send(end))), News(receiver))
}

impl News {
    /// Brings all news to the agent, until the tools are gone.
    pub(crate) async fn deliver(mut self, agent: WeakHandle) {
        while let Some(end) = self.0.recv().await {
            agent.send(Op::Report(match end {
                BackgroundEnd::ForModel(text) => Report::ForModel(text),
                BackgroundEnd::ForPerson(text) => Report::ForPerson(text),
            }));
        }
    }
}
