use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Compression, Shortened, Summary};

/// The vendors' rules, implemented a second time from their point of view: on joined turns, without
/// any knowledge of how [`History`] keeps these rules.
fn check_request(entries: &[Arc<HistoryEntry>]) -> Result<(), String> {
    let mut turns: Vec<(Role, Vec<&Part>)> = Vec::new();
    for entry in entries {
        let Some(last) = entry.content().parts.last() else {
            return Err("an entry without parts".into());
        };
        if last.thought {
            return Err("a thought that nothing follows".into());
        }
        match turns.last_mut() {
            Some((role, parts)) if *role == entry.content().role => {
                parts.extend(&entry.content().parts);
            }
            _ => turns.push((entry.content().role, entry.content().parts.iter().collect())),
        }
    }
    if turns.first().map(|turn| turn.0) != Some(Role::User) {
        return Err("the first turn is not the user's".into());
    }
    if turns.last().map(|turn| turn.0) != Some(Role::User) {
        return Err("the last turn is not the user's".into());
    }
    let mut open: Vec<(&str, &str)> = Vec::new();
    for (role, parts) in &turns {
        let calls = parts.iter().filter_map(|part| part.as_call());
        let responses = parts.iter().filter_map(|part| part.as_response());
        match role {
            Role::Model => {
                if responses.count() > 0 {
                    return Err("a response in a model turn".into());
                }
                open = calls.map(|call| (call.id.as_str(), call.name.as_str())).collect();
                let unique: HashSet<_> = open.iter().collect();
                if unique.len() != open.len() {
                    return Err("two calls with one id".into());
                }
            }
            Role::User => {
                if calls.count() > 0 {
                    return Err("a call in a user turn".into());
                }
                for response in responses {
                    let key = (response.id.as_str(), response.name.as_str());
                    let index = open.iter().position(|call| *call == key);
                    open.remove(index.ok_or(format!("a response without a call: {key:?}"))?);
                }
                if !open.is_empty() {
                    return Err(format!("calls without a response: {open:?}"));
                }
            }
        }
        let may_think = *role == Role::Model;
        let unwanted = |part: &&Part| part.thought && !(may_think && part.is_signed_thought());
        if parts.iter().any(|part| part.is_empty() || unwanted(part)) {
            return Err("an empty part, or a thought that nobody wants back".into());
        }
    }
    Ok(())
}

#[derive(Debug, Clone)]
enum Step {
    Prompt(u8),
    Stream { texts: u8, calls: Vec<u8>, odd: bool },
    Results { answered: u8, doubled: bool, unknown: bool },
    ToolError,
    Cancel,
    CutShort { said: bool, called: bool },
    Retry,
    Rewind(u8),
    Resume { shuffle: u8 },
    Compress { from: u8, through: u8, short: u8 },
    Uncompress,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u8..3).prop_map(Step::Prompt),
        (0u8..3, proptest::collection::vec(0u8..3, 0..4), any::<bool>())
            .prop_map(|(texts, calls, odd)| Step::Stream { texts, calls, odd }),
        (0u8..5, any::<bool>(), any::<bool>())
            .prop_map(|(answered, doubled, unknown)| Step::Results { answered, doubled, unknown }),
        Just(Step::ToolError),
        Just(Step::Cancel),
        (any::<bool>(), any::<bool>()).prop_map(|(said, called)| Step::CutShort { said, called }),
        Just(Step::Retry),
        any::<u8>().prop_map(Step::Rewind),
        any::<u8>().prop_map(|shuffle| Step::Resume { shuffle }),
        (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(from, through, short)| Step::Compress {
            from,
            through,
            short
        }),
        Just(Step::Uncompress),
    ]
}

/// A thought that its vendor requires to be sent back.
fn signed_thought(data: &str) -> Part {
    let opaque = Some(crate::Opaque { dialect: "any".to_owned(), data: data.to_owned() });
    Part { opaque, ..Part::thought("") }
}

