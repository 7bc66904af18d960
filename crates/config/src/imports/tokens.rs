//! Search for `@path` tokens in Markdown text.

use std::collections::HashMap;
use std::ops::Range;

/// Returns the positions of the tokens of `text`, from the `@` to the next blank, in order.
///
/// A token is at the start of the text or after a blank, and its path starts with `.`, `/` or a
/// letter. Tokens between runs of backticks of the same length (code) are ignored. Runs in linear
/// time.
pub(super) fn import_tokens(text: &str) -> Vec<Range<usize>> {
    let code = code_regions(text);
    let mut region = code.iter().peekable();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find('@') {
        let start = at + offset;
        at = start + 1;
        let begins = text[..start].chars().next_back().is_none_or(char::is_whitespace);
        let path_begins = text[at..]
            .starts_with(|first: char| matches!(first, '.' | '/') || first.is_ascii_alphabetic());
        if !begins || !path_begins {
            continue;
        }
        let length = text[at..].find(char::is_whitespace).unwrap_or(text.len() - at);
        let end = at + length;
        while region.next_if(|region| region.end <= start).is_some() {}
        let in_code = region.peek().is_some_and(|region| region.contains(&start));
        if !in_code {
            tokens.push(start..end);
            at = end;
        }
    }
    tokens
}

/// Returns the code regions: each from one run of backticks to the next run of the same length.
fn code_regions(text: &str) -> Vec<Range<usize>> {
    let runs = backtick_runs(text);
    let mut by_length: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, run) in runs.iter().enumerate().rev() {
        by_length.entry(run.len()).or_default().push(index);
    }
    let mut regions = Vec::new();
    let mut index = 0;
    while let Some(run) = runs.get(index) {
        // The lists hold later runs first, so that runs before the current one are removed from the
        // end.
        let closing = by_length.get_mut(&run.len()).and_then(|later| {
            while later.pop_if(|candidate| *candidate <= index).is_some() {}
            later.last().copied()
        });
        match closing.and_then(|closing| Some((closing, runs.get(closing)?))) {
            Some((closing, close)) => {
                regions.push(run.start..close.end);
                index = closing + 1;
            }
            None => index += 1,
        }
    }
    regions
}

fn backtick_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find('`') {
        let start = at + offset;
        let length = text[start..].bytes().take_while(|byte| *byte == b'`').count();
        runs.push(start..start + length);
        at = start + length;
    }
    runs
}
