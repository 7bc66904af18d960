//! Cost of compressing a conversation of 1,000,000 tokens, without the calls of the model: at most
//! 50 ms.
//!
//! `cargo bench -p pollux-agent --bench compression_cost` prints the time of each step,
//! the best of ten, and fails if all steps together take longer.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollux_agent::Toolset;
use pollux_agent::compression::{
    ActionLedger, ActionSource, CompressionSnapshot, Kept, RESPONSE_TOKENS, Todos, UserMessages,
    over_budget, split_point, split_point_within,
};
use pollux_fs::Workspace;
use pollux_protocol::{
    Compression, Content, Effects, EntryId, FunctionCall, History, Part, Summary, estimate,
};
use pollux_scripted::FakeTool;
use serde_json::json;

const TOKENS: usize = 1_000_000;
const ROUNDS: usize = 10;
const MOST: Duration = Duration::from_millis(50);

fn main() {
    let history = conversation();
    let contents: Vec<&Content> = history.entries().iter().map(|entry| entry.content()).collect();
    let tokens = || -> f64 { contents.iter().copied().map(estimate::content).sum() };
    println!("{} entries, {:.0} tokens", contents.len(), tokens());
    let cut = || {
        let weigh = |content: &&'_ Content| estimate::json_length(content);
        let weighed: Vec<(&Content, usize)> =
            contents.iter().map(|content| (*content, weigh(content))).collect();
        split_point(&weighed).max(split_point_within(&weighed))
    };
    let point = cut();
    let gone = &contents[..point];
    let toolset = Toolset::new(vec![Arc::new(FakeTool::new("read_file"))]);
    let workspace = Workspace::new("/p".into(), "/none".into());
    let effects_of = |call: &FunctionCall| history.effects_of(&call.id).map(Cow::Borrowed);
    let source = ActionSource { effects_of: &effects_of, workspace: &workspace };
    let kept = || Kept {
        ledger: ActionLedger::in_contents(gone.iter().copied(), &source),
        todos: Todos::in_contents(contents.iter().copied(), &toolset),
        said: UserMessages::in_contents(gone.iter().copied()).within(20_000.0),
        plan: None,
    };
    let id = |place: usize| history.entries()[place].id().clone();
    let compression = |words: String| Compression {
        id: EntryId::new("summary"),
        summary: Some(Summary { words, from: id(0), through: id(point - 1), acknowledged: true }),
        shortened: Vec::new(),
        tokens: None,
    };
    let words =
        || CompressionSnapshot::read("<state_snapshot>x</state_snapshot>").unwrap().render(&kept());
    let reported = words();
    let fold = || {
        let mut next = history.clone();
        assert!(next.compress(&compression(reported.clone())));
    };
    let all = [
        // The length before compression, the length for the summarising model, and the length
        // after.
        measured("three estimates", || (0..3).map(|_| tokens()).sum::<f64>()),
        measured("the cut", cut),
        measured("what is kept", || words().len()),
        measured("results that stay", || over_budget(&contents[point..], RESPONSE_TOKENS).len()),
        measured("the new conversation", fold),
    ];
    let sum: Duration = all.iter().sum();
    println!("together: {sum:.1?}");
    assert!(sum <= MOST, "more than {MOST:?}");
}

/// Returns the best time of several rounds.
fn measured<T>(name: &str, work: impl Fn() -> T) -> Duration {
    let round = |_| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed()
    };
    let best = (0..ROUNDS).map(round).min().unwrap_or_default();
    println!("{name}: {best:.1?}");
    best
}

/// Returns prompts, calls and results with the number of tokens in `TOKENS`.
fn conversation() -> History {
    let mut history = History::new();
    let words = "some words of a file that was read\n".repeat(200);
    for number in 0..TOKENS / (words.len() / 4 + 100) {
        let id = |kind: &str| EntryId::new(format!("{kind}{number}"));
        let call = format!("c{number}");
        history.push_user(id("u"), vec![Part::text(format!("Go on with part {number}."))]);
        let args = json!({"file_path": format!("{number}.rs")});
        history.push_model(id("m"), vec![Part::call(&call, "read_file", args)]);
        history.note_effects(&call, Effects::read(format!("/p/{number}.rs")));
        history.push_responses(id("r"), vec![Part::output(&call, "read_file", words.as_str())]);
        history.push_model(id("n"), vec![Part::text("It is read. ".repeat(30))]);
    }
    history
}
