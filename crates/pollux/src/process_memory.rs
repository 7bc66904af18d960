//! Protection of this process's environment and memory, which contain keys: commands of the model
//! must not read them through `/proc`.

/// Hides environment and memory; must be called before other threads exist.
#[cfg(target_os = "linux")]
pub(crate) fn hide() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    // If the kernel refuses, commands have the same rights as the user who starts them.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
    #[cfg(target_env = "gnu")]
    empty_initial_environment();
}

/// Does nothing: other systems show a process's environment to its owner, and the process cannot
/// prevent that.
#[cfg(not(target_os = "linux"))]
pub(crate) fn hide() {}

/// Copies the environment to memory of the C library and overwrites the block that the kernel shows
/// as `/proc/PID/environ`. Root can read that block even if the process is not dumpable.
///
/// Variables of the dynamic linker are not moved: the linker may keep pointers to them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no safe call for its environment")]
fn empty_initial_environment() {
    let is_linkers = |name: &[u8]| name.starts_with(b"LD_");
    // SAFETY: no other thread runs yet, so nothing else reads or changes the environment. The
    // entries of `environ` are NUL-terminated strings in the writable block that the kernel made.
    // They are overwritten within their length, after `set_var` has replaced them by copies.
    unsafe {
        let mut initial = Vec::new();
        let mut entry = libc::environ;
        while !entry.is_null() && !(*entry).is_null() {
            let length = libc::strlen(*entry);
            let text = std::slice::from_raw_parts((*entry).cast::<u8>(), length);
            if !is_linkers(text) {
                initial.push((*entry, length));
            }
            entry = entry.add(1);
        }
        for (name, value) in std::env::vars_os() {
            if !is_linkers(name.as_encoded_bytes()) {
                std::env::set_var(name, value);
            }
        }
        for (text, length) in initial {
            std::ptr::write_bytes(text, 0, length);
        }
    }
}
