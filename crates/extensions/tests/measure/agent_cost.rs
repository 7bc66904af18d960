//! Measures the time that definitions of subagents add to the start of a session.
//!
//! `cargo bench -p pollux-extensions --bench agent_cost` prints medians in microseconds, and fails
//! if 50 agents of the user take more than 5 ms.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, missing_docs)]

use std::path::Path;
use std::time::{Duration, Instant};

use pollux_extensions::agents::{AgentFolder, AgentOwner, AgentSet};

const ROUNDS: usize = 200;
const MOST: Duration = Duration::from_millis(5);

fn main() {
    for count in [0, 50] {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..count {
            let text = format!(
                "---\nname: agent{number:03}\ndescription: Works on tasks of one kind, with what it needs.\ntools: [read_file, glob, mcp_server_*]\nmax_turns: 15\n---\n{}",
                "x".repeat(4000)
            );
            std::fs::write(folder.path().join(format!("{number}.md")), text).unwrap();
        }
        let median = median(folder.path(), count);
        println!("{count:>3} agents {:>8} us", median.as_micros());
        assert!(cfg!(debug_assertions) || median <= MOST, "{count} agents take {median:.2?}");
    }
}

fn median(folder: &Path, count: usize) -> Duration {
    let once = || {
        let started = Instant::now();
        let mut set = AgentSet::built_in();
        set.add_folder(&AgentFolder {
            folder,
            owner: AgentOwner::User,
            variables: None,
            within: None,
            is_tool: &|_| true,
            refuse: &|_, _| None,
        });
        assert_eq!(set.enabled().count(), count + 3);
        started.elapsed()
    };
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| once()).collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}
