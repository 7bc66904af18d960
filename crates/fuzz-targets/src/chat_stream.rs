//! Streams of chat completions: any bytes give chunks or an error, in whatever pieces they arrive.

use pollux_models::decode_chat_stream;

/// Maximum number of bytes in a piece.
const PIECE: usize = 7;

pub(crate) fn run(bytes: &[u8]) {
    let whole = decode_chat_stream(vec![bytes.to_vec().into()]);
    // The sizes of the pieces depend on the content, so that the fuzzer can vary them.
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        let (piece, more) = rest.split_at((usize::from(*first) % PIECE + 1).min(rest.len()));
        pieces.push(piece.to_vec().into());
        rest = more;
    }
    let chunks = match (whole, decode_chat_stream(pieces)) {
        (Ok(whole), Ok(cut)) => {
            assert_eq!(format!("{whole:?}"), format!("{cut:?}"));
            whole
        }
        (Err(whole), Err(cut)) => return assert_eq!(whole.to_string(), cut.to_string()),
        (whole, cut) => panic!("the end depends on the pieces: {whole:?} and {cut:?}"),
    };
    assert!(
        chunks.iter().any(|chunk| chunk.finish.is_some()),
        "a whole answer has a finish reason"
    );
    let parts = chunks.iter().flat_map(|chunk| &chunk.parts);
    for part in parts {
        assert!(part.as_response().is_none(), "a model never answers its own calls");
        let text = part.as_text().or(part.as_thought());
        assert!(text != Some("") || part.opaque.is_some(), "no part is empty");
    }
}
