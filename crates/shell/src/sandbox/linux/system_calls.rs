//! Filters of system calls (seccomp(2)).
//!
//! At `inspect` only listed calls are possible. All others fail with `ENOSYS`, so that programs
//! treat them as calls of a newer kernel. Single calls and arguments are refused with `EPERM`.

use libc::c_long;
use pollux_protocol::ConfinementLevel;

use self::program::{CallCondition, CallRule, compile};
use super::landlock::SIGNALS_SCOPED;
use crate::sandbox::{NetworkAccess, SandboxPlan, SignalReach};

#[path = "system_calls/lists.rs"]
mod lists;
#[path = "system_calls/program.rs"]
mod program;

/// First version of Landlock that covers `truncate`.
const TRUNCATE_COVERED: i32 = 3;
/// Requests of `ioctl` that put characters into a terminal's input (TIOCSTI, TIOCLINUX).
const TERMINAL_INPUT: [u32; 2] = [0x5412, 0x541c];
/// Requests of `ioctl` that change attributes of a file that is only open for reading.
const ATTRIBUTES: [u32; 6] =
    [0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4008_7602, 0x4004_7602, 0x8010_581f];
/// Flags of `clone` that create namespaces.
const NAMESPACES: [u32; 7] =
    [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
/// Mask for the type of a socket without its flags.
const SOCKET_TYPE: u32 = 0xf;
/// Number of system calls in a filter; the kernel has fewer.
const CALLS: usize = 600;

/// Installs the filter of a level. `landlock` is the kernel's version of Landlock.
pub(super) fn filter(plan: &SandboxPlan, landlock: i32) -> Result<(), String> {
    let is_inspect = plan.level == ConfinementLevel::Inspect;
    let unlisted = if is_inspect { CallRule::Missing } else { CallRule::Allowed };
    install(&compile(&rules(plan, landlock), &unlisted))
}

/// Returns the rules, indexed by the number of the system call.
fn rules(plan: &SandboxPlan, landlock: i32) -> Vec<CallRule> {
    let mut table = Table::new(plan.level);
    table.set(lists::EVERYWHERE, &CallRule::Refused);
    let mut requests = TERMINAL_INPUT.to_vec();
    if plan.level == ConfinementLevel::Inspect {
        table.set(lists::METADATA, &CallRule::Refused);
        if landlock < TRUNCATE_COVERED {
            table.set(&[libc::SYS_truncate], &CallRule::Refused);
        }
        if landlock < SIGNALS_SCOPED {
            table.set(lists::SIGNALS, &CallRule::Refused);
        }
        requests.extend(ATTRIBUTES);
        let flags =
            NAMESPACES.map(|value| CallCondition::Masked { argument: 0, mask: value, value });
        table.refuse_if(&[libc::SYS_clone], flags.to_vec());
        let other = CallCondition::Not { argument: 0, value: 0 };
        table.refuse_if(lists::OWN_PROCESS, vec![other]);
    }
    if plan.level != ConfinementLevel::Inspect {
        // Limits of another process could stop it from undoing what the command changed.
        let other = CallCondition::Not { argument: 0, value: 0 };
        table.refuse_if(&[libc::SYS_prlimit64], vec![other]);
        if plan.signals == SignalReach::Others || landlock < SIGNALS_SCOPED {
            table.refuse_if(lists::SIGNALS_BY_NUMBER, shielded(plan));
            table.set(&[libc::SYS_pidfd_send_signal], &CallRule::Refused);
        }
    }
    if plan.level != ConfinementLevel::Protect {
        table.set(lists::OTHER_PROCESSES, &CallRule::Refused);
    }
    let requests = requests.into_iter().map(|value| CallCondition::Masked {
        argument: 1,
        mask: u32::MAX,
        value,
    });
    table.refuse_if(&[libc::SYS_ioctl], requests.collect());
    let has_sockets = match plan.level {
        ConfinementLevel::Inspect => false,
        ConfinementLevel::WorkspaceWrite => plan.network == NetworkAccess::Allowed,
        ConfinementLevel::Protect | ConfinementLevel::None => true,
    };
    if !has_sockets {
        table.set(lists::SOCKETS, &CallRule::Refused);
        // A pair of datagram sockets can send to any other socket.
        let pairs = [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_RDM].map(|kind| {
            CallCondition::Masked { argument: 1, mask: SOCKET_TYPE, value: kind as u32 }
        });
        table.refuse_if(&[libc::SYS_socketpair], pairs.to_vec());
    }
    table.0
}

/// Returns conditions on the process of a signal: Pollux, its process group, and all processes.
fn shielded(plan: &SandboxPlan) -> Vec<CallCondition> {
    let numbers = plan.shielded.iter().map(|&number| CallCondition::Masked {
        argument: 0,
        mask: u32::MAX,
        value: number,
    });
    let negated = plan.shielded.iter().map(|number| number.wrapping_neg());
    let groups = negated.chain([u32::MAX]).map(|value| CallCondition::Masked {
        argument: 0,
        mask: u32::MAX,
        value,
    });
    numbers.chain(groups).collect()
}

/// Rules, indexed by the number of the system call.
struct Table(Vec<CallRule>);

impl Table {
    fn new(level: ConfinementLevel) -> Self {
        if level != ConfinementLevel::Inspect {
            return Self(vec![CallRule::Allowed; CALLS]);
        }
        let mut table = Self(vec![CallRule::Missing; CALLS]);
        for call in lists::inspect() {
            table.set(&[call], &CallRule::Allowed);
        }
        table
    }

    fn set(&mut self, calls: &[c_long], rule: &CallRule) {
        for call in calls {
            if let Some(place) = usize::try_from(*call).ok().and_then(|call| self.0.get_mut(call)) {
                *place = rule.clone();
            }
        }
    }

    fn refuse_if(&mut self, calls: &[c_long], conditions: Vec<CallCondition>) {
        self.set(calls, &CallRule::RefusedIf(conditions));
    }
}

/// Installs a filter.
#[expect(unsafe_code, reason = "rustix has no call for filters")]
fn install(program: &[libc::sock_filter]) -> Result<(), String> {
    let length = u16::try_from(program.len()).map_err(|_| "seccomp: too many instructions")?;
    let filter = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies `len` instructions from the program, which lives until the call
    // returns.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const filter)
    };
    if result == 0 {
        return Ok(());
    }
    Err(format!("seccomp: {}", std::io::Error::last_os_error()))
}
