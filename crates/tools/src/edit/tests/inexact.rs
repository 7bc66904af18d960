//! Tests that an inexact edit applies the difference between its texts and nothing else.

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::edit;
use crate::edit::{EditFailure, changes_no_more, find_edit};

/// Name, file, old text, new text, file after the edit.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

#[track_caller]
fn all(rows: &[Row]) {
    for (name, text, old, new, expected) in rows {
        let found = edit(text, old, new).map(|(_, text)| text);
        assert_eq!(found, Ok((*expected).to_owned()), "{name}");
    }
}

/// Checks that edits, given as file, old text and new text, are refused.
#[track_caller]
fn refused(rows: &[(&str, &str, &str)]) {
    for (text, old, new) in rows {
        let found = edit(text, old, new);
        assert!(
            matches!(found, Err(EditFailure::NotFound { nearest: Some(_) })),
            "{text:?}: {found:?}"
        );
    }
}

const PYTHON: &str = "def f():\n    if x:\n        a()\n        b()\n        z()\n    return 1\n";
const GO: &str = "func f() {\n\tif x {\n\t\ta()\n\t}\n\tb()\n}\n";

#[test]
fn new_lines_are_indented_like_the_file() {
    let row = |name, old, new, expected| (name, PYTHON, old, new, expected);
    all(&[
        row(
            "a block with other units",
            "  if x:\n    a()\n    b()\n",
            "  if x:\n    a()\n    if y:\n      c()\n    b()\n",
            "def f():\n    if x:\n        a()\n        if y:\n            c()\n        b()\n        z()\n    return 1\n",
        ),
        row(
            "from the word on",
            "if x:\n  a()\n  b()",
            "if x:\n  a()\n  c()",
            "def f():\n    if x:\n        a()\n        c()\n        z()\n    return 1\n",
        ),
        row(
            "some lines only",
            "    if x:\n      a()\n        b()\n      z()",
            "    if x:\n      a()\n      c()\n        b()\n      z()",
            "def f():\n    if x:\n        a()\n        c()\n        b()\n        z()\n    return 1\n",
        ),
        row(
            "from the word on, other lines exact but for their ends",
            "a() \n        b()\n        z()\n    return 1",
            "a() \n        b()\n        z()\n    c()\n    return 2",
            "def f():\n    if x:\n        a()\n        b()\n        z()\n    c()\n    return 2\n",
        ),
        row(
            "flat lines, a deeper new line",
            "a()\nb()",
            "a()\nwith y:\n  c()\nb()",
            "def f():\n    if x:\n        a()\n        with y:\n            c()\n        b()\n        z()\n    return 1\n",
        ),
        row(
            "a line before the first",
            "  a()\n  b()",
            "  c()\n  a()\n  b()",
            "def f():\n    if x:\n        c()\n        a()\n        b()\n        z()\n    return 1\n",
        ),
        row(
            "a shallower line after the last",
            "    b()\n    z()\n",
            "    b()\n    z()\n  c()\n",
            "def f():\n    if x:\n        a()\n        b()\n        z()\n    c()\n    return 1\n",
        ),
    ]);
}

#[test]
fn new_lines_have_the_tabs_or_blanks_of_the_file() {
    all(&[
        (
            "blanks for tabs",
            PYTHON,
            "\tif x:\n\t\ta()\n\t\tb()",
            "\tif x:\n\t\ta()\n\t\tif y:\n\t\t\tc()",
            "def f():\n    if x:\n        a()\n        if y:\n            c()\n        z()\n    return 1\n",
        ),
        (
            "tabs for blanks",
            GO,
            "    if x {\n        a()\n    }\n    b()",
            "    if x {\n        for y {\n            a()\n        }\n    }\n    b()",
            "func f() {\n\tif x {\n\t\tfor y {\n\t\t\ta()\n\t\t}\n\t}\n\tb()\n}\n",
        ),
        (
            "blanks at the depth of the file",
            GO,
            "func f() {\n    if x {",
            "func f() {\n    for {\n        c()\n    }\n    if x {",
            "func f() {\n\tfor {\n\t\tc()\n\t}\n\tif x {\n\t\ta()\n\t}\n\tb()\n}\n",
        ),
        (
            "alignment within a level",
            "x\n\ta(b)\n\tif c\n\t\td()\n",
            "    a(b)\n    if c\n        d()",
            "    a(b,\n      e)\n    if c\n        d()",
            "x\n\ta(b,\n\t  e)\n\tif c\n\t\td()\n",
        ),
    ]);
}

