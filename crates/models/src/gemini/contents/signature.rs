//! Detection of the calls that need a substitute thought signature.
//!
//! Gemini 2 and 3 refuse a running turn in which a model content's first call is not signed. Calls
//! without signatures come from other models, from restored sessions and from the service itself.

use pollux_protocol::{HistoryEntry, Role};

use super::part::signature;

/// Returns for each entry whether its first call needs a substitute. The running turn begins at the
/// last user content that has text and no function response; if there is no such content, no turn
/// is running.
pub(super) fn missing(entries: &[&HistoryEntry]) -> Vec<bool> {
    let mut missing = vec![false; entries.len()];
    // Consecutive entries of one role are one content in the request.
    let contents: Vec<(usize, &[&HistoryEntry])> = entries
        .chunk_by(|left, right| left.content().role == right.content().role)
        .scan(0, |start, entries| {
            let first = *start;
            *start += entries.len();
            Some((first, entries))
        })
        .collect();
    let Some(start) = contents.iter().rposition(|(_, entries)| is_prompt(entries)) else {
        return missing;
    };
    for (first, entries) in &contents[start + 1..] {
        let model = entries[0].content().role == Role::Model;
        let calls = entries.iter().position(|entry| entry.content().calls().next().is_some());
        if let (true, Some(offset)) = (model, calls) {
            let parts = &entries[offset].content().parts;
            let call = parts.iter().find(|part| part.as_call().is_some());
            missing[first + offset] = call.is_some_and(|part| signature(part).is_none());
        }
    }
    missing
}

/// True if the content is from the user, not from tools.
fn is_prompt(entries: &[&HistoryEntry]) -> bool {
    let parts = || entries.iter().flat_map(|entry| &entry.content().parts);
    entries[0].content().role == Role::User
        && parts().any(|part| part.as_text().is_some())
        && parts().all(|part| part.as_response().is_none())
}
