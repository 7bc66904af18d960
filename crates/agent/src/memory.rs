//! The user's own context files in the system instruction. They may change during a session.

use std::sync::Arc;

use pollux_protocol::Live;

/// Text from context files for the model.
#[derive(Debug, Clone, Default)]
pub struct SessionMemory {
    /// End of the system instruction, ready to append; empty without context files. The `Arc` is
    /// replaced only when the text changes.
    pub system: Arc<str>,
    /// Instructions of the tool servers, ready to append after `system`; empty without any.
    pub servers: Arc<str>,
    /// Message for the next prompt about changed files.
    pub notice: Option<String>,
}

impl SessionMemory {
    /// Replaces the instructions of the tool servers.
    pub fn replace_servers(&mut self, servers: &str) {
        if *self.servers != *servers {
            self.servers = servers.into();
        }
    }

    /// Replaces the end of the system instruction, and adds a message for the next prompt.
    pub fn replace(&mut self, system: &str, notice: Option<String>) {
        if *self.system != *system {
            self.system = system.into();
        }
        let earlier = self.notice.take();
        self.notice = match (earlier, notice) {
            (Some(earlier), Some(notice)) => Some(format!("{earlier}\n{notice}")),
            (earlier, notice) => earlier.or(notice),
        };
    }
}

/// Takes the message for the next prompt, once.
pub(crate) fn take_notice(memory: &Live<SessionMemory>) -> Option<String> {
    memory.get().notice.as_ref()?;
    let mut taken = None;
    memory.update(|memory| taken = memory.notice.take());
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notice_is_taken_once() {
        let memory = Live::new(SessionMemory::default());
        memory.update(|memory| memory.replace("a", Some("one".to_owned())));
        let system = memory.get().system.clone();
        memory.update(|memory| memory.replace("a", Some("two".to_owned())));
        assert!(Arc::ptr_eq(&system, &memory.get().system), "a vendor's cache stays valid");
        memory.update(|memory| memory.replace("b", None));
        assert_eq!(&*memory.get().system, "b");
        assert_eq!(take_notice(&memory).as_deref(), Some("one\ntwo"));
        assert_eq!(take_notice(&memory), None);
    }
}
