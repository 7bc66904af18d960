//! The model's answer: any bytes give a chunk or an error message, and decoding them again gives
//! the same result.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pollux_models::decode_chunk;

fuzz_target!(|json: &[u8]| {
    match (decode_chunk(json), decode_chunk(json)) {
        (Ok(first), Ok(again)) => assert_eq!(format!("{first:?}"), format!("{again:?}")),
        (Err(first), Err(again)) => {
            assert!(!first.to_string().is_empty(), "an error says what it is");
            assert_eq!(first.to_string(), again.to_string());
        }
        _ => panic!("decoding depends on more than the bytes"),
    }
});
