//! Messages of panics in raw mode: they would be printed into the rows of the frontend.

use std::sync::{Mutex, Once, PoisonError};

use super::modes;

/// Messages that have not been shown yet.
static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// From now on keeps the messages of panics in raw mode, for [`take`] or [`print`].
pub(super) fn hold() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if modes::is_raw() {
                messages(|kept| kept.push(panic.to_string()));
            } else {
                before(panic);
            }
        }));
    });
}

/// Takes the messages.
pub(super) fn take() -> Vec<String> {
    messages(std::mem::take)
}

/// Prints the messages that nobody has taken.
pub(super) fn print() {
    for message in take() {
        modes::print_error(format!("{message}\n").as_bytes());
    }
}

fn messages<T>(with: impl FnOnce(&mut Vec<String>) -> T) -> T {
    with(&mut MESSAGES.lock().unwrap_or_else(PoisonError::into_inner))
}
