//! The tools from outside: arguments in, results out, on real folders.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub)]

mod suite {
    pub mod session;

    mod bad_arguments;
    mod cancellation;
    mod declarations;
    mod glob;
    mod grep_search;
    mod list_directory;
    mod read_file;
    mod replace;
    mod run_shell_command;
    mod write_file;
}
