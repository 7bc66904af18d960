//! Linux: the processes of children, found through `/proc` (proc_pid_stat(5)).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group,
    set_child_subreaper, waitid, waitpid,
};

use super::group::{self, pid};
use super::model::{Force, Leader, Leftovers, Owner, SessionKind};

#[path = "linux/input.rs"]
mod input;
#[path = "linux/mark.rs"]
mod mark;

pub(crate) use input::reading;
pub(crate) use mark::mark_this_process;
pub(super) use mark::unmark_this_process;

/// Length of the read buffer, in bytes: enough for the fields up to the start time, with any
/// process name.
const STAT_LENGTH: usize = 1024;

/// Facts about a process from `/proc/<id>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    id: u32,
    state: u8,
    parent: u32,
    group: u32,
    session: u32,
    /// Device number of the terminal; 0 without a terminal.
    terminal: i32,
    /// Start time in clock ticks since boot. Together with `id` it identifies the process.
    started: u64,
    /// Owner mark of a child of Pollux. Not read for other processes, which are found through their
    /// parents.
    owner: Option<Owner>,
}

impl Process {
    /// Returns true for a living process. Dead processes stay in the table until their parent takes
    /// the exit status.
    fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X')
    }

    fn read(id: u32) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(CWD, format!("/proc/{id}/stat"), flags, Mode::empty()).ok()?;
        let mut buffer = [0; STAT_LENGTH];
        let length = rustix::io::read(&file, &mut buffer).ok()?;
        Self::parse(&buffer[..length])
    }

    /// Parses the line. The name in parentheses may contain any character, so the last `)` ends it.
    fn parse(stat: &[u8]) -> Option<Self> {
        let name_end = stat.iter().rposition(|&byte| byte == b')')?;
        let id = stat.split(|&byte| byte == b' ').next()?;
        let rest = std::str::from_utf8(&stat[name_end + 1..]).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().take(20).collect();
        let number = |index: usize| fields.get(index)?.parse().ok();
        Some(Self {
            id: std::str::from_utf8(id).ok()?.parse().ok()?,
            state: *fields.first()?.as_bytes().first()?,
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            terminal: fields.get(4)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
            owner: None,
        })
    }

    /// Returns all processes, with the marks of the children of this program.
    fn all() -> Vec<Self> {
        let own = std::process::id();
        Self::list(|process| process.parent == own)
    }

    /// Returns all processes, with the marks of those that `has_mark` selects.
    fn list(has_mark: impl Fn(&Self) -> bool) -> Vec<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, "/proc", flags, Mode::empty()).and_then(Dir::new);
        let Ok(folder) = folder else { return Vec::new() };
        folder
            .flatten()
            .filter_map(|entry| Self::read(entry.file_name().to_str().ok()?.parse().ok()?))
            .map(|mut process| {
                if has_mark(&process) {
                    process.owner = mark::owner_of(process.id);
                }
                process
            })
            .collect()
    }
}

/// True if orphaned descendants become children of this program.
static ADOPTING: OnceLock<bool> = OnceLock::new();

/// Makes this process, instead of init, the parent of descendants whose own parent has ended: a
/// daemon can leave its session, but not its ancestors (prctl(2), `PR_SET_CHILD_SUBREAPER`).
pub(super) fn adopt_orphans() {
    ADOPTING.get_or_init(|| set_child_subreaper(Pid::from_raw(1)).is_ok());
}

/// Returns true if there may be orphans.
pub(super) fn adopts_orphans() -> bool {
    ADOPTING.get() == Some(&true)
}

/// Returns true if a child has ended and its exit status was not taken. Costs one system call.
pub(super) fn has_dead_children() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, look).is_ok_and(|status| status.is_some())
}

