use pollux_protocol::{Opaque, Part};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::part::MADE_UP_SIGNATURE;
use super::*;
use crate::entry_cache::KEPT_FOR_REQUESTS;

fn user(parts: Vec<Part>) -> Arc<HistoryEntry> {
    HistoryEntry::detached(Content::user(parts))
}

fn model(parts: Vec<Part>) -> Arc<HistoryEntry> {
    HistoryEntry::detached(Content::model(parts))
}

fn signed(mut part: Part, dialect: &str) -> Part {
    part.opaque = Some(Opaque { dialect: dialect.to_owned(), data: "QUJD".to_owned() });
    part
}

fn call(id: &str, name: &str) -> Part {
    Part::call(id, name, json!({"p": 1}))
}

fn written(cache: &PartsCache, entries: &[Arc<HistoryEntry>], signatures: bool) -> String {
    let mut body = Body::default();
    cache.write_contents(&mut body, entries, Takes { signatures, nested_media: true }).unwrap();
    String::from_utf8(body.finish().concat()).unwrap()
}

fn fresh(entries: &[Arc<HistoryEntry>], signatures: bool) -> Value {
    serde_json::from_str(&written(&PartsCache::default(), entries, signatures)).unwrap()
}

#[test]
fn contents_have_the_layout_of_gemini_cli() {
    let entries = [
        user(vec![Part::text("<session_context>")]),
        user(vec![Part::text("do it")]),
        model(vec![
            Part::thought("hm"),
            signed(Part::thought("another vendor's"), "anthropic"),
            signed(
                Part::call("read_file__read_file_1_0", "read_file", json!({"file_path": "a.rs"})),
                Opaque::GEMINI,
            ),
            Part::call("glob__glob_1_1", "glob", json!({"pattern": "*.toml"})),
        ]),
        user(vec![
            Part::output("read_file__read_file_1_0", "read_file", "x"),
            Part::output("glob__glob_1_1", "glob", "y"),
        ]),
    ];
    let expected = concat!(
        r#"[{"role":"user","parts":[{"text":"<session_context>"},{"text":"do it"}]},"#,
        r#"{"role":"model","parts":[{"functionCall":{"id":"read_file_1_0","name":"read_file","args":{"file_path":"a.rs"}},"thoughtSignature":"QUJD"},"#,
        r#"{"functionCall":{"id":"glob_1_1","name":"glob","args":{"pattern":"*.toml"}}}]},"#,
        r#"{"role":"user","parts":[{"functionResponse":{"id":"read_file_1_0","name":"read_file","response":{"output":"x"}}},"#,
        r#"{"functionResponse":{"id":"glob_1_1","name":"glob","response":{"output":"y"}}}]}]"#,
    );
    assert_eq!(written(&PartsCache::default(), &entries, true), expected);
}

