use pretty_assertions::assert_eq;

use super::*;

/// Types keys; `^[` in them is Esc. Returns the text with a mark at the cursor.
fn typed(start: &str, keys: &str) -> (String, VimMode) {
    let (before, after) = start.split_once('|').unwrap();
    let mut editor = LineEditor::default();
    editor.replace_halves(before.to_owned(), after.to_owned());
    let mut vim = Vim { mode: VimMode::Normal, ..Vim::default() };
    press(&mut vim, &mut editor, keys);
    (format!("{}|{}", editor.before(), editor.after()), vim.mode())
}

fn press(vim: &mut Vim, editor: &mut LineEditor, keys: &str) {
    for key in keys.chars() {
        let key = match key {
            '^' => KeyPress::Escape,
            key => KeyPress::Text(key.to_string()),
        };
        if let Some(key) = vim.press(key, editor) {
            editor.press(key);
        }
    }
}

/// Checks of keys: the text before them, the keys, and the text after them. `~` in a text is a line
/// end, `_` a blank before the end.
fn check(table: &[(&str, &str, &str)]) {
    for (start, keys, expected) in table {
        let start = start.replace('~', "\n");
        let (text, _) = typed(&start, &keys.replace('%', "~"));
        assert_eq!(text.replace('\n', "~"), *expected, "{start:?} {keys}");
    }
}

#[test]
fn movements() {
    check(&[
        ("ab|c", "h", "a|bc"),
        ("ab|c", "5h", "|abc"),
        ("|abc", "l", "a|bc"),
        ("|abc", "9l", "ab|c"),
        ("ab~|cd", "h", "ab~|cd"),
        ("a|b~cd", "l", "a|b~cd"),
        ("|one two-three", "w", "one |two-three"),
        ("|one two-three", "2w", "one two|-three"),
        ("|one two-three", "W", "one |two-three"),
        ("|one two-three x", "2W", "one two-three |x"),
        ("|one two", "9w", "one tw|o"),
        ("one two-thre|e", "b", "one two-|three"),
        ("one two-thre|e", "2b", "one two|-three"),
        ("one two-thre|e", "B", "one |two-three"),
        ("on|e", "9b", "|one"),
        ("|one two-three", "e", "on|e two-three"),
        ("|one two-three", "2e", "one tw|o-three"),
        ("|one two-three", "2E", "one two-thre|e"),
        ("  on|e", "0", "|  one"),
        ("  on|e", "_", "  on|e"),
        ("|one~two", "$", "on|e~two"),
        ("|one~two", "2$", "one~tw|o"),
        ("o|ne~two~x", "j", "one~t|wo~x"),
        ("on|e~two~x", "2j", "one~two~|x"),
        ("on|e~two~x", "3j", "on|e~two~x"),
        ("one~tw|o", "k", "on|e~two"),
        ("one~  two~thre|e", "gg", "|one~  two~three"),
        ("one~  two~thre|e", "2gg", "one~  |two~three"),
        ("|one~two~  x", "G", "one~two~  |x"),
        ("|one~two~  x", "2G", "one~|two~  x"),
        ("|a.b.c.d", "f.", "a|.b.c.d"),
        ("|a.b.c.d", "2f.", "a.b|.c.d"),
        ("|a.b.c.d", "f.;", "a.b|.c.d"),
        ("|a.b.c.d", "f.;;,", "a.b|.c.d"),
        ("|a.b.c.d", "2t.", "a.|b.c.d"),
        ("|a.b.c.d", "t.;", "a.|b.c.d"),
        ("a.b.c.|d", "F.", "a.b.c|.d"),
        ("a.b.c.|d", "2T.", "a.b.|c.d"),
        ("|abc", "fx", "|abc"),
        ("|漢字 e\u{301}x", "wl", "漢字 e\u{301}|x"),
    ]);
    let (text, _) = typed("  on|e", "0");
    assert_eq!(text, "|  one");
}

#[test]
fn the_first_character_of_a_line() {
    // The caret is Esc in the other tests.
    let mut editor = LineEditor::default();
    editor.replace_halves("  on".to_owned(), "e".to_owned());
    let mut vim = Vim { mode: VimMode::Normal, ..Vim::default() };
    assert_eq!(vim.press(KeyPress::Text("^".to_owned()), &mut editor), None);
    assert_eq!((editor.before(), editor.after()), ("  ", "one"));
}

