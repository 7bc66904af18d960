//! Linux: sessions and descendants, found through `/proc` (proc_pid_stat(5)).

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt as _;
use std::sync::OnceLock;

use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group,
    set_child_subreaper, test_kill_process_group, waitid, waitpid,
};

use super::{Force, Leader};

#[path = "linux/input.rs"]
mod input;

pub(super) use input::reading;

/// Enough for the fields up to the start time, whatever the process calls itself.
const STAT_LENGTH: usize = 1024;

/// What `/proc/<id>/stat` says, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    id: u32,
    state: u8,
    parent: u32,
    group: u32,
    session: u32,
    /// The device number of its terminal; 0 without one.
    terminal: i32,
    /// Clock ticks since boot: with the id, a name that is never given away again.
    started: u64,
}

impl Process {
    /// The dead stay in the table until someone asks for their exit status.
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

    /// The name stands in parentheses and may hold anything, so the last `)` counts.
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
        })
    }

    fn all() -> Vec<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, "/proc", flags, Mode::empty()).and_then(Dir::new);
        let Ok(folder) = folder else { return Vec::new() };
        folder
            .flatten()
            .filter_map(|entry| Self::read(entry.file_name().to_str().ok()?.parse().ok()?))
            .collect()
    }
}

/// Makes the child of `command` lead a session of its own, away from the user's terminal: a program
/// that asks for a password on `/dev/tty` gets an error instead of waiting for ever.
#[expect(unsafe_code, reason = "std has no stable safe call for setsid")]
pub(crate) fn lead_session(command: &mut std::process::Command) {
    // SAFETY: the closure runs between fork and exec, where only async-signal-safe calls are
    // allowed. It makes exactly one, setsid, and touches no memory of the parent.
    unsafe {
        command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?));
    }
}

/// Whether orphans of our commands become our children.
static ADOPTING: OnceLock<bool> = OnceLock::new();

/// Makes this process, and no longer init, the parent of those whose own parent has ended: a daemon can
/// leave its session, but not this (prctl(2), `PR_SET_CHILD_SUBREAPER`).
pub(super) fn adopt_orphans() {
    ADOPTING.get_or_init(|| set_child_subreaper(Pid::from_raw(1)).is_ok());
}

/// Whether there may be orphans.
pub(super) fn has_adopted() -> bool {
    ADOPTING.get() == Some(&true)
}

/// Whether some child of ours has ended and was not waited for. Costs one system call.
pub(super) fn has_dead() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, look).is_ok_and(|status| status.is_some())
}

/// Takes the exit status of all children that have ended, but for those that somebody else waits for.
pub(super) fn bury(is_waited_for: impl Fn(u32) -> bool) {
    let own = std::process::id();
    let dead = |process: &Process| process.parent == own && process.state == b'Z';
    for process in Process::all().into_iter().filter(dead) {
        if !is_waited_for(process.id) {
            // Gone already: so much the better.
            waitpid(pid(process.id), WaitOptions::NOHANG).ok();
        }
    }
}

/// Whether the process exists and has not ended.
pub(crate) fn is_running(id: u32) -> bool {
    Process::read(id).is_some_and(|process| process.is_alive())
}

/// When the process began, to tell it from a later one of the same number.
pub(super) fn start_time(id: u32) -> Option<u64> {
    Process::read(id).map(|process| process.started)
}

/// Asks the leader's process group to end, without looking for anyone else.
pub(super) fn ask_group(leader: Leader) {
    let started = start_time(leader.id);
    // A number that means somebody else by now is left alone.
    if started.is_none() || started == leader.started {
        pid(leader.id).map(|group| kill_process_group(group, Signal::TERM));
    }
}

/// Which of the sessions still have a living member.
pub(super) fn living(leaders: &[Leader]) -> BTreeSet<u32> {
    let processes = Process::all();
    let ours = still_ours(leaders, &processes);
    let living = processes.iter().filter(|process| process.is_alive());
    living
        .flat_map(|process| [process.session, process.group])
        .filter(|id| ours.contains(id))
        .collect()
}

