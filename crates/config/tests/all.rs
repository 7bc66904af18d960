//! Tests of the configuration with real files in temporary home directories.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod suite {
    mod consent;
    mod context;
    mod dotenv;
    mod explain;
    mod home;
    mod load;
    mod project;
    mod trust;
}
