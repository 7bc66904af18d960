//! Streams of OpenAI's Responses.

use pollux_models::decode_responses_stream;

pub(crate) fn run(bytes: &[u8]) {
    crate::model_stream::check(bytes, decode_responses_stream);
}
