//! Measures the time that skills add to the start of a session.
//!
//! `cargo bench -p pollux-extensions --bench skill_cost` prints medians in microseconds.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::time::{Duration, Instant};

use pollux_extensions::ExtensionSet;
use pollux_extensions::skills::{SkillPlaces, SkillSet};

const ROUNDS: usize = 200;
/// Size of a body that is not read, in bytes.
const BODY: usize = 20_000;

fn main() {
    for count in [0, 50, 200] {
        let home = tempfile::tempdir().unwrap();
        for number in 0..count {
            let folder = home.path().join(format!(".gemini/skills/skill{number:03}"));
            std::fs::create_dir_all(folder.join("scripts")).unwrap();
            std::fs::write(folder.join("scripts/run.sh"), "true").unwrap();
            let text = format!(
                "---\nname: skill{number:03}\ndescription: Instructions for work of one kind, with what it needs.\nlicense: MIT\n---\n{}",
                "x".repeat(BODY)
            );
            std::fs::write(folder.join("SKILL.md"), text).unwrap();
        }
        println!("{count:>3} skills {:>8} us", median(home.path(), count).as_micros());
    }
}

fn median(home: &Path, count: usize) -> Duration {
    let once = || {
        let started = Instant::now();
        let set = SkillSet::find(SkillPlaces {
            extensions: &ExtensionSet::default(),
            home,
            project: None,
            refuse: &|_| None,
        });
        assert_eq!(set.enabled().count(), count);
        started.elapsed()
    };
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| once()).collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}
