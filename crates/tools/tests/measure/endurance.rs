//! Memory growth during ten thousand consecutive calls. Only variations of the allocator are
//! allowed.
//!
//! `cargo bench -p pollux-tools --bench endurance` prints the memory after each thousand
//! calls, and fails if it grows from the first half to the second. The conversation is not
//! measured: calls are prepared and run as the agent does, and their results are dropped.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt as _;
use pollux_fs::Workspace;
use pollux_protocol::{CallId, CancellationToken, RunContext, Tool};
use pollux_scripted::ScriptedModels;
use pollux_tools::{ToolContext, builtin};
use serde_json::{Value, json};

const CALLS: usize = 10_000;
/// Variation in bytes that the allocator can cause.
const PLAY: u64 = 1 << 20;

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&root).unwrap();
    for number in 0..50 {
        let lines: String = (0..200).map(|line| line.to_string() + " words\n").collect();
        std::fs::write(root.join(format!("{number}.txt")), lines).unwrap();
    }
    let workspace = Workspace::new(root, folder.path().join("temporary"));
    let mut context = ToolContext::new(workspace, folder.path().join("outputs"));
    context.environment = std::env::vars_os().collect();
    let tools = builtin(&Arc::new(context));
    let started = Instant::now();
    let mut halves = [0, 0];
    for number in 1..=CALLS {
        let (name, args) = call(number);
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap();
        run(tool.as_ref(), &args).await;
        if number % (CALLS / 10) == 0 {
            let memory = resident();
            println!("{number:>6} calls: {:>6} kB", memory / 1024);
            let half = &mut halves[usize::from(number > CALLS / 2)];
            *half = memory.max(*half);
        }
    }
    println!("{:.2} ms a call", started.elapsed().as_secs_f64() * 1000.0 / CALLS as f64);
    let [first, second] = halves;
    assert!(second <= first + PLAY, "memory grew from {first} to {second} bytes");
}

/// Returns the call with this number. The calls alternate between the file tools and the shell.
fn call(number: usize) -> (&'static str, Value) {
    let file = format!("{}.txt", number % 50);
    match number % 7 {
        0 => ("list_directory", json!({"dir_path": "."})),
        1 => ("read_file", json!({"file_path": file})),
        2 => ("glob", json!({"pattern": format!("*{}.txt", number % 10)})),
        3 => ("grep_search", json!({"pattern": format!("^{} words", number % 200)})),
        4 => ("write_file", json!({"file_path": "new.txt", "content": format!("{number}\n")})),
        5 => ("read_many_files", json!({"include": [file]})),
        _ => ("run_shell_command", json!({"command": format!("echo {number}")})),
    }
}

async fn run(tool: &dyn Tool, args: &Value) {
    let invocation = tool.prepare(args.as_object().unwrap()).unwrap();
    let context = RunContext {
        call_id: CallId::new("call__1"),
        prompt_id: "prompt".to_owned(),
        cancel: CancellationToken::new(),
        output: Arc::new(|_| {}),
        input: futures::stream::pending().boxed(),
        room: None,
        confinement: pollux_protocol::CallConfinement::default(),
        models: Arc::new(ScriptedModels::default()),
    };
    let output = invocation.run(context).await;
    assert_eq!(output.error, None, "{} {args}", tool.name());
}

/// Returns the resident memory of this process in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
