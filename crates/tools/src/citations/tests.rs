use pollux_protocol::WebSource;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn support(end: u64, sources: &[u64]) -> Support {
    Support { end, sources: sources.to_vec(), ..Support::default() }
}

fn worded(end: u64, text: &str) -> Support {
    Support { text: Some(text.to_owned()), ..support(end, &[0]) }
}

fn grounding(supports: Vec<Support>) -> Grounding {
    let named = |name: &str| WebSource {
        title: Some(name.to_owned()),
        uri: Some(format!("https://{name}.example")),
    };
    let sources = vec![named("a"), WebSource { title: None, ..named("b") }, WebSource::default()];
    Grounding { supports, sources, ..Grounding::default() }
}

fn cited(text: &str, supports: Vec<Support>, unit: OffsetUnit) -> String {
    cite(&[Part::text(text)], &grounding(supports), unit)
}

#[test]
fn marks_stand_behind_the_words() {
    use OffsetUnit::{Bytes, Utf16};
    let table: [(&str, Vec<Support>, OffsetUnit, &str); 20] = [
        ("hello world", vec![support(5, &[0, 1]), support(6, &[2])], Bytes, "hello[1][2] [3]world"),
        ("hello", vec![support(5, &[0])], Utf16, "hello[1]"),
        // Later marks come first at the same place, and a source is marked as often as it is named.
        (
            "hello",
            vec![support(5, &[0]), support(5, &[1]), support(2, &[2, 0, 2])],
            Bytes,
            "he[3][1][3]llo[2][1]",
        ),
        // Offsets after the end and at 0, and sources that do not exist.
        (
            "hello",
            vec![support(99, &[0]), support(0, &[1]), support(u64::MAX, &[1])],
            Bytes,
            "hello[2][1]",
        ),
        (
            "hello",
            vec![support(3, &[7]), support(3, &[u64::MAX, 1]), support(3, &[])],
            Utf16,
            "hel[2]lo",
        ),
        // CJK: three bytes and one code unit per character.
        ("日本語です", vec![support(9, &[0])], Bytes, "日本語[1]です"),
        ("日本語です", vec![support(3, &[0])], Utf16, "日本語[1]です"),
        // An offset inside a character: the mark is placed after it.
        ("日本語です", vec![support(7, &[0])], Bytes, "日本語[1]です"),
        // Emoji: four bytes, two code units, and several characters in one grapheme cluster.
        ("a😀b", vec![support(5, &[0])], Bytes, "a😀[1]b"),
        ("a😀b", vec![support(3, &[0])], Utf16, "a😀[1]b"),
        ("a😀b", vec![support(2, &[0])], Utf16, "a😀[1]b"),
        ("👩‍👩‍👧x", vec![support(4, &[0])], Bytes, "👩‍👩‍👧[1]x"),
        // Combining characters: the accent stays with its letter.
        ("cafe\u{301} x", vec![support(4, &[0])], Bytes, "cafe\u{301}[1] x"),
        ("cafe\u{301} x", vec![support(5, &[0])], Utf16, "cafe\u{301}[1] x"),
        // The quoted text decides the unit.
        ("日本語です。", vec![worded(9, "日本語")], Utf16, "日本語[1]です。"),
        ("日本語です。", vec![worded(3, "日本語")], Bytes, "日本語[1]です。"),
        ("日本語です。", vec![worded(9, "よそ")], Bytes, "日本語[1]です。"),
        ("hello", vec![worded(4, "")], Bytes, "hell[1]o"),
        ("", vec![support(3, &[0])], Bytes, "[1]"),
        ("no marks", vec![], Bytes, "no marks"),
    ];
    for (text, supports, unit, expected) in table {
        assert_eq!(cited(text, supports.clone(), unit), expected, "{text} {supports:?}");
    }
}

#[test]
fn offsets_count_in_their_part() {
    let parts = [Part::thought("hm"), Part::text("日本 "), Part::text("hello world")];
    let in_part = |part, end, text: Option<&str>| {
        let text = text.map(str::to_owned);
        Support { part, text, ..support(end, &[0]) }
    };
    let whole = |supports| cite(&parts, &grounding(supports), OffsetUnit::Bytes);
    assert_eq!(whole(vec![in_part(2, 5, None)]), "日本 hello[1] world");
    assert_eq!(whole(vec![in_part(2, 12, Some("hello"))]), "日本 hello[1] world");
    assert_eq!(whole(vec![in_part(9, 6, None)]), "日本[1] hello world");
}

#[test]
fn sources_without_a_name_are_listed_too() {
    let list = source_list(&grounding(Vec::new()), "No URI").unwrap();
    assert_eq!(
        list,
        "Sources:\n[1] a (https://a.example)\n[2] Untitled (https://b.example)\n[3] Untitled (No URI)"
    );
    assert_eq!(source_list(&Grounding::default(), "No URI"), None);
    let spread =
        WebSource { title: Some("a\nSources:\n[9] b".to_owned()), uri: Some(" ".to_owned()) };
    let spread = Grounding { sources: vec![spread], ..Grounding::default() };
    assert_eq!(
        source_list(&spread, "Unknown URI").unwrap(),
        "Sources:\n[1] a Sources: [9] b (Unknown URI)"
    );
}

#[test]
fn many_marks_in_a_long_text_take_no_time() {
    let text = "日本語 e\u{301}".repeat(50_000);
    let supports = (0..100_000_u64).map(|at| worded(at * 7, "e\u{301}")).collect();
    // The limits distinguish linear from quadratic work, also on a slow machine.
    let start = std::time::Instant::now();
    let marked = cited(&text, supports, OffsetUnit::Utf16);
    assert!(marked.len() > text.len());
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
    // One grapheme cluster that never ends.
    let endless = "e".to_owned() + &"\u{301}".repeat(200_000);
    let supports = (0..20_000_u64).map(|at| support(at * 20, &[0])).collect();
    cited(&endless, supports, OffsetUnit::Bytes);
    assert!(start.elapsed() < std::time::Duration::from_secs(40), "{:?}", start.elapsed());
}

proptest! {
    /// All text is kept for any supports, and only marks are added.
    #[test]
    fn nothing_is_lost(
        text in "[a-c日é😀\u{301} ]{0,40}",
        claims in proptest::collection::vec((0_u64..3, 0_u64..60, 0_u64..5, proptest::option::of("[a-c日 ]{0,3}")), 0..8),
        utf_16 in proptest::bool::ANY,
    ) {
        let supports = claims.into_iter().map(|(part, end, source, text)| {
            Support { part, text, ..support(end, &[source]) }
        });
        let unit = if utf_16 { OffsetUnit::Utf16 } else { OffsetUnit::Bytes };
        let marked = cited(&text, supports.collect(), unit);
        let without: String = marked.replace("[1]", "").replace("[2]", "").replace("[3]", "");
        prop_assert_eq!(without, text);
    }
}