#[test]
fn a_change_of_white_space_is_applied() {
    all(&[
        (
            "deeper",
            PYTHON,
            "  a()\n  b()\n",
            "  if y:\n    a()\n    b()\n",
            "def f():\n    if x:\n        if y:\n            a()\n            b()\n        z()\n    return 1\n",
        ),
        (
            "less deep",
            PYTHON,
            "  if x:\n    a()\n    b()\n    z()\n",
            "  a()\n  b()\n  z()\n",
            "def f():\n    a()\n    b()\n    z()\n    return 1\n",
        ),
        (
            "flat",
            GO,
            "        a()\n    }\n    b()",
            "        a()\n        }\n    b()",
            "func f() {\n\tif x {\n\t\ta()\n\t\t}\n\tb()\n}\n",
        ),
        (
            "only deeper",
            "\ta()\n\tb()\n",
            "    a()\n    b()",
            "        a()\n        b()",
            "\t\ta()\n\t\tb()\n",
        ),
        ("within a line", "\tx=1\n\ty=2\n", "  x=1\n  y=2", "  x = 1\n  y=2", "\tx = 1\n\ty=2\n"),
        ("a blank line more", "  a\n\n\n  b\n", "a\n\nb", "a\n\n\nb", "  a\n\n\n\n  b\n"),
        ("a blank line fewer", "  a\n\n  b\n", "a\n\nb", "a\nb", "  a\n  b\n"),
        ("a line broken", "  f(a, b)\n", "\tf(a, b)\n", "\tf(a,\n\t\tb)\n", "  f(a,\n    b)\n"),
        ("lines joined", "  f(a,\n    b)\n", " f(a,\n  b)\n", " f(a, b)\n", "  f(a, b)\n"),
        ("blank lines at the end", "\ta\n\n\tb\n", "  a\n\n", "  a\n", "\ta\n\tb\n"),
        ("more of them", "\ta\n\tb\n", "  a\n", "  a\n\n\n", "\ta\n\n\n\tb\n"),
        ("blank lines at the start", "x\n\n\n\ta\n", "\n\n  a\n", "\n  a\n", "x\n\n\ta\n"),
        ("more there", "x\n\ta\n", "\n  a\n", "\n\n  a\n", "x\n\n\ta\n"),
    ]);
}

#[test]
fn equal_text_stays_as_it_is_in_the_file() {
    all(&[
        (
            "hard line breaks",
            "\tone  \n\ttwo  \n",
            "  one\n  two\n",
            "  one\n  2\n",
            "\tone  \n\t2  \n",
        ),
        ("alignment", "  x   = 1  # a\n", "x = 1 # a", "x = 2 # a", "  x   = 2  # a\n"),
        (
            "a string",
            "  say('a  b', 1)\n",
            " say('a b', 1)\n",
            " say('a b', 2)\n",
            "  say('a  b', 2)\n",
        ),
        (
            "quotes",
            "import x from 'x'\n",
            "import x from \"x\"",
            "import x, {y} from \"x\"",
            "import x, {y} from 'x'\n",
        ),
        (
            "curly quotes",
            "it’s “so” – old\n",
            "it's \"so\" - old",
            "it's \"so\" - new",
            "it’s “so” – new\n",
        ),
        ("a changed quote", "say \"Alice\"\n", "say “Alice”", "say 'Bob'", "say 'Bob'\n"),
        (
            "broken elsewhere",
            "# foo\nbar baz\n",
            "# foo bar baz",
            "# foo x bar baz",
            "# foo x\nbar baz\n",
        ),
        ("blank lines", "  a\n \t\n  b\n  c\n", "a\n\nb\nc", "a\n\nb\nd", "  a\n \t\n  b\n  d\n"),
        (
            "two hunks",
            "\ta(1)\n\tb(2)  \n\tc(3)\n",
            "a(1)\nb(2)\nc(3)",
            "a(0)\nb(2)\nc(0)",
            "\ta(0)\n\tb(2)  \n\tc(0)\n",
        ),
    ]);
}

