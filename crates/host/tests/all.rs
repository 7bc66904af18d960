//! Sessions opened by the library, inside one process, against a scripted model server.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../examples/frontend.rs"]
#[allow(dead_code, reason = "its `main` is for people")]
mod frontend;

mod suite {
    mod commands;
    mod example;
    mod front_door;
    mod resumed;
    mod settings;
    mod side_by_side;
    mod stage;
    mod subagents;
    mod transcript;
}
