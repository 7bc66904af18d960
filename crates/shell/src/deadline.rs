//! Time limits that may be absent.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Returns the time `limit` from now; `None` without a limit, or if the clock cannot express that
/// time.
pub(crate) fn deadline(limit: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(limit?)
}

/// Waits until the deadline; never resolves without a deadline.
pub(crate) async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