/// Returns the dead children of this program that are, or descend from, children that this module
/// started. A child that was started by other code in this program is never included.
pub(super) fn dead_descendants(leaders: &[Leader]) -> Vec<u32> {
    let processes = Process::all();
    let sessions = still_ours(leaders, &processes);
    let dead = |process: &&Process| {
        process.parent == std::process::id()
            && process.state == b'Z'
            && (process.owner.is_some() || sessions.contains(&process.session))
    };
    processes.iter().filter(dead).map(|process| process.id).collect()
}

/// Takes the exit status of a dead child.
pub(super) fn reap(id: u32) {
    // The child may be gone already. Without a number the call would wait for any child.
    pid(id).map(|pid| waitpid(Some(pid), WaitOptions::NOHANG).ok());
}

/// Returns the number of the namespace of processes that this process is in; 0 if the system does
/// not report it.
pub(crate) fn process_namespace() -> u64 {
    rustix::fs::stat("/proc/self/ns/pid").map_or(0, |info| info.st_ino)
}

/// Returns true if the process exists and has not ended.
pub(crate) fn is_running(id: u32) -> bool {
    Process::read(id).is_some_and(|process| process.is_alive())
}

/// Returns the start time of the process, which distinguishes it from a later process with the same
/// number.
pub(crate) fn start_time(id: u32) -> Option<u64> {
    Process::read(id).map(|process| process.started)
}

/// Sends SIGTERM to the process group of a child, without searching for other descendants.
pub(super) fn ask(leader: Leader) {
    let started = start_time(leader.id);
    // A number that belongs to another process by now is left alone.
    if started.is_none() || started == leader.started {
        group::signal(leader, Signal::TERM);
    }
}

/// Returns the children of which at least one process is alive.
pub(super) fn living(leaders: &[Leader]) -> Vec<Leader> {
    let processes = Process::all();
    let ours = still_ours(leaders, &processes);
    let living = || processes.iter().filter(|process| process.is_alive());
    let ids: BTreeSet<u32> =
        living().flat_map(|process| [process.session, process.group]).collect();
    let owners: BTreeSet<Owner> = living().filter_map(|process| process.owner).collect();
    let lives = |leader: &&Leader| {
        ours.contains(&leader.id) && ids.contains(&leader.id) || owners.contains(&leader.owner)
    };
    leaders.iter().filter(lives).copied().collect()
}

/// Orphans that count as members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Orphans {
    /// Orphans of the given children.
    OfLeaders,
    /// Also orphans of children that are no longer registered, unless they may outlive this
    /// program.
    All,
    /// All processes with a mark of the program with this number, unless they may outlive it.
    OfProgram(u32),
}

/// The living processes of some children: the children, their groups and sessions, and all
/// descendants.
pub(super) struct Members {
    leaders: Vec<Leader>,
    orphans: Orphans,
    /// Process number and start time of each member. A member is kept even if its parent ends
    /// first.
    known: BTreeSet<(u32, u64)>,
    /// Groups that are signalled as a whole, which also reaches a process that is being forked now.
    groups: Vec<u32>,
    /// Living members outside these groups.
    singles: Vec<u32>,
}

impl Members {
    pub(super) fn of(leaders: &[Leader]) -> Self {
        Self::new(leaders, Orphans::OfLeaders)
    }

    /// Includes the orphans of all children.
    pub(super) fn everyone(leaders: &[Leader]) -> Self {
        Self::new(leaders, Orphans::All)
    }

    /// Returns the processes of another Pollux program, by its process number.
    pub(super) fn of_program(program: u32) -> Self {
        Self::new(&[], Orphans::OfProgram(program))
    }

    fn new(leaders: &[Leader], orphans: Orphans) -> Self {
        let mut members = Self {
            leaders: leaders.to_vec(),
            orphans,
            known: BTreeSet::new(),
            groups: Vec::new(),
            singles: Vec::new(),
        };
        members.refresh();
        members
    }

