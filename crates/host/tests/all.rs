//! Sessions opened by the library, inside one process, against a scripted model server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod suite {
    mod side_by_side;
    mod stage;
}
