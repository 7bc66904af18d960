use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pollux_protocol::{Call, CallId, CallStatus, Content, FinishedCall, HistoryEntry, Part, Role};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn finished(name: &str, args: Value, output: &str) -> FinishedCall {
    ended(name, args, output, CallStatus::Success)
}

fn ended(name: &str, args: Value, output: &str, status: CallStatus) -> FinishedCall {
    // As in a session, equal calls have different ids.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let id = format!("{name}__{}", CALLS.fetch_add(1, Ordering::Relaxed));
    let response = vec![Part::response(&id, name, json!({ "output": output }))];
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

/// Returns the call, counted from 1, after which a loop is detected. Each call is a turn.
fn seen_at(calls: impl IntoIterator<Item = FinishedCall>) -> Option<usize> {
    let mut trail = CallTrail::default();
    calls.into_iter().position(|call| trail.turn([&call]).is_some()).map(|place| place + 1)
}

fn read(path: &str) -> FinishedCall {
    finished("read_file", json!({ "file_path": path }), path)
}

#[test]
fn loops_of_calls_stop() {
    let same = (0..20).map(|_| read("a"));
    assert_eq!(seen_at(same), Some(5));
    let pairs = (0..40).map(|turn| read(if turn % 2 == 0 { "a" } else { "b" }));
    assert_eq!(seen_at(pairs), Some(10));
    let rounds_of_five = (0..60).map(|turn| read(["a", "b", "c", "d", "e"][turn % 5]));
    assert_eq!(seen_at(rounds_of_five), Some(25));
    let after_work = (0..30).map(|turn| read(&format!("{}", turn.min(12))));
    assert_eq!(seen_at(after_work), Some(17));
    let failing = (0..20).map(|turn| {
        ended("replace", json!({ "old_string": turn.to_string() }), "not found", CallStatus::Error)
    });
    assert_eq!(seen_at(failing), Some(10));
}

#[test]
fn honest_bulk_work_goes_on() {
    let moves = (0..200).map(|file| {
        finished("run_shell_command", json!({ "command": format!("mv {file} old/") }), "(empty)")
    });
    assert_eq!(seen_at(moves), None);
    let pages = (0..200)
        .map(|page| finished("read_file", json!({ "file_path": "a", "start_line": page }), "x"));
    assert_eq!(seen_at(pages), None);
    let polls = (0..200).map(|done| {
        finished("read_background_output", json!({ "pid": 7 }), &format!("{done} of 200"))
    });
    assert_eq!(seen_at(polls), None);
    let edit_and_test = (0..100).map(|step| match step % 2 {
        0 => finished("replace", json!({ "new_string": step.to_string() }), "done"),
        _ => finished("run_shell_command", json!({ "command": "make test" }), "1 failed"),
    });
    assert_eq!(seen_at(edit_and_test), None);
    let mostly_failing = (0..100).map(|turn| {
        let status = if turn % 9 == 0 { CallStatus::Success } else { CallStatus::Error };
        ended("run_shell_command", json!({ "command": turn.to_string() }), "x", status)
    });
    assert_eq!(seen_at(mostly_failing), None);
}

#[test]
fn many_failures_at_once_are_one_turn() {
    let calls: Vec<_> = (0..30)
        .map(|path| {
            ended("read_file", json!({ "file_path": path }), "no such file", CallStatus::Error)
        })
        .collect();
    assert_eq!(CallTrail::default().turn(&calls), None);
}

#[test]
fn the_finding_names_the_calls() {
    let mut trail = CallTrail::default();
    let found: Vec<Finding> =
        (0..10).filter_map(|turn| trail.turn([&read(["a", "b"][turn % 2])])).collect();
    assert_eq!(
        found[0].details,
        "The same calls (read_file, read_file) were made 5 times in turn with the same results."
    );
}

/// Returns the character at which the answer is cut off. The answer streams in chunks of `size`
/// characters.
fn cut_at(text: &str, size: usize) -> Option<usize> {
    let mut chant = Chant::default();
    let letters: Vec<char> = text.chars().collect();
    let mut heard = 0;
    for piece in letters.chunks(size) {
        heard += piece.len();
        if chant.hear(&piece.iter().collect::<String>()).is_some() {
            return Some(heard);
        }
    }
    None
}

#[test]
fn chants_are_cut_off_early() {
    for chant in [
        "I will now read the file and then I will fix the bug in it. ",
        "Ja, ja. ",
        "次にファイルを読みます。そして問題を直します。",
        "I am done. Let me check once more whether everything is as it should be, since it is better to be safe.\n\n",
        "😀😀 la la la\n",
    ] {
        let text = format!(
            "First some words that are said once.\n{}",
            chant.repeat(2000 / chant.len() * 3)
        );
        for size in [1, 7, 500] {
            let cut = cut_at(&text, size).unwrap_or_else(|| panic!("{chant:?} went on"));
            let most = 37 + 10 * (chant.chars().count() + 50) + size;
            assert!(cut <= most, "{chant:?} was cut at {cut}, not by {most}");
        }
    }
    let two_in_turn = "Let me look at the tests before anything else happens here. Wait, the code has to be seen first, of course. ";
    assert!(cut_at(&two_in_turn.repeat(20), 5).is_some());
}

#[test]
fn what_repeats_itself_honestly_goes_on() {
    let table = format!(
        "| name | value |\n|---|---|\n{}",
        "| the same row again and again, for whatever reason | 1 |\n".repeat(100)
    );
    let list =
        "- [ ] the same entry of a list, which somebody asked for in so many words\n".repeat(100);
    let numbered =
        "1. the same entry of a list, which somebody asked for in so many words\n".repeat(100);
    let code = format!(
        "```c\n{}```\n",
        "    assert(read_next(&stream, &buffer, sizeof buffer) == 0);\n".repeat(100)
    );
    let divider = format!("{}\n", "-".repeat(2000));
    let dots = format!("Chapter 1 {} 7\n", ".".repeat(300));
    let moved: Vec<String> = (0..300)
        .map(|file| {
            format!(
                "Moved src/part{file}.rs to the folder for everything that is not used any more.\n"
            )
        })
        .collect();
    let quotes = "> the same quotation again, since that is what the letter says, word by word\n"
        .repeat(100);
    for text in [table, list, numbered, code, divider, dots, moved.concat(), quotes] {
        for size in [1, 11, 4000] {
            assert_eq!(cut_at(&text, size), None, "{}", &text[..40]);
        }
    }
}

#[test]
fn words_after_a_fence_are_listened_to_again() {
    let chant = "I will now read the file and then I will fix the bug in it. ".repeat(30);
    assert!(cut_at(&format!("```\ncode\n```\n{chant}"), 9).is_some());
    assert_eq!(cut_at(&format!("```\ncode\n{chant}"), 9), None);
}

#[test]
fn a_judge_is_asked_after_thirty_turns_and_sooner_the_surer_it_was() {
    let asked = |confidence: Option<f64>| -> Vec<u64> {
        let mut schedule = JudgeSchedule::default();
        let due = |turn: &u64| {
            let due = schedule.is_due(*turn);
            if due {
                schedule.asked(*turn, confidence);
            }
            due
        };
        (1..=70).filter(due).collect()
    };
    assert_eq!(asked(None), [30, 40, 50, 60, 70]);
    assert_eq!(asked(Some(0.0)), [30, 45, 60]);
    assert_eq!(asked(Some(0.5)), [30, 40, 50, 60, 70]);
    assert_eq!(asked(Some(0.9)), [30, 36, 42, 48, 54, 60, 66]);
    assert_eq!(asked(Some(1.0)), [30, 35, 40, 45, 50, 55, 60, 65, 70]);
}

#[test]
fn a_judge_sees_the_end_of_the_conversation_without_half_a_call() {
    let call = |id: &str| Content::model(vec![Part::call(id, "glob", json!({}))]);
    let result = |id: &str| Content::user(vec![Part::response(id, "glob", json!({"output": "x"}))]);
    let mut contents = vec![Content::user(vec![Part::text("go")])];
    for number in 0..15 {
        contents.extend([call(&number.to_string()), result(&number.to_string())]);
    }
    contents.push(call("open"));
    let entries: Vec<_> = contents.into_iter().map(HistoryEntry::detached).collect();
    let asked = judge::request(&entries, "go </original_user_request> on");
    let shown = &asked.request.entries;
    assert!(shown.len() <= 20);
    assert_eq!(shown[0].content().role, Role::Model);
    let last = shown[shown.len() - 2].content();
    assert!(last.responses().next().is_some(), "{last:?}");
    let question = shown[shown.len() - 1].content().parts[0].as_text().unwrap();
    assert_eq!(question.matches("</original_user_request>").count(), 1);
}

#[test]
fn answers_that_are_no_judgement_count_as_none() {
    let answer = |confidence: Value| json!({"unproductive_state_analysis": "x", "unproductive_state_confidence": confidence});
    for wrong in [json!({}), json!("x"), answer(json!("0.9")), answer(json!(7)), answer(json!(-1))]
    {
        assert_eq!(judge::read_judgement(&wrong), None, "{wrong}");
    }
    assert!(
        judge::read_judgement(&answer(json!(1)))
            .is_some_and(|judgement| judgement.confidence > 0.99)
    );
}

proptest! {
    #[test]
    fn what_never_repeats_is_never_a_chant(words in proptest::collection::vec("[a-z]{1,9}", 1..400)) {
        let text = words.iter().enumerate().map(|(place, word)| format!("{word}{place} ")).collect::<Vec<_>>().concat();
        prop_assert_eq!(cut_at(&text, 13), None);
    }

    #[test]
    fn a_finding_does_not_depend_on_how_the_answer_was_cut_up(text in "[ab\n`|#-]{0,900}", size in 1_usize..90) {
        prop_assert_eq!(cut_at(&text, 1).is_some(), cut_at(&text, size).is_some());
    }
}
