//! Session files: for any bytes, the readable part gives a conversation that can continue.

use pollux_protocol::{EntryId, History, Part};
use pollux_session::SessionData;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(data) = SessionData::from_bytes(bytes) else { return };
    let (mut history, _) = History::restore(data.contents);
    history.push_user(EntryId::new("next"), vec![Part::text("go on")]);
    assert!(history.request().is_ok());
}
