//! Shortening of output that is too long for a model: its beginning, its end, and the file with the
//! whole output.

use std::path::{Path, PathBuf};

use crate::CallId;

#[cfg(test)]
mod tests;

/// Fraction of the shown characters that come from the beginning.
const HEAD_SHARE: f64 = 0.2;

/// Returns the file for the whole output of a call: `<folder>/<tool>_<call id>.txt` in lower case,
/// with all characters other than letters, digits, `_` and `-` replaced. The tool's name is left
/// out if the id begins with it.
pub fn output_path(folder: &Path, tool: &str, call_id: &CallId) -> PathBuf {
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

/// Returns the maximum number of characters of output for the model: the threshold of the settings,
/// or fewer if the model has less room. 0 stands for no limit.
pub fn limit(threshold: usize, room: Option<usize>) -> usize {
    room.map_or(threshold, |room| room.min(threshold))
}

/// Cuts `text` to `limit` characters, a fifth from the beginning and the rest from the end, and
/// names the file with the whole text. `None` if the text is not longer; a limit of 0 is no limit.
pub fn truncate(text: &str, limit: usize, file: Option<&Path>) -> Option<String> {
    // A character has at least one byte, so most texts need no count.
    if limit == 0 || text.len() <= limit || text.chars().count() <= limit {
        return None;
    }
    Some(truncate_ends(text, "", 0, limit, file))
}

/// Does the same for a text without its middle: `missing` characters between `start` and `end`.
pub fn truncate_ends(
    start: &str,
    end: &str,
    missing: u64,
    limit: usize,
    file: Option<&Path>,
) -> String {
    let head_length = (limit as f64 * HEAD_SHARE) as usize;
    let tail_length = limit - head_length;
    let (start_length, end_length) = (start.chars().count(), end.chars().count());
    let total = missing + (start_length + end_length) as u64;
    let head = &start[..position(start, head_length)];
    let tail = match end_length.checked_sub(tail_length) {
        Some(surplus) => end[position(end, surplus)..].to_owned(),
        None if missing > 0 => end.to_owned(),
        None => {
            let from_start =
                (tail_length - end_length).min(start_length.saturating_sub(head_length));
            format!("{}{end}", &start[position(start, start_length - from_start)..])
        }
    };
    let omitted = total.saturating_sub((head.chars().count() + tail.chars().count()) as u64);
    let place = match file {
        Some(file) => format!("For full output see: {}", file.display()),
        None => "The full output could not be saved.".to_owned(),
    };
    let [first, last] = [head_length, tail_length].map(|length| grouped(length as u64));
    let omitted = grouped(omitted);
    format!(
        "Output too large. Showing first {first} and last {last} characters. {place}\n\n\
         {head}\n\n... [{omitted} characters omitted] ...\n\n{tail}"
    )
}

/// Formats a number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the offset of the character with this index.
fn position(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}
