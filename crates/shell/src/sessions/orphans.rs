//! Reaping of orphans, so that the system can remove them from the process table.
//!
//! On Linux this program becomes the parent of descendants whose own parent has ended. A child that
//! other code in this program has started is left alone, because that code takes its exit status.

use super::registry::registry;
use super::system;

/// Reaps the dead descendants of our children that have become children of this program.
pub(super) fn reap_orphans() {
    let leaders = registry().leaders();
    let dead = system::dead_descendants(&leaders);
    // Every child that had started when the process table was read is registered by now.
    let registry = registry();
    for id in dead.into_iter().filter(|&id| !registry.is_waited_for(id)) {
        system::reap(id);
    }
}
