//! Budget for the tool results that a compressed conversation keeps.

use pollux_protocol::{Content, estimate};

/// Number of tokens in tool results that a compressed conversation keeps complete.
pub const RESPONSE_TOKENS: f64 = 50_000.0;

/// Returns the results that do not fit into `tokens` tokens if the newest are taken first, as pairs
/// of content and part indices, newest first. A result that does not fit leaves its room to older
/// results.
pub fn over_budget(contents: &[&Content], tokens: f64) -> Vec<(usize, usize)> {
    let mut left = tokens;
    let mut over = Vec::new();
    for (place, content) in contents.iter().enumerate().rev() {
        for (part, body) in content.parts.iter().enumerate().rev() {
            if body.as_response().is_none() {
                continue;
            }
            let cost = estimate::part(body);
            if cost <= left {
                left -= cost;
            } else {
                over.push((place, part));
            }
        }
    }
    over
}
