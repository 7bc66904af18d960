//! Detection of processes that read a terminal, by the system call in which each thread waits
//! (`/proc/<id>/task/<id>/syscall`, proc_pid_syscall(5)).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{CWD, Dir, Mode, OFlags, openat, readlinkat};

use super::{Orphans, Process, select};
use crate::sessions::model::{Leader, Reading};

/// Numbers of `read` and `readv`, by architecture. On other architectures no read is detected.
#[cfg(target_arch = "x86_64")]
const READS: [u32; 2] = [0, 19];
#[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
const READS: [u32; 2] = [63, 65];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
const READS: [u32; 0] = [];

/// Length of the read buffer, in bytes: enough for the number of a system call and its arguments.
const LINE_LENGTH: usize = 256;
/// Maximum number of threads of one process that are checked.
const MOST_THREADS: usize = 64;

/// Checks the processes of a child. Reads the whole process table.
pub(crate) fn reading(leader: Leader) -> Reading {
    let processes = Process::all();
    if processes.is_empty() {
        return Reading::Unknown;
    }
    let members = select(&processes, &[leader], Orphans::OfLeaders, &BTreeSet::new());
    let living: Vec<&Process> = members.iter().filter(|member| member.is_alive()).collect();
    let readers = living.iter().filter(|member| member.terminal != 0);
    let looks: Vec<Option<bool>> = readers.map(|member| reads_terminal(member.id)).collect();
    if looks.contains(&Some(true)) {
        Reading::Blocked
    } else if living.iter().any(|member| matches!(member.state, b'R' | b'D')) {
        Reading::Busy
    } else if looks.contains(&None) {
        Reading::Unknown
    } else {
        Reading::Asleep
    }
}

/// Returns true if a thread of the process waits for terminal input; `None` if this program may not
/// read the information.
fn reads_terminal(process: u32) -> Option<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(CWD, format!("/proc/{process}/task"), flags, Mode::empty()).ok()?;
    let threads = Dir::new(folder).ok()?.flatten().filter_map(|entry| {
        entry.file_name().to_str().ok().filter(|name| !name.starts_with('.')).map(str::to_owned)
    });
    let mut is_reported = false;
    for thread in threads.take(MOST_THREADS) {
        let Some(line) = read_line(&format!("/proc/{process}/task/{thread}/syscall")) else {
            continue;
        };
        is_reported = true;
        if file_that_is_read(&line).is_some_and(|file| is_terminal(process, file)) {
            return Some(true);
        }
    }
    is_reported.then_some(false)
}

fn read_line(path: &str) -> Option<String> {
    let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut buffer = [0; LINE_LENGTH];
    let length = rustix::io::read(&file, &mut buffer).ok()?;
    std::str::from_utf8(&buffer[..length]).ok().map(str::to_owned)
}

/// Returns the number of the open file that a system call reads: `0 0x3 0x7ffd…`.
fn file_that_is_read(line: &str) -> Option<u32> {
    let mut fields = line.split_ascii_whitespace();
    let call: u32 = fields.next()?.parse().ok()?;
    let file = u32::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?;
    READS.contains(&call).then_some(file)
}

fn is_terminal(process: u32, file: u32) -> bool {
    let target = readlinkat(CWD, format!("/proc/{process}/fd/{file}"), Vec::new());
    let Ok(target) = target else { return false };
    let name = OsStr::from_bytes(target.as_bytes()).to_string_lossy().into_owned();
    name.starts_with("/dev/pts/") || name.starts_with("/dev/tty") || name == "/dev/console"
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn only_reads_have_a_file() {
        let table = [
            ("0 0x0 0x7ffc 0x1 0x0 0x0 0x0 0x7ff 0x7f4", Some(0)),
            ("0 0x1f 0x7ffc 0x1", Some(31)),
            ("19 0x3 0x7ffc", Some(3)),
            ("230 0x0 0x0 0x7fff", None),
            ("running", None),
            ("-1 0x7ffc 0x7f4", None),
            ("0 zero", None),
            ("0", None),
            ("", None),
        ];
        for (line, expected) in table {
            assert_eq!(file_that_is_read(line), expected, "{line}");
        }
    }
}
