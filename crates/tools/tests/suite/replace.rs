//! Tests of `replace` on real files.

use pollux_protocol::{CallId, ConfirmationKind, Modification, ToolErrorKind};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::session::{Session, display, side_models, text};

/// Name, bytes before, old and new text, bytes after.
type Row = (&'static str, &'static [u8], &'static str, &'static str, &'static [u8]);

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "instruction": "change it", "old_string": old, "new_string": new})
}

#[tokio::test]
async fn an_edit_is_reported_with_its_surroundings() {
    let session = Session::new();
    let lines = (1..=30).map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    let path = session.file("a.txt", &lines);
    let output = session.call("replace", edit("a.txt", "15", "fifteen")).await;
    assert_eq!(
        text(&output),
        format!(
            "Successfully modified file: {} (1 replacements). Here is the updated code:\n...\n10\n11\n12\n13\n14\nfifteen\n16\n17\n18\n19\n20\n...",
            path.display()
        )
    );
    assert_eq!(session.text("a.txt"), lines.replace("15", "fifteen"));
    let shown = display(&output);
    assert!(
        shown["fileDiff"].as_str().unwrap().contains("\n--- a.txt\tCurrent\n+++ a.txt\tProposed\n")
    );
    assert_eq!(shown["diffStat"]["model_removed_chars"], 2);
    assert_eq!(shown["originalContent"], lines);
}

