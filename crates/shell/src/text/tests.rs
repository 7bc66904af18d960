use super::*;
use proptest::prelude::*;

fn decoded(chunks: &[&[u8]]) -> String {
    let mut decoder = Decoder::default();
    let mut text: String = chunks.iter().map(|chunk| decoder.decode(chunk).into_owned()).collect();
    text.push_str(&decoder.finish());
    text
}

#[test]
fn characters_split_over_chunks_come_whole() {
    assert_eq!(decoded(&[b"\xf0", b"\x9f", b"\x98", b"\x80!"]), "😀!");
    assert_eq!(decoded(&[b"\xc3"]), "\u{fffd}");
    assert_eq!(decoded(&[b"\xff\xfe", b"ok"]), "\u{fffd}\u{fffd}ok");
    assert_eq!(decoded(&[b"caf\xe9", b" na\xefve"]), "caf\u{e9} na\u{ef}ve");
    assert_eq!(decoded(&[b"h\xc3\xa4", b"\xa4\xc3\xa4\xc3\xa4"]), "h\u{e4}\u{fffd}\u{e4}\u{e4}");
}

proptest! {
    #[test]
    fn any_split_of_utf8_decodes_to_the_same(text in "\\PC{0,20}", cut in 0usize..80) {
        let bytes = text.as_bytes();
        let cut = cut.min(bytes.len());
        prop_assert_eq!(decoded(&[&bytes[..cut], &bytes[cut..]]), text);
    }

    #[test]
    fn decoding_holds_back_three_bytes_at_most(
        chunks in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..6),
            0..12,
        ),
    ) {
        let mut decoder = Decoder::default();
        for chunk in &chunks {
            decoder.decode(chunk);
            prop_assert!(decoder.held.len() <= 3);
        }
    }
}
