use std::fmt::Write as _;
use std::io::Cursor;

use pretty_assertions::assert_eq;

use super::*;

const HEADER: &str = r#"{"sessionId":"s","projectHash":"h","kind":"main"}"#;

fn ids(bytes: &[u8]) -> (Vec<String>, Scan) {
    let mut scan = Scan::survey();
    scan.read(&mut Cursor::new(bytes)).unwrap();
    (scan.messages.keys().cloned().collect(), scan)
}

fn message(id: &str, text: &str) -> String {
    format!(r#"{{"id":"{id}","type":"user","content":"{text}"}}"#)
}

#[test]
fn messages_are_replaced_in_place_and_rewound() {
    let text = [
        HEADER.to_owned(),
        message("a", "one"),
        message("b", "two"),
        message("a", "uno"),
        message("c", "three"),
        r#"{"$rewindTo":"c"}"#.to_owned(),
        r#"{"$set":{"summary":"t","kind":7}}"#.to_owned(),
        r#"{"other":1}"#.to_owned(),
    ]
    .join("\r\n");
    let (found, scan) = ids(text.as_bytes());
    assert_eq!(found, ["a", "b"]);
    assert_eq!(scan.damage, Vec::<String>::new());
    assert_eq!(scan.metadata.summary.as_deref(), Some("t"));
    assert_eq!(scan.metadata.kind.as_deref(), Some("main"));
    let span = scan.messages["a"].span;
    let loaded = load(&mut Cursor::new(text.as_bytes()), span).unwrap().unwrap();
    assert_eq!(loaded, message("a", "uno"));
    let (found, _) = ids(format!("{text}\n{{\"$rewindTo\":\"unknown\"}}").as_bytes());
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_checkpoint_replaces_everything() {
    let text = format!(
        "{HEADER}\n{}\n{{\"$set\":{{\"messages\":[{},{{\"no\":1}},{}]}}}}\n{}\n",
        message("a", "one"),
        message("x", "y"),
        message("z", "é"),
        message("b", "two"),
    );
    let (found, scan) = ids(text.as_bytes());
    assert_eq!(found, ["x", "z", "b"]);
    let loaded = load(&mut Cursor::new(text.as_bytes()), scan.messages["z"].span).unwrap();
    assert_eq!(loaded.unwrap(), message("z", "é"));
}

#[test]
fn damage_is_counted_and_costs_only_its_line() {
    let mut bytes = format!("{HEADER}\n{}\n", message("a", "one")).into_bytes();
    bytes.extend_from_slice(b"\xff\xfe{}\n[]\n7\n{\"id\":\"t\n");
    bytes.extend_from_slice(message("b", "two").as_bytes());
    let (found, scan) = ids(&bytes);
    assert_eq!(found, ["a", "b"]);
    assert_eq!(scan.damage.len(), 4);
    assert!(scan.damage[0].starts_with("line 3 "), "{:?}", scan.damage);
    let many = format!("{HEADER}\n{}", "{\n".repeat(10_000));
    let (_, scan) = ids(many.as_bytes());
    assert_eq!(scan.damage.len(), NAMED_DAMAGE);
    assert_eq!(scan.damage[NAMED_DAMAGE - 1], "9981 more lines were skipped");
}

#[test]
fn a_huge_line_and_deep_nesting_are_survived() {
    let deep = format!(r#"{{"id":"d","content":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        "{HEADER}\n{}\n{deep}\n{}\n",
        message("a", &"x".repeat(8 << 20)),
        message("b", "y")
    );
    let (found, _) = ids(text.as_bytes());
    assert!(found.contains(&"a".to_owned()) && found.contains(&"b".to_owned()));
}

#[test]
fn what_a_checkpoint_replaced_is_not_kept() {
    let mut text = format!("{HEADER}\n");
    let words = "lorem ipsum \\\"dolor\\\" ".repeat(500);
    while text.len() < 4 << 20 {
        writeln!(text, "{}", message(&format!("m{}", text.len()), &words)).unwrap();
    }
    writeln!(text, "{{\"$set\":{{\"messages\":[{}]}}}}", message("last", "x")).unwrap();
    let mut scan = Scan::default();
    scan.read(&mut Cursor::new(text.as_bytes())).unwrap();
    assert_eq!(scan.messages.len(), 1);
}
