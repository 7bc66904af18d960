use pretty_assertions::assert_eq;

use super::*;

#[test]
fn one_row_shows_the_part_around_the_cursor() {
    let row = |before: &str, after: &str| InputRows::single("> ", before, after, 20).rows.concat();
    let text = "0123456789abcdefghij";
    assert_eq!(row(text, ""), "> 3456789abcdefghij");
    assert_eq!(row("", text), "> 0123456789abcdefg");
    assert_eq!(row(text, text), "> 89abcdefghij01234");
    assert_eq!(row("漢字漢字漢字漢字漢字", ""), "> 漢字漢字漢字漢字");
    assert_eq!(
        row(&"e\u{301}👩\u{200d}💻❤\u{fe0f}🇩🇪".repeat(3), ""),
        "> 🇩🇪".to_owned() + &"e\u{301}👩\u{200d}💻❤\u{fe0f}🇩🇪".repeat(2)
    );
    assert_eq!(row("a\tb\nc", ""), "> a b c");
}

/// Returns the rows on 12 columns, with the cursor.
fn rows(before: &str, after: &str) -> Vec<String> {
    let mut shown = InputRows::wrapped(RowLabels::new("> "), before, after, (12, 20));
    shown.rows[shown.cursor_row].insert(shown.cursor, '|');
    shown.rows
}

#[test]
fn lines_break_between_words() {
    assert_eq!(rows("one", ""), ["> one|"]);
    assert_eq!(rows("one two three", ""), ["> one two ", "three|"]);
    assert_eq!(rows("one two ", "three"), ["> one two ", "|three"]);
    assert_eq!(rows("one two t", "hree"), ["> one two ", "t|hree"]);
    assert_eq!(rows("one", " two three"), ["> one| two ", "three"]);
    assert_eq!(rows("three four ", ""), ["> three ", "four |"]);
    assert_eq!(rows("onetwoone ", ""), ["> onetwoone|"], "the blank has no room");
    assert_eq!(rows("onetwoone t", ""), ["> onetwoone", "t|"]);
    assert_eq!(rows("onetwoonetwo", ""), ["> onetwoone", "two|"], "a word is longer than a row");
    assert_eq!(rows("漢字漢字漢字", ""), ["> 漢字漢字", "漢字|"]);
    assert_eq!(rows("a 漢字漢字", "漢"), ["> a ", "漢字漢字|漢"]);
}

#[test]
fn lines_of_the_prompt_are_lines_of_the_page() {
    assert_eq!(rows("one\ntwo\n", ""), ["> one", ". two", ". |"]);
    assert_eq!(rows("one\ntw", "o\nthree"), ["> one", ". tw|o", ". three"]);
    assert_eq!(rows("one\r\ntwo\tx", ""), ["> one ", ". two x|"]);
}

#[test]
fn a_prompt_that_is_higher_than_the_screen_is_shown_around_the_cursor() {
    let shown = |before: &str, after: &str| {
        InputRows::wrapped(RowLabels::new("> "), before, after, (12, 4)).rows.join("|")
    };
    assert_eq!(shown("1\n2\n3\n4\n5", ""), "[...]|. 3|. 4|. 5");
    assert_eq!(shown("1", "\n2\n3\n4\n5"), "> 1|. 2|. 3|[...]");
    assert_eq!(shown("1\n2\n3", "\n4\n5\n6"), "> 1|. 2|. 3|[...]");
    assert_eq!(shown("1\n2\n3\n4", "\n5\n6"), "[...]|. 3|. 4|[...]");
    let long = InputRows::wrapped(RowLabels::new("> "), &"x".repeat(NEAR + 1), "", (12, 2000)).rows;
    assert_eq!(long[0], "[...]xxxxxx");
}

#[test]
fn a_huge_prompt_does_not_fill_the_page() {
    let rows = InputRows::kept("> ", &"x\n".repeat(KEPT_LINES + 5), 80).rows;
    assert_eq!(
        (rows.len(), rows.last().unwrap().as_str()),
        (KEPT_LINES + 1, ". [Not shown: characters 11.]")
    );
    let rows = InputRows::kept("> ", &"x".repeat(KEPT_BYTES + 5), 80).rows;
    assert_eq!(rows.last().unwrap(), ". [Not shown: characters 5.]");
}
