//! Capabilities that confined programs of root keep.

use pollux_protocol::ConfinementLevel;
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

/// Capabilities that could undo a confinement or read what it hides.
const DANGEROUS: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::SYS_MODULE)
    .union(CapabilitySet::SYS_RAWIO)
    .union(CapabilitySet::SYS_BOOT)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::MKNOD)
    .union(CapabilitySet::LINUX_IMMUTABLE)
    .union(CapabilitySet::CHECKPOINT_RESTORE)
    .union(CapabilitySet::MAC_ADMIN)
    .union(CapabilitySet::MAC_OVERRIDE)
    .union(CapabilitySet::SYSLOG)
    .union(CapabilitySet::SYS_PACCT)
    .union(CapabilitySet::SYS_TTY_CONFIG);

/// Removes the capabilities that a level does not permit. Returns true if they are also gone from
/// the bounding set, so that no program can get them back.
pub(super) fn reduce(level: ConfinementLevel) -> Result<bool, String> {
    let failed = |what: &str, error: Errno| format!("capabilities ({what}): {error}");
    let kept = match level {
        // Root may read files of other users, as it may without confinement.
        ConfinementLevel::Inspect => CapabilitySet::DAC_READ_SEARCH,
        _ => CapabilitySet::all().difference(DANGEROUS),
    };
    clear_ambient_capability_set().map_err(|error| failed("ambient", error))?;
    let mut is_bounded = true;
    for number in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if kept.contains(one) && number <= 40 {
            continue;
        }
        match remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            // The kernel has no capability with this number or a higher one.
            Err(Errno::INVAL) => break,
            Err(_) => is_bounded = false,
        }
    }
    let had = capabilities(None).map_err(|error| failed("read", error))?;
    let sets = CapabilitySets {
        effective: had.effective & kept,
        permitted: had.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).map_err(|error| failed("set", error))?;
    Ok(is_bounded)
}
