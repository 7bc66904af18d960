//! A question before the conversation begins.
//!
//! The terminal's modes are as they were found: it edits the line itself, and Ctrl-C and Ctrl-Z do what
//! they do everywhere.

use super::terminal::Typed;
use crate::exit::Failure;
use crate::signals::Signals;
use crate::stdout::Stdout;

/// Prints what waits to be printed, then `label`, and reads a line; none at the end of the input, or of
/// the terminal. What was typed before the question could be read is no answer to it.
///
/// # Errors
/// The person interrupts.
pub(super) async fn line(
    out: &mut Stdout,
    label: &str,
    typed: &mut Typed,
    signals: &mut Signals,
) -> Result<Option<String>, Failure> {
    out.push(label.as_bytes());
    while typed.try_recv().is_ok() {}
    tokio::select! {
        biased;
        code = signals.next() => {
            out.push(b"\n");
            drop(out.send().await);
            Err(Failure::cancelled(code))
        }
        answer = answer(out, typed) => Ok(answer),
    }
}

async fn answer(out: &mut Stdout, typed: &mut Typed) -> Option<String> {
    out.send().await.ok()?;
    let line = typed.recv().await?;
    Some(String::from_utf8_lossy(&line).into_owned())
}
