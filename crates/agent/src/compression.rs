//! Compression of a conversation: the threshold, the point where the conversation is cut, the limit
//! for tool results, the request for a summary, the content that is kept word for word, and the
//! fallback without a model.
//!
//! A snapshot is a `<state_snapshot>` that a model wrote, followed by content that is kept exactly
//! and not left to a model's memory: past actions ([`ActionLedger`]), open tasks ([`Todos`]), the
//! user's messages ([`UserMessages`]) and the plan that the user approved. All of this is also read
//! back from an earlier snapshot, so that it survives any number of compressions.

mod budget;
mod chunks;
mod cut;
mod files;
mod ledger;
mod local;
mod snapshot;
mod split;
mod summariser;
#[cfg(test)]
mod tests;
mod todos;
mod user_messages;

pub use budget::{RESPONSE_TOKENS, over_budget};
pub(crate) use cut::Cut;
pub use files::FileState;
pub(crate) use files::states_of;
pub use ledger::{ActionLedger, ActionSource};
pub(crate) use local::{Truncation, drop_oldest, truncate};
pub use snapshot::{CompressionSnapshot, Kept, SECTIONS};
pub use split::{is_due, split_point, split_point_within};
pub(crate) use summariser::{Summariser, Trouble};
pub use todos::Todos;
pub use user_messages::UserMessages;

/// Returns items between tags, each with its length, so that an item may contain any text. Empty if
/// there are no items.
fn list(tag: &str, name: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let item = |item: &String| format!("<{name} bytes=\"{}\">{item}</{name}>\n", item.len());
    let items: Vec<String> = items.iter().map(item).collect();
    format!("<{tag}>\n{}</{tag}>", items.concat())
}

/// Returns the items of the list with this tag, as they were written. Empty if the text has no
/// valid list.
fn items_of(text: &str, tag: &str, name: &str) -> Vec<String> {
    let opening = format!("<{tag}>\n<{name} bytes=\"");
    let Some((_, mut rest)) = text.split_once(&opening) else { return Vec::new() };
    let mut items = Vec::new();
    let closing = format!("</{name}>\n");
    let next = format!("<{name} bytes=\"");
    while let Some((length, after)) = rest.split_once("\">") {
        let Some(item) = length.parse().ok().and_then(|length: usize| after.get(..length)) else {
            break;
        };
        let Some(after) = after[item.len()..].strip_prefix(&closing) else { break };
        items.push(item.to_owned());
        let Some(following) = after.strip_prefix(&next) else { break };
        rest = following;
    }
    items
}
