//! Memory of this process.

use std::path::Path;

use crate::read_text;

/// Maximum size of the file of the system, in bytes.
const LARGEST: u64 = 64 << 10;

/// Returns the memory that the process occupies, in MB; `None` where the system does not say so in
/// a file.
pub fn memory_in_use() -> Option<u64> {
    let status = read_text(Path::new("/proc/self/status"), LARGEST).ok()?;
    let line = status.text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes.div_ceil(1024))
}
