//! Piped standard input.
//!
//! A separate thread reads, and nothing waits for that thread: a peer that never writes and never
//! closes cannot keep the program from ending.

#![expect(clippy::disallowed_methods, reason = "reads the input of a headless run")]

use std::io::{self, BufRead as _, IsTerminal as _, Read};
use std::time::Duration;

use tokio::sync::oneshot;

#[cfg(test)]
mod tests;

/// Maximum number of bytes of standard input that are read.
pub(crate) const LIMIT: usize = 8 * 1024 * 1024;

/// Time without a byte after which a notice says that the program waits for input.
const NOTICE: Duration = Duration::from_secs(1);

/// Maximum number of bytes of an answer to a question.
const LONGEST_LINE: u64 = 4096;

/// Maximum number of bytes of one read.
const CHUNK: usize = 64 * 1024;

/// Text from standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StdinText {
    /// Text, with replacement characters for bytes that are not UTF-8.
    pub(crate) text: String,
    /// True if the input exceeds the limit. The rest was not read.
    pub(crate) truncated: bool,
    /// True if no byte arrived in time. Later input is lost.
    pub(crate) timed_out: bool,
}

/// Reads standard input up to `limit` bytes, cut between two characters; returns an empty text if
/// the first byte takes longer than `timeout`. From the first byte on there is no time limit. After
/// a second without a byte it calls `report_wait`. Call it only if standard input is not a
/// terminal.
///
/// # Errors
/// Error of the system, for example if standard input is a folder. A closed standard input is
/// empty.
pub(crate) async fn read(
    limit: usize,
    timeout: Option<Duration>,
    report_wait: impl FnOnce(),
) -> io::Result<StdinText> {
    read_from(io::stdin(), limit, timeout, report_wait).await
}

/// Reads the first line of standard input; `None` if there is none.
pub(crate) async fn line() -> Option<String> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        // An error is no answer, like the end of the input.
        if io::stdin().lock().take(LONGEST_LINE).read_line(&mut line).is_ok() {
            drop(sender.send(line));
        }
    });
    receiver.await.ok().filter(|line| !line.is_empty())
}

/// Returns true if a user may type at standard input.
pub(crate) fn is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// Returns the warning for a text that was truncated.
pub(crate) fn truncation_warning(limit: usize) -> String {
    format!("Warning: stdin input truncated to {limit} bytes.")
}

/// Puts the piped text before the prompt.
pub(crate) fn combine(piped: &str, prompt: &str) -> String {
    match (piped, prompt) {
        ("", prompt) => prompt.to_owned(),
        (piped, "") => piped.to_owned(),
        (piped, prompt) => format!("{piped}\n\n{prompt}"),
    }
}

async fn read_from(
    source: impl Read + Send + 'static,
    limit: usize,
    timeout: Option<Duration>,
    report_wait: impl FnOnce(),
) -> io::Result<StdinText> {
    let (begun, first_byte) = oneshot::channel();
    let (finish, finished) = oneshot::channel();
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        // The receiver is gone if the first byte took too long.
        drop(finish.send(read_bytes(source, limit, begun)));
    })?;
    // The sender is dropped if the input ends before its first byte; that is not a timeout.
    if !arrives(first_byte, timeout, report_wait).await {
        return Ok(StdinText { timed_out: true, ..StdinText::default() });
    }
    let bytes = finished.await.map_err(|_| io::Error::other("cannot read standard input"))??;
    Ok(to_text(bytes, limit))
}

/// Waits for the first byte or the end of the input; returns false if the time is up.
async fn arrives(
    first_byte: oneshot::Receiver<()>,
    timeout: Option<Duration>,
    report_wait: impl FnOnce(),
) -> bool {
    let until_notice = timeout.map_or(NOTICE, |timeout| timeout.min(NOTICE));
    let mut first_byte = first_byte;
    if tokio::time::timeout(until_notice, &mut first_byte).await.is_ok() {
        return true;
    }
    let Some(timeout) = timeout else {
        report_wait();
        drop(first_byte.await);
        return true;
    };
    let rest = timeout.saturating_sub(NOTICE);
    if rest.is_zero() {
        return false;
    }
    report_wait();
    tokio::time::timeout(rest, first_byte).await.is_ok()
}

/// Reads until the end, or until the limit is exceeded.
fn read_bytes(
    mut source: impl Read,
    limit: usize,
    begun: oneshot::Sender<()>,
) -> io::Result<Vec<u8>> {
    let mut begun = Some(begun);
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK];
    while bytes.len() <= limit {
        match source.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                bytes.extend_from_slice(&chunk[..count]);
                if begun.take().is_some_and(|begun| begun.send(()).is_err()) {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

fn to_text(mut bytes: Vec<u8>, limit: usize) -> StdinText {
    let truncated = bytes.len() > limit;
    if truncated {
        bytes.truncate(character_boundary(&bytes, limit));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    StdinText { text, truncated, timed_out: false }
}

/// Returns the last position up to `limit` that does not split a UTF-8 character.
fn character_boundary(bytes: &[u8], limit: usize) -> usize {
    let continues = |index: usize| bytes.get(index).is_some_and(|byte| byte & 0xC0 == 0x80);
    // A character has at most four bytes; more continuation bytes are not UTF-8.
    let lowest = limit.saturating_sub(3);
    (lowest..=limit).rev().find(|index| !continues(*index)).unwrap_or(limit)
}
