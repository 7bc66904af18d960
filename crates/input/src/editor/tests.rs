use proptest::prelude::*;

use super::{KeyPress as Key, *};

fn text(text: &str) -> Key {
    Key::Text(text.to_owned())
}

/// Types text and presses keys; `|` marks the cursor in the result.
fn after(keys: impl IntoIterator<Item = Key>) -> String {
    let mut editor = LineEditor::default();
    for key in keys {
        editor.press(key);
    }
    format!("{}|{}", editor.before(), editor.after())
}

#[test]
fn keys_edit_the_line() {
    use Key::*;
    let table = [
        (vec![text("abc"), Left, text("x")], "abx|c"),
        (vec![text("abc"), Home, Delete, End, text("!")], "bc!|"),
        (vec![text("ae\u{301}"), Backspace], "a|"),
        (vec![text("👩\u{200d}💻b"), Left, Left], "|👩\u{200d}💻b"),
        (vec![text("one two  "), KillWord], "one |"),
        (vec![text("one two three"), WordLeft, WordLeft], "one |two three"),
        (vec![text("one two"), Home, WordRight], "one| two"),
        (vec![text("one two"), WordLeft, KillRight], "one |"),
        (vec![text("one two"), WordLeft, KillLeft], "|two"),
        (vec![text("foo.bar/baz"), WordLeft, WordLeft], "foo.|bar/baz"),
        (vec![text("foo.bar/baz"), Home, WordRight, WordRight], "foo.bar|/baz"),
        (vec![text("foo.bar/baz"), KillWordLeft], "foo.bar/|"),
        (vec![text("foo bar"), Home, KillWordRight, End, Yank], " barfoo|"),
        (vec![text("one two"), KillWord, Yank, Yank], "one twotwo|"),
        (vec![text("one"), text(" "), text("tw"), text("o"), Undo, Undo], "one|"),
        (vec![text("one"), KillLeft, Undo], "one|"),
        (vec![text("one"), Undo, Undo, Undo], "|"),
        (vec![Yank, Escape], "|"),
        (vec![text("one\ntwo"), Home, text("x"), End, text("y")], "one\nxtwoy|"),
        (vec![text("one\ntwo\nthree"), KillLeft, Backspace, KillLeft], "one\n|"),
        (vec![text("a\nb"), Left, Left, Left, KillRight], "|\nb"),
        (vec![text("ab"), Home, EndOfInput], "|b"),
        (vec![Backspace, Delete, Left, Right, WordLeft, WordRight, Up, Down, KillWord], "|"),
    ];
    for (keys, expected) in table {
        let shown = format!("{keys:?}");
        assert_eq!(after(keys), expected, "{shown}");
    }
}

#[test]
fn a_backslash_continues_the_line() {
    let mut editor = LineEditor::default();
    editor.press(text("one\\"));
    assert_eq!(editor.press(Key::Enter), EditOutcome::Continued);
    assert!(editor.is_continued() && !editor.is_empty());
    editor.press(text("a path\\\\"));
    assert_eq!(editor.press(Key::Enter), EditOutcome::Submitted("one\na path\\\\".to_owned()));
    assert!(editor.is_empty() && !editor.is_continued());
}

#[test]
fn a_line_end_is_typed_and_taken_back() {
    let mut editor = LineEditor::default();
    editor.press(text("onetwo"));
    for _ in 0..3 {
        editor.press(Key::Left);
    }
    assert_eq!(editor.press(Key::Newline), EditOutcome::Continued);
    assert_eq!((editor.before(), editor.after(), editor.whole().as_str()), ("", "two", "one\ntwo"));
    editor.press(Key::Backspace);
    assert_eq!((editor.before(), editor.after()), ("one", "two"));
    assert!(!editor.is_continued());
    editor.press(Key::Newline);
    editor.press(Key::Newline);
    assert_eq!(editor.press(Key::Enter), EditOutcome::Submitted("one\n\ntwo".to_owned()));
}

#[test]
fn the_history_is_searched_backwards() {
    let mut editor = LineEditor::default();
    for line in ["git pull", "ls", "git push", "make"] {
        editor.remember(line);
    }
    editor.press(text("half"));
    let mut step = |key| {
        editor.press(key);
        (editor.before().to_owned(), editor.search_label().unwrap_or_default())
    };
    let found = |line: &str, label: &str| (line.to_owned(), label.to_owned());
    assert_eq!(step(Key::Search), found("half", "(reverse-i-search)`': "));
    assert_eq!(step(text("gi")), found("git push", "(reverse-i-search)`gi': "));
    assert_eq!(step(Key::Search), found("git pull", "(reverse-i-search)`gi': "));
    assert_eq!(step(Key::Search), found("git pull", "(failed reverse-i-search)`gi': "));
    assert_eq!(step(Key::Escape), found("half", ""));
    step(Key::Search);
    step(text("pull"));
    assert_eq!(step(Key::End), found("git pull", ""));
    assert_eq!(editor.press(Key::Enter), EditOutcome::Submitted("git pull".to_owned()));
}

