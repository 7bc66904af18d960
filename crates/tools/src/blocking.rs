//! Blocking work that is started from a cancellable asynchronous run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pollux_protocol::{CancellationToken, ToolError, ToolErrorKind};
use tokio::sync::Semaphore;

/// Maximum number of tasks that run at the same time: more threads only wait for the same disk.
const AT_ONCE: usize = 8;
static PLACES: Semaphore = Semaphore::const_new(AT_ONCE);

/// Time that cancelled work has to notice the cancellation and to return its result.
const GRACE: Duration = Duration::from_millis(60);

/// Runs `work` on a thread that may block. After a cancellation the flag passed to `work` becomes
/// true. Work that does not return soon after is abandoned; it ends in the background.
///
/// # Errors
/// The error of the work; `execution_failed` after a cancellation, `unhandled_exception` if the
/// work panics.
pub(crate) async fn blocking<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce(&AtomicBool) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    if cancel.is_cancelled() {
        return Err(cancelled());
    }
    // The semaphore is never closed. Abandoned work releases its permit.
    let Some(_place) = cancel.run_until_cancelled(PLACES.acquire()).await else {
        return Err(cancelled());
    };
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let mut task = tokio::task::spawn_blocking(move || work(&flag));
    let finished = tokio::select! {
        finished = &mut task => finished,
        () = cancel.cancelled() => {
            stop.store(true, Ordering::Relaxed);
            // A write that has already started is finished if it takes little time.
            match tokio::time::timeout(GRACE, task).await {
                Ok(finished) => finished,
                Err(_) => return Err(cancelled()),
            }
        }
    };
    finished.unwrap_or_else(|error| {
        Err(ToolError::new(ToolErrorKind::UnhandledException, format!("The tool failed: {error}")))
    })
}

/// Returns the error of cancelled work.
pub(crate) fn cancelled() -> ToolError {
    ToolError::new(
        ToolErrorKind::ExecutionFailed,
        "The operation was cancelled before it finished.",
    )
}

/// Returns an error if the work was cancelled.
pub(crate) fn check(stop: &AtomicBool) -> Result<(), ToolError> {
    if stop.load(Ordering::Relaxed) { Err(cancelled()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_cancel_does_not_wait_for_the_work() {
        let cancel = CancellationToken::new();
        let child = cancel.clone();
        tokio::spawn(async move { child.cancel() });
        // The work waits for the test, so it still runs when the result is available.
        let (release, released) = std::sync::mpsc::channel::<()>();
        let result = blocking(&cancel, move |_| {
            released.recv_timeout(Duration::from_secs(10)).ok();
            Ok(())
        });
        assert_eq!(result.await, Err(cancelled()));
        release.send(()).expect("the work still runs");
    }

    #[tokio::test]
    async fn a_panic_is_a_failure() {
        let result: Result<(), _> = blocking(&CancellationToken::new(), |_| panic!("boom")).await;
        assert_eq!(result.unwrap_err().kind, ToolErrorKind::UnhandledException);
    }
}
