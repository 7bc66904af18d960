use proptest::prelude::*;

use super::*;

fn round_trip(bytes: &[u8]) -> TextFormat {
    let (raw, format) = decode(bytes);
    assert!(!format.lossy, "{bytes:?} was lossy");
    assert_eq!(encode_raw(&raw, &format).unwrap(), bytes);
    if !matches!(format.line_ending, LineEnding::Mixed { .. }) {
        let text = normalise(&raw, format.line_ending);
        assert_eq!(encode(&text, &format).unwrap(), bytes);
    }
    format
}

#[test]
fn recognises_encodings_and_gives_back_their_bytes() {
    let shift_jis =
        encoding_rs::SHIFT_JIS.encode("日本語のテキストファイルです。これは試験です。\n").0;
    let cyrillic = encoding_rs::WINDOWS_1251.encode("Привет, мир! Это проверка.\r\n").0;
    let cases: &[(&[u8], &str, bool)] = &[
        (b"", "UTF-8", false),
        (b"plain\n", "UTF-8", false),
        ("na\u{ef}ve \u{1F980}".as_bytes(), "UTF-8", false),
        (b"\xEF\xBB\xBFwith mark\r\n", "UTF-8", true),
        (b"\xEF\xBB\xBF", "UTF-8", true),
        (b"\xFF\xFEa\0\r\0\n\0", "UTF-16LE", true),
        (b"\xFE\xFF\0a\0\n", "UTF-16BE", true),
        (b"\xFF\xFE\0\0a\0\0\0\n\0\0\0", "UTF-32LE", true),
        (b"\0\0\xFE\xFF\0\0\0a", "UTF-32BE", true),
        (b"caf\xE9 \x80 and na\xEFve\n", "windows-1252", false),
        (&shift_jis, "Shift_JIS", false),
        (&cyrillic, "windows-1251", false),
    ];
    for (bytes, name, bom) in cases {
        let format = round_trip(bytes);
        assert_eq!((format.encoding.name(), format.bom), (*name, *bom), "{bytes:?}");
    }
}

#[test]
fn utf16_that_begins_like_utf32_is_utf16() {
    // Byte order mark, NUL, one character: three UTF-16 units, so the length is not a multiple of
    // UTF-32 units.
    assert_eq!(round_trip(b"\xFF\xFE\0\0a\0").encoding, Encoding::Utf16Le);
}

#[test]
fn broken_bytes_are_shown_but_never_written_back() {
    for bytes in [
        "an \u{e9}l\u{e8}ve \u{e0} l'\u{e9}cole \u{FFFD}".as_bytes()[..]
            .iter()
            .copied()
            .chain([0xFF])
            .collect(),
        b"\xFF\xFEa\0\0".to_vec(),
        b"\xFF\xFE\x00\xD8".to_vec(),
        b"\xEF\xBB\xBFbad \xFF".to_vec(),
    ] {
        let bytes: Vec<u8> = bytes;
        let (raw, format) = decode(&bytes);
        assert!(format.lossy, "{bytes:?}");
        assert!(matches!(encode_raw(&raw, &format), Err(Error::Lossy { .. })));
    }
}

