//! Tests of the tools from outside: arguments in, results out, on real folders.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub)]

mod suite {
    pub mod session;

    mod ask_user;
    mod background;
    mod bad_arguments;
    mod calls;
    mod cancellation;
    mod correction;
    mod declarations;
    #[cfg(unix)]
    mod discovered;
    mod files;
    mod get_internal_docs;
    mod glob;
    mod grep_search;
    mod held_files;
    mod hostile_arguments;
    mod hostile_texts;
    mod list_directory;
    mod plan_mode;
    #[cfg(target_os = "linux")]
    mod race;
    mod read_file;
    mod read_many_files;
    mod replace;
    mod run_shell_command;
    mod save_memory;
    #[cfg(unix)]
    mod tasks;
    #[cfg(unix)]
    mod unreadable;
    mod web;
    mod write_file;
}
