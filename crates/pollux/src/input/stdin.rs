//! What is piped in.
//!
//! The reading is done by a thread of its own that nothing waits for: a peer that never writes and never closes cannot keep
//! the program from ending.

use std::io::{self, Read};
use std::time::Duration;

use tokio::sync::oneshot;

#[cfg(test)]
mod tests;

/// How many bytes of standard input are read at most.
pub(crate) const LIMIT: usize = 8 * 1024 * 1024;

/// How long the first byte may take. After it the end is waited for, however long that takes.
pub(crate) const WAIT: Duration = Duration::from_millis(500);

/// Bytes asked for at once.
const CHUNK: usize = 64 * 1024;

/// What came through standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StdinText {
    /// The text as it came, with replacement characters for what is no UTF-8.
    pub(crate) text: String,
    /// Whether there was more than the limit. The rest has not been read.
    pub(crate) truncated: bool,
    /// Whether nothing came in time. What comes later is lost.
    pub(crate) timed_out: bool,
}

/// Reads standard input up to `limit` bytes, cut between two characters; nothing when its first byte takes longer than
/// `wait`. Call it only when standard input is no terminal.
///
/// # Errors
/// What the system says, for example when standard input is a folder. A closed standard input is empty.
pub(crate) async fn read(limit: usize, wait: Duration) -> io::Result<StdinText> {
    read_from(io::stdin(), limit, wait).await
}

/// The warning for a text that was truncated.
pub(crate) fn truncation_warning(limit: usize) -> String {
    format!("Warning: stdin input truncated to {limit} bytes.")
}

/// Puts what was piped in before the prompt.
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
    wait: Duration,
) -> io::Result<StdinText> {
    let (begun, first_byte) = oneshot::channel();
    let (finish, finished) = oneshot::channel();
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        // Nobody listens any more when the wait was too long.
        drop(finish.send(read_bytes(source, limit, begun)));
    })?;
    // The other side falls away without a word when the input ends before its first byte.
    if tokio::time::timeout(wait, first_byte).await.is_err() {
        return Ok(StdinText { timed_out: true, ..StdinText::default() });
    }
    let bytes = finished.await.map_err(|_| io::Error::other("standard input cannot be read"))??;
    Ok(to_text(bytes, limit))
}

/// Reads until the end or until there is more than the limit.
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

/// The last place up to `limit` where no character of UTF-8 is cut in two.
fn character_boundary(bytes: &[u8], limit: usize) -> usize {
    let continues = |index: usize| bytes.get(index).is_some_and(|byte| byte & 0xC0 == 0x80);
    // No character is longer than four bytes; where more bytes continue one, it is no UTF-8.
    let lowest = limit.saturating_sub(3);
    (lowest..=limit).rev().find(|index| !continues(*index)).unwrap_or(limit)
}
