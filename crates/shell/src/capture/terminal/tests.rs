use pretty_assertions::assert_eq;

use super::*;
use crate::capture::Captured;

const SMALL: OutputLimits = OutputLimits { head: 1 << 20, tail: 3 << 20 };

fn capture<F: FnMut(OutputChunk<'_>)>(spill: Option<Spill>, on_output: F) -> TerminalCapture<F> {
    TerminalCapture::new(TerminalSize::default(), true, SMALL, spill, on_output)
}

async fn captured(pieces: &[&[u8]]) -> Captured {
    let mut capture = capture(None, |_| {});
    for piece in pieces {
        capture.push(piece);
    }
    capture.finish().await
}

#[tokio::test]
async fn a_few_nuls_are_text_and_many_are_binary() {
    let table: [(&[&[u8]], bool); 6] = [
        (&[b"a\0b\r\n"], false),
        (&[b"a\0\0\0\0b\r\n"], true),
        (&[b"hello world, how are you?\0\r\n"], false),
        (&[b"text and text and text\r\n", &[0; 100]], true),
        (&[&[b'x'; 4096], &[0; 100]], false),
        (&[b"plain"], false),
    ];
    for (pieces, binary) in table {
        let captured = captured(pieces).await;
        assert_eq!(captured.binary, binary, "{pieces:?}");
        assert_eq!(captured.lines.is_some(), !binary);
    }
}

#[tokio::test]
async fn a_nul_is_shown() {
    let text = captured(&[b"a.rs\0", b"b.rs\0"]).await.output.text();
    assert_eq!(text, "a.rs\u{2400}b.rs\u{2400}");
}

#[tokio::test]
async fn a_flood_keeps_both_its_ends() {
    let mut capture = capture(None, |_| {});
    let line = b"0123456789abcdef0123456789abcdef\r\n";
    capture.push(b"first\r\n");
    for _ in 0..300 {
        capture.push(&line.repeat(1000));
    }
    capture.push(b"last\r\n");
    let captured = capture.finish().await;
    let output = captured.output;
    assert!(output.len() <= SMALL.head + SMALL.tail, "{}", output.len());
    let text = output.text();
    assert!(text.starts_with("first\n0123") && text.contains("\nlast\n"), "{}", &text[..100]);
    assert!(output.omitted() > 5_000_000 && captured.bytes > 10_000_000, "{}", output.omitted());
}

#[tokio::test]
async fn the_screen_is_shown_when_it_has_changed() {
    let mut shown = Vec::new();
    let mut capture = capture(None, |chunk| {
        if let OutputChunk::Screen { lines, .. } = chunk {
            shown.push(lines.text());
        }
    });
    capture.push(b"one\r\n");
    assert!(capture.has_changed());
    capture.show();
    assert!(!capture.has_changed());
    capture.show();
    capture.push(b"\x1b[Htwo");
    capture.show();
    drop(capture);
    assert_eq!(shown, ["one", "two"]);
}

#[tokio::test]
async fn the_file_has_plain_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    let mut capture = capture(Some(Spill::new(&path, 10)), |_| {});
    capture.push(b"\x1b[31mred\x1b[0m li");
    capture.push(b"ne\r");
    capture.push(b"\nnext\rover\r\n");
    let spilled = capture.finish().await.spilled.unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "red line\nnext\rover\n");
    assert_eq!((spilled.dropped, spilled.failure), (0, None));
}