#[test]
fn lines_are_deleted_with_their_ends() {
    all(&[
        ("all", "x\n\ta\n\tb\ny\n", "  a\n  b\n", "", "x\ny\n"),
        ("the first", "\t\ta\n\tb\ny\n", "  a\n  b\n", "  b\n", "\tb\ny\n"),
        ("the middle", "\ta  \n\tb\n\tc\n", "  a\n  b\n  c\n", "  a\n  c\n", "\ta  \n\tc\n"),
        ("the last", "\ta  \n\tb\ny\n", "  a\n  b\n", "  a\n", "\ta  \ny\n"),
        ("with blank lines", "x\n\ta\n\ny\n", "  a\n\n", "", "x\ny\n"),
        ("for a blank line", "x\n\ta\ny\n", "  a\n", "\n", "x\n\ny\n"),
        ("at the end", "x\n\ta", "  a", "", "x\n"),
    ]);
}

#[test]
fn another_word_or_number_is_never_changed() {
    refused(&[
        (
            "if amount > 1000:\n    pay()\n",
            "if amount > 100:\n    pay()\n",
            "if amount > 100:\n    pay()\n    log()\n",
        ),
        ("T = 30\nRETRIES = 5\n", "T = 30\nRETRIES = 3\n", "T = 60\nRETRIES = 3\n"),
        ("const a = loadUser(1, 2);\n", "const a = loadUsers(1, 2);", "const a = loadUsers(1, 3);"),
        ("const user_name = 1;\n", "const username = 1;", "const username = 2;"),
        ("x = elseif + 1000\n", "x = else if + 1000", "x = else if + 1"),
        ("the quick brown fox\n", "the quick brwn fox", "the slow fox"),
        ("f(a, b, c, d, e, f)\n", "f(a, b, c, d, e, f,)", "g()"),
        ("say 'it' and more\n", "say \"it\" and more", "say \"i'm\" and more"),
        ("echo 'x' and more\n", "echo \"x\" and more", "echo \"$x\" and more"),
    ]);
}

#[test]
fn a_corrected_edit_changes_no_more_than_the_edit() {
    let original = ("a > 100:\n  b", "a > 100:\n  b\n  c()");
    for (corrected, expected) in [
        (("a > 1000:\n  b", "a > 1000:\n  b\n  c()"), true),
        (("a > 1000:\n  b", "a > 100:\n  b\n  c()"), false),
        (("a > 1000:\n  b", "a > :\n  b\n  c()"), false),
        (("a > 1000:\n  b", "a > 1000:\n  b\n  c(d)"), false),
        (("a > 1000:\n  b", "a > 1000:\n  c()"), false),
    ] {
        assert_eq!(changes_no_more(original, corrected), expected, "{corrected:?}");
    }
    assert!(changes_no_more(("fn totl()", "fn sum()"), ("fn total()", "fn sum()")));
    assert!(!changes_no_more(("fn totl()", "fn sum()"), ("total()", "sum")));
}

/// A line: its depth and its words; without words a blank line.
type Line = (usize, String);

