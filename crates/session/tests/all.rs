//! Tests of sessions on disk, through the public interface.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod suite {
    mod resume;
    mod store;
}
