//! Local estimates of token counts, without a request to a service.
//!
//! The figures are those of Gemini CLI 0.61: a quarter of a token for an ASCII character, one and a
//! half for each UTF-16 unit of any other, and fixed sizes for media.

use serde::Serialize;

use crate::{Body, Content, Declaration, FunctionResponse, ModelRequest, Part};

/// Maximum length, in UTF-16 units, of a text whose characters are counted one by one. A longer
/// text is estimated from its length alone.
const COUNTED_LENGTH: usize = 100_000;

/// Maximum nesting depth to which media inside function responses is counted.
const MAX_DEPTH: u32 = 3;

const IMAGE: f64 = 3000.0;
const DOCUMENT: f64 = 25_800.0;

/// Estimates the tokens of a text.
pub fn text(text: &str) -> f64 {
    let (mut ascii, mut other) = (0_usize, 0_usize);
    for character in text.chars() {
        if character.is_ascii() {
            ascii += 1;
        } else {
            other += character.len_utf16();
        }
    }
    if ascii + other > COUNTED_LENGTH {
        return (ascii + other) as f64 / 4.0;
    }
    ascii as f64 * 0.25 + other as f64 * 1.5
}

/// Estimates the tokens of a content, without the thoughts that are not sent.
pub fn content(content: &Content) -> f64 {
    let sent = |part: &&Part| !part.thought || part.is_signed_thought();
    content.parts.iter().filter(sent).map(part).sum()
}

/// Estimates the tokens of a part, assuming that it is sent.
pub fn part(part: &Part) -> f64 {
    part_within(part, 0)
}

/// Estimates the tokens of a request: its system instruction, its tools and its conversation.
pub fn request(request: &ModelRequest) -> f64 {
    let entries = request.entries.iter().map(|entry| content(entry.content()));
    let system = request.system.as_deref().map_or(0.0, text);
    system + declarations(&request.tools) + entries.sum::<f64>()
}

/// Estimates the tokens of tool declarations.
pub fn declarations(declarations: &[Declaration]) -> f64 {
    let size = |one: &Declaration| {
        (one.name.len() + one.description.len() + json_length(&one.parameters)) as f64 / 4.0
    };
    declarations.iter().map(size).sum()
}

fn part_within(part: &Part, depth: u32) -> f64 {
    match &part.body {
        // The data that a vendor requires back is in the opaque data, so the text alone is too
        // short.
        Body::Text(_) if part.is_signed_thought() => json_length(part) as f64 / 4.0,
        Body::Text(words) => text(words),
        Body::Inline(blob) => media(part, Some(&blob.mime_type)),
        Body::File(file) => media(part, file.mime_type.as_deref()),
        Body::Response(answer) => response(answer, depth),
        Body::Call(_) | Body::Other(_) => json_length(part) as f64 / 4.0,
    }
}

fn response(response: &FunctionResponse, depth: u32) -> f64 {
    let own = (response.name.len() + json_length(&response.response)) as f64 / 4.0;
    let nested =
        (depth < MAX_DEPTH).then(|| response.parts.iter().map(|one| part_within(one, depth + 1)));
    own + nested.into_iter().flatten().sum::<f64>()
}

fn media(part: &Part, mime_type: Option<&str>) -> f64 {
    match mime_type {
        Some(image) if image.starts_with("image/") => IMAGE,
        Some("application/pdf") => DOCUMENT,
        _ => json_length(part) as f64 / 4.0,
    }
}

/// Returns the length of a value's JSON in UTF-16 units, without storing the JSON.
pub fn json_length(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            // Counts every byte that begins a character, and again each one that begins a character
            // of two units.
            self.0 += bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
            self.0 += bytes.iter().filter(|byte| **byte >= 0xF0).count();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // A value that cannot be written as JSON is not sent either.
    serde_json::to_writer(&mut counter, value).map_or(0, |()| counter.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_figures() {
        for (words, tokens) in [("", 0.0), ("abcd", 1.0), ("é", 1.5), ("🦀", 3.0), ("ab世", 2.0)]
        {
            assert!((text(words) - tokens).abs() < 1e-9, "{words}");
        }
        assert!((text(&"世".repeat(200_000)) - 50_000.0).abs() < 1e-9);
        let parts = vec![
            Part::inline("image/png", "AAAA"),
            Part::thought("never sent"),
            Part::output("id", "glob", "12345"),
            Part::output("id", "glob", "世🦀"),
            Part::inline("audio/mp3", "AAAA"),
            Part::call("id", "glob", json!({})),
        ];
        let call = r#"{"functionCall":{"id":"id","name":"glob","args":{}}}"#.len();
        let sound = r#"{"inlineData":{"mimeType":"audio/mp3","data":"AAAA"}}"#.len();
        // `{"output":"12345"}` has 18 units; a crab has two.
        let expected = IMAGE + ((4 + 18) + (4 + 13 + 3) + sound + call) as f64 / 4.0;
        assert!((content(&Content::user(parts)) - expected).abs() < 1e-9);
    }
}
