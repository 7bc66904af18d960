//! Measures the time that each level of confinement adds to a command, with the audit of protected
//! files and its record: paired runs, the median difference in milliseconds.
//!
//! Usage: `cargo run -p pollux-shell --example confinement_overhead [HELPER [ROUNDS]]`. The helper
//! is a `pollux` binary, by default this program itself.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement for developers")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pollux_config::protected::ProtectedPlaces;
use pollux_protocol::ConfinementLevel;
use pollux_shell::sandbox::{RunningAudit, SandboxPlaces, SandboxSpec};
use pollux_shell::{ChildSpec, Confinement, Program, status_in_foreground};
use pollux_shell::{helper, set_helper};

fn main() -> std::process::ExitCode {
    if let Some(code) = helper() {
        return code;
    }
    let mut arguments = std::env::args().skip(1);
    if let Some(helper) = arguments.next() {
        set_helper(helper.into());
    }
    let rounds: usize = arguments.next().and_then(|rounds| rounds.parse().ok()).unwrap_or(200);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(measure(rounds));
    std::process::ExitCode::SUCCESS
}

async fn measure(rounds: usize) {
    let folder = std::env::current_dir().unwrap();
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let state = home.join(".gemini/pollux");
    let protected = ProtectedPlaces { homes: vec![home], ..ProtectedPlaces::default() };
    let places = SandboxPlaces::standard(&protected, vec![folder.clone()], state, "/tmp".into());
    let places = Arc::new(places);
    let spec = |level| {
        let path = PathBuf::from("/bin/true");
        let program = Program::File { path, arguments: Vec::new() };
        let mut child = ChildSpec::new(program, &folder, std::env::vars_os().collect());
        child.confinement = Confinement::of(SandboxSpec::new(level, Arc::clone(&places)));
        child
    };
    let time = async |level| {
        let child = spec(level);
        let start = Instant::now();
        let audit = match &child.confinement {
            Confinement::Level(spec) => RunningAudit::begin(spec).0,
            Confinement::None => None,
        };
        assert!(status_in_foreground(&child).await.unwrap().code == Some(0));
        drop(audit.map(RunningAudit::finish));
        start.elapsed().as_secs_f64() * 1000.0
    };
    for level in &ConfinementLevel::ALL[..3] {
        let mut differences = Vec::new();
        let mut bare = Vec::new();
        for _ in 0..rounds {
            let without = time(ConfinementLevel::None).await;
            differences.push(time(*level).await - without);
            bare.push(without);
        }
        differences.sort_by(f64::total_cmp);
        bare.sort_by(f64::total_cmp);
        println!(
            "{}: +{:.2} ms at the median, +{:.2} ms at the 95th percentile (none: {:.2} ms)",
            level.as_str(),
            differences[rounds / 2],
            differences[rounds * 95 / 100],
            bare[rounds / 2],
        );
    }
}
