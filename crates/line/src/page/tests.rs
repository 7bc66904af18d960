use pretty_assertions::assert_eq;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

fn printed(page: &mut Page) -> String {
    String::from_utf8(page.take()).unwrap()
}

/// Simulated screen of a terminal, with its scroll-back and its cursor. Supports only the output
/// that the page may use.
#[derive(Default)]
struct Screen {
    /// Cells; the second cell of a wide character is empty.
    rows: Vec<Vec<String>>,
    row: usize,
    column: usize,
}

impl Screen {
    fn print(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(tail) = rest.strip_prefix("\u{1b}[J") {
                self.rows.truncate(self.row + 1);
                let column = self.column;
                self.current().truncate(column);
                rest = tail;
            } else if let Some(tail) = rest.strip_prefix("\u{1b}[") {
                let (count, tail) = tail.split_once('A').unwrap();
                self.row -= count.parse::<usize>().unwrap();
                rest = tail;
            } else {
                let end = rest.graphemes(true).next().unwrap().len();
                self.put(&rest[..end]);
                rest = &rest[end..];
            }
        }
        self.current();
    }

    fn current(&mut self) -> &mut Vec<String> {
        self.rows.resize(self.rows.len().max(self.row + 1), Vec::new());
        &mut self.rows[self.row]
    }

    fn put(&mut self, character: &str) {
        match character {
            "\n" => (self.row, self.column) = (self.row + 1, 0),
            "\r" => self.column = 0,
            "\u{8}" => self.column -= 1,
            character => {
                assert!(!character.chars().any(char::is_control), "{character:?}");
                let (column, cells) = (self.column, text_width(character));
                let row = self.current();
                row.resize(row.len().max(column + cells), " ".to_owned());
                row[column] = character.to_owned();
                row[column + 1..column + cells].fill(String::new());
                self.column += cells;
            }
        }
    }

    /// Returns the last rows, without blanks at their ends.
    fn last(&self, count: usize) -> Vec<String> {
        let rows = &self.rows[self.rows.len() - count..];
        rows.iter().map(|row| row.concat().trim_end().to_owned()).collect()
    }
}

#[test]
fn typing_at_the_end_prints_what_is_typed() {
    let mut page = Page::new(40, PageLook::default());
    page.show("> ", "", "");
    page.show("> ", "ab", "");
    page.show("> ", "abc", "");
    page.show("> ", "ab", "");
    page.show("> ", "ab", "");
    assert_eq!(printed(&mut page), "> abc\u{8} \u{8}");
    page.keep_row();
    assert_eq!(printed(&mut page), "\n");
}

#[test]
fn editing_in_the_middle_prints_the_row_again() {
    let mut page = Page::new(40, PageLook::default());
    page.show("> ", "a", "b");
    page.take();
    page.show("> ", "axy", "b");
    assert_eq!(printed(&mut page), "\r> axyb\u{8}");
    page.show("> ", "a", "b");
    assert_eq!(printed(&mut page), "\r      \r> ab\u{8}");
}

#[test]
fn typing_over_a_status_prints_what_is_typed() {
    let mut page = Page::new(40, PageLook::default());
    page.show_status("waiting for the model, 1 s");
    page.show("> ", "a", "");
    page.show("> ", "ab", "");
    page.show("> ", "abc", "");
    let output = printed(&mut page);
    assert!(output.ends_with("\r> abc"), "{output:?}");
}

#[test]
fn output_comes_above_the_input_line() {
    let mut page = Page::new(40, PageLook::default());
    page.show("> ", "half", "");
    page.line("done");
    page.show("> ", "half", "");
    assert_eq!(printed(&mut page), "> half\r      \rdone\n> half");
}

#[test]
fn an_answer_that_is_not_at_its_end_hides_the_input_line() {
    let mut page = Page::new(40, PageLook::default());
    page.stream("one ");
    page.show("> ", "x", "");
    page.stream("two");
    page.line("next");
    assert_eq!(printed(&mut page), "one two\nnext\n");
}

