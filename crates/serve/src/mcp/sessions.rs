//! The open sessions, which later calls can continue.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::join_all;
use tokio::sync::{OwnedMutexGuard, watch};

use super::session::Session;

/// Maximum number of open sessions. The one that was not used for the longest time is closed for a
/// new one; it can be opened again.
pub(crate) const MOST_SESSIONS: usize = 32;

/// Place of a session. The lock is held by the call that works on it.
struct Slot {
    session: Arc<tokio::sync::Mutex<Option<Session>>>,
    /// True if the last call was cancelled.
    cancel: watch::Receiver<bool>,
    /// Position in the order of use.
    used: u64,
}

/// The open sessions, by their ids.
#[derive(Default)]
pub(crate) struct OpenSessions(Mutex<Slots>);

#[derive(Default)]
struct Slots {
    slots: HashMap<String, Slot>,
    uses: u64,
}

/// Session that a call works on; `None` before it is opened.
pub(crate) type Held = OwnedMutexGuard<Option<Session>>;

/// Reason why a call cannot have a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Busy {
    /// Another call works on it.
    Session,
    /// Calls work on all sessions that may be open.
    Server,
}

impl OpenSessions {
    /// Takes a session for a call that `cancel` cancels. Waits for the end of a call that has been
    /// cancelled.
    pub(crate) async fn take(
        &self,
        id: &str,
        cancel: &watch::Receiver<bool>,
    ) -> Result<Held, Busy> {
        let (session, is_stopping, unused) = {
            let mut all = self.lock();
            let unused = if all.slots.contains_key(id) { None } else { all.make_room()? };
            all.uses += 1;
            let used = all.uses;
            let slot = all.slots.entry(id.to_owned()).or_insert_with(|| Slot {
                session: Arc::default(),
                cancel: cancel.clone(),
                used,
            });
            slot.used = used;
            let is_stopping = *slot.cancel.borrow();
            if is_stopping || slot.session.try_lock().is_ok() {
                slot.cancel = cancel.clone();
            }
            (Arc::clone(&slot.session), is_stopping, unused)
        };
        if let Some(unused) = unused {
            unused.close().await;
        }
        if is_stopping {
            return Ok(session.lock_owned().await);
        }
        session.try_lock_owned().map_err(|_| Busy::Session)
    }

    /// Removes a session that could not be opened, or has ended.
    pub(crate) fn forget(&self, id: &str) {
        self.lock().slots.remove(id);
    }

    /// Closes all sessions. Their calls must have ended.
    pub(crate) async fn close(&self) {
        let slots: Vec<Slot> = self.lock().slots.drain().map(|(_, slot)| slot).collect();
        let closing = slots.into_iter().map(|slot| async move {
            let session = slot.session.lock().await.take();
            if let Some(session) = session {
                session.close().await;
            }
        });
        join_all(closing).await;
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    /// Makes room for a session. Returns the one that must be closed.
    fn make_room(&mut self) -> Result<Option<Session>, Busy> {
        if self.slots.len() < MOST_SESSIONS {
            return Ok(None);
        }
        let idle = self.slots.iter().filter(|(_, slot)| slot.session.try_lock().is_ok());
        let oldest = idle.min_by_key(|(_, slot)| slot.used).map(|(id, _)| id.clone());
        let slot = oldest.and_then(|id| self.slots.remove(&id)).ok_or(Busy::Server)?;
        Ok(slot.session.try_lock().map_err(|_| Busy::Server)?.take())
    }
}
