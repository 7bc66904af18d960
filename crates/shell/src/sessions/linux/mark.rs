//! Mark on every process that descends from one of our children: a resource limit, see
//! getrlimit(2).
//!
//! A daemon leaves its session, changes its environment, closes its files and outlives its parents,
//! but it inherits their resource limits. `RLIMIT_LOCKS` has had no effect since Linux 2.4.25, so
//! its soft limit can carry the owner. A process that sets this limit itself loses the mark; then
//! only its session and its living parents identify the owner.

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::sessions::model::Owner;

/// Length of the read buffer, in bytes: longer than any `/proc/<id>/limits`.
const LIMITS_LENGTH: usize = 4096;
/// Start of the line about `RLIMIT_LOCKS`.
const FIELD: &str = "Max file locks";

/// Marks this process and its future descendants. Makes only system calls.
pub(crate) fn mark_this_process(owner: Owner) {
    let maximum = getrlimit(Resource::Locks).maximum;
    // A process whose hard limit has been lowered stays unmarked.
    setrlimit(Resource::Locks, Rlimit { current: Some(owner.value()), maximum }).ok();
}

/// Removes the mark that this process has inherited if it runs inside a command of Pollux.
pub(crate) fn unmark_this_process() {
    let maximum = getrlimit(Resource::Locks).maximum;
    setrlimit(Resource::Locks, Rlimit { current: maximum, maximum }).ok();
}

/// Returns the owner of a process, from its mark; `None` for a process with the same limit as this
/// program, because other code in this program has started it.
pub(super) fn owner_of(process: u32) -> Option<Owner> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat(CWD, format!("/proc/{process}/limits"), flags, Mode::empty()).ok()?;
    let mut buffer = [0; LIMITS_LENGTH];
    let length = rustix::io::read(&file, &mut buffer).ok()?;
    let limits = std::str::from_utf8(&buffer[..length]).ok()?;
    owner_in(limits, getrlimit(Resource::Locks).current)
}

/// Returns the owner in the text of `/proc/<id>/limits`. `own` is the limit of this program.
fn owner_in(limits: &str, own: Option<u64>) -> Option<Owner> {
    let line = limits.lines().find_map(|line| line.strip_prefix(FIELD))?;
    let limit: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Owner::from_value(limit).filter(|_| own != Some(limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::model::Leftovers;

    #[test]
    fn only_marks_of_others_are_owners() {
        let owner = Owner::new(Leftovers::End);
        let limits = |soft: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max address space         unlimited            unlimited            bytes     \n\
                 Max file locks            {soft:<20} unlimited            locks     \n\
                 Max pending signals       12                   12                   signals   \n"
            )
        };
        let marked = limits(&owner.value().to_string());
        assert_eq!(owner_in(&marked, None), Some(owner));
        // This program runs inside a command of another Pollux.
        assert_eq!(owner_in(&marked, Some(owner.value())), None);
        assert_eq!(owner_in(&marked, Some(Owner::new(Leftovers::End).value())), Some(owner));
        for unmarked in [limits("unlimited"), limits("1024"), limits(""), String::new()] {
            assert_eq!(owner_in(&unmarked, None), None, "{unmarked}");
        }
    }
}
