//! Measures the cost of a hook beyond its process start, and the cost of fifty hooks at the start
//! of a run.
//!
//! `cargo bench -p pollux-hooks --bench cost` prints medians in microseconds.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::time::{Duration, Instant};

use pollux_config::{Layer, LayerKind};
use pollux_hooks::{HookOptions, Hooks, read, sample};
use pollux_protocol::{CancellationToken, HookEvent};
use serde_json::json;

const ROUNDS: usize = 300;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let hooks = hooks(1);
        let payload = sample(HookEvent::BeforeTool, "glob", json!({ "pattern": "*" }));
        let cancel = CancellationToken::new();
        let (mut bare, mut outcome) = (Vec::new(), Vec::new());
        // Both variants alternate, so that other load on the machine affects both equally.
        for _ in 0..ROUNDS {
            let started = Instant::now();
            tokio::process::Command::new("bash").args(["-c", "true"]).output().await.unwrap();
            bare.push(started.elapsed());
            let started = Instant::now();
            hooks.fire(&payload, &cancel).await;
            outcome.push(started.elapsed());
        }
        println!("bash -c true, by itself   {:>8} us", median(bare).as_micros());
        println!("the same as a hook        {:>8} us", median(outcome).as_micros());
    });
    let starts = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        std::hint::black_box(hooks(50));
        started.elapsed()
    });
    println!("50 hooks at the start     {:>8} us", median(starts.collect()).as_micros());
}

fn hooks(count: usize) -> Hooks {
    let definition = |number| {
        json!({ "matcher": format!("write_.*|tool{number}|glob"),
            "hooks": [{ "type": "command", "command": "true", "name": format!("hook {number}") }] })
    };
    let value =
        json!({ "hooks": { "BeforeTool": (0..count).map(definition).collect::<Vec<_>>() } });
    let layers = [Layer { kind: LayerKind::User, path: "/settings.json".into(), value }];
    Hooks::new(HookOptions {
        hooks: read(&layers).hooks,
        cwd: std::env::temp_dir(),
        environment: std::env::vars_os().collect(),
        ..HookOptions::default()
    })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