fn streamed(texts: u8, calls: &[u8], odd: bool) -> Vec<Part> {
    let mut parts = vec![Part::thought("**Plan** look"), signed_thought("first")];
    parts.extend((0..texts).map(|index| Part::text("x".repeat(usize::from(index)))));
    for call in calls {
        parts.push(signed_thought("then"));
        let args = if odd { json!("no object") } else { json!({"n": call}) };
        // Few distinct ids, so that duplicates are common.
        parts.push(Part::call(if odd { String::new() } else { format!("id{call}") }, "tool", args));
    }
    parts
}

fn apply(history: &mut History, step: &Step, count: usize) {
    let id = EntryId::new(format!("entry-{count}"));
    match step {
        Step::Prompt(length) => {
            history.push_user(id, vec![Part::text("p".repeat(usize::from(*length)))]);
        }
        Step::Stream { texts, calls, odd } => {
            let stored = history.push_model(id, streamed(*texts, calls, *odd));
            assert_eq!(stored.len(), calls.len());
        }
        Step::Results { answered, doubled, unknown } => {
            let pending = history.pending().to_vec();
            let mut parts: Vec<Part> = pending
                .iter()
                .take(usize::from(*answered))
                .map(|(id, name)| Part::output(id, name, "done"))
                .collect();
            if *doubled {
                parts.extend(parts.clone());
            }
            if *unknown {
                parts.push(Part::output("nobody", "asked", "this"));
            }
            history.push_responses(id, parts);
        }
        Step::ToolError => {
            let pending = history.pending().to_vec();
            let parts = pending.iter().map(|(id, name)| Part::error(id, name, "failed")).collect();
            history.push_responses(id, parts);
        }
        Step::Cancel => history.close_pending("User cancelled."),
        Step::CutShort { said, called } => {
            history.push_interrupted(
                id,
                streamed(u8::from(*said) * 2, &[0][..usize::from(*called)], false),
            );
        }
        Step::Retry => {}
        Step::Rewind(at) => {
            let length = history.entries().len();
            if length > 0 {
                let id = history.entries()[usize::from(*at) % length].id().clone();
                assert!(history.rewind(&id));
            }
        }
        Step::Resume { shuffle } => resume(history, *shuffle),
        Step::Compress { from, through, short } => {
            if let Some(compression) = compression(history, id, [*from, *through, *short]) {
                history.compress(&compression);
            }
        }
        Step::Uncompress => {
            history.uncompress();
            assert!(!history.is_compressed());
        }
    }
}

/// A compression of the entries at these indexes; it may be one that must be refused.
fn compression(history: &History, id: EntryId, places: [u8; 3]) -> Option<Compression> {
    let entries = history.entries();
    let place = |place: u8| Some(entries[usize::from(place) % entries.len().max(1)].id().clone());
    if entries.is_empty() {
        return None;
    }
    let (from, through) = (place(places[0])?, place(places[1])?);
    let words = "x".repeat(usize::from(places[2] % 5));
    let shortened =
        Shortened { entry: place(places[2])?, part: 0, response: json!({"output": ""}) };
    let summary = (!places[2].is_multiple_of(3)).then_some(Summary {
        words,
        from,
        through,
        acknowledged: places[2].is_multiple_of(2),
    });
    Some(Compression { id, summary, shortened: vec![shortened], tokens: None })
}

fn contents_of(entries: &[Arc<HistoryEntry>]) -> Vec<(EntryId, Content)> {
    entries.iter().map(|entry| (entry.id().clone(), entry.content().clone())).collect()
}

