//! Use of the machine by this process, as Linux reports it. Other systems report nothing.

use std::path::Path;
use std::time::Duration;

/// Maximum number of bytes that are read of a file of the system.
const MOST: usize = 4096;
/// Clock ticks per second in `/proc`; the same on all architectures that Pollux is built for.
const TICKS: u64 = 100;

/// Processor time and memory of the process so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProcessUsage {
    /// Processor time outside of the kernel.
    pub(crate) user: Duration,
    /// Processor time in the kernel.
    pub(crate) system: Duration,
    /// Memory in use, in bytes; `None` if it is not known.
    pub(crate) resident: Option<u64>,
}

impl ProcessUsage {
    /// Returns the usage so far.
    pub(crate) fn now() -> Self {
        let stat = read("/proc/self/stat");
        // The name of the program, in parentheses, may contain anything.
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace().collect();
        // Fields 14 and 15, counted from 1 with the name as field 2.
        let ticks = |field: usize| fields.get(field - 3).and_then(|field| field.parse().ok());
        let time = |field| Duration::from_millis(ticks(field).unwrap_or(0) * (1000 / TICKS));
        Self { user: time(14), system: time(15), resident: resident(&read("/proc/self/status")) }
    }
}

/// Returns the memory in the form of `/proc/PID/status`.
fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Returns the release of the operating system's kernel; empty if it is not known.
pub(crate) fn os_release() -> String {
    read("/proc/sys/kernel/osrelease").trim().to_owned()
}

/// True in a container of Docker.
pub(crate) fn is_docker() -> bool {
    pollux_fs::read_head(Path::new("/.dockerenv"), 1).is_ok()
}

/// Returns the operating system under the name that Node.js uses.
pub(crate) fn os_platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

/// Returns the beginning of a file; empty if it cannot be read.
fn read(path: &str) -> String {
    let bytes = pollux_fs::read_head(Path::new(path), MOST).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(resident("Name:\tx\nVmRSS:\t    2048 kB\nThreads:\t1\n"), Some(2_097_152));
        for unknown in ["", "VmRSS: 7 MB\n", "VmRSS:\n", "VmRSS: 99999999999999999999 kB\n"] {
            assert_eq!(resident(unknown), None, "{unknown:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processor_time_grows_with_work() {
        let before = ProcessUsage::now();
        assert!(before.resident.is_some_and(|bytes| bytes > 100_000), "{before:?}");
        let start = std::time::Instant::now();
        let is_grown = || ProcessUsage::now().user > before.user;
        while !is_grown() {
            assert!(start.elapsed() < Duration::from_mins(1), "{before:?}");
        }
    }
}