fn line() -> impl Strategy<Value = Line> {
    (0_usize..3, "([a-z]{1,3}\\([0-9]{1,2}\\)|[a-z]{2} = \"[a-z]{1,3} [a-z]\")")
}

fn block(lines: &[Line], unit: &str, least: usize) -> String {
    let line = |(depth, words): &Line| format!("{}{words}\n", unit.repeat(depth - least));
    lines.iter().map(line).collect()
}

fn unit() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("\t"), Just("  "), Just("    ")]
}

proptest! {
    /// An edit that is quoted with other units and from another depth has the result of the exact
    /// edit.
    #[test]
    fn an_edit_quoted_with_other_white_space_is_the_exact_edit(
        file in prop::collection::vec(line(), 1..9),
        own in unit(), other in unit(),
        at in 0_usize..9, count in 1_usize..6, change in 0_usize..6,
        inserted in prop::collection::vec(line(), 0..3), removed in 0_usize..3,
    ) {
        // Depth grows by one level at a time, as in real files, and the words are unique.
        let mut depth = 0;
        let file: Vec<Line> = file.into_iter().enumerate().map(|(number, (wanted, words))| {
            depth = wanted.min(depth + 1);
            (depth, format!("l{number} {words}"))
        }).collect();
        let at = at % file.len();
        let old = &file[at..(at + count).min(file.len())];
        let change = change % (old.len() + 1);
        let kept_depth = old[change.min(old.len() - 1)].0;
        let inserted = inserted.into_iter().enumerate();
        let inserted = inserted.map(|(at, (_, words))| (kept_depth, format!("n{at} {words}")));
        let mut new = old.to_vec();
        new.splice(change..(change + removed).min(old.len()), inserted);
        let least = old.iter().chain(&new).map(|line| line.0).min().unwrap_or_default();
        let text = block(&file, own, 0);
        let exact = text.replace(&block(old, own, 0), &block(&new, own, 0));
        let quoted = (block(old, other, least), block(&new, other, least));
        if new == old || new.is_empty() || text.contains(&quoted.0) {
            return Ok(());
        }
        let found = find_edit(&text, &quoted.0, &quoted.1, false);
        prop_assert_eq!(found.map(|found| found.apply(&text)), Ok(exact), "{:?}", quoted);
    }

    /// An edit with any white space has the tokens of the exact edit, and kept lines stay byte for
    /// byte.
    #[test]
    fn a_badly_quoted_edit_changes_only_named_lines(
        // Depth, text, white space at the end of the line and in the quotation, blank lines.
        file in prop::collection::vec((line(), "[ \t]{0,6}", "[ \t]{0,6}", 0_usize..3), 2..9),
        own in unit(), change in 0_usize..9, insert: bool,
    ) {
        let (mut text, mut lines, mut quoted) = (String::new(), Vec::new(), Vec::new());
        for (number, ((depth, words), end, noise, blanks)) in file.iter().enumerate() {
            let line = format!("{}l{number} {words}", own.repeat(*depth));
            quoted.push(format!("{noise}{}", line.trim()));
            text.extend([line.as_str(), end, "\n", &"\n".repeat(*blanks)]);
            lines.push(line + end);
        }
        let old = quoted.join("\n");
        let change = change % file.len();
        let line = file[change].2.clone() + "changed(1)";
        if insert {
            quoted.insert(change, line);
        } else {
            quoted[change] = line;
            lines.remove(change);
        }
        let new = quoted.join("\n");
        prop_assume!(!text.contains(&old));
        let after = find_edit(&text, &old, &new, false).unwrap().apply(&text);
        let tokens = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(tokens(&after), tokens(&new));
        let others: Vec<&str> = after
            .split('\n')
            .filter(|line| !line.trim().is_empty() && !line.contains("changed"))
            .collect();
        prop_assert_eq!(others, lines, "{:?} {:?}", text, new);
    }
}

