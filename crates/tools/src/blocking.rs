//! Work that blocks, from an asynchronous run that can be cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pollux_protocol::{CancellationToken, ToolError, ToolErrorKind};
use tokio::sync::Semaphore;

/// How much of it runs at the same time: more threads cost more than they bring, and wait for the same disk.
const AT_ONCE: usize = 8;
static PLACES: Semaphore = Semaphore::const_new(AT_ONCE);

/// How long cancelled work may take to notice and come back with what it has done.
const GRACE: Duration = Duration::from_millis(60);

/// Runs `work` on a thread that may block. After a cancel the flag that `work` is given turns true; what does not
/// come back soon is left behind and ends there.
///
/// # Errors
/// The work's own; `execution_failed` after a cancel, `unhandled_exception` should the work panic.
pub(crate) async fn blocking<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce(&AtomicBool) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    if cancel.is_cancelled() {
        return Err(cancelled());
    }
    // The semaphore is never closed. Work that is left behind gives its place away.
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
            // A write that was under way is finished rather than forgotten.
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

/// The failure of work that was cancelled.
pub(crate) fn cancelled() -> ToolError {
    ToolError::new(
        ToolErrorKind::ExecutionFailed,
        "The operation was cancelled before it finished.",
    )
}

/// Ends the work when it has been cancelled.
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
        // The work ends when the test lets it, so that it still runs when the result is there.
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
