//! The edit matcher: for any edit of a model, only the places found change, and a single change
//! means a single place. The input is text, old and new, separated by NULs.

use pollux_tools::find_edit;

pub(crate) fn run(input: (bool, &str)) {
    let (allow_multiple, input) = input;
    let mut pieces = input.splitn(3, '\0');
    let [Some(text), Some(old), Some(new)] = [pieces.next(), pieces.next(), pieces.next()] else {
        return;
    };
    let Ok(found) = find_edit(text, old, new, allow_multiple) else { return };
    assert!(!found.replacements.is_empty());
    assert!(allow_multiple || found.replacements.len() == 1, "one change was wanted");

    let mut expected = String::new();
    let mut end = 0;
    for (range, replacement) in &found.replacements {
        assert!(end <= range.start && range.start <= range.end, "places in order, apart");
        expected.push_str(&text[end..range.start]);
        expected.push_str(replacement);
        end = range.end;
    }
    expected.push_str(&text[end..]);
    assert_eq!(found.apply(text), expected);
    assert_ne!(expected, text, "an edit that changes nothing is a failure");
}
