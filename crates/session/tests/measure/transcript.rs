//! Measures how long a transcript of a large session takes to read, and how much memory it needs.
//!
//! `cargo bench -p pollux-session --bench transcript_cost`

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::time::Instant;

use pollux_protocol::{TranscriptFrom, TranscriptPage};
use pollux_session::Transcript;
use serde_json::json;

/// Size of the session file.
const BYTES: usize = 100 << 20;
/// Number of messages of one page.
const COUNT: usize = 20;

/// Writes a file of turns with a prompt, a call with an output of 10 kB, and the result.
fn write(file: &File) {
    let mut file = BufWriter::new(file);
    let mut written = 0;
    let mut line = |value: serde_json::Value| {
        let line = format!("{value}\n");
        file.write_all(line.as_bytes()).unwrap();
        written += line.len();
        written < BYTES
    };
    line(json!({"sessionId": "s", "projectHash": "h", "kind": "main"}));
    let output = "a line of output\n".repeat(600);
    let mut turn = 0;
    loop {
        turn += 1;
        let (user, id) = (format!("u{turn}"), format!("m{turn}"));
        line(json!({"id": user, "type": "user", "content": [{"text": "Go on."}]}));
        let call = |status: &str, output: &str| {
            json!({"id": id, "type": "gemini", "content": "I look.", "toolCalls": [{
                "id": format!("c{turn}"), "name": "run_shell_command", "args": {}, "status": status,
                "result": [{"functionResponse": {
                    "id": format!("c{turn}"), "name": "run_shell_command", "response": {"output": output},
                }}], "resultDisplay": output, "description": "make",
            }]})
        };
        line(call("scheduled", ""));
        if !line(call("success", &output)) {
            break;
        }
    }
    file.flush().unwrap();
}

/// Returns the peak of the resident memory in kB; 0 where the system does not report it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

fn main() {
    let mut file = tempfile::tempfile().unwrap();
    write(&file);
    let (before, mut transcript) = (peak(), Transcript::default());
    let mut page = |name: &str, from: TranscriptFrom| -> TranscriptPage {
        let begin = Instant::now();
        let page = transcript.page(&mut file, from, COUNT).unwrap();
        let memory = peak() - before;
        println!(
            "{name}: {} items, {:?}, {memory} kB more memory",
            page.items.len(),
            begin.elapsed()
        );
        page
    };
    let last = page("last page (scans 100 MiB)", TranscriptFrom::End);
    let older = page("page before it", TranscriptFrom::Before(last.before.unwrap()));
    page("page after that", TranscriptFrom::After(older.after.unwrap()));
    page("first page", TranscriptFrom::Start);
}
