use std::cell::Cell;
use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

/// Reader that returns its pieces one by one, each after its delay.
struct Slow(std::vec::IntoIter<(Duration, io::Result<&'static str>)>);

impl Slow {
    fn new(pieces: Vec<(u64, io::Result<&'static str>)>) -> Self {
        let pieces = pieces.into_iter().map(|(wait, piece)| (Duration::from_millis(wait), piece));
        Self(pieces.collect::<Vec<_>>().into_iter())
    }
}

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some((wait, piece)) = self.0.next() else { return Ok(0) };
        // Standard input is read on a thread that blocks, where the clock of the runtime has no
        // effect.
        std::thread::sleep(wait);
        let piece = piece?.as_bytes();
        buffer[..piece.len()].copy_from_slice(piece);
        Ok(piece.len())
    }
}

fn text(text: &str) -> StdinText {
    StdinText { text: text.to_owned(), ..StdinText::default() }
}

#[tokio::test]
async fn everything_is_read_and_nothing_trimmed() {
    let got = read_from(Cursor::new("data\n"), LIMIT, None, || {}).await.unwrap();
    assert_eq!(got, text("data\n"));
    assert_eq!(read_from(io::empty(), LIMIT, None, || {}).await.unwrap(), StdinText::default());
    let got = read_from(Cursor::new(b"a\xFFb\0"), LIMIT, None, || {}).await.unwrap();
    assert_eq!(got, text("a\u{FFFD}b\0"));
}

/// Reads `source` and returns the text with the number of notices about the wait.
async fn read_noticed(source: Slow, timeout: Option<u64>) -> (StdinText, usize) {
    let notices = Cell::new(0);
    let report = || notices.set(notices.get() + 1);
    let timeout = timeout.map(Duration::from_millis);
    let got = read_from(source, LIMIT, timeout, report).await.unwrap();
    (got, notices.get())
}

#[tokio::test]
async fn silence_ends_at_the_time_limit() {
    for (limit, expected_notices) in [(200, 0), (1200, 1)] {
        let late = Slow::new(vec![(20_000, Ok("late"))]);
        let (got, notices) = read_noticed(late, Some(limit)).await;
        assert!(got.timed_out && got.text.is_empty());
        assert_eq!(notices, expected_notices, "the notice comes after one second");
    }
}

#[tokio::test]
async fn only_the_first_byte_has_a_time_limit() {
    let interrupted = || Err(io::Error::from(io::ErrorKind::Interrupted));
    let slow = Slow::new(vec![(0, Ok("a")), (1500, interrupted()), (0, Ok("b"))]);
    assert_eq!(read_noticed(slow, Some(1000)).await, (text("ab"), 0));
}

/// Reader whose only input comes after a message.
struct After(mpsc::Receiver<()>);

impl Read for After {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.recv_timeout(Duration::from_secs(20)).is_err() {
            return Ok(0);
        }
        buffer[..4].copy_from_slice(b"late");
        Ok(4)
    }
}

#[tokio::test]
async fn an_input_that_comes_after_the_notice_is_read_whole() {
    for timeout in [None, Some(Duration::from_secs(20))] {
        let (noticed, notice) = mpsc::channel();
        let got = read_from(After(notice), LIMIT, timeout, move || noticed.send(()).unwrap());
        assert_eq!(got.await.unwrap(), text("late"), "{timeout:?}");
    }
}

#[tokio::test]
async fn a_failure_is_reported() {
    let folder = Slow::new(vec![(0, Err(io::Error::from(io::ErrorKind::IsADirectory)))]);
    let error = read_from(folder, LIMIT, None, || {}).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
}

/// Reader without an end that counts the bytes that were read.
struct Endless(Arc<AtomicUsize>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'x');
        self.0.fetch_add(buffer.len(), Ordering::Relaxed);
        Ok(buffer.len())
    }
}

#[tokio::test]
async fn the_rest_is_not_read() {
    let taken = Arc::new(AtomicUsize::new(0));
    let got = read_from(Endless(Arc::clone(&taken)), 100_000, None, || {}).await.unwrap();
    assert!(got.truncated);
    assert_eq!(got.text.len(), 100_000);
    assert!(taken.load(Ordering::Relaxed) <= 100_000 + CHUNK);
}

#[tokio::test]
async fn exactly_the_limit_is_whole() {
    let got = read_from(Cursor::new("12345"), 5, None, || {}).await.unwrap();
    assert_eq!(got, text("12345"));
    let got = read_from(Cursor::new("äää"), 3, None, || {}).await.unwrap();
    assert_eq!(got, StdinText { text: "ä".into(), truncated: true, timed_out: false });
}

#[test]
fn words() {
    assert_eq!(truncation_warning(LIMIT), "Warning: stdin input truncated to 8388608 bytes.");
    assert_eq!(combine("data\n", "what?"), "data\n\n\nwhat?");
    assert_eq!(combine("data\n", ""), "data\n");
    assert_eq!(combine("", "what?"), "what?");
    assert_eq!(combine("", ""), "");
}

proptest! {
    #[test]
    fn no_character_is_cut(whole in "\\PC{0,30}", limit in 0_usize..40) {
        let got = to_text(whole.clone().into_bytes(), limit);
        prop_assert!(whole.starts_with(&got.text));
        prop_assert!(got.text.len() <= limit);
        prop_assert_eq!(got.truncated, whole.len() > limit);
        prop_assert!(!got.truncated || got.text.len() + 4 > limit);
    }

    #[test]
    fn any_bytes_are_read(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        limit in 0_usize..40,
    ) {
        let truncated = bytes.len() > limit;
        prop_assert_eq!(to_text(bytes, limit).truncated, truncated);
    }
}
