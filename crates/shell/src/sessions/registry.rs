//! Register of the children of this program that may have living processes.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::model::{Leader, Owner};

/// All registered children.
pub(super) struct Registry {
    /// Children that have, or may have, a living process. The key is the process number.
    entries: BTreeMap<u32, RegisteredChild>,
    /// Children whose exit status will be taken through a handle. The key is the process number.
    waited_for: BTreeMap<u32, Owner>,
}

#[derive(Debug, Clone, Copy)]
struct RegisteredChild {
    leader: Leader,
    /// True if the child itself has ended, so that its remaining processes run in the background.
    released: bool,
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { entries: BTreeMap::new(), waited_for: BTreeMap::new() });

/// Returns the locked register. It stays locked while a child starts, so that it always lists all
/// children.
pub(super) fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    pub(super) fn insert(&mut self, leader: Leader) {
        self.entries.insert(leader.id, RegisteredChild { leader, released: false });
        self.waited_for.insert(leader.id, leader.owner);
    }

    /// Notes that the child itself has ended. Returns the number of such children.
    pub(super) fn release(&mut self, leader: Leader) -> usize {
        if let Some(child) = self.entries.get_mut(&leader.id) {
            child.released = true;
        }
        self.entries.values().filter(|child| child.released).count()
    }

    /// Notes that the exit status will no longer be taken through a handle.
    pub(super) fn abandon(&mut self, leader: Leader) {
        // The number may belong to another child by now.
        if self.waited_for.get(&leader.id) == Some(&leader.owner) {
            self.waited_for.remove(&leader.id);
        }
    }

    pub(super) fn is_waited_for(&self, id: u32) -> bool {
        self.waited_for.contains_key(&id)
    }

    /// Returns true if the child may still have a living process.
    pub(super) fn contains(&self, leader: Leader) -> bool {
        self.entries.get(&leader.id).is_some_and(|child| child.leader == leader)
    }

    pub(super) fn leaders(&self) -> Vec<Leader> {
        self.entries.values().map(|child| child.leader).collect()
    }

    pub(super) fn released(&self) -> Vec<Leader> {
        let released = self.entries.values().filter(|child| child.released);
        released.map(|child| child.leader).collect()
    }

    /// Removes children without remaining processes, or whose remaining processes may continue.
    pub(super) fn forget(&mut self, leaders: impl IntoIterator<Item = Leader>) {
        for leader in leaders {
            // The number may belong to another child by now.
            if self.contains(leader) {
                self.entries.remove(&leader.id);
            }
        }
    }
}