#[test]
fn says_which_character_does_not_fit() {
    let (_, format) = decode(b"caf\xE9 na\xEFve d\xE9j\xE0 vu");
    match encode("ok \u{e9} \u{1F980}", &format) {
        Err(Error::Unencodable { encoding, character }) => {
            assert_eq!((encoding, character), ("windows-1252", '\u{1F980}'));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn line_endings() {
    let mixed = |mostly_crlf| LineEnding::Mixed { mostly_crlf };
    for (raw, ending, text) in [
        ("", LineEnding::Lf, ""),
        ("one", LineEnding::Lf, "one"),
        ("a\nb\n", LineEnding::Lf, "a\nb\n"),
        ("a\r\nb", LineEnding::CrLf, "a\nb"),
        ("a\rb\r", LineEnding::Cr, "a\nb\n"),
        ("a\rb\n", LineEnding::Lf, "a\rb\n"),
        ("a\r\r\nb", LineEnding::CrLf, "a\r\nb"),
        ("a\r\nb\nc\n", mixed(false), "a\nb\nc\n"),
        ("a\r\nb\n", mixed(true), "a\nb\n"),
    ] {
        assert_eq!(round_trip(raw.as_bytes()).line_ending, ending, "{raw:?}");
        assert_eq!(TextFile::from_bytes(raw.as_bytes(), None).text, text);
    }
}

fn spliced(raw: &str, edits: &[(Range<usize>, &str)]) -> Result<String> {
    let edits: Vec<_> =
        edits.iter().map(|(range, new)| (range.clone(), (*new).to_owned())).collect();
    TextFile::from_bytes(raw.as_bytes(), None).splice(&edits)
}

#[test]
fn an_edit_leaves_the_other_lines_endings_alone() {
    let raw = "one\r\ntwo\nthree\r\nfour\r\n";
    assert_eq!(spliced(raw, &[(4..7, "2\n2b")]).unwrap(), "one\r\n2\r\n2b\nthree\r\nfour\r\n");
    // The span covers two lines; only the first differs, so the second keeps its lone line feed.
    assert_eq!(spliced(raw, &[(0..8, "1\ntwo\n")]).unwrap(), "1\r\ntwo\nthree\r\nfour\r\n");
    // Removing a line takes its whole ending.
    assert_eq!(spliced(raw, &[(0..4, "")]).unwrap(), "two\nthree\r\nfour\r\n");
    assert_eq!(spliced(raw, &[(8..13, "3"), (14..18, "4")]).unwrap(), "one\r\ntwo\n3\r\n4\r\n");
    assert_eq!(spliced("a\rb", &[(3..3, "\nc")]).unwrap(), "a\rb\rc");
}

#[test]
fn refuses_spans_that_do_not_fit() {
    let raw = "\u{e9}t\u{e9}\r\nx";
    for bad in [
        vec![(1..2, "x")],
        vec![(0..99, "x")],
        vec![(2..3, "x"), (0..2, "y")],
        vec![(2..4, ""), (3..5, "")],
    ] {
        assert!(matches!(spliced(raw, &bad), Err(Error::InvalidSpan { .. })), "{bad:?}");
    }
    let reversed = Range { start: 3, end: 2 };
    assert!(matches!(spliced(raw, &[(reversed, "")]), Err(Error::InvalidSpan { .. })));
}

proptest! {
    #[test]
    fn any_bytes_decode_and_give_themselves_back(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let (raw, format) = decode(&bytes);
        match encode_raw(&raw, &format) {
            Ok(again) => prop_assert_eq!(again, bytes),
            Err(error) => prop_assert!(format.lossy, "{}", error),
        }
    }

    #[test]
    fn any_text_survives_any_format(
        text in "[a-z\u{e9}\u{4e2d}\u{1F980}\r\n]{0,60}",
        encoding in prop_oneof![
            Just(Encoding::Utf8), Just(Encoding::Utf16Le), Just(Encoding::Utf16Be),
            Just(Encoding::Utf32Le), Just(Encoding::Utf32Be),
        ],
    ) {
        let bytes = encode_text(&text, encoding, true).unwrap();
        let (raw, format) = decode(&bytes);
        prop_assert_eq!(&raw, &text);
        prop_assert_eq!(encode_raw(&raw, &format).unwrap(), bytes);
    }

    #[test]
    fn splice_equals_editing_the_view(
        raw in "([a-c\u{e9}]|\r\n|\n){0,40}",
        first in 0_usize..40, length in 0_usize..12,
        new in "[a-c\n]{0,8}",
    ) {
        let file = TextFile::from_bytes(raw.as_bytes(), None);
        let (start, end) = (first, first + length);
        prop_assume!(file.text.get(start..end).is_some());
        let result = file.splice(&[(start..end, new.clone())]).unwrap();
        let mut expected = file.text.clone();
        expected.replace_range(start..end, &new);
        prop_assert_eq!(normalise(&result, file.format.line_ending), expected);
    }
}
