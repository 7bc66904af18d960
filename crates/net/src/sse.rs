//! Server-sent events.
//!
//! The decoder is our own. The otherwise good crate `sse-stream` lacks three features that Gemini's
//! streams require: an unfinished record at the end is an error, not a normal end; an error object
//! that arrives without `data:` is delivered; and the length of lines is limited.

mod decoder;
mod raw_json;

pub use decoder::{MAX_RECORD_BYTES, ServerEvent, SseDecoder, SseError};
