//! Server-sent events: the bytes give the same events and the same end, in chunks of any size.

use pollux_net::{ServerEvent, SseDecoder, SseError};

/// Maximum size of an event, small enough for the fuzzer to reach it.
const LIMIT: usize = 4096;

pub(crate) fn run(input: (u8, &[u8])) {
    let (step, bytes) = input;
    let whole = decode(bytes, bytes.len().max(1));
    let pieces = decode(bytes, usize::from(step).max(1));
    assert_eq!(whole, pieces);
}

/// Returns all events of `bytes`, which arrive in chunks of `step`, and the final result.
fn decode(bytes: &[u8], step: usize) -> (Vec<ServerEvent>, Result<(), SseError>) {
    let mut decoder = SseDecoder::with_limit(LIMIT);
    let mut events = Vec::new();
    let mut end = Ok(());
    for piece in bytes.chunks(step) {
        end = decoder.push(piece);
        events.extend(std::iter::from_fn(|| decoder.pop()));
        if end.is_err() {
            return (events, end);
        }
    }
    end = end.and_then(|()| decoder.finish());
    events.extend(std::iter::from_fn(|| decoder.pop()));
    assert!(events.iter().all(|event| event.data.len() <= 3 * LIMIT), "a record beyond its limit");
    (events, end)
}
