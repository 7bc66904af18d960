//! Records of running audits, from which the next start finishes the audits of a killed run.
//!
//! A record is a file in the private folder of Pollux, which confined commands cannot change. It
//! exists as long as its audit: a record without a running owner belongs to a run that was killed,
//! possibly by its own command.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pollux_config::protected::ProtectedPlaces;
use pollux_fs::{DirLock, EntryKind, Spool};
use pollux_protocol::plain_text::visible;

use super::audit::{AuditView, move_aside};
use super::encoding::{put_list, take_list};
use super::{SandboxAudit, SandboxChange, SandboxPlaces};
use crate::sessions;

/// Folder of the records, below the private folder of Pollux.
const FOLDER: [&str; 2] = ["sandbox", "running"];
/// First bytes of a record, including the version of the format.
const HEADER: &[u8] = b"pollux-sandbox-record 1\n";
/// Maximum size of a record, in bytes.
const RECORD_BYTES: u64 = 64 << 20;
/// Maximum number of records that one start finishes.
const RECORDS: usize = 1_000;
/// Maximum time to wait while another start finishes the records.
const WAIT: Duration = Duration::from_secs(20);
/// File that identifies the start of the system.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Changes that the commands of killed runs left, and that were reverted now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// Changes, in the order in which they were found.
    pub changes: Vec<SandboxChange>,
    /// Records that could not be read, as complete sentences for the user.
    pub problems: Vec<String>,
}

/// Finishes the audits of runs that were killed, and returns what they left. Their remaining
/// processes are ended first. `state` is the private folder of Pollux, and `protected` the places
/// of the user.
///
/// Without such a run this only lists one folder. Must be called before anything is read that a
/// command could have planted. Several processes may call it at the same time. Blocks.
pub fn finish_left_behind(state: &Path, protected: &ProtectedPlaces) -> LeftBehind {
    let mut left = LeftBehind::default();
    let folder = folder_in(state);
    if abandoned(&folder).is_empty() {
        return left;
    }
    let lock = match DirLock::acquire(&folder, WAIT) {
        Ok(lock) => lock,
        Err(error) => {
            left.problems.push(format!(
                "A run of Pollux was killed, and its changes of protected files cannot be reverted: {error}."
            ));
            return left;
        }
    };
    for found in abandoned(&folder) {
        match found.read(state) {
            Some((audit, workspace, view)) => {
                if let Some(owner) = &found.owner {
                    sessions::end_rest_of_program(owner.process);
                }
                // Only the state folder and the workspace of these places matter to an audit.
                let temporary = PathBuf::new();
                let places =
                    SandboxPlaces::standard(protected, workspace, state.to_owned(), temporary);
                left.changes.extend(audit.finish_left_behind(&places, view));
                pollux_fs::remove_file(&found.path).ok();
            }
            None => left.problems.push(found.refuse(state)),
        }
        if lock.renew().is_err() {
            break;
        }
    }
    left
}

fn folder_in(state: &Path) -> PathBuf {
    FOLDER.iter().fold(state.to_owned(), |folder, name| folder.join(name))
}

/// Record of one audit; dropping it removes the file.
#[derive(Debug)]
pub(super) struct AuditRecord {
    path: PathBuf,
}

impl AuditRecord {
    /// Creates the folder of the records.
    pub(super) fn create_folder(places: &SandboxPlaces) {
        // An error shows itself when a record is written.
        pollux_fs::create_private_directories(&folder_in(&places.state)).ok();
    }

    /// Writes a record. It is not synced: it is for the death of this process, not of the system.
    /// Returns `None` if it cannot be written; then the audit ends with this process.
    pub(super) fn write(places: &SandboxPlaces, audit: &SandboxAudit) -> Option<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let serial = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder_in(&places.state).join(RecordOwner::this()?.file_name(serial));
        let mut bytes = HEADER.to_vec();
        put_list(&mut bytes, places.workspace.iter());
        audit.encode(&mut bytes);
        // A part of a record is removed again.
        let record = Self { path };
        Spool::create(&record.path).ok()?.write(&bytes).ok()?;
        Some(record)
    }
}

impl Drop for AuditRecord {
    fn drop(&mut self) {
        // A record that stays is finished by the next start, which then finds no change.
        pollux_fs::remove_file(&self.path).ok();
    }
}

/// Process that owns records. Their file names contain it, so that the record of a living owner is
/// never opened.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RecordOwner {
    /// Start of the system, in hexadecimal digits.
    boot: String,
    /// Namespace of the process number.
    namespace: u64,
    process: u32,
    /// Start time of the process, which distinguishes it from a later process of this number.
    started: u64,
}

