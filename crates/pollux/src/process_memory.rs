//! Keeps commands of the model from reading this process's environment and memory through `/proc`: keys are in them.

/// Hides them; to be called before other threads exist.
#[cfg(target_os = "linux")]
pub(crate) fn hide() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    // Where the kernel refuses, commands are no worse off than the person who starts them.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
    #[cfg(target_env = "gnu")]
    empty_initial_environment();
}

/// Other systems show a process's environment to its owner; nothing can be done from inside.
#[cfg(not(target_os = "linux"))]
pub(crate) fn hide() {}

/// Moves the environment to memory of the C library and overwrites the block that the kernel shows as
/// `/proc/PID/environ`, which root reads whether the process is dumpable or not.
///
/// Variables of the dynamic linker stay where they are: it may keep pointers to them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no safe call for its environment")]
fn empty_initial_environment() {
    let is_linkers = |name: &[u8]| name.starts_with(b"LD_");
    // SAFETY: no other thread runs yet, so nothing else reads or changes the environment. The entries of `environ` are
    // strings that end with a zero, in the writable block that the kernel made. They are overwritten within their
    // length, after `set_var` has put copies in their places.
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
