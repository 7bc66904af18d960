//! Division of a conversation into pieces that a model can read one after the other.

use std::sync::Arc;

use pollux_protocol::{Body, Content, HistoryEntry, Part, estimate};
use serde_json::{Map, Value};

/// Maximum share of a piece that one message may take. With it, a call and its results always fit.
const SHARE: f64 = 0.3;

/// Marker in place of text that was cut out.
const GAP: &str = "\n[... cut ...]\n";

/// Divides the entries into pieces of at most about `tokens` tokens. A call and its responses stay
/// in the same piece. A message that is too long for a piece loses its middle.
pub(super) fn chunks(entries: &[Arc<HistoryEntry>], tokens: f64) -> Vec<Vec<Arc<HistoryEntry>>> {
    let mut chunks: Vec<Vec<Arc<HistoryEntry>>> = Vec::new();
    let mut size = 0.0;
    for entry in entries {
        let (entry, cost) = fitted(entry, tokens * SHARE);
        let answers = entry.content().responses().next().is_some();
        match chunks.last_mut() {
            Some(chunk) if answers || size + cost <= tokens => {
                size += cost;
                chunk.push(entry);
            }
            _ => {
                size = cost;
                chunks.push(vec![entry]);
            }
        }
    }
    chunks
}

/// Returns the entry and its number of tokens. An entry of more than `tokens` tokens is cut.
fn fitted(entry: &Arc<HistoryEntry>, tokens: f64) -> (Arc<HistoryEntry>, f64) {
    let cost = estimate::content(entry.content());
    if cost <= tokens {
        return (Arc::clone(entry), cost);
    }
    let Content { role, parts } = entry.content().clone();
    let each = tokens / parts.len().max(1) as f64;
    let parts: Vec<Part> = parts.into_iter().map(|part| cut(part, each)).collect();
    let content = Content { role, parts };
    let cost = estimate::content(&content);
    (HistoryEntry::detached(content), cost)
}

/// Returns a part of at most about `tokens` tokens.
fn cut(mut part: Part, tokens: f64) -> Part {
    if estimate::part(&part) <= tokens {
        return part;
    }
    match &mut part.body {
        Body::Text(text) => *text = middle_cut(text, tokens),
        Body::Call(call) => call.args = cut_value(&call.args, tokens),
        Body::Response(answer) => {
            answer.response = cut_value(&answer.response, tokens);
            answer.parts.clear();
        }
        Body::Inline(_) | Body::File(_) | Body::Other(_) => return Part::text("[left out]"),
    }
    part
}

/// Returns an object whose texts share `tokens` tokens. Arrays and objects become text.
fn cut_value(value: &Value, tokens: f64) -> Value {
    let fields = value.as_object().cloned().unwrap_or_default();
    let each = tokens / fields.len().max(1) as f64;
    let cut = |(name, field): (String, Value)| {
        let field = match field {
            Value::String(text) => Value::String(middle_cut(&text, each)),
            Value::Array(_) | Value::Object(_) => {
                Value::String(middle_cut(&field.to_string(), each))
            }
            plain => plain,
        };
        (middle_cut(&name, each.max(64.0)), field)
    };
    Value::Object(fields.into_iter().map(cut).collect::<Map<_, _>>())
}

/// Returns the beginning and the end of a text of more than `tokens` tokens.
fn middle_cut(text: &str, tokens: f64) -> String {
    let all = estimate::text(text);
    if all <= tokens {
        return text.to_owned();
    }
    let kept = (text.len() as f64 * (tokens / all) / 2.0) as usize;
    let head = text.floor_char_boundary(kept);
    let tail = text.ceil_char_boundary(text.len() - kept);
    format!("{}{GAP}{}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn conversation(sizes: &[usize]) -> Vec<Arc<HistoryEntry>> {
        let mut entries = Vec::new();
        for (number, size) in sizes.iter().enumerate() {
            let (id, words) = (format!("c{number}"), "word ".repeat(*size));
            entries.push(Content::user(vec![Part::text(words.as_str())]));
            let args = json!({"content": words, "list": [words]});
            entries.push(Content::model(vec![Part::call(&id, "write_file", args)]));
            entries.push(Content::user(vec![Part::output(&id, "write_file", words)]));
        }
        entries.into_iter().map(HistoryEntry::detached).collect()
    }

    #[test]
    fn what_fits_is_one_piece_and_stays_as_it_is() {
        let entries = conversation(&[10, 20]);
        let pieces = chunks(&entries, 10_000.0);
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].iter().zip(&entries).all(|(one, other)| Arc::ptr_eq(one, other)));
        assert_eq!(chunks(&[], 100.0).len(), 0);
    }

    #[test]
    fn the_parts_of_a_message_that_is_too_long_share_its_place() {
        let parts = (0..4).map(|_| Part::text("word ".repeat(2000))).collect();
        let pieces = chunks(&[HistoryEntry::detached(Content::user(parts))], 1000.0);
        let size = estimate::content(pieces[0][0].content());
        assert!(size > SHARE * 900.0 && size < SHARE * 1100.0, "{size}");
    }

    proptest! {
        #[test]
        fn pieces_are_small_and_no_call_is_parted_from_its_response(
            sizes in proptest::collection::vec(0_usize..1500, 1..6),
            tokens in 400_u32..2000,
        ) {
            let tokens = f64::from(tokens);
            let pieces = chunks(&conversation(&sizes), tokens);
            prop_assert_eq!(pieces.iter().map(Vec::len).sum::<usize>(), sizes.len() * 3);
            for piece in pieces {
                let size: f64 = piece.iter().map(|entry| estimate::content(entry.content())).sum();
                // Results stay with their call even if they do not fit.
                prop_assert!(size <= tokens * (1.0 + 2.0 * SHARE), "{} {}", size, tokens);
                prop_assert!(piece[0].content().responses().next().is_none());
                let calls = piece.iter().flat_map(|entry| entry.content().calls()).count();
                let answers = piece.iter().flat_map(|entry| entry.content().responses()).count();
                prop_assert_eq!(calls, answers);
            }
        }
    }
}