#[test]
fn changes() {
    check(&[
        ("a|bcd", "x", "a|cd"),
        ("a|bcd", "9x", "|a"),
        ("ab|cd", "X", "a|cd"),
        ("a|Bcd", "2%", "abC|d"),
        ("a|bcd", "rx", "a|xcd"),
        ("a|bcd", "2rx", "ax|xd"),
        ("a|bcd", "9rx", "a|bcd"),
        ("on|e~two", "D", "o|n~two"),
        ("on|e~two", "Cx^", "on|x~two"),
        ("on|e~two", "Yp", "one~|one~two"),
        ("on|e~two", "Yjp", "one~two~|one"),
        ("on|e~two", "YP", "|one~one~two"),
        ("on|e~two~x", "dd", "|two~x"),
        ("one~tw|o", "dd", "|one"),
        ("on|e~two~x", "2dd", "|x"),
        ("on|e~two", "ccx^", "|x~two"),
        ("on|e~two", "yyp", "one~|one~two"),
        ("|one two", "dw", "|two"),
        ("|one two three", "d2w", "|three"),
        ("|one two three", "2dw", "|three"),
        ("|one two", "cwx^", "|x two"),
        ("|one two", "de", "| two"),
        ("|one two", "ywP", "one| one two"),
        ("one tw|o", "db", "one |o"),
        ("one-a tw|o", "dB", "one-a |o"),
        ("|one-a two", "dW", "|two"),
        ("|one-a two", "dE", "| two"),
        ("one tw|o", "d0", "|o"),
        ("one |two", "d$", "one| "),
        ("|one two", "yep", "oon|ene two"),
        ("one~two~|x", "dgg", "|"),
        ("on|e~two~x", "dG", "|"),
        ("|a.b.c", "df.", "|b.c"),
        ("|a.b.c", "dt.", "|.b.c"),
        ("a.b.|c", "dF.", "a.b|c"),
        ("a.b.|c", "2dT.", "a.|c"),
        ("ab|cd", "dh", "a|cd"),
        ("ab|cd", "dl", "ab|d"),
        ("on|e~two~x", "dj", "|x"),
        ("one~tw|o~x", "dk", "|x"),
        ("a|bc", "xp", "ac|b"),
        ("a|bc", "x2p", "acb|b"),
        ("a|bc", "xu", "a|bc"),
        ("|abcd", "x.", "|cd"),
        ("|abcd", "x2.", "|d"),
        ("|one two three", "cwx^w.", "x |x three"),
        ("|a~b", "Ax^j.", "ax~b|x"),
    ]);
}

#[test]
fn ways_into_the_insert_mode() {
    check(&[
        ("a|b", "ix^", "a|xb"),
        ("a|b", "ax^", "ab|x"),
        ("  a|b", "Ix^", "  |xab"),
        ("|ab~c", "Ax^", "ab|x~c"),
        ("|ab~c", "ox^", "ab~|x~c"),
        ("ab~|c", "Ox^", "ab~|x~c"),
    ]);
    for key in ["i", "a", "I", "A", "o", "O", "C", "cc", "cw"] {
        assert_eq!(typed("a|b", key).1, VimMode::Insert, "{key}");
        assert_eq!(typed("a|b", &format!("{key}^")).1, VimMode::Normal, "{key}");
    }
}

#[test]
fn unfinished_and_unknown_commands_change_nothing() {
    for keys in ["d^", "dq", "3^x", "gq", "f", "r", "q", "Z", ";", ",", ".", "p", "dz", "3d", "c^"]
    {
        let (text, mode) = typed("ab|cd", keys);
        let expected = if keys == "3^x" { "ab|d" } else { "ab|cd" };
        assert_eq!((text.as_str(), mode), (expected, VimMode::Normal), "{keys}");
    }
    for keys in ["x", "dd", "p", "w", "G", "gg", "D", "%", "rx", "jk", "$0", "fx;", "u", "."] {
        let (text, mode) = typed("|", &keys.replace('%', "~"));
        assert_eq!((text.as_str(), mode), ("|", VimMode::Normal), "{keys}");
    }
}

#[test]
fn other_keys_have_their_usual_effect() {
    let mut editor = LineEditor::default();
    let mut vim = Vim::default();
    for key in [KeyPress::Enter, KeyPress::Tab, KeyPress::Up, KeyPress::Down, KeyPress::Search] {
        assert_eq!(vim.press(key.clone(), &mut editor), Some(key));
    }
    assert_eq!(vim.press(KeyPress::Escape, &mut editor), None);
    assert_eq!(vim.mode(), VimMode::Normal);
    for key in [KeyPress::Enter, KeyPress::Tab, KeyPress::Up, KeyPress::Escape, KeyPress::KillLeft]
    {
        assert_eq!(vim.press(key.clone(), &mut editor), Some(key));
    }
    // A burst of keys that ends in INSERT mode inserts the rest.
    let rest = vim.press(KeyPress::Text("iab".to_owned()), &mut editor);
    assert_eq!(rest, Some(KeyPress::Text("ab".to_owned())));
}

#[test]
fn large_counts_are_bounded() {
    let text = format!("|{}", "word ".repeat(500));
    for keys in
        ["99999w", "99999x", "d99999w", "99999j", "xxx99999p", "99999dd", "99999.", "99999u"]
    {
        typed(&text, keys);
    }
}
