use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Returns ids, names and arguments of the calls that fragments form.
fn put_together(fragments: &[Value]) -> Vec<(String, String, Value)> {
    let mut calls = Calls::default();
    for fragment in fragments {
        calls.take(serde_json::from_value(fragment.clone()).unwrap()).unwrap();
    }
    let parts = calls.finish(&Names::default());
    let call = |part: &Part| part.as_call().unwrap().clone();
    parts.iter().map(call).map(|call| (call.id, call.name, call.args)).collect()
}

fn fragment(index: Option<u64>, id: &str, name: &str, arguments: &str) -> Value {
    let mut value = json!({"type": "function", "function": {}});
    if let Some(index) = index {
        value["index"] = json!(index);
    }
    for (key, text) in [("name", name), ("arguments", arguments)] {
        if !text.is_empty() {
            value["function"][key] = json!(text);
        }
    }
    if !id.is_empty() {
        value["id"] = json!(id);
    }
    value
}

fn expected() -> Vec<(String, String, Value)> {
    vec![
        ("c1".to_owned(), "glob".to_owned(), json!({"pattern": "{*}"})),
        ("c2".to_owned(), "glob".to_owned(), json!({"pattern": "b\"]"})),
    ]
}

#[test]
fn parallel_calls_come_in_every_known_way() {
    let (one, other) = (r#"{"pattern": "{*}"}"#, r#"{"pattern": "b\"]"}"#);
    let by_the_book = [
        fragment(Some(0), "c1", "glob", ""),
        fragment(Some(1), "c2", "glob", ""),
        fragment(Some(0), "", "", &one[..5]),
        fragment(Some(1), "", "", &other[..16]),
        fragment(Some(1), "", "", &other[16..]),
        fragment(Some(0), "", "", &one[5..]),
    ];
    let everything_repeated = [
        fragment(Some(0), "c1", "glob", &one[..5]),
        fragment(Some(0), "c1", "glob", &one[5..]),
        fragment(Some(1), "c2", "glob", &other[..5]),
        fragment(Some(1), "c2", "glob", &other[5..]),
    ];
    let always_index_zero =
        [fragment(Some(0), "c1", "glob", one), fragment(Some(0), "c2", "glob", other)];
    let no_index = [
        fragment(None, "c1", "glob", &one[..3]),
        fragment(None, "", "", &one[3..]),
        fragment(None, "c2", "glob", other),
    ];
    let second_index_changes = [
        fragment(Some(0), "c1", "glob", &one[..3]),
        fragment(Some(0), "", "", &one[3..]),
        fragment(Some(0), "c2", "glob", ""),
        fragment(Some(1), "", "", &other[..3]),
        fragment(Some(1), "", "", &other[3..]),
    ];
    let arguments_first = [
        fragment(Some(0), "c1", "", &one[..3]),
        fragment(Some(0), "", "glob", &one[3..]),
        fragment(Some(1), "c2", "", other),
        fragment(Some(1), "", "glob", ""),
    ];
    for fragments in [
        &by_the_book[..],
        &everything_repeated[..],
        &always_index_zero[..],
        &no_index[..],
        &second_index_changes[..],
        &arguments_first[..],
    ] {
        assert_eq!(put_together(fragments), expected());
    }
}

#[test]
fn missing_ids_stay_missing_and_calls_stay_apart() {
    for index in [None, Some(0)] {
        let fragments = [fragment(index, "", "glob", "{}"), fragment(index, "", "glob", "{}")];
        let names: Vec<String> = put_together(&fragments).into_iter().map(|call| call.1).collect();
        assert_eq!(names, ["glob", "glob"]);
    }
    for index in [None, Some(0)] {
        let head = || fragment(index, "", "glob", "");
        let arguments = || fragment(index, "", "", "{}");
        let calls = put_together(&[arguments(), head(), arguments(), head()]);
        let calls: Vec<_> = calls.into_iter().map(|call| (call.1, call.2)).collect();
        assert_eq!(calls, vec![("glob".to_owned(), json!({})); 2], "arguments before the name");
    }
    let pieces = [fragment(Some(0), "c", "read_", ""), fragment(Some(0), "", "file", "{}")];
    assert_eq!(put_together(&pieces)[0].1, "read_file");
    let duplicate = [fragment(Some(0), "c", "a", "{}"), fragment(Some(1), "c", "b", "{}")];
    assert_eq!(put_together(&duplicate).len(), 2);
    assert_eq!(put_together(&[json!({}), json!({"function": null})]), []);
}

#[test]
fn arguments_of_every_kind() {
    for (sent, read) in [
        (json!("{\"a\":1}"), json!({"a": 1})),
        (json!({"a": 1}), json!({"a": 1})),
        (json!(""), json!({})),
        (json!(null), json!({})),
        (json!("null"), json!({})),
        (json!("\"{\\\"a\\\":1}\""), json!({"a": 1})),
        (json!("{\"a\":"), json!("{\"a\":")),
        (json!("[1]"), json!([1])),
        (json!("{\"a\":\"x\ny\tz\\\"\r\"}"), json!({"a": "x\ny\tz\"\r"})),
        (json!("{\n\"a\":\"x\\\ny\"}"), json!("{\n\"a\":\"x\\\ny\"}")),
        (json!("nonsense"), json!("nonsense")),
    ] {
        let calls = put_together(&[json!({"function": {"name": "f", "arguments": sent}})]);
        assert_eq!(calls[0].2, read, "{sent}");
    }
}

#[test]
fn too_many_calls_are_refused() {
    let mut calls = Calls::default();
    let take = |calls: &mut Calls, index: u64| {
        calls.take(serde_json::from_value(fragment(Some(index), "", "f", "")).unwrap())
    };
    for index in 0..128 {
        take(&mut calls, index).unwrap();
    }
    assert_eq!(take(&mut calls, u64::MAX).unwrap_err().kind, ModelErrorKind::Broken);
}

/// Cuts a text into pieces of these lengths; the rest is the last piece.
fn pieces<'a>(text: &'a str, lengths: &[usize]) -> Vec<&'a str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    for length in lengths {
        let (piece, tail) = rest.split_at((*length).min(rest.len()));
        pieces.push(piece);
        rest = tail;
    }
    pieces.push(rest);
    pieces
}

