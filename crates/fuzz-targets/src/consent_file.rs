//! The file of answers: any text is read or rejected, a missing answer is never an approval, and
//! answers that were read can be written and read again.

use std::path::Path;

use pollux_config::consent::{ConsentMode, ConsentStore, ConsentVerdict, EarlierAnswers, decide};
use pollux_protocol::ConsentItem;

pub(crate) fn run(text: &str) {
    let file = Path::new("/consent.json");
    let store = ConsentStore::parse(file, text);
    let folder = Path::new("/p");
    let item = |hash: &str| ConsentItem {
        kind: "hook".to_owned(),
        name: "n".to_owned(),
        detail: String::new().into(),
        hash: hash.to_owned(),
        needs_user: false,
    };
    let unheard = [item("a hash that no file has")];
    let known = EarlierAnswers::of(&store, folder);
    if known != EarlierAnswers::Nothing {
        let verdicts = decide(&unheard, known, ConsentMode::Pinned, false);
        assert!(text.contains(&unheard[0].hash) || verdicts == [ConsentVerdict::Unanswered]);
    }
    if let Ok(store) = &store {
        let written = serde_json::to_string(store).expect("what was read can be written");
        assert_eq!(ConsentStore::parse(file, &written).as_ref(), Ok(store));
    }
}