#[test]
fn what_the_model_says_cannot_move_the_cursor() {
    let mut page = Page::new(40, PageLook::default());
    page.stream("a\u{1b}[2");
    page.stream("Jb\rc\u{8}\u{9b}1A\u{7}d\n");
    assert_eq!(printed(&mut page), "abcd\n");
    page.line("\u{1b}]0;title\u{7}e");
    assert_eq!(printed(&mut page), "e\n");
}

#[test]
fn a_terminal_that_echoes_has_its_line_to_itself() {
    let mut page = Page::new(40, PageLook { echoing: true, ..PageLook::default() });
    page.show("> ", "", "");
    page.show("> ", "typed", "");
    page.keep_row();
    page.line("done");
    assert_eq!(printed(&mut page), "> done\n", "the terminal has printed the line and its end");
}

#[test]
fn a_prompt_stays_whole_on_the_page() {
    let long = "a prompt that is longer than a row";
    for one_row in [false, true] {
        let mut page = Page::new(20, PageLook { one_row, ..PageLook::default() });
        let mut screen = Screen::default();
        page.show("> ", &format!("{long}\nand"), " two");
        page.keep_prompt("> ", &format!("{long}\nand two"));
        page.line("done");
        screen.print(&printed(&mut page));
        let shown = ["> a prompt that is", "longer than a row", ". and two", "done", ""];
        assert_eq!(screen.last(5), shown, "one row: {one_row}");
    }
    let mut page = Page::new(20, PageLook { one_row: true, ..PageLook::default() });
    page.show("> ", long, "");
    page.keep_prompt("> ", long);
    let text = printed(&mut page);
    assert!(!text.contains('\u{1b}'), "the cursor never moves up: {text:?}");
}

#[test]
fn rows_that_are_typed_at_the_end_are_appended() {
    let mut page = Page::new(20, PageLook::default());
    page.show("> ", "one two three", "");
    page.take();
    page.show("> ", "one two three\n", "");
    page.show("> ", "one two three\nx", "");
    assert_eq!(printed(&mut page), "\n. x");
}

#[test]
fn a_new_width_starts_a_new_line_only_if_the_old_rows_do_not_fit() {
    for (columns, starts) in [(60, false), (20, false), (40, false), (21, false)] {
        let mut page = Page::new(40, PageLook::default());
        page.show("> ", "some text", "");
        page.take();
        page.resize(WindowSize { columns, rows: None });
        assert_eq!(printed(&mut page) == "\n", starts, "{columns}");
    }
    let mut page = Page::new(40, PageLook::default());
    page.show("> ", "more text than twenty columns", "\nbelow");
    page.take();
    page.resize(WindowSize { columns: 20, rows: None });
    assert_eq!(printed(&mut page), "\n\n", "the cursor was in the first of two rows");
}

proptest! {
    /// Checks that the screen shows every change of the input, with the cursor in the right place,
    /// and keeps the lines above it.
    #[test]
    fn the_input_is_what_the_screen_shows(
        steps in prop::collection::vec(
            (any::<bool>(), "[a-c漢 ]{0,30}(\n[a-c漢 ]{0,30}){0,5}", "[d-f漢 \n]{0,30}"),
            1..8,
        ),
    ) {
        let mut page = Page::new(24, PageLook::default());
        page.resize(WindowSize { columns: 24, rows: Some(6) });
        let mut screen = Screen::default();
        let mut lines = Vec::new();
        for (prints_line, before, after) in steps {
            if prints_line {
                page.line("line");
                lines.push("line".to_owned());
            }
            page.show("> ", &before, &after);
            screen.print(&printed(&mut page));
            let input = page.input.clone().unwrap();
            let mut expected = lines.clone();
            expected.extend(input.rows.iter().map(|row| row.trim_end().to_owned()));
            prop_assert_eq!(screen.last(screen.rows.len()), expected);
            let cursor = (lines.len() + input.cursor_row, text_width(input.left_of_cursor()));
            prop_assert_eq!((screen.row, screen.column), cursor);
            prop_assert!(input.width() < 24 && input.rows.len() < 6);
        }
        page.hide();
        screen.print(&printed(&mut page));
        lines.push(String::new());
        prop_assert_eq!(screen.last(screen.rows.len()), lines);
    }
}
