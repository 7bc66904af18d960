//! Automatic memory of a session: the connection of `pollux_memory` to settings and agent.

use pollux_agent::{WatchedModels, WeakHandle};
use pollux_memory::{MemoryCollector, MemoryInbox};
use pollux_protocol::{CommandReport, Op};
use pollux_session::SessionStore;

use crate::setup::Setup;

impl Setup {
    /// Returns the inbox for proposals of this project if the setting is on.
    pub(crate) fn inbox(&self) -> Option<MemoryInbox> {
        self.loaded.settings.boolean("experimental.autoMemory").then(|| MemoryInbox {
            memory: self.project.memory_dir(),
            global_file: self.global_memory(),
            skills: self.places.gemini_dir().join("skills"),
        })
    }

    /// Returns the background work of this session if the setting is on and a user can review its
    /// results.
    pub(crate) fn collector(&self, session_id: &str) -> Option<MemoryCollector> {
        let inbox = self.inbox().filter(|_| self.is_interactive())?;
        let store = SessionStore::new(&self.project);
        Some(MemoryCollector { store, inbox, session_id: session_id.to_owned() })
    }
}

/// Collects proposals until the agent has ended. `models` returns the models for side calls.
pub(crate) async fn collect(
    collector: MemoryCollector,
    models: impl Fn() -> WatchedModels,
    agent: WeakHandle,
) {
    let notify = |text| agent.send(Op::Report(CommandReport::ForUser(text)));
    tokio::select! {
        () = agent.gone() => {}
        () = collector.work(models, notify) => {}
    }
}
