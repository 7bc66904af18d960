//! Streams of Anthropic's Messages API: any bytes give chunks or an error, in whatever pieces they
//! arrive.

use pollux_models::decode_messages_stream;

pub(crate) fn run(bytes: &[u8]) {
    crate::model_stream::check(bytes, decode_messages_stream);
}
