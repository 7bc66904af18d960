//! Streams of models, whatever their dialect: any bytes give chunks or an error, in whatever pieces
//! they arrive.

use std::fmt::Debug;

use pollux_protocol::{ModelError, ResponseChunk};

/// Maximum number of bytes in a piece.
const PIECE: usize = 7;

/// Checks the decoder of a dialect.
pub(crate) fn check<P: From<Vec<u8>> + Debug>(
    bytes: &[u8],
    decode: fn(Vec<P>) -> Result<Vec<ResponseChunk>, ModelError>,
) {
    let chunks = match (decode(vec![bytes.to_vec().into()]), decode(cut(bytes))) {
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
    for part in chunks.iter().flat_map(|chunk| &chunk.parts) {
        assert!(part.as_response().is_none(), "a model never answers its own calls");
        let text = part.as_text().or(part.as_thought());
        assert!(text != Some("") || part.opaque.is_some(), "no part is empty");
    }
}

/// Cuts a stream into pieces. Their sizes depend on the content, so that the fuzzer can vary them.
fn cut<P: From<Vec<u8>>>(bytes: &[u8]) -> Vec<P> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        let (piece, more) = rest.split_at((usize::from(*first) % PIECE + 1).min(rest.len()));
        pieces.push(piece.to_vec().into());
        rest = more;
    }
    pieces
}
