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
    assert_eq!(rows("onetwoone", "two"), ["> onetwoone", "|two"], "as a typed character");
    assert_eq!(rows("onetwoone", " two"), ["> onetwoone|", "two"]);
}

#[test]
fn the_cursor_moves_between_the_rows_that_are_shown() {
    let moved = |text: &str, is_down: bool| {
        let (before, after) = text.split_once('|').unwrap();
        let place = InputRows::moved(RowLabels::new("> "), before, after, 12, is_down)?;
        let whole = [before, after].concat();
        Some(rows(&whole[..place], &whole[place..]).join("/"))
    };
    let shown = |rows: &str| Some(rows.to_owned());
    for (text, above, below) in [
        ("one two th|ree", shown("> |one two /three"), None),
        ("one two three|", shown("> one| two /three"), None),
        ("one| two three", None, shown("> one two /three|")),
        ("|one two three", None, shown("> one two /th|ree")),
        ("onetwo|onetwoo", None, shown("> onetwoone/twoo|")),
        ("onetwoonetw|oo", shown("> |onetwoone/twoo"), None),
        ("onetwoonetwoo|", shown("> on|etwoone/twoo"), None),
        ("漢|字漢字 one", None, shown("> 漢字漢字 /one|")),
        (
            "a\tb c\r\nlong wor|d\nc",
            shown("> a b c| /. long word/. c"),
            shown("> a b c /. long word/. c|"),
        ),
        ("one\n\ntw|o", shown("> one/. |/. two"), None),
        ("|", None, None),
    ] {
        assert_eq!((moved(text, false), moved(text, true)), (above, below), "{text}");
    }
    let far = "x".repeat(NEAR);
    let place = InputRows::moved(RowLabels::new("> "), &far, "", 12, false);
    assert_eq!(place, Some(NEAR - 11), "{far}");
    let text = format!("{far}{far}");
    let place = InputRows::moved(RowLabels::new("> "), &text, "", 12, false);
    assert_eq!(place, Some(2 * NEAR - 11));
}

#[test]
fn every_move_reaches_the_next_row() {
    let text = "漢字 onetwoonetwo  three   four\n\nfive\tsix\r\nseven eight nine ten eleven ";
    // A wide character needs two cells beside the label and the last column.
    for columns in 5..30 {
        for is_down in [true, false] {
            let halves = |place: usize| text.split_at(place);
            let row = |place: usize| {
                let (before, after) = halves(place);
                InputRows::wrapped(RowLabels::new("> "), before, after, (columns, 100)).cursor_row
            };
            let moved = |place: usize| {
                let (before, after) = halves(place);
                InputRows::moved(RowLabels::new("> "), before, after, columns, is_down)
            };
            let mut place = if is_down { 0 } else { text.len() };
            let (mut steps, first) = (0, row(place));
            while let Some(next) = moved(place) {
                (place, steps) = (next, steps + 1);
                let expected = if is_down { first + steps } else { first - steps };
                assert_eq!(row(place), expected, "{columns} {place}");
            }
            let last = if is_down { row(text.len()) } else { 0 };
            assert_eq!(row(place), last, "{columns}");
        }
    }
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
