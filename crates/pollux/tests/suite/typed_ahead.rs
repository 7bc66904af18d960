//! Keys that are pressed while the program starts, before line mode has changed the modes of the
//! terminal.
//!
//! Every start has a seed, which the output of a failed test names. `POLLUX_STARTS` sets the number
//! of starts, and `POLLUX_STARTS_SEED` the first seed.

use std::time::{Duration, Instant};

use pollux_testkit::reply;

use super::line::Talk;
use super::stage::{Stage, texts};

/// Number of programs that run at the same time.
const PARALLEL: u64 = 4;
const SOON: Duration = Duration::from_mins(1);

/// Pieces of input that print the help and end the program. There is a pause before each of them.
const INPUTS: [&[&str]; 5] = [
    &["/help\r/quit\r"],
    &["/help\r", "/quit\r"],
    &["/he", "lp\r/quit\r"],
    // Ctrl-D in place of a command.
    &["/help\r", "\u{4}"],
    // Lines that `script` copies from a pipe, and the end of the pipe.
    &["/help\n/quit\n\u{4}"],
];

/// Generator of pauses (SplitMix64).
struct Pauses(u64);

impl Pauses {
    fn next(&mut self, limit: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        limit.mul_f64((mixed >> 32) as f64 / f64::from(u32::MAX))
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Starts the program, types the input of a seed, and waits for the end. No pause is longer than
/// the limit.
#[expect(clippy::print_stdout, reason = "the output of a failed test names the seed")]
fn start(stage: &Stage, seed: u64, limit: Duration) {
    let mut pauses = Pauses(seed);
    let mut terminal = stage.pollux(&[]).in_terminal(80, 100);
    let input = INPUTS[usize::try_from(seed).unwrap() % INPUTS.len()];
    for piece in input {
        std::thread::sleep(pauses.next(limit));
        terminal.send(piece);
    }
    println!("seed {seed}, limit {limit:?}");
    let code = terminal.wait_exit(SOON).exit_code();
    let screen = terminal.screen();
    assert_eq!(code, 0, "seed {seed}, {input:?}:\n{screen}");
    assert!(screen.contains("end the program"), "seed {seed}, {input:?}:\n{screen}");
}

#[test]
fn lines_typed_ahead_are_sent() {
    let count = number("POLLUX_STARTS").unwrap_or(200);
    let first = number("POLLUX_STARTS_SEED").unwrap_or(1);
    std::thread::scope(|scope| {
        for lane in 0..PARALLEL {
            scope.spawn(move || {
                let stage = Stage::new();
                // Pauses that are as long as a whole run end before, during or after the start.
                let began = Instant::now();
                start(&stage, 0, Duration::ZERO);
                let limit = began.elapsed();
                for seed in (first..first + count).filter(|seed| seed % PARALLEL == lane) {
                    start(&stage, seed, limit);
                }
            });
        }
    });
}

#[test]
fn lines_typed_during_the_external_editor_are_sent() {
    let stage = Stage::with([reply().text("One."), reply().text("Two.")]);
    let script =
        "#!/bin/sh\necho edited > \"$1\"\necho ready\nwhile ! [ -e typed ]; do sleep 0.05; done\n";
    stage.home.project_file("editor.sh", script);
    let editor = format!("sh {}", stage.home.project().join("editor.sh").display());
    let talk = Talk::start(stage, |program| program.env("VISUAL", editor));
    talk.terminal.send("first\u{7}");
    talk.wait_for_text("\nready");
    talk.terminal.send("\rsecond\rthi");
    talk.stage.home.project_file("typed", "");
    talk.wait_for_text("Two.");
    talk.terminal.send("rd\u{15}");
    talk.wait_for_prompt();
    let prompts = talk.stage.requests();
    let prompts: Vec<_> = prompts.iter().map(|sent| sent.contents().last().cloned()).collect();
    let prompts: Vec<_> = prompts.iter().flatten().map(|sent| texts(sent).join("|")).collect();
    assert!(prompts[0].ends_with("edited") && prompts[1].ends_with("second"), "{prompts:?}");
    talk.end();
}