fn resume(history: &mut History, shuffle: u8) {
    let mut contents: Vec<_> = history
        .entries()
        .iter()
        .map(|entry| (entry.id().clone(), entry.content().clone()))
        .collect();
    if shuffle.is_multiple_of(4) && contents.len() > 1 {
        let length = contents.len();
        contents.swap(usize::from(shuffle) % length, length / 2);
    } else {
        let (same, repairs) = History::restore(contents.clone());
        let again: Vec<_> = same.entries().iter().map(|entry| entry.content()).collect();
        let before: Vec<_> = contents.iter().map(|(_, content)| content).collect();
        assert_eq!(again, before, "a valid history is restored as it was");
        assert_eq!(repairs, []);
    }
    *history = History::restore(contents).0;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_out_of_sight_comes_back_and_a_log_gives_the_same_view(
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        let (mut history, mut plain, mut log) = (History::new(), History::new(), Vec::new());
        for (count, step) in steps.iter().enumerate() {
            let id = EntryId::new(format!("entry-{count}"));
            match step {
                Step::Rewind(_) | Step::Resume { .. } => continue,
                Step::Uncompress => {
                    history.uncompress();
                    log.clear();
                }
                Step::Compress { from, through, short } => {
                    let compression = compression(&history, id, [*from, *through, *short]);
                    log.extend(compression.filter(|compression| history.compress(compression)));
                }
                step => {
                    apply(&mut history, step, count);
                    apply(&mut plain, step, count);
                }
            }
            prop_assert_eq!(contents_of(&history.whole()), contents_of(plain.entries()));
        }
        let (mut again, _) = History::restore(contents_of(plain.entries()));
        for compression in &log {
            again.compress(compression);
        }
        prop_assert_eq!(contents_of(again.entries()), contents_of(history.entries()));
    }

    #[test]
    fn signed_thoughts_keep_their_places_before_what_they_led_to(
        kinds in proptest::collection::vec(0u8..5, 0..10),
        interrupted: bool,
    ) {
        let part = |(index, kind): (usize, &u8)| match kind {
            0 => signed_thought(&index.to_string()),
            1 => Part::thought("for people"),
            2 => Part::text(""),
            3 => Part::text(index.to_string()),
            _ => Part::call(index.to_string(), "tool", json!({})),
        };
        let parts: Vec<Part> = kinds.iter().enumerate().map(part).collect();
        let mut expected: Vec<Part> = parts
            .iter()
            .filter(|part| !interrupted || part.as_call().is_none())
            .filter(|part| part.is_signed_thought() || (!part.thought && !part.is_empty()))
            .cloned()
            .collect();
        while expected.last().is_some_and(|part| part.thought) {
            expected.pop();
        }
        let mut history = History::new();
        history.push_user(EntryId::new("u"), vec![Part::text("go")]);
        if interrupted {
            history.push_interrupted(EntryId::new("m"), parts);
        } else {
            history.push_model(EntryId::new("m"), parts);
        }
        let kept = history.entries().get(1).map(|entry| entry.content().parts.clone());
        prop_assert_eq!(kept.unwrap_or_default(), expected);
    }

    #[test]
    fn every_request_is_valid(steps in proptest::collection::vec(step(), 1..40)) {
        let mut history = History::new();
        for (count, step) in steps.iter().enumerate() {
            apply(&mut history, step, count);
            // The user can always continue, whatever the state is.
            let mut next = history.clone();
            next.push_user(EntryId::new("next"), vec![Part::text("go on")]);
            let request = next.request().map_err(|error| TestCaseError::fail(error.to_string()))?;
            check_request(&request).map_err(TestCaseError::fail)?;
            if let Ok(request) = history.request() {
                check_request(&request).map_err(TestCaseError::fail)?;
            }
        }
    }
}

fn texts(history: &History) -> Vec<String> {
    history.entries().iter().map(|entry| serde_json::to_string(entry.content()).unwrap()).collect()
}

#[test]
fn a_prompt_after_unanswered_results_gets_a_placeholder() {
    let mut history = History::new();
    history.push_user(EntryId::new("1"), vec![Part::text("do")]);
    history.push_model(EntryId::new("2"), vec![Part::call("a", "glob", json!({}))]);
    history.push_responses(EntryId::new("3"), vec![Part::output("a", "glob", "x")]);
    history.push_user(EntryId::new("4"), vec![Part::text("now this")]);
    assert_eq!(history.entries()[3].content().text(), INTERRUPTED_RESPONSE);
    assert_eq!(history.entries()[4].content().text(), "now this");
}

