//! Tests of the loop with scripted models, tools, journal and users, inside one process.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod suite {
    mod attempts;
    mod cancel;
    #[cfg(unix)]
    mod checkers;
    mod checkpoints;
    mod child;
    mod compression;
    mod conseca;
    mod contract;
    mod fallback;
    #[cfg(unix)]
    mod hook_failures;
    #[cfg(unix)]
    mod hooks;
    mod loop_guard;
    mod masking;
    mod next_speaker;
    mod overflow;
    mod questions;
    mod routing;
    mod stage;
    mod steering;
    mod structured;
    mod tools;
    mod turns;
}
