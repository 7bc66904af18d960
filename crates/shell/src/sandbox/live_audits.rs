//! Audits of the confined commands that run now, in all sessions of this Pollux process.
//!
//! A command that runs in the background, or leaves processes behind, is audited again before every
//! later command starts, until all its processes have ended.

use std::mem;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pollux_protocol::ConfinementLevel;

use super::audit_records::AuditRecord;
use super::{SandboxAudit, SandboxChange, SandboxPlaces, SandboxSpec};
use crate::sessions;

static AUDITS: Mutex<LiveAudits> =
    Mutex::new(LiveAudits { live: Vec::new(), unreported: Vec::new() });
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Audits of commands that may still change something, and the changes found.
#[derive(Debug)]
struct LiveAudits {
    live: Vec<LiveAudit>,
    /// Changes that have not been reported with the result of any command, with the places of their
    /// command.
    unreported: Vec<(Arc<SandboxPlaces>, SandboxChange)>,
}

/// Audit that several commands share if nothing protected changed between their starts.
#[derive(Debug)]
struct LiveAudit {
    audit: SandboxAudit,
    places: Arc<SandboxPlaces>,
    /// Commands that have not ended yet.
    running: Vec<u64>,
    /// Process ids of ended commands that may have left processes.
    ended: Vec<u32>,
    /// True if a command was stopped without an audit at its end.
    is_due: bool,
    /// Record for the next start, in case this process is killed.
    record: Option<AuditRecord>,
}

/// Audit of one command. If it is dropped without [`RunningAudit::finish`], the command is audited
/// before the next command starts, or by [`audit_rest`].
#[derive(Debug)]
pub struct RunningAudit {
    id: u64,
    process: Option<u32>,
    is_finished: bool,
}

fn audits() -> MutexGuard<'static, LiveAudits> {
    AUDITS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunningAudit {
    /// Returns true if [`RunningAudit::begin`] has nothing to do for a command of this level. Does
    /// not block.
    pub fn is_needless(level: ConfinementLevel) -> bool {
        // The lock is only tried, because an audit by another thread may take long.
        let is_idle = |audits: MutexGuard<'_, LiveAudits>| {
            audits.live.is_empty() && audits.unreported.is_empty()
        };
        !is_audited(level) && AUDITS.try_lock().is_ok_and(is_idle)
    }

    /// Reverts changes of earlier commands that still run, and begins the audit of the next
    /// command. The audit is `None` at a level that permits all changes, or no change of anything
    /// protected. Also returns the changes in the same places that were not reported yet. Blocks.
    pub fn begin(spec: &SandboxSpec) -> (Option<Self>, Vec<SandboxChange>) {
        let mut audits = audits();
        audits.check();
        audits.live.iter_mut().for_each(|live| live.is_due = false);
        audits.remove_idle();
        let found = audits.take_unreported(&spec.places);
        if !is_audited(spec.level) {
            return (None, found);
        }
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        // The first record must not change the folders that the audit is about.
        AuditRecord::create_folder(&spec.places);
        let audit = SandboxAudit::begin(spec);
        let is_same = |live: &&mut LiveAudit| live.audit == audit && live.places == spec.places;
        if let Some(live) = audits.live.iter_mut().find(is_same) {
            live.running.push(id);
        } else {
            let (places, running) = (Arc::clone(&spec.places), vec![id]);
            let (ended, is_due) = (Vec::new(), false);
            let record = AuditRecord::write(&places, &audit);
            audits.live.push(LiveAudit { audit, places, running, ended, is_due, record });
        }
        (Some(Self { id, process: None, is_finished: false }), found)
    }

    /// Sets the process id of the command. Without it, processes that the command leaves behind are
    /// only audited until the next command starts.
    pub fn set_process(&mut self, process: u32) {
        self.process = Some(process);
    }

    /// Reverts the changes of the command, which has ended, and returns all changes in its places
    /// that were not reported yet. Blocks.
    pub fn finish(mut self) -> Vec<SandboxChange> {
        let mut audits = audits();
        self.check(&mut audits).map(|places| audits.take_unreported(&places)).unwrap_or_default()
    }

    /// Does the same as [`RunningAudit::finish`] for a command that ended in the background. The
    /// audit of the next command returns the changes again, because the model reads the result of
    /// that command next.
    pub fn finish_in_background(mut self) -> Vec<SandboxChange> {
        let mut audits = audits();
        let Some(places) = self.check(&mut audits) else { return Vec::new() };
        let of_places =
            audits.unreported.iter().filter(|(other, _)| are_of_one_session(other, &places));
        of_places.map(|(_, change)| change.clone()).collect()
    }

    fn check(&mut self, audits: &mut LiveAudits) -> Option<Arc<SandboxPlaces>> {
        self.is_finished = true;
        let LiveAudits { live, unreported } = audits;
        let live = live.iter_mut().find(|live| live.running.contains(&self.id))?;
        live.check(unreported);
        Some(Arc::clone(&live.places))
    }
}

