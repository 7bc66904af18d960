//! The end of a child process.

use std::time::Duration;

/// Interval between two checks of a child on systems that do not report its end.
const TICK: Duration = Duration::from_millis(2);

/// Waits at most this long until a child has ended. May return early, so call it in a loop.
pub(crate) fn wait_for_exit(child: u32, limit: Duration) {
    if !wait_for_event(child, limit) {
        std::thread::sleep(TICK.min(limit));
    }
}

/// Returns false if the system reports no event at the end of a child.
#[cfg(target_os = "linux")]
fn wait_for_event(child: u32, limit: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let Some(Ok(child)) =
        Pid::from_raw(child.cast_signed()).map(|child| pidfd_open(child, PidfdFlags::empty()))
    else {
        return false;
    };
    let limit = limit.try_into().ok();
    poll(&mut [PollFd::new(&child, PollFlags::IN)], limit.as_ref()).ok();
    true
}

#[cfg(not(target_os = "linux"))]
fn wait_for_event(_: u32, _: Duration) -> bool {
    false
}
