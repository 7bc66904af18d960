//! Streams of chat completions: any bytes give chunks or an error, and every call has a name.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pollux_models::decode_chat_stream;

fuzz_target!(|bytes: &[u8]| {
    let Ok(chunks) = decode_chat_stream(bytes) else { return };
    let parts = chunks.iter().flat_map(|chunk| &chunk.parts);
    for part in parts {
        assert!(part.as_response().is_none(), "a model never answers its own calls");
    }
});