#[test]
fn a_line_after_a_removed_one_keeps_its_indentation() {
    all(&[
        (
            "the first line",
            "def f():\n  t = 1\n  for i in r:\n    if i > 8:\n      t += c(i)\n    else:\n",
            "   if i > 8:\n      t += c(i)",
            "      t += c(i)",
            "def f():\n  t = 1\n  for i in r:\n      t += c(i)\n    else:\n",
        ),
        (
            "a line at another depth",
            "def f():\n\treturn t\n\ndef g(a, b):\n\tt = 8\n\tfor\n",
            "return t\n\ndef g(a, b):\nt = 8",
            "return t\n\nt = 8",
            "def f():\n\treturn t\n\n\tt = 8\n\tfor\n",
        ),
        (
            "a line before the next",
            "  return t\n\ndef g(a, b):\n  t = 3\n  for\n",
            "def g(a, b):\nt = 3",
            "def g(a, b):\nnote(1)\nt = 3",
            "  return t\n\ndef g(a, b):\n  note(1)\n  t = 3\n  for\n",
        ),
    ]);
}

#[test]
fn a_line_at_the_depth_of_the_file_stays_there() {
    all(&[
        (
            "beside an exact line",
            "    log(x)\n  return t\nz\n",
            "    log(x)\n return t",
            "    log(x)\n  return u",
            "    log(x)\n  return u\nz\n",
        ),
        (
            "a line whose first word changes",
            "def f():\n    total = 5\n    for\n",
            "def f():\n   total = 5",
            "def f():\n    amount = 5",
            "def f():\n    amount = 5\n    for\n",
        ),
        (
            "but not if other lines have the depth of the edit",
            "def f():\n    a()\n    b()\n",
            "def f():\n  a()\n  b()",
            "def f():\n  if x:\n    a()\n  b()",
            "def f():\n    if x:\n        a()\n    b()\n",
        ),
        (
            "alone",
            "x:\n    return t  \nz\n",
            "   return t",
            "    return u",
            "x:\n    return u  \nz\n",
        ),
        (
            "as the first of several",
            "x:\n    return t\nz\n",
            "   return t",
            "    if t:\n        return t\n    return u",
            "x:\n    if t:\n        return t\n    return u\nz\n",
        ),
    ]);
}

#[test]
fn blanks_at_the_end_of_quoted_lines_are_not_added_to_new_ones() {
    all(&[(
        "new and changed lines",
        "  a(1)\n  b(2)\nz\n",
        "  a(1)  \n  b(2)  \n",
        "  a(1)  \n  c(3)  \n  b(2, 4)  \n",
        "  a(1)\n  c(3)\n  b(2, 4)\nz\n",
    )]);
}

#[test]
fn a_number_or_word_that_the_text_cuts_off_is_not_changed() {
    refused(&[
        ("limit = 1000\n", "limit = 100", "limit = 200"),
        ("limit = 1000\n", "limit = 100", "limit = 100\nmore = 1"),
        ("limit = 1.5\n", "limit = 1", "limit = 2"),
        ("limit = 1_000\n", "limit = 1", "limit = 2"),
        ("if 100 > x\n", "0 > x", "5 > x"),
        ("return loadUsers\n", "return loadUser", "return loadUser || fallback"),
        ("return loadUsers()\n", "Users()", "await Users()"),
    ]);
    all(&[
        ("the number stays", "a > 1000\n", "a > 100", "b > 100", "b > 1000\n"),
        ("a unit follows", "width: 10px\n", "width: 10", "width: 20", "width: 20px\n"),
        ("part of a word", "load_user_name\n", "user_", "account_", "load_account_name\n"),
        ("other words", "the cats sleep\n", "the cat", "the dog", "the dogs sleep\n"),
        ("letters of all scripts", "中文字 a\n", "中文", "中文 b 中", "中文 b 中字 a\n"),
        ("removed", "a_old = 1\n", "_old", "", "a = 1\n"),
    ]);
}
