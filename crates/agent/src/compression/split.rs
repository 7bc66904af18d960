//! Point where a conversation is cut for compression: messages before it are summarised, messages
//! after it stay word for word.

use pollux_protocol::{Content, Role};

/// Share of a conversation, by the length of its JSON, that a summary replaces.
const SUMMARISED: f64 = 0.7;

/// True if a conversation is due for compression: its last request took at least the share `share`
/// of the model's context window. A share that is not a number or not above zero is never reached.
pub fn is_due(tokens: u64, context: u64, share: f64) -> bool {
    share > 0.0 && tokens as f64 >= share * context as f64
}

/// Returns the number of contents, from the oldest, that a summary replaces. The rest begins with a
/// message of the user, so that no call is separated from its responses. The rest may be empty if
/// the model wrote last and made no calls. 0 means that there is nothing to summarise.
///
/// `contents` gives each content with its weight.
pub fn split_point<'a>(contents: impl IntoIterator<Item = (&'a Content, usize)>) -> usize {
    let contents: Vec<(&Content, usize)> = contents.into_iter().collect();
    let all: usize = contents.iter().map(|(_, weight)| weight).sum();
    let target = all as f64 * SUMMARISED;
    let (mut before, mut last) = (0_usize, 0);
    for (place, (content, weight)) in contents.iter().enumerate() {
        if begins_something(content) {
            if before as f64 >= target {
                return place;
            }
            last = place;
        }
        before += weight;
    }
    let ended = contents.last().is_some_and(|(content, _)| {
        content.role == Role::Model && content.calls().next().is_none()
    });
    if ended { contents.len() } else { last }
}

/// Same as [`split_point`] within one long piece of work: the rest begins with an answer of the
/// model and its calls.
pub fn split_point_within<'a>(contents: impl IntoIterator<Item = (&'a Content, usize)>) -> usize {
    let contents: Vec<(&Content, usize)> = contents.into_iter().collect();
    let all: usize = contents.iter().map(|(_, weight)| weight).sum();
    let target = all as f64 * SUMMARISED;
    let (mut before, mut last) = (0_usize, 0);
    let mut is_after_user = false;
    for (place, (content, weight)) in contents.iter().enumerate() {
        if content.role == Role::Model && is_after_user {
            if before as f64 >= target {
                return place;
            }
            last = place;
        }
        is_after_user = content.role == Role::User;
        before += weight;
    }
    last
}

/// True for a message of the user that answers no call.
pub(super) fn begins_something(content: &Content) -> bool {
    content.role == Role::User && content.responses().next().is_none()
}
