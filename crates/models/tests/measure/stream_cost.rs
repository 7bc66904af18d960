//! Measures how long it takes to read streamed answers of 2 MB: in the formats of Messages, Chat
//! Completions and Responses, and the same answer in that of the Gemini API.
//!
//! `cargo bench -p pollux-models --bench stream_cost` prints medians in milliseconds, and the time
//! for one chunk. It fails if a goal is missed by more than the noise of a measurement.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{FutureExt, StreamExt, stream};
use pollux_models::{
    decode_chat_stream, decode_chunk, decode_messages_stream, decode_responses_stream,
};
use pollux_net::EventStream;
use serde_json::{Value, json};

const ROUNDS: usize = 30;

/// Size of the text of an answer, in bytes.
const TEXT: usize = 2 * 1024 * 1024;

/// Size of the pieces in which a stream arrives, in bytes.
const PIECE: usize = 16 * 1024;

/// Goal for the time of one small chunk, in microseconds.
const CHUNK_GOAL: f64 = 5.0;

/// Goal for the time of an answer, in multiples of the time in the format of the Gemini API.
const RATIO_GOAL: f64 = 1.2;

/// Share of a goal by which one measurement may differ from another.
const NOISE: f64 = 0.15;

/// Size of the text of a small chunk, in bytes: about what a service sends.
const SMALL: usize = 24;

/// A dialect: its name, an answer in its format, and its decoder, which counts the chunks.
type Dialect = (&'static str, Vec<u8>, fn(Vec<Bytes>) -> usize);

fn main() -> ExitCode {
    let mut are_met = true;
    for piece in [SMALL, 1024] {
        let words: Vec<String> = (0..TEXT / piece).map(|_| "wörter ".repeat(piece / 8)).collect();
        println!("{} chunks of {piece} bytes", words.len());
        let dialects: [Dialect; 4] = [
            ("Gemini API", gemini(&words), decode_gemini),
            ("Messages", messages(&words), |pieces| decode_messages_stream(pieces).unwrap().len()),
            ("Chat Completions", chat(&words), |pieces| decode_chat_stream(pieces).unwrap().len()),
            ("Responses", responses(&words), |pieces| {
                decode_responses_stream(pieces).unwrap().len()
            }),
        ];
        let mut of_gemini = None;
        for (name, stream, decode) in dialects {
            let time = measured(&stream, decode);
            let of_gemini = *of_gemini.get_or_insert(time);
            are_met &= report(name, time, of_gemini, words.len(), piece);
        }
    }
    if are_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints the figures of a dialect. Returns false if it misses a goal.
fn report(dialect: &str, time: Duration, gemini: Duration, chunks: usize, piece: usize) -> bool {
    let milliseconds = time.as_secs_f64() * 1e3;
    let each = time.as_secs_f64() * 1e6 / chunks as f64;
    let ratio = time.as_secs_f64() / gemini.as_secs_f64();
    // Large chunks are for comparison: Responses repeats the whole text twice at its end, which
    // only counts if there is little else to read.
    let is_met = piece > SMALL
        || (each <= CHUNK_GOAL * (1.0 + NOISE) && ratio <= RATIO_GOAL * (1.0 + NOISE));
    let verdict = if is_met { "" } else { ", missed" };
    println!(
        "{dialect:>20}: {milliseconds:>8.2} ms, {each:>6.2} us a chunk, {ratio:.2} of Gemini's\
         {verdict}"
    );
    is_met
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

fn responses(words: &[String]) -> Vec<u8> {
    let start =
        json!({"type": "response.created", "response": {"id": "r", "status": "in_progress"}});
    let begin = json!({"type": "response.output_item.added", "output_index": 0,
        "item": {"type": "message", "id": "m", "role": "assistant", "content": []}});
    let deltas = words.iter().enumerate().map(|(number, text)| {
        json!({"type": "response.output_text.delta", "sequence_number": number, "item_id": "m",
            "output_index": 0, "content_index": 0, "delta": text, "logprobs": []})
    });
    let whole = words.concat();
    let item = json!({"type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": whole, "annotations": []}]});
    let end = [
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed",
            "output": [item], "usage": {"input_tokens": 9, "output_tokens": 9}}}),
    ];
    events([start, begin].into_iter().chain(deltas).chain(end))
}
