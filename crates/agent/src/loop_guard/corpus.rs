//! Test of recorded loops, which must be stopped in time, and of recorded normal work, which must
//! not be stopped.
//!
//! A case is a line of JSON in `corpus/`: a `name`, and either `turns` or `text`, both lists of
//! pieces. A piece is repeated `times` times, counted from 0. In a piece, `{n}` stands for the
//! count and `{n%7}` for its remainder. A turn has `calls`: `[tool, arguments, output]`, with an
//! exclamation mark before the tool if the call fails. A loop has `by`: the turn or the character
//! by which it must be detected.

use std::time::Duration;

use pollux_protocol::{Call, CallId, CallStatus, FinishedCall, Part};
use serde_json::{Value, json};

use super::{CallTrail, Chant};

const LOOPS: &str = include_str!("../../corpus/loops.jsonl");
const HONEST: &str = include_str!("../../corpus/honest.jsonl");

struct Case {
    name: String,
    by: Option<usize>,
    turns: Vec<Value>,
    text: Vec<Value>,
}

impl Case {
    fn read(line: &str) -> Self {
        let case: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let list = |key: &str| case.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        Self {
            name: case["name"].as_str().expect("a name").to_owned(),
            by: case.get("by").map(|by| by.as_u64().expect("a number") as usize),
            turns: list("turns"),
            text: list("text"),
        }
    }
}

/// Returns the number of repetitions of a piece.
fn times(piece: &Value) -> usize {
    piece.get("times").map_or(1, |times| times.as_u64().expect("a number") as usize)
}

/// Returns the text with the placeholders replaced by counts.
fn counted(text: &str, count: usize) -> String {
    let mut parts = text.split("{n");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (rule, rest) = part.split_once('}').expect("a count is closed");
        let number = match rule.strip_prefix('%') {
            Some(divisor) => count % divisor.parse::<usize>().expect("a number"),
            None => count,
        };
        filled += &number.to_string();
        filled += rest;
    }
    filled
}

fn call(one: &Value, turn: usize) -> FinishedCall {
    let (tool, args) = (one[0].as_str().expect("a tool"), &one[1]);
    let output = one[2].as_str().expect("an output");
    let (name, status) = match tool.strip_prefix('!') {
        Some(name) => (name, CallStatus::Error),
        None => (tool, CallStatus::Success),
    };
    let args: Value = serde_json::from_str(&counted(&args.to_string(), turn)).expect("JSON");
    let id = format!("{name}__{turn}");
    let response = vec![Part::response(&id, name, json!({ "output": counted(output, turn) }))];
    let call = Call { id: CallId::new(id), name: name.to_owned(), args, prompt_id: String::new() };
    FinishedCall {
        call,
        status,
        response,
        display: None,
        error: None,
        duration: Duration::ZERO,
        decision: None,
    }
}

/// Returns the turn, counted from 1, at which a loop is detected.
fn turn_of(pieces: &[Value]) -> Option<usize> {
    let mut trail = CallTrail::default();
    let turns = pieces.iter().flat_map(|piece| {
        let calls = piece["calls"].as_array().expect("calls");
        (0..times(piece))
            .map(move |turn| calls.iter().map(|one| call(one, turn)).collect::<Vec<_>>())
    });
    turns.enumerate().find_map(|(place, calls)| trail.turn(&calls).map(|_| place + 1))
}

/// Returns the character, counted from 1, at which a loop is detected. The answer streams in chunks
/// of seven characters.
fn character_of(pieces: &[Value]) -> Option<usize> {
    let mut chant = Chant::default();
    let said = pieces.iter().flat_map(|piece| {
        let say = piece["say"].as_str().expect("words");
        (0..times(piece)).map(move |count| counted(say, count))
    });
    let letters: Vec<char> = said.collect::<String>().chars().collect();
    let mut heard = 0;
    letters.chunks(7).find_map(|piece| {
        heard += piece.len();
        chant.hear(&piece.iter().collect::<String>()).map(|_| heard)
    })
}

fn cases(text: &str) -> Vec<Case> {
    text.lines().filter(|line| !line.is_empty()).map(Case::read).collect()
}

fn seen(case: &Case) -> Option<usize> {
    assert!(case.turns.is_empty() != case.text.is_empty(), "{}", case.name);
    turn_of(&case.turns).or_else(|| character_of(&case.text))
}

#[test]
fn recorded_loops_stop_and_recorded_work_does_not() {
    let (loops, honest) = (cases(LOOPS), cases(HONEST));
    let late = |case: &&Case| seen(case).is_none_or(|at| at > case.by.expect("a loop has a limit"));
    let missed: Vec<String> = loops
        .iter()
        .filter(late)
        .map(|case| format!("{}: {:?}, not by {:?}", case.name, seen(case), case.by))
        .collect();
    let stopped: Vec<String> = honest
        .iter()
        .filter_map(|case| seen(case).map(|at| format!("{}: at {at}", case.name)))
        .collect();
    println!(
        "{} of {} loops stopped in time; {} of {} honest runs went on",
        loops.len() - missed.len(),
        loops.len(),
        honest.len() - stopped.len(),
        honest.len()
    );
    assert!(loops.len() >= 40 && honest.len() >= 40);
    assert!(missed.is_empty() && stopped.is_empty(), "missed {missed:#?}, stopped {stopped:#?}");
}
