//! Cuts that remove a property and leave valid JSON.

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged;

use super::Splice;
use super::layout::end_of_comment;

/// Returns the cuts that remove every property called `name`, in one pass over the object.
pub(super) fn cuts(text: &str, object: &Object<'_>, name: &str) -> Vec<Splice> {
    let properties = &object.properties;
    let is_removed = |index: usize| properties[index].name.as_str() == name;
    let last_kept = (0..properties.len()).rev().find(|index| !is_removed(*index));
    let mut cuts = Vec::new();
    for index in 0..properties.len() {
        let comma = (index + 1 < properties.len())
            .then(|| comma_after(text, properties[index].end()))
            .flatten();
        // The comma after a removed property is cut too. If only removed properties follow, all
        // commas after the last kept property are cut.
        let comma = comma.filter(|_| match last_kept {
            Some(kept) => index >= kept || is_removed(index),
            None => true,
        });
        cuts.extend(comma.map(|comma| Splice::cut(comma, comma + 1)));
        if is_removed(index) {
            let is_last = last_kept.is_some_and(|kept| index > kept);
            let (start, end) = (properties[index].start(), properties[index].end());
            cuts.push(property_cut(text, (start, end), comma, is_last));
        }
    }
    cuts
}

/// Returns the cut of a property and of the blanks that would be left over. `comma` is the position
/// of the comma after the property, if that comma is cut. `is_last` means that no kept property
/// follows, so the comma before the property is cut.
fn property_cut(
    text: &str,
    (start, end): (usize, usize),
    comma: Option<usize>,
    is_last: bool,
) -> Splice {
    let line = text[..start].rfind('\n').map(|end| end + 1);
    let line = line.filter(|line| text[*line..start].bytes().all(is_blank));
    let comma = comma.filter(|comma| text[end..*comma].bytes().all(is_blank));
    let after = skip_blanks(text, comma.map_or(end, |comma| comma + 1));
    match line {
        Some(line) if text[after..].starts_with('\n') => Splice::cut(line, after + 1),
        Some(line) if text[after..].starts_with("\r\n") => Splice::cut(line, after + 2),
        Some(_) if comma.is_some() => Splice::cut(start, after),
        Some(_) => Splice::cut(start, end),
        // If the line contains other properties: the blanks before the last property are cut,
        // otherwise those after it.
        None => {
            let before = text[..start].trim_end_matches([' ', '\t']).len();
            let follows_comma = is_last && text[..before].ends_with(',');
            let end = comma.map_or(end, |comma| if is_last { comma } else { after });
            Splice::cut(if follows_comma { before } else { start }, end)
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn skip_blanks(text: &str, from: usize) -> usize {
    text.len() - text[from..].trim_start_matches([' ', '\t']).len()
}

/// Returns the next comma, skipping white space and comments.
fn comma_after(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b',' => return Some(at),
            b'/' => at = end_of_comment(text, at),
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => return None,
        }
    }
    None
}
