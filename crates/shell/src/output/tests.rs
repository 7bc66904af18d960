use super::*;
use proptest::prelude::*;

fn output(limits: OutputLimits, chunks: &[&[u8]]) -> Output {
    let mut output = Output::new(limits);
    for chunk in chunks {
        output.push(chunk);
    }
    output
}

#[test]
fn what_fits_is_kept_whole() {
    let output = output(OutputLimits { head: 4, tail: 4 }, &[b"abc", b"defgh"]);
    assert_eq!(output.text(), "abcdefgh");
    assert_eq!((output.len(), output.omitted()), (8, 0));
}

#[test]
fn what_does_not_fit_is_counted_and_announced() {
    let output = output(OutputLimits { head: 4, tail: 4 }, &[b"abcdefghijkl", b"mn"]);
    assert_eq!(
        output.text(),
        format!("abcd\n... [6 bytes omitted] ...\nklmn\n{TRUNCATION_WARNING}")
    );
}

#[test]
fn a_cut_inside_a_character_leaves_no_rubbish() {
    let output = output(OutputLimits { head: 4, tail: 4 }, &["abcé12345éef".as_bytes()]);
    assert_eq!(output.omitted(), 6);
    assert!(output.text().starts_with("abc\n..."));
    assert!(output.text().contains("...\néef\n"));
    assert!(!output.text().contains('\u{fffd}'));
}

#[test]
fn text_is_trimmed_and_plain() {
    let output = output(OutputLimits::default(), &[b"\n \x1b[1mbold\x1b[0m text \n"]);
    assert_eq!(output.text(), "bold text");
}

#[test]
fn text_is_decoded_like_a_file() {
    for (printed, shown) in [
        (&b"caf\xe9 na\xefve\n"[..], "caf\u{e9} na\u{ef}ve"),
        (b"\xff\xfea\0b\0", "ab"),
        (b"a.ts\0b.ts\0", "a.ts\u{2400}b.ts\u{2400}"),
        ("ä ö ü \u{fffd}".as_bytes(), "ä ö ü \u{fffd}"),
        ([b"\xff".as_slice(), "ä ö".as_bytes()].concat().as_slice(), "\u{fffd}ä ö"),
    ] {
        assert_eq!(output(OutputLimits::default(), &[printed]).text(), shown);
    }
}

proptest! {
    #[test]
    fn head_and_tail_are_the_ends_of_the_stream(
        chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..20),
        head in 0usize..30,
        tail in 0usize..30,
    ) {
        let mut output = Output::new(OutputLimits { head, tail });
        let mut all = Vec::new();
        for chunk in &chunks {
            output.push(chunk);
            all.extend_from_slice(chunk);
        }
        let (first, second) = output.tail();
        let kept_tail = [first, second].concat();
        prop_assert_eq!(output.head(), &all[..all.len().min(head)]);
        prop_assert!(all.ends_with(&kept_tail));
        prop_assert_eq!(output.len() as u64 + output.omitted(), all.len() as u64);
        prop_assert_eq!(output.len(), all.len().min(head + tail));
        prop_assert!(output.tail.capacity() <= tail.max(1) * 2);
    }
}