impl RecordOwner {
    /// Returns this process; `None` on systems that do not report start times.
    fn this() -> Option<Self> {
        let process = std::process::id();
        let started = sessions::start_time(process)?;
        Some(Self { boot: boot(), namespace: sessions::process_namespace(), process, started })
    }

    fn file_name(&self, serial: u64) -> String {
        let Self { boot, namespace, process, started } = self;
        format!("{boot}-{namespace}-{process}-{started}-{serial}")
    }

    /// Reads a file name. Also returns the serial number.
    fn parse(name: &str) -> Option<(Self, u64)> {
        let parts: Vec<&str> = name.split('-').collect();
        let [boot, namespace, process, started, serial] = parts[..] else { return None };
        let owner = Self {
            boot: boot.to_owned(),
            namespace: namespace.parse().ok()?,
            process: process.parse().ok()?,
            started: started.parse().ok()?,
        };
        let serial = serial.parse().ok()?;
        // A number has one spelling.
        (owner.file_name(serial) == name).then_some((owner, serial))
    }

    /// Returns true if the owner runs, or may run in a container that this process cannot see.
    fn may_run(&self) -> bool {
        if self.boot != boot() {
            return false;
        }
        self.namespace != sessions::process_namespace()
            || sessions::is_running(self.process)
                && sessions::start_time(self.process) == Some(self.started)
    }
}

/// Returns the identifier of the start of the system; empty if there is none.
fn boot() -> String {
    let id = pollux_fs::read_head(Path::new(BOOT_ID), 64).unwrap_or_default();
    id.into_iter().filter(u8::is_ascii_hexdigit).map(char::from).collect()
}

/// Record whose owner does not run.
#[derive(Debug)]
struct AbandonedRecord {
    path: PathBuf,
    /// `None` for a file that is no record.
    owner: Option<RecordOwner>,
    serial: u64,
}

/// Returns the records without a running owner, the oldest of each owner first.
fn abandoned(folder: &Path) -> Vec<AbandonedRecord> {
    let entries = pollux_fs::list_directory(folder).unwrap_or_default().into_iter();
    let mut found: Vec<AbandonedRecord> = entries
        .map(|entry| {
            let (owner, serial) = RecordOwner::parse(&entry.name).unzip();
            AbandonedRecord { path: entry.path, owner, serial: serial.unwrap_or_default() }
        })
        .filter(|found| found.owner.as_ref().is_none_or(|owner| !owner.may_run()))
        .take(RECORDS)
        .collect();
    found.sort_by_key(|found| found.serial);
    found
}

impl AbandonedRecord {
    /// Reads the audit, the workspace of its commands, and the meaning of its file numbers. `None`
    /// if the file is damaged, if it may have been written by somebody else, or if its paths may
    /// mean other files here.
    fn read(&self, state: &Path) -> Option<(SandboxAudit, Vec<PathBuf>, AuditView)> {
        let owner = self.owner.as_ref()?;
        let info = pollux_fs::link_info(&self.path).ok()?;
        if info.kind != EntryKind::File || info.size > RECORD_BYTES || !is_private(&self.path) {
            return None;
        }
        let bytes = pollux_fs::read_tail_of_file_itself(&self.path, RECORD_BYTES as usize).ok()?;
        let rest = &mut bytes.strip_prefix(HEADER)?;
        let workspace = take_list(rest)?;
        let audit = SandboxAudit::decode(state, rest)?;
        let is_same_start = owner.boot == boot();
        let view = if is_same_start { AuditView::SameNumbers } else { AuditView::NewNumbers };
        let is_here = owner.namespace == sessions::process_namespace();
        (is_here && (!is_same_start || audit.has_same_root())).then_some((audit, workspace, view))
    }

    /// Moves the file away, and returns a sentence about it.
    fn refuse(&self, state: &Path) -> String {
        let path = visible(&self.path.to_string_lossy());
        let place = match move_aside(state, &self.path, None) {
            Ok(place) => format!("was moved to {}", visible(&place.to_string_lossy())),
            Err(error) => format!("cannot be moved ({error}); remove it"),
        };
        format!(
            "{path} is not a usable record of a killed run, and {place}. \
             Changes of protected files by that run, such as a new ~/.zshenv, are not reverted."
        )
    }
}

/// Returns true if only this user can have written the file.
#[cfg(unix)]
fn is_private(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    pollux_fs::ownership(path).is_ok_and(|owner| owner.user == user && owner.mode & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> bool {
    true
}
