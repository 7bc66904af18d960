//! Session files: for any bytes, the readable part gives a conversation that can continue, and a
//! transcript whose pages are the same in both directions.

use std::io::Cursor;

use pollux_protocol::{EntryId, History, Part, TranscriptFrom, TranscriptItem};
use pollux_session::{SessionData, Transcript};

pub(crate) fn run(bytes: &[u8]) {
    let forward = pages(bytes, TranscriptFrom::Start, 2);
    assert!(forward == pages(bytes, TranscriptFrom::End, 3));
    let Ok(data) = SessionData::from_bytes(bytes) else { return };
    let (mut history, _) = History::restore(data.contents);
    history.push_user(EntryId::new("next"), vec![Part::text("go on")]);
    assert!(history.request().is_ok());
}

/// Reads a transcript page after page.
fn pages(bytes: &[u8], start: TranscriptFrom, count: usize) -> Vec<TranscriptItem> {
    let (mut transcript, mut source) = (Transcript::default(), Cursor::new(bytes));
    let (mut next, mut items) = (Some(start), Vec::new());
    while let Some(from) = next {
        let page = transcript.page(&mut source, from, count).expect("memory can be read");
        if matches!(from, TranscriptFrom::End | TranscriptFrom::Before(_)) {
            items.splice(..0, page.items);
            next = page.before.map(TranscriptFrom::Before);
        } else {
            items.extend(page.items);
            next = page.after.map(TranscriptFrom::After);
        }
    }
    items
}
