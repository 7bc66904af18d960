//! Sessions on disk, from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod suite {
    mod resume;
    mod store;
}
