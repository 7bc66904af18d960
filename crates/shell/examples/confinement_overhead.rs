//! Measures the time that each level of confinement adds to a command, with the audit of protected
//! files and its record: paired runs, the median difference in milliseconds. Also measures the
//! audit alone, with and without its record.
//!
//! Usage: `cargo run -p pollux-shell --example confinement_overhead [HELPER [ROUNDS]]`. The helper
//! is a `pollux` binary, by default this program itself.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement for developers")]

use std::path::{Path, PathBuf};
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
    let places = places(&home, &folder, state);
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
    measure_audit(rounds, &home, &folder);
}

fn places(home: &Path, folder: &Path, state: PathBuf) -> Arc<SandboxPlaces> {
    let homes = vec![home.to_owned()];
    let protected = ProtectedPlaces { homes, ..ProtectedPlaces::default() };
    let places = SandboxPlaces::standard(&protected, vec![folder.to_owned()], state, "/tmp".into());
    Arc::new(places)
}

/// Measures an audit without a command.
fn measure_audit(rounds: usize, home: &Path, folder: &Path) {
    let states = tempfile::tempdir().unwrap();
    let (with, without) = (states.path().join("with"), states.path().join("without"));
    // A file in the place of the folder of the records: none can be written.
    std::fs::create_dir_all(without.join("sandbox")).unwrap();
    std::fs::write(without.join("sandbox/running"), "").unwrap();
    let spec = |state| SandboxSpec::new(ConfinementLevel::Protect, places(home, folder, state));
    let (with, without) = (spec(with), spec(without));
    let time = |spec: &SandboxSpec| {
        let start = Instant::now();
        drop(RunningAudit::begin(spec).0.map(RunningAudit::finish));
        start.elapsed().as_secs_f64() * 1000.0
    };
    let (mut records, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let audit = time(&without);
        records.push(time(&with) - audit);
        bare.push(audit);
    }
    records.sort_by(f64::total_cmp);
    bare.sort_by(f64::total_cmp);
    println!(
        "audit at protect: {:.2} ms at the median; its record: +{:.2} ms",
        bare[rounds / 2],
        records[rounds / 2],
    );
}
