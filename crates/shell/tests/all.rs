//! Commands as real processes.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod suite;
