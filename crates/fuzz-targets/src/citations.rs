//! Marks of sources: for any claims of a vendor, the text of the answer is unchanged except for the
//! marks. The input is the text, and claims of part, end and source with the text that each claim
//! refers to.

use pollux_protocol::{Grounding, Part, Support, WebSource};
use pollux_tools::{OffsetUnit, cite};

/// Part, end, source and text of a claim.
type Claim<'a> = (u8, u64, u8, Option<&'a str>);

pub(crate) fn run(input: (bool, Vec<Claim<'_>>, &str)) {
    let (utf_16, claims, text) = input;
    // A mark in the original text could not be distinguished from an added one.
    if text.contains('[') {
        return;
    }
    let supports = claims.into_iter().map(|(part, end, source, words)| Support {
        part: part.into(),
        start: 0,
        end,
        text: words.map(str::to_owned),
        sources: vec![source.into()],
    });
    let sources = vec![WebSource::default(); 9];
    let grounding = Grounding { supports: supports.collect(), sources, ..Grounding::default() };
    let unit = if utf_16 { OffsetUnit::Utf16 } else { OffsetUnit::Bytes };
    let marked = cite(&[Part::text(text)], &grounding, unit);
    let mut without = marked;
    for number in 1..=9 {
        without = without.replace(&format!("[{number}]"), "");
    }
    assert_eq!(without, text);
}
