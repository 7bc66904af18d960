//! Where a conversation is cut when it is compressed: what is summarised, what stays word for word.

use pollux_protocol::{Content, Role};

/// The share of a conversation, by the length of its JSON, that a summary is to take the place of.
const SUMMARISED: f64 = 0.7;

/// Whether a conversation has come to be compressed: its last request took this share of what the model takes.
/// A share that is no number, or not above zero, is never reached.
pub fn is_due(tokens: u64, context: u64, share: f64) -> bool {
    share > 0.0 && tokens as f64 >= share * context as f64
}

/// How many contents, from the oldest, a summary takes the place of. The rest begins with words of the user, so that no
/// call is parted from its responses; it may be nothing when the model spoke last and has asked for nothing. 0: there is
/// nothing to summarise.
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

/// The same within one long piece of work: the rest begins with an answer of the model, which goes on with its calls.
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

/// Words of the user that answer no call.
pub(super) fn begins_something(content: &Content) -> bool {
    content.role == Role::User && content.responses().next().is_none()
}
