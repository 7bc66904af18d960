//! Configuration of the C library's allocator: after weeks a session must not hold memory that it
//! no longer uses.

/// Configures the allocator; must be called before threads and large blocks exist.
///
/// By default glibc gives each thread its own arena, and serves ever larger blocks from the arenas
/// once such a block has been freed. Threads that read files and results of 100 kB come and go, and
/// long-lived data of each turn ends up between them: memory doubled over a session of 1,500 turns.
/// With two arenas, and with large blocks on their own pages, freed memory returns to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no safe call for it")]
pub(crate) fn settle() {
    const ARENAS: i32 = 2;
    const LARGE_BLOCK: i32 = 128 * 1024;
    // SAFETY: both calls only change parameters of the allocator, and no other thread runs yet. A
    // rejected parameter keeps its value.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK);
    }
}

/// Leaves other allocators unchanged.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn settle() {}