#[test]
fn nothing_done_is_forgotten_on_cancel() {
    let mut history = History::new();
    history.push_user(EntryId::new("1"), vec![Part::text("do")]);
    history.push_model(
        EntryId::new("2"),
        vec![Part::call("a", "glob", json!({})), Part::call("b", "glob", json!({}))],
    );
    history.push_responses(EntryId::new("3"), vec![Part::output("b", "glob", "x")]);
    let all = texts(&history).join("\n");
    assert!(all.contains(r#""output":"x""#) && all.contains("[Operation Cancelled]"), "{all}");
    history.push_interrupted(EntryId::new("4"), vec![Part::text("I was about to")]);
    assert_eq!(history.entries()[3].content().text(), "I was about to");
    assert_eq!(history.request().unwrap_err(), NotReady::ModelSpokeLast);
}

#[test]
fn signatures_stay_byte_exact() {
    let mut part = Part::call("a", "glob", json!({}));
    part.opaque = Some(crate::Opaque { dialect: "gemini".into(), data: "q+/=\u{fffd}".into() });
    let mut history = History::new();
    history.push_user(EntryId::new("1"), vec![Part::text("do")]);
    history.push_model(EntryId::new("2"), vec![part.clone()]);
    assert_eq!(history.entries()[1].content().parts[0], part);
}

#[test]
fn a_broken_file_is_mended_and_reported() {
    let contents = vec![
        (EntryId::new("m"), Content::model(vec![Part::call("a", "ls", json!({}))])),
        (EntryId::new("u"), Content::user(vec![Part::text("hello"), Part::output("z", "ls", "")])),
        (EntryId::new("e"), Content::user(vec![Part::text("")])),
    ];
    let (history, repairs) = History::restore(contents);
    assert_eq!(
        repairs,
        [
            Repair::AddedStart,
            Repair::DroppedResponse("z".into()),
            Repair::AnsweredCall("a".into()),
            Repair::AddedPlaceholder,
            Repair::DroppedEntry("e".into()),
        ]
    );
    check_request(&history.request().unwrap()).unwrap();
}

#[test]
fn rewind_makes_calls_pending_again() {
    let mut history = History::new();
    history.push_user(EntryId::new("1"), vec![Part::text("do")]);
    history.push_model(EntryId::new("2"), vec![Part::call("a", "glob", json!({}))]);
    history.push_responses(EntryId::new("3"), vec![Part::output("a", "glob", "x")]);
    assert!(history.rewind(&EntryId::new("3")));
    assert_eq!(history.pending(), [("a".to_owned(), "glob".to_owned())]);
    assert!(!history.rewind(&EntryId::new("nowhere")));
}

#[test]
fn declared_effects_stay_as_long_as_their_call() {
    let mut history = History::new();
    for turn in ["a", "b"] {
        history.push_user(EntryId::new(format!("u{turn}")), vec![Part::text("do")]);
        let call = Part::call(turn, "glob", json!({}));
        history.push_model(EntryId::new(format!("m{turn}")), vec![call]);
        history.note_effects(turn, Effects::read(format!("/p/{turn}")));
        let answer = Part::output(turn, "glob", "x");
        history.push_responses(EntryId::new(format!("r{turn}")), vec![answer]);
        history.push_model(EntryId::new(format!("d{turn}")), vec![Part::text("done")]);
    }
    let before = history.clone();
    let summary = crate::Summary {
        words: "looked".to_owned(),
        from: EntryId::new("ua"),
        through: EntryId::new("da"),
        acknowledged: true,
    };
    let (id, shortened) = (EntryId::new("s"), Vec::new());
    assert!(history.compress(&crate::Compression {
        id,
        summary: Some(summary),
        shortened,
        tokens: None
    }));
    assert_eq!(history.effects_of("a"), Some(&Effects::read("/p/a")), "it may come back");
    history.put_away();
    assert_eq!(history.effects_of("a"), None);
    assert_eq!(history.effects_of("b"), Some(&Effects::read("/p/b")));
    assert_eq!(before.effects_of("a"), Some(&Effects::read("/p/a")));
}
