//! Output too long for a model: its beginning and end, and where the whole of it lies.

use std::path::{Path, PathBuf};

use pollux_protocol::CallId;

#[cfg(test)]
mod tests;

/// The part of the shown characters that comes from the beginning.
const HEAD_SHARE: f64 = 0.2;

/// The file that takes the whole output of a call: `<folder>/<tool>_<call id>.txt`, with other characters than
/// letters, digits, `_` and `-` replaced, in small letters; the tool's name is not repeated when the id has it.
pub(crate) fn output_path(folder: &Path, tool: &str, call_id: &CallId) -> PathBuf {
    let safe = |text: &str| -> String {
        let keep = |letter: char| match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter.to_ascii_lowercase(),
            _ => '_',
        };
        text.chars().take(150).map(keep).collect()
    };
    let (tool, id) = (safe(tool), safe(call_id.as_str()));
    let name = if id.starts_with(&tool) { id } else { format!("{tool}_{id}") };
    folder.join(format!("{name}.txt"))
}

/// Cuts `text` to about `limit` characters, a fifth from the beginning, the rest from the end, and says where the whole
/// is. None when it is not longer than that.
pub(crate) fn truncate(text: &str, limit: usize, file: Option<&Path>) -> Option<String> {
    // A byte is never more than a character, so most texts need no count.
    if limit == 0 || text.len() <= limit {
        return None;
    }
    let total = text.chars().count();
    if total <= limit {
        return None;
    }
    let head_length = (limit as f64 * HEAD_SHARE) as usize;
    let tail_length = limit - head_length;
    let head = &text[..position(text, head_length)];
    let tail = &text[position(text, total - tail_length)..];
    let place = match file {
        Some(file) => format!("the full output is in {}", file.display()),
        None => "the full output could not be kept".to_owned(),
    };
    Some(format!(
        "Output too large. Showing the first {head_length} and the last {tail_length} characters; {place}\n\n\
         {head}\n\n... [{} characters omitted] ...\n\n{tail}",
        total - limit
    ))
}

/// The byte at which the character with this index begins.
fn position(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}