impl Drop for RunningAudit {
    fn drop(&mut self) {
        let mut audits = audits();
        if let Some(live) = audits.live.iter_mut().find(|live| live.running.contains(&self.id)) {
            live.running.retain(|id| *id != self.id);
            live.ended.extend(self.process);
            live.is_due |= !self.is_finished;
        }
        audits.remove_idle();
    }
}

/// Reverts the changes of all commands that were not audited at their end, and returns the changes
/// that were not reported. Must be called after [`reap_all`](crate::reap_all). Blocks.
pub fn audit_rest() -> Vec<SandboxChange> {
    let mut audits = audits();
    audits.check();
    audits.live.clear();
    mem::take(&mut audits.unreported).into_iter().map(|(_, change)| change).collect()
}

/// Runs `change`, a change by Pollux itself at a protected path, and makes the audits of running
/// commands accept it. Blocks.
pub fn own_change<T>(path: &Path, change: impl FnOnce() -> T) -> T {
    let mut audits = audits();
    // A change that a command made before must still be reverted.
    audits.check();
    let made = change();
    for live in &mut audits.live {
        live.audit.accept(path);
        live.record = AuditRecord::write(&live.places, &live.audit);
    }
    made
}

/// Removes the audits of ended commands without remaining processes, because later changes are not
/// theirs. Must be called after [`RunningAudit::finish`]. Blocks, because it reads the process
/// table.
pub fn forget_ended_audits() {
    let all = |audits: &LiveAudits| -> Vec<u32> {
        audits.live.iter().flat_map(|live| live.ended.iter().copied()).collect()
    };
    let ended = all(&audits());
    if ended.is_empty() {
        return;
    }
    let left = sessions::with_processes();
    let mut audits = audits();
    let LiveAudits { live, unreported } = &mut *audits;
    for live in live.iter_mut().filter(|live| !live.ended.is_empty()) {
        live.ended.retain(|id| left.contains(id) || !ended.contains(id));
        // The last process may have changed something before its end.
        live.check(unreported);
    }
    audits.remove_idle();
}

fn is_audited(level: ConfinementLevel) -> bool {
    matches!(level, ConfinementLevel::Protect | ConfinementLevel::WorkspaceWrite)
}

/// Returns true if the places may be those of the same session. A session can get more folders
/// while it runs, but keeps its first one.
fn are_of_one_session(one: &SandboxPlaces, other: &SandboxPlaces) -> bool {
    one.state == other.state && one.workspace.first() == other.workspace.first()
}

impl LiveAudits {
    fn check(&mut self) {
        for live in &mut self.live {
            live.check(&mut self.unreported);
        }
    }

    fn remove_idle(&mut self) {
        self.live.retain(|live| live.is_due || !live.running.is_empty() || !live.ended.is_empty());
    }

    fn take_unreported(&mut self, places: &SandboxPlaces) -> Vec<SandboxChange> {
        let of_places =
            self.unreported.extract_if(.., |(other, _)| are_of_one_session(other, places));
        of_places.map(|(_, change)| change).collect()
    }
}

impl LiveAudit {
    fn check(&mut self, unreported: &mut Vec<(Arc<SandboxPlaces>, SandboxChange)>) {
        let changes = self.audit.check().into_iter();
        unreported.extend(changes.map(|change| (Arc::clone(&self.places), change)));
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "these are tests")]
mod tests {
    use pollux_config::protected::ProtectedPlaces;
    use std::fs;

    use super::*;

