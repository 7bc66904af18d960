//! Tests of the crate against servers of the tests.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod suite {
    mod discovery;
    mod legacy_sse;
    mod service;
    mod sign_in;
    mod tokens;
    mod user;
}
