//! The built program from outside: a scripted model server, a temporary home, the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![cfg(unix)]

mod suite {
    mod command_line;
    mod conversation;
    mod demo;
    mod dialects;
    mod exit_codes;
    mod formats;
    mod input;
    mod interrupts;
    mod line;
    mod r#loop;
    mod network;
    mod resume;
    mod sessions;
    mod shell;
    mod stage;
    mod stream;
    mod telemetry;
    mod terminal;
    mod tools;
    mod trust;
}
