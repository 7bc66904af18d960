//! Streams of chat completions.

use pollux_models::decode_chat_stream;

pub(crate) fn run(bytes: &[u8]) {
    crate::model_stream::check(bytes, decode_chat_stream);
}