    fn spec(root: &Path, level: ConfinementLevel) -> SandboxSpec {
        let places = SandboxPlaces::standard(
            &ProtectedPlaces { homes: vec![root.join("home")], ..ProtectedPlaces::default() },
            vec![root.join("p")],
            root.join("state"),
            root.join("t"),
        );
        SandboxSpec::new(level, Arc::new(places))
    }

    fn plant(root: &Path) {
        fs::create_dir_all(root.join("p/.git/hooks")).unwrap();
        fs::write(root.join("p/.git/hooks/pre-commit"), "").unwrap();
    }

    #[test]
    fn a_running_command_is_audited_before_the_next_and_each_change_is_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("p/.git")).unwrap();
        let protect = spec(root, ConfinementLevel::Protect);
        let (first, found) = RunningAudit::begin(&protect);
        assert!(found.is_empty());
        plant(root);
        let (second, found) = RunningAudit::begin(&spec(root, ConfinementLevel::None));
        assert!(second.is_none());
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(!root.join("p/.git/hooks").exists());
        plant(root);
        let (third, found) = RunningAudit::begin(&protect);
        assert_eq!(found.len(), 1, "{found:?}");
        plant(root);
        assert_eq!(third.unwrap().finish().len(), 1);
        assert!(first.unwrap().finish().is_empty());
        // No command runs, so the change belongs to another program.
        plant(root);
        assert!(RunningAudit::begin(&spec(root, ConfinementLevel::None)).1.is_empty());
        assert!(root.join("p/.git/hooks").exists());
    }

    #[test]
    fn a_folder_that_is_added_to_the_workspace_hides_no_change() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("p/.git")).unwrap();
        let before = spec(root, ConfinementLevel::Protect);
        let (background, _) = RunningAudit::begin(&before);
        plant(root);
        assert_eq!(background.unwrap().finish_in_background().len(), 1);
        let mut places = SandboxPlaces::clone(&before.places);
        places.workspace.push(root.join("added"));
        let mut other = places.clone();
        other.workspace.remove(0);
        let begin = |places| {
            RunningAudit::begin(&SandboxSpec::new(ConfinementLevel::None, Arc::new(places))).1
        };
        // A session in another folder does not report it.
        assert_eq!(begin(other).len(), 0);
        assert_eq!(begin(places).len(), 1);
    }

    #[test]
    fn a_record_exists_while_a_command_runs() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let records = || {
            let entries = fs::read_dir(root.join("state/sandbox/running")).unwrap();
            entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect::<Vec<_>>()
        };
        let protect = spec(root, ConfinementLevel::Protect);
        let (first, _) = RunningAudit::begin(&protect);
        let (second, _) = RunningAudit::begin(&protect);
        let before = records();
        assert_eq!(before.len(), 1);
        drop(first.unwrap().finish());
        assert_eq!(records(), before);
        own_change(&root.join("home/.gemini/settings.json"), || {
            fs::create_dir_all(root.join("home/.gemini")).unwrap();
            fs::write(root.join("home/.gemini/settings.json"), "{}").unwrap();
        });
        assert_eq!(records().len(), 1);
        assert_ne!(records(), before);
        drop(second.unwrap().finish());
        assert_eq!(records().len(), 0);
    }

    #[test]
    fn changes_of_our_own_stay() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let policies = root.join("home/.gemini/policies");
        fs::create_dir_all(root.join("home/.gemini")).unwrap();
        let (audit, _) = RunningAudit::begin(&spec(root, ConfinementLevel::Protect));
        fs::create_dir(&policies).unwrap();
        fs::write(policies.join("planted.toml"), "").unwrap();
        let path = policies.join("mine.toml");
        own_change(&path, || {
            fs::create_dir(&policies).unwrap();
            fs::write(&path, "").unwrap();
        });
        assert_eq!(audit.unwrap().finish().len(), 1);
        assert!(path.exists() && !policies.join("planted.toml").exists());
    }

    #[test]
    fn a_dropped_audit_is_made_before_the_next_command() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("p/.git")).unwrap();
        let protect = spec(root, ConfinementLevel::Protect);
        drop(RunningAudit::begin(&protect));
        plant(root);
        let (next, found) = RunningAudit::begin(&protect);
        assert_eq!(found.len(), 1, "{found:?}");
        drop(next);
    }
}
