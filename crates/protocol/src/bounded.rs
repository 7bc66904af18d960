//! Length limit for messages that may quote hostile input.

/// Returns `text`. A text longer than `limit` bytes is cut, and a note gives the number of omitted
/// bytes.
pub(crate) fn bounded(mut text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let end = text.floor_char_boundary(limit);
    let missing = text.len() - end;
    text.truncate(end);
    text + &format!("... [{missing} bytes omitted]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(bounded("short".into(), 5), "short");
        assert_eq!(bounded("aéé".into(), 2), "a... [4 bytes omitted]");
    }
}