/// The processes of some sessions: members, their groups, and all their descendants.
pub(super) struct Members {
    leaders: Vec<Leader>,
    /// Whose children are members, too: our own number, when everyone is meant.
    parent: Option<u32>,
    /// Sessions whose members are not, whoever their parent is.
    free: BTreeSet<u32>,
    /// Process number and start time. Whoever was once a member stays one: its parent may end first.
    known: BTreeSet<(u32, u64)>,
    /// Groups to signal as a whole, which also reaches a process that is being forked right now.
    groups: Vec<u32>,
    /// Living members outside these groups.
    singles: Vec<u32>,
}

impl Members {
    pub(super) fn of(leaders: &[Leader]) -> Self {
        Self::new(leaders, None)
    }

    /// With all orphans.
    pub(super) fn everyone(leaders: &[Leader]) -> Self {
        Self::new(leaders, has_adopted().then(std::process::id))
    }

    fn new(leaders: &[Leader], parent: Option<u32>) -> Self {
        let mut members = Self {
            leaders: leaders.to_vec(),
            parent,
            free: super::free(),
            known: BTreeSet::new(),
            groups: Vec::new(),
            singles: Vec::new(),
        };
        members.refresh();
        members
    }

    /// Looks again.
    pub(super) fn refresh(&mut self) {
        let processes = Process::all();
        if processes.is_empty() {
            return self.refresh_without_proc();
        }
        let sessions = still_ours(&self.leaders, &processes);
        let members = select(&processes, &sessions, &self.known, self.parent, &self.free);
        self.known.extend(members.iter().map(|member| (member.id, member.started)));
        let living = || members.iter().filter(|member| member.is_alive());
        let groups: BTreeSet<u32> =
            living().map(|member| member.group).filter(|group| sessions.contains(group)).collect();
        self.singles =
            living().filter(|m| !groups.contains(&m.group)).map(|member| member.id).collect();
        self.groups = groups.into_iter().collect();
    }

    /// Where `/proc` is not mounted only the groups can be reached.
    fn refresh_without_proc(&mut self) {
        let exists = |id: &u32| pid(*id).is_some_and(|pid| test_kill_process_group(pid).is_ok());
        self.groups = self.leaders.iter().map(|leader| leader.id).filter(exists).collect();
    }

    pub(super) fn alive(&self) -> bool {
        !self.groups.is_empty() || !self.singles.is_empty()
    }

    pub(super) fn signal(&self, force: Force) {
        let signal = match force {
            Force::Ask => Signal::TERM,
            Force::Kill => Signal::KILL,
        };
        // Any of them may have ended by itself since we looked: no error is one.
        for group in self.groups.iter().filter_map(|&id| pid(id)) {
            kill_process_group(group, signal).ok();
        }
        for single in self.singles.iter().filter_map(|&id| pid(id)) {
            kill_process(single, signal).ok();
        }
    }
}

fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(id.cast_signed())
}

/// The sessions whose number still means what it meant. Linux gives a number away only when no
/// process, group or session has it, so one whose leader lives with another start time is foreign.
fn still_ours(leaders: &[Leader], processes: &[Process]) -> BTreeSet<u32> {
    let starts: BTreeMap<u32, u64> =
        processes.iter().map(|process| (process.id, process.started)).collect();
    let foreign = |leader: &&Leader| {
        starts.get(&leader.id).is_some_and(|started| Some(*started) != leader.started)
    };
    leaders.iter().filter(|leader| !foreign(leader)).map(|leader| leader.id).collect()
}

/// The members of `sessions`, those known from before, the children of `parent` outside of `free` sessions, and the
/// descendants of all these. Pure.
fn select(
    processes: &[Process],
    sessions: &BTreeSet<u32>,
    known: &BTreeSet<(u32, u64)>,
    parent: Option<u32>,
    free: &BTreeSet<u32>,
) -> Vec<Process> {
    let mut children: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let is_root = |process: &&Process| {
        sessions.contains(&process.session)
            || sessions.contains(&process.group)
            || known.contains(&(process.id, process.started))
            || parent == Some(process.parent) && !free.contains(&process.session)
    };
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
