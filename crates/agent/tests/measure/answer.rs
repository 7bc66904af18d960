//! Cost of an answer of 2 MB in 500 chunks, with and without loop detection: at most 50 ms for the
//! detection.
//!
//! `cargo bench -p pollux-agent --bench answer_cost` prints the best of ten for each kind
//! of text, and fails if loop detection costs more.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, missing_docs)]

use std::time::{Duration, Instant};

use pollux_scripted::{ScriptedReply, reply};

#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../suite/stage.rs"]
mod stage;

const BYTES: usize = 2_000_000;
const CHUNKS: usize = 500;
const ROUNDS: usize = 10;
const MOST: Duration = Duration::from_millis(50);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let new = |line| format!("Line {line:05} of the answer names the number {:09}.\n", line * 7919);
    let alike = |line| format!("Line {line} of a long text about nothing at all.\n");
    let listed = |line| format!("- entry {line} of a list, as it is written in an answer\n");
    let coded = |line| format!("    let value_{line} = read(&buffer[{line}..])?;\n");
    let mut worst = Duration::ZERO;
    for (name, text) in [
        ("new lines", text(new)),
        ("the same in one line", text(new).replace('\n', " ")),
        ("lines that end alike", text(alike)),
        ("a list", text(listed)),
        ("code", format!("```\n{}", text(coded))),
    ] {
        let (with, without) = (best(&text, true).await, best(&text, false).await);
        println!("{name:<22} {with:>7.1?} with, {without:>7.1?} without loop detection");
        worst = worst.max(with.saturating_sub(without));
    }
    assert!(worst <= MOST, "loop detection takes {worst:.1?}");
}

/// Returns a text of at least `BYTES` bytes.
fn text(line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= BYTES {
            break;
        }
        text += &line(number);
    }
    text
}

/// Returns the best time of several prompts with this answer.
async fn best(text: &str, loop_detection: bool) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let stage = stage::Stage { loop_detection, ..stage::Stage::with([streamed(text)]) };
        let talk = stage.start();
        let start = Instant::now();
        talk.done("go").await;
        best = best.min(start.elapsed());
        talk.close().await;
    }
    best
}

fn streamed(text: &str) -> ScriptedReply {
    let mut rest = text;
    let mut streamed = reply();
    while !rest.is_empty() {
        let (chunk, later) = rest.split_at(rest.floor_char_boundary(text.len() / CHUNKS).max(1));
        (streamed, rest) = (streamed.text(chunk), later);
    }
    streamed
}
