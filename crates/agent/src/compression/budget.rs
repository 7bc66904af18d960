//! How much of what tools have answered is kept.

use pollux_protocol::{Content, estimate};

/// Tokens of results that a compressed conversation keeps whole.
pub const RESPONSE_TOKENS: f64 = 50_000.0;

/// The results that do not fit into so many tokens when the newest are taken first, by content and part, newest first.
/// One that does not fit leaves its room to older ones that do.
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
