//! Tests of the crate through its public interface: models created from settings and environment,
//! against a scripted server.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod suite {
    mod anthropic;
    mod anthropic_concessions;
    mod assembling;
    mod embedding;
    mod failures;
    mod google_cloud;
    mod harness;
    mod local;
    mod openai_answers;
    mod openai_requests;
    mod openai_selection;
    mod requests;
    mod responses;
    mod secrets;
    mod streaming;
}
