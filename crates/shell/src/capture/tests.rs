use std::path::Path;

use super::*;

const SMALL: OutputLimits = OutputLimits { head: 8, tail: 8 };

fn capture(
    limits: OutputLimits,
    spill: Option<Spill>,
    chunks: &[&[u8]],
) -> (Captured, Vec<String>) {
    let mut seen = Vec::new();
    let mut capture = Capture::new(limits, spill, |chunk: OutputChunk<'_>| match chunk {
        OutputChunk::Text(text) => seen.push(text.to_owned()),
        OutputChunk::Binary { received } => seen.push(format!("binary {received}")),
        OutputChunk::Screen { .. } | OutputChunk::Input(_) => seen.push("of a terminal".to_owned()),
    });
    for chunk in chunks {
        capture.push(chunk);
    }
    let captured = capture.finish();
    (captured, seen)
}

fn contents(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn live_text_never_splits_a_character() {
    let (_, seen) = capture(SMALL, None, &[b"a\xc3", b"\xa4b", b"\xe2\x82"]);
    assert_eq!(seen, ["a", "äb", "\u{fffd}"]);
}

#[test]
fn padding_near_the_start_means_binary() {
    let text = [b'a'; 60];
    let (captured, seen) = capture(SMALL, None, &[&text, b"b\0\0\0\0c", b"def"]);
    assert!(captured.binary);
    assert_eq!(captured.bytes, 69);
    assert_eq!(seen[1..], ["binary 66", "binary 69"]);
}

#[test]
fn a_few_nuls_are_text() {
    for pieces in [&[&b"a.rs\0"[..], b"\0", b"b.rs\0"][..], &[b"const k = 'a\0b';\n"], &[b""]] {
        let (captured, _) = capture(SMALL, None, pieces);
        assert!(!captured.binary, "{pieces:?}");
    }
}

#[test]
fn short_output_is_judged_at_its_end() {
    // Neither the first byte alone nor the first three are text.
    let (captured, seen) = capture(SMALL, None, &[b"\0", b"\0a", b"bcd"]);
    assert!(!captured.binary);
    assert_eq!(seen, ["\0", "\0a", "bcd"]);
    let (captured, _) = capture(SMALL, None, &[b"\x01\x02", b"\x03"]);
    assert!(captured.binary);
}

#[test]
fn padding_past_the_start_does_not() {
    let text = vec![b'a'; 512];
    let (captured, _) = capture(SMALL, None, &[&text, &[0; 4]]);
    assert!(!captured.binary);
}

#[test]
fn short_output_makes_no_spill_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output.txt");
    let (captured, _) = capture(SMALL, Some(Spill::new(&path, 6)), &[b"abc", b"def"]);
    assert_eq!(captured.spilled, None);
    assert!(!path.exists());
}

#[test]
fn long_output_is_spilled_from_its_first_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output.txt");
    // The threshold is limited to the number of bytes kept in memory; otherwise bytes would be
    // lost.
    for above in [6, usize::MAX] {
        let chunks: [&[u8]; 4] = [b"abcdef", b"ghijkl", b"mnopqr", b"stuvwx"];
        let (captured, _) = capture(SMALL, Some(Spill::new(&path, above)), &chunks);
        assert_eq!(contents(&path), b"abcdefghijklmnopqrstuvwx");
        let expected = Spilled { path: path.clone(), bytes: 24, dropped: 0, failure: None };
        assert_eq!(captured.spilled, Some(expected));
        assert_eq!(captured.output.omitted(), 8);
    }
}

#[test]
fn the_spill_file_keeps_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output.txt");
    let spill = Spill { path: path.clone(), above: 0, cap: 1000 };
    let lines: String = (0..1000).flat_map(|number| [number.to_string(), "\n".into()]).collect();
    let (captured, _) = capture(SMALL, Some(spill), &[lines.as_bytes()]);
    let kept = String::from_utf8(contents(&path)).unwrap();
    assert!(kept.len() <= 1000 && kept.starts_with("0\n1\n") && kept.ends_with("998\n999\n"));
    let spilled = captured.spilled.unwrap();
    assert!(kept.contains(&format!("{} bytes omitted", spilled.dropped)), "{kept}");
    assert_eq!(spilled.bytes + spilled.dropped, lines.len() as u64);
}

#[test]
fn a_spill_file_that_cannot_be_made_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let spill = Spill::new(folder.path().join("file/output.txt"), 0);
    let (captured, _) = capture(SMALL, Some(spill), &[b"abc"]);
    let spilled = captured.spilled.unwrap();
    assert!(spilled.failure.is_some());
    assert_eq!((spilled.bytes, spilled.dropped), (0, 3));
    assert_eq!(captured.output.text(), "abc");
}
