//! The pure parts of compression: when it is due, where a conversation is cut, which results of tools are too much, what
//! is kept word for word, and the form of the snapshot that takes the place of the rest. Nothing calls them yet: a
//! session masks old results, and goes on.
//!
//! A snapshot is a `<state_snapshot>` that a model wrote, with what no model is trusted to remember behind it: what the
//! user has said ([`Said`]), and what was done ([`Deeds`]). Both are read back out of an earlier snapshot, so that they
//! outlast any number of compressions.

mod budget;
mod deeds;
mod said;
mod snapshot;
mod split;
#[cfg(test)]
mod tests;

pub use budget::{RESPONSE_TOKENS, over_budget};
pub use deeds::Deeds;
pub use said::Said;
pub use snapshot::{SECTIONS, Snapshot};
pub use split::{is_due, split_point};

/// Items between tags, each with its length, so that it may hold whatever it likes. Without items nothing.
fn list(tag: &str, name: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let item = |item: &String| format!("<{name} bytes=\"{}\">{item}</{name}>\n", item.len());
    let items: Vec<String> = items.iter().map(item).collect();
    format!("<{tag}>\n{}</{tag}>", items.concat())
}

/// The items of the list of this tag, as they were written. What is no such list has none.
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
