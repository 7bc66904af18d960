//! Tests of sessions on disk, through the public interface.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod suite {
    mod resume;
    mod store;
    mod subagents;
}
