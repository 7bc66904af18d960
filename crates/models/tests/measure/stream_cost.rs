//! Measures how long it takes to read streamed answers of 2 MB: in Anthropic's format, in that of
//! Chat Completions, and the same answer in that of the Gemini API.
//!
//! `cargo bench -p pollux-models --bench stream_cost` prints medians in milliseconds, and the time
//! for one chunk.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{FutureExt, StreamExt, stream};
use pollux_models::{decode_chat_stream, decode_chunk, decode_messages_stream};
use pollux_net::EventStream;
use serde_json::{Value, json};

const ROUNDS: usize = 30;

/// Size of the text of an answer, in bytes.
const TEXT: usize = 2 * 1024 * 1024;

/// Size of the pieces in which a stream arrives, in bytes.
const PIECE: usize = 16 * 1024;

fn main() {
    for piece in [24, 1024] {
        let words: Vec<String> = (0..TEXT / piece).map(|_| "wörter ".repeat(piece / 8)).collect();
        let chunks = words.len();
        let gemini = measured(&gemini(&words), decode_gemini);
        println!("{chunks} chunks of {piece} bytes");
        report("Gemini API", gemini, gemini, chunks);
        report("Messages", measured(&messages(&words), decode_messages), gemini, chunks);
        report("Chat Completions", measured(&chat(&words), decode_chat), gemini, chunks);
    }
}

fn report(dialect: &str, time: Duration, gemini: Duration, chunks: usize) {
    let milliseconds = time.as_secs_f64() * 1e3;
    let each = time.as_secs_f64() * 1e6 / chunks as f64;
    let ratio = time.as_secs_f64() / gemini.as_secs_f64();
    println!(
        "{dialect:>20}: {milliseconds:>8.2} ms, {each:>6.2} us a chunk, {ratio:.2} of Gemini's"
    );
}

fn measured(stream: &[u8], decode: fn(Vec<Bytes>) -> usize) -> Duration {
    let pieces: Vec<Bytes> = stream.chunks(PIECE).map(Bytes::copy_from_slice).collect();
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let pieces = pieces.clone();
            let begun = Instant::now();
            black_box(decode(pieces));
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn decode_messages(pieces: Vec<Bytes>) -> usize {
    decode_messages_stream(pieces).unwrap().len()
}

fn decode_chat(pieces: Vec<Bytes>) -> usize {
    decode_chat_stream(pieces).unwrap().len()
}

fn decode_gemini(pieces: Vec<Bytes>) -> usize {
    let events = EventStream::new(stream::iter(pieces.into_iter().map(Ok)));
    let chunks = events.map(|event| decode_chunk(event.unwrap().data.as_bytes()).unwrap());
    chunks.collect::<Vec<_>>().now_or_never().unwrap().len()
}

fn events(payloads: impl Iterator<Item = Value>) -> Vec<u8> {
    let event = |payload: Value| match payload["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {payload}\n\n").into_bytes(),
        None => format!("data: {payload}\n\n").into_bytes(),
    };
    payloads.flat_map(event).collect()
}

fn gemini(words: &[String]) -> Vec<u8> {
    events(words.iter().map(|text| {
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}],
            "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9},
            "modelVersion": "gemini-2.5-pro", "responseId": "x"})
    }))
}

fn messages(words: &[String]) -> Vec<u8> {
    let start = json!({"type": "message_start", "message": {"id": "msg_1", "model": "claude",
        "content": [], "usage": {"input_tokens": 9, "output_tokens": 1}}});
    let begin = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "text", "text": ""}});
    let deltas = words.iter().map(|text| {
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}})
    });
    let end = [
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ];
    events([start, begin].into_iter().chain(deltas).chain(end))
}

fn chat(words: &[String]) -> Vec<u8> {
    let chunk = |delta: Value, reason: Option<&str>| {
        json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    let deltas = words.iter().map(|text| chunk(json!({ "content": text }), None));
    events(deltas.chain([chunk(json!({}), Some("stop"))]))
}