#[test]
fn odd_parts_are_sent_in_a_form_that_the_service_takes() {
    let mut with_media = Part::output("", "read_file", "see");
    if let pollux_protocol::Body::Response(response) = &mut with_media.body {
        response.parts = vec![Part::inline("image/png", "AA==")];
    }
    let other: Part = serde_json::from_value(json!({"executableCode": {"code": "1"}})).unwrap();
    let entries = [user(vec![
        Part::text(""),
        Part::inline("image/png", "AA=="),
        with_media,
        Part::response("t__", "t", json!("bare")),
        Part::call("t", "t", json!([1])),
        other,
        signed(Part::text("x"), "anthropic"),
    ])];
    assert_eq!(
        fresh(&entries, false)[0]["parts"],
        json!([
            {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
            {"functionResponse": {"name": "read_file", "response": {"output": "see"},
                "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}]}},
            {"functionResponse": {"id": "t__", "name": "t", "response": {"output": "bare"}}},
            {"functionCall": {"id": "t", "name": "t", "args": {}}},
            {"executableCode": {"code": "1"}},
            {"text": "x"},
        ])
    );
}

#[test]
fn entries_without_anything_to_send_leave_no_trace() {
    assert_eq!(fresh(&[], true), json!([]));
    assert_eq!(fresh(&[user(vec![])], true), json!([]));
    let entries = [
        user(vec![Part::text("a")]),
        model(vec![Part::thought("hm")]),
        user(vec![Part::text("b")]),
    ];
    assert_eq!(
        fresh(&entries, true),
        json!([{"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}])
    );
}

/// Returns the signatures of all calls, in order; empty for a call without a signature.
fn signatures(entries: &[Arc<HistoryEntry>], wanted: bool) -> Vec<String> {
    let contents = fresh(entries, wanted);
    let parts = contents
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|content| content["parts"].as_array().unwrap().clone());
    parts
        .filter(|part| part.get("functionCall").is_some())
        .map(|part| part["thoughtSignature"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_first_unsigned_call_of_each_running_model_turn_gets_a_signature() {
    let made_up = MADE_UP_SIGNATURE;
    let prompt = || user(vec![Part::text("go")]);
    let answer = || user(vec![Part::output("a", "t", "x")]);
    let said = || model(vec![Part::text("done")]);
    let steered = || user(vec![Part::text("rather this"), Part::output("a", "t", "x")]);
    let unsigned = || model(vec![call("a", "t"), call("b", "t")]);
    let first_signed = || model(vec![signed(call("a", "t"), "gemini"), call("b", "t")]);
    let foreign = || model(vec![signed(call("a", "t"), "anthropic")]);
    for (entries, expected) in [
        (vec![prompt(), unsigned()], vec![made_up, ""]),
        (vec![prompt(), first_signed()], vec!["QUJD", ""]),
        (vec![prompt(), foreign()], vec![made_up]),
        // An earlier turn is not changed, a steered one is still running.
        (
            vec![prompt(), unsigned(), answer(), said(), prompt(), unsigned()],
            vec!["", "", made_up, ""],
        ),
        // Text that came together with results does not begin a new turn.
        (
            vec![prompt(), unsigned(), answer(), prompt(), unsigned()],
            vec![made_up, "", made_up, ""],
        ),
        (vec![prompt(), unsigned(), steered(), unsigned()], vec![made_up, "", made_up, ""]),
        // Two entries are one content: its first call counts.
        (vec![prompt(), said(), unsigned(), foreign()], vec![made_up, "", ""]),
        // Without a prompt no turn is running.
        (vec![answer(), unsigned()], vec!["", ""]),
    ] {
        assert_eq!(signatures(&entries, true), expected);
    }
    assert_eq!(signatures(&[prompt(), unsigned()], false), ["", ""]);
}

#[test]
fn what_is_no_longer_sent_is_forgotten_but_not_at_once() {
    let cache = PartsCache::default();
    let old = [user(vec![Part::text("old")])];
    let new = [user(vec![Part::text("new")])];
    written(&cache, &old, true);
    written(&cache, &new, true);
    assert_eq!(cache.len(), 2, "a side call in between costs nothing");
    for _ in 0..KEPT_FOR_REQUESTS {
        written(&cache, &new, true);
    }
    assert_eq!(cache.len(), 1);
}

#[test]
fn large_entries_are_sent_without_copying() {
    let cache = PartsCache::default();
    let entries =
        [user(vec![Part::text("x".repeat(Body::COPIED))]), user(vec![Part::text("small")])];
    let pieces = || {
        let mut body = Body::default();
        let takes = Takes { signatures: true, nested_media: true };
        cache.write_contents(&mut body, &entries, takes).unwrap();
        body.finish()
    };
    let (first, second) = (pieces(), pieces());
    assert_eq!(first.len(), 3);
    assert_eq!(first[1].as_ptr(), second[1].as_ptr());
}

fn any_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        "[a-c\"\\\\\u{e9}]{0,3}".prop_map(Part::text),
        "[a-c]{0,2}".prop_map(Part::thought),
        "[ab]{0,1}".prop_map(|id| call(&id, "a")),
        Just(signed(call("a__x", "a"), "gemini")),
        "[ab]{0,1}".prop_map(|id| Part::output(id, "a", "x")),
    ]
}

fn any_entry() -> impl Strategy<Value = Arc<HistoryEntry>> {
    (any::<bool>(), prop::collection::vec(any_part(), 0..4)).prop_map(|(is_user, parts)| {
        HistoryEntry::detached(if is_user { Content::user(parts) } else { Content::model(parts) })
    })
}

proptest! {
    #[test]
    fn cached_and_fresh_encodings_are_equal(
        entries in prop::collection::vec(any_entry(), 1..12),
        requests in prop::collection::vec((0_usize..12, 0_usize..12, any::<bool>()), 1..24),
    ) {
        let cache = PartsCache::default();
        for (from, to, signatures) in requests {
            let (from, to) = (from.min(entries.len()), to.min(entries.len()));
            let part = &entries[from.min(to)..from.max(to)];
            let cached = written(&cache, part, signatures);
            prop_assert_eq!(&cached, &written(&PartsCache::default(), part, signatures));
            let contents: Value = serde_json::from_str(&cached).unwrap();
            let roles: Vec<&Value> = contents.as_array().unwrap().iter().map(|one| &one["role"]).collect();
            prop_assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "roles alternate");
        }
    }
}

#[test]
fn media_of_a_result_follow_it_for_models_that_take_none_inside() {
    let mut shown = Part::output("c", "read_file", "a picture");
    let pollux_protocol::Body::Response(response) = &mut shown.body else { panic!() };
    response.parts = vec![Part::inline("image/png", "AA==")];
    let entries = [user(vec![shown, Part::output("d", "glob", "a file")])];
    let cache = PartsCache::default();
    let sent = |nested_media| -> Value {
        let mut body = Body::default();
        let takes = Takes { signatures: false, nested_media };
        cache.write_contents(&mut body, &entries, takes).unwrap();
        serde_json::from_slice(&body.finish().concat()).unwrap()
    };
    let picture = json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}});
    let file =
        json!({"functionResponse": {"id": "d", "name": "glob", "response": {"output": "a file"}}});
    let result = json!({"id": "c", "name": "read_file", "response": {"output": "a picture"}});
    let mut whole = result.clone();
    whole["parts"] = json!([picture]);
    // The user may change the model at any time, and back again.
    for _ in 0..2 {
        assert_eq!(sent(true)[0]["parts"], json!([{"functionResponse": whole}, file]));
        assert_eq!(sent(false)[0]["parts"], json!([{"functionResponse": result}, picture, file]));
    }
}
