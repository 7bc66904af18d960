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

/// How many characters of output are told: what the settings say, or less where the model has no room for it. 0 is
/// for all of it, which is what the settings may say.
pub(crate) fn limit(threshold: usize, room: Option<usize>) -> usize {
    room.map_or(threshold, |room| room.min(threshold))
}

/// Cuts `text` to `limit` characters, a fifth from the beginning, the rest from the end, and says where the whole is.
/// None when it is not longer than that; a limit of 0 is none.
pub(crate) fn truncate(text: &str, limit: usize, file: Option<&Path>) -> Option<String> {
    // A character has at least one byte, so most texts need no count.
    if limit == 0 || text.len() <= limit || text.chars().count() <= limit {
        return None;
    }
    Some(truncate_ends(text, "", 0, limit, file))
}

/// The same of a text whose middle is not there any more: `missing` characters between `start` and `end`.
pub(crate) fn truncate_ends(
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
        None => "The full output could not be kept.".to_owned(),
    };
    let [first, last] = [head_length, tail_length].map(|length| grouped(length as u64));
    let omitted = grouped(omitted);
    format!(
        "Output too large. Showing first {first} and last {last} characters. {place}\n\n\
         {head}\n\n... [{omitted} characters omitted] ...\n\n{tail}"
    )
}

/// A number with a comma between its thousands.
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

/// The byte at which the character with this index begins.
fn position(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}
