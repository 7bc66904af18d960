//! Server-sent events.
//!
//! The decoder is our own and not `sse-stream`, which is otherwise sound: Gemini's streams need
//! three things it does not have. An unfinished record at the end is an error, not the end; an
//! error object that arrives without `data:` must come through; and lines are bounded.

mod decoder;
mod raw_json;

pub use decoder::{MAX_RECORD_BYTES, ServerEvent, SseDecoder, SseError};
