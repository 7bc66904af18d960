//! Values that describe the processes of a child, on every operating system.

use std::sync::atomic::{AtomicU32, Ordering};

/// Process session that a child belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionKind {
    /// A session that the child leads, without a terminal.
    Own,
    /// A session that the child leads; standard input is the terminal of that session.
    OwnWithTerminal,
    /// The session, process group and terminal of this program.
    Shared,
}

/// Treatment of processes that a child leaves running when it ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leftovers {
    /// The processes are ended with this program at the latest.
    End,
    /// The processes belong to the user and continue, even after the end of this program.
    Keep,
}

/// Identity of one child, which its descendants inherit. It is unique among all children of nested
/// Pollux programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner(u64);

impl Owner {
    /// Top byte of every value. The rest: 1 bit for leftovers, 23 for the process number of the
    /// program that started the child, 32 for a serial number.
    const PATTERN: u64 = 0x50 << 56;
    const KEEP: u64 = 1 << 55;
    const PROGRAM_BITS: u64 = (1 << 23) - 1;

    /// Creates a new identity.
    pub(crate) fn new(leftovers: Leftovers) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let program = (u64::from(std::process::id()) & Self::PROGRAM_BITS) << 32;
        let serial = u64::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let keep = if leftovers == Leftovers::Keep { Self::KEEP } else { 0 };
        Self(Self::PATTERN | keep | program | serial)
    }

    /// Returns the identity as a number below 2⁶³.
    #[cfg(target_os = "linux")]
    pub(super) fn value(self) -> u64 {
        self.0
    }

    /// Returns the identity with this number; `None` if the number is not an identity.
    #[cfg(target_os = "linux")]
    pub(super) fn from_value(value: u64) -> Option<Self> {
        (value >> 56 == Self::PATTERN >> 56).then_some(Self(value))
    }

    /// Returns the process number of the program that started the child.
    #[cfg(target_os = "linux")]
    pub(super) fn program(self) -> u64 {
        self.0 >> 32 & Self::PROGRAM_BITS
    }

    pub(super) fn leftovers(self) -> Leftovers {
        if self.0 & Self::KEEP == 0 { Leftovers::End } else { Leftovers::Keep }
    }
}

/// A child of this program, and the process group and session that it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leader {
    /// Process number.
    pub(super) id: u32,
    /// Start time, on systems that report it. It distinguishes the process from a later one with
    /// the same number.
    pub(super) started: Option<u64>,
    pub(super) kind: SessionKind,
    pub(super) owner: Owner,
}

/// Force with which processes are ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    /// The processes may clean up first.
    Ask,
    /// The processes are ended immediately.
    Kill,
}

/// State of a child's processes with regard to terminal input, as far as the system reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A process reads a terminal and gets no input.
    Blocked,
    /// All processes sleep, for any reason.
    Asleep,
    /// Some processes are running.
    Busy,
    /// Not reported, or not for all processes.
    Unknown,
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn an_owner_survives_as_a_number() {
        let (end, keep) = (Owner::new(Leftovers::End), Owner::new(Leftovers::Keep));
        assert_ne!(end, Owner::new(Leftovers::End));
        assert_eq!((end.leftovers(), keep.leftovers()), (Leftovers::End, Leftovers::Keep));
        for owner in [end, keep] {
            assert_eq!(Owner::from_value(owner.value()), Some(owner));
            assert!(owner.value() < 1 << 63);
            assert_eq!(owner.program(), u64::from(std::process::id()));
        }
        for other in [0, 1024, u64::MAX, u64::MAX >> 1, 1 << 62] {
            assert_eq!(Owner::from_value(other), None, "{other}");
        }
    }
}
