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
/// `contents` has each content with its weight.
pub fn split_point(contents: &[(&Content, usize)]) -> usize {
    split_at(contents, |place| begins_something(contents[place].0)).unwrap_or_else(|last| {
        let ended = contents.last().is_some_and(|(content, _)| {
            content.role == Role::Model && content.calls().next().is_none()
        });
        if ended { contents.len() } else { last }
    })
}

/// Same as [`split_point`] within one long piece of work: the rest begins with an answer of the
/// model and its calls.
pub fn split_point_within(contents: &[(&Content, usize)]) -> usize {
    let has_role = |place: usize, role: Role| contents[place].0.role == role;
    let begins =
        |place| place > 0 && has_role(place, Role::Model) && has_role(place - 1, Role::User);
    split_at(contents, begins).unwrap_or_else(|last| last)
}

/// Returns the first place after the summarised share at which a rest may begin. The error is the
/// last such place before it, or 0.
fn split_at(
    contents: &[(&Content, usize)],
    may_begin: impl Fn(usize) -> bool,
) -> Result<usize, usize> {
    let all: usize = contents.iter().map(|(_, weight)| weight).sum();
    let target = all as f64 * SUMMARISED;
    let (mut before, mut last) = (0_usize, 0);
    for (place, (_, weight)) in contents.iter().enumerate() {
        if may_begin(place) {
            if before as f64 >= target {
                return Ok(place);
            }
            last = place;
        }
        before += weight;
    }
    Err(last)
}

/// True for a message of the user that answers no call.
pub(super) fn begins_something(content: &Content) -> bool {
    content.role == Role::User && content.responses().next().is_none()
}
