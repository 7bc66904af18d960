//! How the C library's allocator keeps memory: a session of weeks shall hold what it uses, not what it once used.

/// Sets it up; to be called before threads and large blocks exist.
///
/// Left alone, glibc gives each thread an arena of its own, and puts ever larger blocks into them once one such block
/// has been freed. Threads that read files come and go, results of 100 kB come and go, and what stays of each turn ends
/// up between them: memory doubled over a session of 1,500 turns. Two arenas, and large blocks on pages of their own,
/// which go back to the system when they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no safe call for it")]
pub(crate) fn settle() {
    const ARENAS: i32 = 2;
    const LARGE_BLOCK: i32 = 128 * 1024;
    // SAFETY: both only change figures of the allocator, and no other thread runs yet. One that it refuses stays as it was.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK);
    }
}

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn settle() {}
