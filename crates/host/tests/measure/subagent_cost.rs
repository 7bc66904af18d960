//! Cost of subagents: time and memory of one, and the time of ten side by side.
//!
//! `cargo bench -p pollux-host --bench subagent_cost` prints the figures, and fails if one subagent
//! takes more than 2 ms or 2 MB from its call to its result with a model that answers at once, or
//! if ten side by side take more than 10 % longer than one.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, missing_docs)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use pollux_protocol::SessionRequest;
use pollux_scripted::EventLog;
use pollux_testkit::{CapturedRequest, Endpoint, ModelReply, reply};
use serde_json::json;

#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../suite/stage.rs"]
mod stage;

use stage::Stage;

const ROUNDS: usize = 5;
/// Number of subagents whose cost is measured together.
const MANY: usize = 40;
/// Time in which the model answers, where the time of the work is compared.
const WORK: Duration = Duration::from_millis(500);
const MOST_TIME: Duration = Duration::from_millis(2);
const MOST_BYTES: u64 = 2 << 20;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (mut one, mut many) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        one = one.min(run(1, Duration::ZERO).await);
    }
    let before = peak();
    for _ in 0..ROUNDS {
        many = many.min(run(MANY, Duration::ZERO).await);
    }
    let others = u32::try_from(MANY - 1).unwrap();
    let each = many.saturating_sub(one) / others;
    let bytes = (peak() - before) / u64::from(others);
    println!("one subagent      {each:>8.2?} {bytes:>9} bytes");
    let (alone, ten) = (run(1, WORK).await, run(10, WORK).await);
    println!("one with work     {alone:>8.1?}");
    println!("ten side by side  {ten:>8.1?}");
    assert!(bytes <= MOST_BYTES, "one subagent takes {bytes} bytes");
    assert!(ten <= alone.mul_f64(1.1), "ten take {ten:.1?}, one takes {alone:.1?}");
    assert!(cfg!(debug_assertions) || each <= MOST_TIME, "one subagent takes {each:.2?}");
}

/// Runs a prompt with this number of subagents side by side, whose model answers after `work`.
async fn run(count: usize, work: Duration) -> Duration {
    let stage = Stage::new();
    let definition = "---\nname: worker\ndescription: Works\n---\nYou are worker.\n";
    stage.home.user_file("agents/worker.md", definition);
    stage.server.answer_with(Endpoint::StreamGenerateContent, move |request| {
        answer(request, count).delay_before(if is_worker(request) { work } else { Duration::ZERO })
    });
    let settings = json!({"model": {"name": "gemini-2.5-pro"}});
    let folder = stage.folder("work", &settings, ("GEMINI.md", "x"));
    let talk = stage.open(SessionRequest::new(folder), &Arc::<EventLog>::default()).await;
    let started = Instant::now();
    talk.prompt("p", "go");
    talk.log.ended("p").await;
    let elapsed = started.elapsed();
    talk.session.close().await;
    elapsed
}

fn is_worker(request: &CapturedRequest) -> bool {
    request.body["systemInstruction"].to_string().contains("You are worker.")
}

fn answer(request: &CapturedRequest, count: usize) -> ModelReply {
    if is_worker(request) {
        return reply().call("complete_task", json!({"result": "done"}));
    }
    if request.contents().len() > 1 {
        return reply().text("Done.");
    }
    let arguments = json!({"agent_name": "worker", "prompt": "work"});
    (0..count).fold(reply(), |reply, _| reply.call("invoke_agent", arguments.clone()))
}

/// Returns the largest memory of the process so far, in bytes; 0 where it is not known.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() << 10
}
