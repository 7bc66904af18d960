//! Time limits that may be absent.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The moment `limit` from now; `None` without a limit, or with one that the clock cannot express.
pub(crate) fn deadline(limit: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(limit?)
}

/// Waits for the moment; never resolves without one.
pub(crate) async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