#[test]
fn the_lines_of_a_search_are_listed() {
    let mut editor = LineEditor::default();
    for line in ["git pull", "ls", "Git push", "git pull", "make"] {
        editor.remember(line);
    }
    assert_eq!(editor.search_matches(), None);
    editor.press(text("half"));
    editor.press(Key::Search);
    let listed = |editor: &LineEditor| {
        let found = editor.search_matches().unwrap();
        (found.lines.join("|"), found.selected)
    };
    assert_eq!(listed(&editor), ("make|git pull|Git push|ls".to_owned(), None));
    editor.move_in_search(false);
    assert_eq!((listed(&editor).1, editor.before()), (None, "half"));
    editor.press(text("git"));
    assert_eq!(listed(&editor), ("git pull|Git push".to_owned(), Some(0)));
    for (is_older, selected, line) in [
        (true, 1, "Git push"),
        (true, 1, "Git push"),
        (false, 0, "git pull"),
        (false, 0, "git pull"),
        (true, 1, "Git push"),
    ] {
        editor.move_in_search(is_older);
        assert_eq!((listed(&editor).1, editor.before()), (Some(selected), line));
    }
    // A text that no older line contains is found in the newer ones.
    editor.press(text(" pull"));
    assert_eq!((listed(&editor), editor.before()), (("git pull".to_owned(), Some(0)), "git pull"));
    editor.press(text("?"));
    assert_eq!(listed(&editor), (String::new(), None));
    assert_eq!(editor.search_label().unwrap(), "(failed reverse-i-search)`git pull?': ");
    editor.press(Key::Backspace);
    editor.end_search();
    assert_eq!((editor.search_matches(), editor.before()), (None, "git pull"));
    editor.press(Key::Search);
    editor.press(text("Git"));
    assert_eq!(listed(&editor), ("Git push".to_owned(), Some(0)));
}

#[test]
fn lines_are_called_back() {
    let mut editor = LineEditor::default();
    for line in ["one", "two", "two", " "] {
        editor.press(text(line));
        editor.press(Key::Enter);
    }
    editor.press(text("half"));
    let mut walk = |key| {
        editor.press(key);
        editor.before().to_owned()
    };
    let seen = [Key::Up, Key::Up, Key::Up, Key::Down, Key::Down, Key::Down].map(&mut walk);
    assert_eq!(seen, ["two", "one", "one", "two", "half", "half"]);
}

#[test]
fn the_end_of_input_needs_an_empty_line() {
    let mut editor = LineEditor::default();
    assert_eq!(editor.press(Key::EndOfInput), EditOutcome::EndOfInput);
    editor.press(text("x"));
    assert_eq!(editor.press(Key::EndOfInput), EditOutcome::Line);
    editor.clear();
    assert_eq!(editor.press(Key::EndOfInput), EditOutcome::EndOfInput);
}

#[test]
fn a_line_that_is_too_long_is_refused() {
    let mut editor = LineEditor::default();
    for _ in 0..9 {
        editor.press(text(&"x".repeat(1 << 20)));
    }
    assert_eq!(editor.before(), "", "what cannot be sent is not kept");
    assert!(!editor.is_empty());
    assert_eq!(editor.press(Key::Enter), EditOutcome::TooLong);
    editor.press(text("short"));
    assert_eq!(editor.press(Key::Enter), EditOutcome::Submitted("short".to_owned()));
}

#[test]
fn the_history_is_bounded() {
    let mut editor = LineEditor::default();
    for number in 0..2 * HISTORY_LINES {
        editor.remember(&number.to_string());
    }
    editor.remember(&"x".repeat(LONGEST_KEPT + 1));
    assert_eq!(editor.history.len(), HISTORY_LINES);
    assert_eq!(editor.history.last().map(String::as_str), Some("999"));
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        "[a-c é\u{301}漢👍\u{200d}🇩]{0,3}".prop_map(Key::Text),
        prop::sample::select(vec![
            Key::Backspace,
            Key::Delete,
            Key::Left,
            Key::Right,
            Key::WordLeft,
            Key::WordRight,
            Key::Home,
            Key::End,
            Key::Up,
            Key::Down,
            Key::KillLeft,
            Key::KillRight,
            Key::KillWord,
            Key::KillWordLeft,
            Key::KillWordRight,
            Key::Yank,
            Key::Undo,
            Key::Newline,
            Key::Search,
            Key::Escape,
            Key::EndOfInput,
            Key::Enter,
        ]),
    ]
}

proptest! {
    #[test]
    fn moving_changes_no_text(keys in prop::collection::vec(any_key(), 0..30)) {
        let mut editor = LineEditor::default();
        for key in keys {
            let whole = |editor: &LineEditor| format!("{}{}", editor.before(), editor.after());
            let before = whole(&editor);
            let moves = matches!(
                key,
                Key::Left | Key::Right | Key::WordLeft | Key::WordRight | Key::Home | Key::End
            );
            let moves = moves && editor.search_label().is_none();
            editor.press(key);
            prop_assert!(!moves || whole(&editor) == before);
        }
    }
}
