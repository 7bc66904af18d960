//! Lines of the client, read on a separate thread with bounded memory.

use std::io::{BufRead, BufReader, Read};

use tokio::sync::mpsc;

/// Maximum length of a message in bytes. Images are part of a message.
const LONGEST: u64 = 32 << 20;
/// Number of bytes that are kept of a message that is too long: enough for its id.
const HEAD: usize = 1 << 10;
/// Maximum number of messages that wait. A client that sends more waits itself.
const WAITING: usize = 8;

/// A line of the client, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputLine {
    /// A complete line that is not empty.
    Whole(Vec<u8>),
    /// The beginning of a line that exceeds the limit.
    TooLong(Vec<u8>),
}

/// Starts to read lines. The channel closes at the end of the input, or when it cannot be read.
pub(crate) fn lines(input: impl Read + Send + 'static) -> mpsc::Receiver<InputLine> {
    let (sender, receiver) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        while let Some(line) = next(&mut input, LONGEST) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Reads the next line that is not empty; `None` at the end. An incomplete last line is dropped.
fn next(input: &mut impl BufRead, longest: u64) -> Option<InputLine> {
    loop {
        let mut line = Vec::new();
        input.by_ref().take(longest + 1).read_until(b'\n', &mut line).ok()?;
        if line.pop_if(|last| *last == b'\n').is_none() {
            if line.len() as u64 <= longest {
                return None;
            }
            line.truncate(HEAD);
            line.shrink_to_fit();
            input.skip_until(b'\n').ok()?;
            return Some(InputLine::TooLong(line));
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            return Some(InputLine::Whole(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn lines_are_read_up_to_the_limit() {
        let mut input: &[u8] = b"one\r\n\n \t\n12345678\n123456789\nlast\ncut";
        let lines: Vec<_> = std::iter::from_fn(|| next(&mut input, 8)).collect();
        let whole = |text: &str| InputLine::Whole(text.as_bytes().to_vec());
        let too_long = InputLine::TooLong(b"123456789".to_vec());
        assert_eq!(lines, [whole("one\r"), whole("12345678"), too_long, whole("last")]);
    }

    #[test]
    fn a_line_without_an_end_is_not_kept_in_memory() {
        let mut input = std::io::BufReader::new(std::io::repeat(b'x').take(1 << 20));
        let Some(InputLine::TooLong(head)) = next(&mut input, 1 << 16) else { panic!() };
        assert_eq!(head, [b'x'; HEAD]);
        assert_eq!(next(&mut input, 8), None);
    }
}
