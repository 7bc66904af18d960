//! Tests of the client against servers that work correctly, and servers that do not.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod suite {
    mod answers;
    mod faults;
    mod google;
    mod pages;
    mod proxies;
    mod redirects;
    mod server;
    mod tls;
}