/// Fragment of a call, from the number of the call, the number of the piece and the piece.
type Shape = fn(u64, usize, &str) -> Value;

const IDS: [&str; 2] = ["c1", "c2"];

fn first(piece: usize, text: &str) -> &str {
    if piece == 0 { text } else { "" }
}

/// Shapes of calls that follow each other, as services send them.
const SHAPES: [(&str, Shape); 7] = [
    ("by the book", |call, piece, text| {
        fragment(Some(call), first(piece, IDS[call as usize]), first(piece, "glob"), text)
    }),
    ("no index", |call, piece, text| {
        fragment(None, first(piece, IDS[call as usize]), first(piece, "glob"), text)
    }),
    ("no index, id in every fragment", |call, piece, text| {
        fragment(None, IDS[call as usize], first(piece, "glob"), text)
    }),
    ("id and name in every fragment", |call, _, text| {
        fragment(Some(call), IDS[call as usize], "glob", text)
    }),
    ("index 0 for all", |call, piece, text| {
        fragment(Some(0), first(piece, IDS[call as usize]), first(piece, "glob"), text)
    }),
    ("index 0 for all heads", |call, piece, text| {
        let index = if piece == 0 { 0 } else { call };
        fragment(Some(index), first(piece, IDS[call as usize]), first(piece, "glob"), text)
    }),
    ("name last", |call, piece, text| {
        let name = if text.ends_with('}') { "glob" } else { "" };
        fragment(Some(call), first(piece, IDS[call as usize]), name, text)
    }),
];

proptest! {
    #[test]
    fn any_two_calls_in_any_pieces_are_the_same(
        lengths in prop::array::uniform2(prop::collection::vec(1_usize..9, 0..6)),
    ) {
        let texts = [r#"{"pattern": "{*}"}"#, r#"{"pattern": "b\"]"}"#];
        for (name, shape) in SHAPES {
            let mut fragments = Vec::new();
            for (call, (text, lengths)) in texts.iter().zip(&lengths).enumerate() {
                let pieces = pieces(text, lengths);
                fragments.extend(
                    pieces.iter().enumerate().map(|(piece, text)| shape(call as u64, piece, text)),
                );
            }
            prop_assert_eq!(put_together(&fragments), expected(), "{}: {:?}", name, fragments);
        }
    }

    #[test]
    fn calls_with_an_index_may_be_interleaved_in_any_way(
        lengths in prop::array::uniform2(prop::collection::vec(1_usize..9, 0..6)),
        mut turns in prop::collection::vec(any::<bool>(), 0..16),
        named in prop::array::uniform2(0_usize..7),
    ) {
        let texts = [r#"{"pattern": "{*}"}"#, r#"{"pattern": "b\"]"}"#];
        let mut queues = [0, 1].map(|call: usize| {
            let pieces = pieces(texts[call], &lengths[call]);
            let named = named[call].min(pieces.len() - 1);
            let piece = |(piece, text): (usize, &&str)| {
                let name = if piece == named { "glob" } else { "" };
                fragment(Some(call as u64), first(piece, IDS[call]), name, text)
            };
            pieces.iter().enumerate().map(piece).collect::<Vec<_>>().into_iter()
        });
        let mut fragments: Vec<Value> = queues[0].next().into_iter().collect();
        fragments.extend(queues[1].next());
        while let Some(turn) = turns.pop() {
            fragments.extend(queues[usize::from(turn)].next());
        }
        fragments.extend(queues.into_iter().flatten());
        prop_assert_eq!(put_together(&fragments), expected(), "{:?}", fragments);
    }

    #[test]
    fn any_cutting_of_arguments_gives_the_same(cuts in prop::collection::vec(1usize..6, 0..40)) {
        let mut rest = r#"{"pattern": "{*}"}"#;
        let mut fragments = vec![fragment(Some(3), "c1", "glob", "")];
        for cut in cuts {
            let (head, tail) = rest.split_at(cut.min(rest.len()));
            fragments.push(fragment(Some(3), "", "", head));
            rest = tail;
        }
        fragments.push(fragment(Some(3), "", "", rest));
        prop_assert_eq!(put_together(&fragments), expected()[..1].to_vec());
    }
}