    /// Reads the process table again.
    pub(super) fn refresh(&mut self) {
        let processes = match self.orphans {
            Orphans::OfProgram(_) => Process::list(|_| true),
            Orphans::OfLeaders | Orphans::All => Process::all(),
        };
        if processes.is_empty() {
            return self.refresh_without_proc();
        }
        let members = select(&processes, &self.leaders, self.orphans, &self.known);
        self.known.extend(members.iter().map(|member| (member.id, member.started)));
        let sessions = still_ours(&self.leaders, &processes);
        let living = || members.iter().filter(|member| member.is_alive());
        let groups: BTreeSet<u32> =
            living().map(|member| member.group).filter(|group| sessions.contains(group)).collect();
        self.singles =
            living().filter(|m| !groups.contains(&m.group)).map(|member| member.id).collect();
        self.groups = groups.into_iter().collect();
    }

    /// Checks the groups of the children, the only processes that can be reached without `/proc`.
    fn refresh_without_proc(&mut self) {
        let existing = self.leaders.iter().filter(|leader| group::exists(leader));
        let (singles, groups): (Vec<&Leader>, Vec<&Leader>) =
            existing.partition(|leader| leader.kind == SessionKind::Shared);
        self.singles = singles.iter().map(|leader| leader.id).collect();
        self.groups = groups.iter().map(|leader| leader.id).collect();
    }

    pub(super) fn alive(&self) -> bool {
        !self.groups.is_empty() || !self.singles.is_empty()
    }

    pub(super) fn signal(&self, force: Force) {
        let signal = match force {
            Force::Ask => Signal::TERM,
            Force::Kill => Signal::KILL,
        };
        // Each process may have ended by itself since the table was read.
        for group in self.groups.iter().filter_map(|&id| pid(id)) {
            kill_process_group(group, signal).ok();
        }
        for single in self.singles.iter().filter_map(|&id| pid(id)) {
            kill_process(single, signal).ok();
        }
    }
}

/// Returns the numbers of the children that have not been reused. Linux reuses a number only if no
/// process, group or session has it, so a process with another start time is not ours.
fn still_ours(leaders: &[Leader], processes: &[Process]) -> BTreeSet<u32> {
    let starts: BTreeMap<u32, u64> =
        processes.iter().map(|process| (process.id, process.started)).collect();
    let foreign = |leader: &&Leader| {
        starts.get(&leader.id).is_some_and(|started| Some(*started) != leader.started)
    };
    leaders.iter().filter(|leader| !foreign(leader)).map(|leader| leader.id).collect()
}

/// Returns the processes of `leaders`, those of `orphans`, the `known` processes, and the
/// descendants of all these. Pure function.
fn select(
    processes: &[Process],
    leaders: &[Leader],
    orphans: Orphans,
    known: &BTreeSet<(u32, u64)>,
) -> Vec<Process> {
    let sessions = still_ours(leaders, processes);
    let owners: BTreeSet<Owner> = leaders.iter().map(|leader| leader.owner).collect();
    let is_member = |owner: Owner| {
        let is_orphan = match orphans {
            Orphans::OfLeaders => false,
            Orphans::All => true,
            Orphans::OfProgram(program) => owner.program() == u64::from(program),
        };
        owners.contains(&owner) || is_orphan && owner.leftovers() == Leftovers::End
    };
    let is_root = |process: &&Process| {
        [process.id, process.group, process.session].iter().any(|id| sessions.contains(id))
            || process.owner.is_some_and(is_member)
            || known.contains(&(process.id, process.started))
    };
    let mut children: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let mut pending: Vec<&Process> = processes.iter().filter(is_root).collect();
    let mut selected: BTreeMap<u32, Process> = BTreeMap::new();
    while let Some(process) = pending.pop() {
        if selected.insert(process.id, *process).is_none() {
            pending.extend(children.get(&process.id).into_iter().flatten());
        }
    }
    selected.into_values().collect()
}

#[cfg(test)]
#[path = "linux/tests.rs"]
mod tests;
