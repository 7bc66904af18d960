use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn patch(old: &str, new: &str) -> String {
    Difference::between(old, new).patch("a.txt", Labels::PROPOSAL)
}

const HEADER: &str = "Index: a.txt\n===================================================================\n--- a.txt\tCurrent\n+++ a.txt\tProposed\n";

#[test]
fn patches_have_npms_form() {
    let table = [
        ("a\n", "a\n", ""),
        ("a\nb\n", "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
        ("", "x\n", "@@ -0,0 +1,1 @@\n+x\n"),
        ("x\n", "", "@@ -1,1 +0,0 @@\n-x\n"),
        ("a", "b\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n"),
        ("a\nb", "c\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"),
    ];
    for (old, new, hunks) in table {
        assert_eq!(patch(old, new), format!("{HEADER}{hunks}"), "{old:?} -> {new:?}");
    }
}

#[test]
fn changes_far_apart_get_their_own_hunks() {
    let old = (1..=30).map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    let near = old.replace("\n5\n", "\nfive\n").replace("\n12\n", "\ntwelve\n");
    assert_eq!(patch(&old, &near).matches("@@ -").count(), 1);
    let far = old.replace("\n5\n", "\nfive\n").replace("\n13\n", "\nthirteen\n");
    assert_eq!(patch(&old, &far).matches("@@ -").count(), 2);
}

#[test]
fn figures_count_utf16_without_line_ends() {
    let stat = diff_stat("a\nold\n", "a\n\u{1F600}new\n", "a\n");
    assert_eq!((stat.model_removed_lines, stat.model_removed_chars), (1, 3));
    assert_eq!((stat.model_added_lines, stat.model_added_chars), (1, 5));
    assert_eq!((stat.user_removed_lines, stat.user_removed_chars), (1, 5));
    assert_eq!((stat.user_added_lines, stat.user_added_chars), (0, 0));
}

#[test]
fn a_snippet_shows_five_lines_around_a_change() {
    let old = (1..=40).map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    let new = old.replace("\n10\n", "\nten\n").replace("\n14\n", "\nfourteen\n");
    let snippet = Difference::between(&old, &new).snippet();
    assert!(snippet.starts_with("...\n5\n6\n"), "{snippet}");
    assert!(snippet.ends_with("18\n19\n..."), "{snippet}");
    assert_eq!(Difference::between("", "x\ny").snippet(), "x\ny");
    assert_eq!(Difference::between("x\ny\n", "x\ny\n").snippet(), "x\ny\n");
}

#[test]
fn huge_and_different_texts_take_bounded_time() {
    let old = (0..200_000).map(|line| format!("a{}\n", line % 7919)).collect::<Vec<_>>().concat();
    let new = (0..200_000).map(|line| format!("b{}\n", line % 6007)).collect::<Vec<_>>().concat();
    // The limit distinguishes bounded from quadratic work.
    let start = Instant::now();
    Difference::between(&old, &new).figures();
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// Applies a patch of [`Difference`] like any patch program.
fn apply(old: &str, patch: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut result, mut at, mut removed) = (String::new(), 0, false);
    for line in patch.strip_prefix(HEADER).unwrap().split_inclusive('\n') {
        match line.split_at(1) {
            ("@", header) => {
                let (start, count) = header["@ -".len()..].split_once(',').unwrap();
                let start: usize = start.parse().unwrap();
                let begin = if count.starts_with("0 ") { start } else { start - 1 };
                result.extend(old[at..begin].iter().copied());
                at = begin;
            }
            (" ", context) => {
                assert_eq!(old[at].trim_end_matches('\n'), context.trim_end_matches('\n'));
                result.push_str(context);
                (at, removed) = (at + 1, false);
            }
            ("-", _) => (at, removed) = (at + 1, true),
            ("+", added) => {
                result.push_str(added);
                removed = false;
            }
            _ => {
                assert_eq!(line, "\\ No newline at end of file\n");
                if !removed {
                    result.pop();
                }
            }
        }
    }
    result.extend(old[at..].iter().copied());
    result
}

#[test]
fn what_both_share_is_counted_and_not_shown() {
    let (head, tail) = ("h\n".repeat(1000), "t\n".repeat(1000));
    let (old, new) = (format!("{head}a\n{tail}"), format!("{head}b\n{tail}"));
    let hunk = "@@ -998,7 +998,7 @@\n h\n h\n h\n-a\n+b\n t\n t\n t\n";
    assert_eq!(patch(&old, &new), format!("{HEADER}{hunk}"));
    let expected = format!("...\n{}b\n{}...", "h\n".repeat(5), "t\n".repeat(5));
    assert_eq!(Difference::between(&old, &new).snippet(), expected);
}

proptest! {
    #[test]
    fn a_patch_makes_the_new_text_of_the_old(
        head in "(h\n){0,12}", old in "([ab]?\n){0,20}", new in "([ab]?\n){0,20}", tail in "([ta]\n){0,12}(end)?"
    ) {
        let (old, new) = (format!("{head}{old}{tail}"), format!("{head}{new}{tail}"));
        prop_assert_eq!(apply(&old, &patch(&old, &new)), new);
    }

    #[test]
    fn any_texts_are_compared(old in "(?s).{0,80}", new in "(?s).{0,80}") {
        let difference = Difference::between(&old, &new);
        difference.snippet();
        let (mut result, mut end) = (String::new(), 0);
        for (range, text) in difference.edits() {
            result = result + &old[end..range.start] + &text;
            end = range.end;
        }
        prop_assert_eq!(result + &old[end..], new.as_str());
        let figures = difference.figures();
        let lines = |text: &str| text.split_inclusive('\n').count() as u64;
        prop_assert_eq!(lines(&old) + figures.added_lines, lines(&new) + figures.removed_lines);
    }
}