#[tokio::test]
async fn no_byte_outside_the_span_changes() {
    let session = Session::new();
    let table: [Row; 8] = [
        ("mixed", b"a\r\nb\nc\r\nd\n", "c", "x\ny", b"a\r\nb\nx\r\ny\r\nd\n"),
        ("crlf over lines", b"a\r\nb\r\nc", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc"),
        ("crlf given", b"a\r\nb\r\n", "a\r\nb", "x", b"x\r\n"),
        ("mark", b"\xEF\xBB\xBFa\nb\n", "a", "x", b"\xEF\xBB\xBFx\nb\n"),
        ("utf16", b"\xFE\xFF\0a\0\n\0b", "b", "\u{e9}", b"\xFE\xFF\0a\0\n\0\xE9"),
        (
            "latin",
            b"caf\xE9 cr\xE8me br\xFBl\xE9e\nx\n",
            "x",
            "\u{e0}",
            b"caf\xE9 cr\xE8me br\xFBl\xE9e\n\xE0\n",
        ),
        ("no final feed", b"a\nb", "b", "c\n", b"a\nc"),
        ("trailing space elsewhere", b"a  \nb\n \n", "b", "c", b"a  \nc\n \n"),
    ];
    for (name, before, old, new, after) in table {
        session.file(name, before);
        session.ok("replace", edit(name, old, new)).await;
        assert_eq!(session.bytes(name), after, "{name}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_never_lost() {
    let session = Session::new();
    let bytes = "gr\u{fc}n, bl\u{e4}ulich, \u{f6}lig \u{2713}\u{2713}\u{2713}\n".as_bytes();
    let broken = [bytes, b"\xFF\xFE\xC0 x\n"].concat();
    session.file("broken", &broken);
    let (kind, message) = session.err("replace", edit("broken", "x", "y")).await;
    assert_eq!(kind, ToolErrorKind::EditPreparationFailure, "{message}");
    assert_eq!(session.bytes("broken"), broken);
}

#[tokio::test]
async fn a_new_file_is_created_by_an_empty_search() {
    let session = Session::new();
    let output = session.call("replace", edit("dir/new.rs", "", "fn main() {}\n")).await;
    let path = session.path("dir/new.rs");
    assert_eq!(
        text(&output),
        format!(
            "Created new file: {} with provided content. Here is the updated code:\nfn main() {{}}\n",
            path.display()
        )
    );
    assert_eq!(display(&output), "Created dir/new.rs");
    let (kind, message) = session.err("replace", edit("dir/new.rs", "", "x")).await;
    assert_eq!(kind, ToolErrorKind::AttemptToCreateExistingFile);
    assert_eq!(message, format!("File already exists, cannot create: {}", path.display()));
}

#[tokio::test]
async fn failures_help_to_do_better() {
    let session = Session::new();
    session.file("a", "fn one() {\n    first(1);\n}\nx\nx\n");
    let missing = session.path("missing").display().to_string();
    let (kind, message) = session.err("replace", edit("missing", "a", "b")).await;
    assert_eq!(
        (kind, message),
        (ToolErrorKind::FileNotFound, format!("File not found: {missing}"))
    );
    let (kind, message) =
        session.err("replace", edit("a", "fn one() {\n    second(2);\n}", "y")).await;
    assert_eq!(kind, ToolErrorKind::EditNoOccurrenceFound);
    assert!(
        message.starts_with("Could not find an exact match for old_string in 'a'. "),
        "{message}"
    );
    assert!(message.contains("read_file"), "{message}");
    assert!(
        message.ends_with(
            "The nearest lines are:\n1: fn one() {\n2:     first(1);\n3: }\n\n\
             The file's text (+) differs from old_string (-):\n-    second(2);\n+    first(1);"
        ),
        "{message}"
    );
    let (kind, message) = session.err("replace", edit("a", "x", "y")).await;
    assert_eq!(kind, ToolErrorKind::EditExpectedOccurrenceMismatch);
    let expected = "Failed to edit, Expected 1 occurrence but found 2 for old_string in file: a. ";
    assert!(message.starts_with(expected) && message.contains("allow_multiple"), "{message}");
    assert!(message.ends_with("Found at lines 4, 5."), "{message}");
    let (kind, _) = session.err("replace", edit("a", "x", "x")).await;
    assert_eq!(kind, ToolErrorKind::EditNoChange);
    let output = session.call("replace", edit("a", "zzz", "y")).await;
    let shown = display(&output);
    assert!(shown.as_str().unwrap().starts_with("Error: Could not find an exact match"), "{shown}");
    assert_eq!(session.text("a"), "fn one() {\n    first(1);\n}\nx\nx\n");
}

#[tokio::test]
async fn all_occurrences_change_on_demand() {
    let session = Session::new();
    session.file("a", "x\ny\nx\n");
    let mut args = edit("a", "x", "$&");
    args["allow_multiple"] = true.into();
    let reported = session.ok("replace", args).await;
    assert!(reported.contains("(2 replacements)"), "{reported}");
    assert_eq!(session.text("a"), "$&\ny\n$&\n");
}

#[tokio::test]
async fn a_fuzzy_match_is_owned_up_to() {
    let session = Session::new();
    session.file("a", "start\nsay(“hello”);\nlog(1);\n");
    let old = "say(\"hello\");\nlog(1);";
    let reported = session.ok("replace", edit("a", old, "say(\"hello\", 2);")).await;
    assert!(reported.ends_with(" Applied fuzzy match at line 2-3."), "{reported}");
    assert_eq!(session.text("a"), "start\nsay(“hello”, 2);\n");
}

#[tokio::test]
async fn an_edit_that_quotes_another_number_is_refused_with_both_texts() {
    let session = Session::new();
    let text = "def pay(amount):\n    if amount > 1000:\n        check()\n";
    session.file("a", text);
    let old = text.replace("1000", "100");
    let (kind, message) =
        session.err("replace", edit("a", &old, &(old.clone() + "    log()\n"))).await;
    assert_eq!(kind, ToolErrorKind::EditNoOccurrenceFound);
    let both = "The file's text (+) differs from old_string (-):\n-    if amount > 100:\n+    if amount > 1000:";
    assert!(message.ends_with(both), "{message}");
    assert_eq!(session.text("a"), text);
}

#[tokio::test]
async fn a_match_that_is_not_exact_is_reported_with_its_place() {
    let session = Session::new();
    session.file("a", "if x {\n        one();  \n        two( 2 );\n}\n");
    let reported = session.ok("replace", edit("a", "one();\ntwo( 2 );", "one();")).await;
    let flexible =
        " old_string was found with different indentation or trailing white space, at line 2-3.";
    assert!(reported.ends_with(flexible), "{reported}");
    session.file("b", "call( 1,  2 )\n");
    let reported = session.ok("replace", edit("b", "call(1, 2)", "call(3)")).await;
    assert!(
        reported.ends_with(" old_string was found with different white space, at line 1."),
        "{reported}"
    );
    let reported = session.ok("replace", edit("b", "call( 3 )", "call(4)")).await;
    assert!(reported.ends_with("\ncall(4)\n"), "{reported}");
}

#[tokio::test]
async fn the_end_of_a_path_is_enough_when_it_is_unique() {
    let session = Session::new();
    session.file("deep/src/only.rs", "a\n");
    session.file("one/twice.rs", "a\n");
    session.file("two/twice.rs", "a\n");
    session.ok("replace", edit("src/only.rs", "a", "b")).await;
    assert_eq!(session.text("deep/src/only.rs"), "b\n");
    let (kind, _) = session.err("replace", edit("twice.rs", "a", "b")).await;
    assert_eq!(kind, ToolErrorKind::FileNotFound);
}

#[tokio::test]
async fn text_left_out_is_refused_unless_it_was_there_before() {
    let session = Session::new();
    session.file("a", "one\n// rest of code ...\n");
    let (kind, message) = session.err("replace", edit("a", "one", "// rest of code ...")).await;
    assert_eq!(kind, ToolErrorKind::InvalidToolParams);
    assert!(message.contains("new_string"), "{message}");
    session.ok("replace", edit("a", "one\n// rest of code ...", "two\n// rest of code ...")).await;
    assert_eq!(session.text("a"), "two\n// rest of code ...\n");
}

#[tokio::test]
async fn a_file_changed_since_it_was_read_is_edited_only_where_the_call_quotes_it_exactly() {
    let session = Session::new();
    session.file("a", "one\n");
    session.ok("read_file", json!({"file_path": "a"})).await;
    // For example a formatter changed it.
    session.file("a", "  one\ntwo\n");
    let (_, message) = session.err("replace", edit("a", "\tone\ntwo", "x")).await;
    assert!(message.contains("changed on disk"), "{message}");
    assert_eq!(session.text("a"), "  one\ntwo\n");
    session.ok("replace", edit("a", "one\ntwo", "x")).await;
    assert_eq!(session.text("a"), "  x\n");
}

#[tokio::test]
async fn a_persons_version_counts_to_the_last_byte() {
    let session = Session::new();
    session.file("a", "one\r\ntwo\r\n");
    let invocation = session.prepare("replace", &edit("a", "one", "1")).unwrap();
    let confirmation = invocation.confirmation(&CallId::new("1"), &side_models()).await.unwrap();
    assert_eq!(confirmation.title, "Confirm Edit: a");
    let ConfirmationKind::Edit { proposed, .. } = confirmation.kind else { panic!() };
    assert_eq!(proposed, "1\ntwo\n");
    let args = invocation.modify(&Modification::NewContent("uno\ntwo".to_owned())).unwrap();
    assert_eq!(args["old_string"], "one\ntwo\n");
    assert_eq!(args["ai_proposed_content"], "1\ntwo\n");
    let reported = session.ok("replace", args.into()).await;
    assert!(
        reported.ends_with(" User modified the `new_string` content to be: uno\ntwo."),
        "{reported}"
    );
    assert_eq!(session.bytes("a"), b"uno\r\ntwo");
}

#[tokio::test]
async fn an_edit_cannot_be_modified_before_it_was_shown() {
    let session = Session::new();
    session.file("a", "one\n");
    let invocation = session.prepare("replace", &edit("a", "one", "1")).unwrap();
    assert!(invocation.modify(&Modification::NewContent("x".to_owned())).is_err());
}

#[test]
fn descriptions() {
    let session = Session::new();
    session.file("a", "");
    let describe =
        |old: &str, new: &str| session.prepare("replace", &edit("a", old, new)).unwrap().describe();
    assert_eq!(describe("", "x"), "Create a");
    assert_eq!(describe("x", "x"), "No file changes to a");
    assert_eq!(describe("x\ny", "z"), "a: x => z");
    assert_eq!(describe(&"x".repeat(40), ""), format!("a: {}... =>", "x".repeat(30)));
    assert_eq!(describe("x", &format!("y\n{}", "z".repeat(29))), "a: x => y...");
}
