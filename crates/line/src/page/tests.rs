use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn printed(page: &mut Page) -> String {
    String::from_utf8(page.take()).unwrap()
}

/// Simulated screen of a terminal, with the column of its cursor. Supports only the output that the
/// page may use.
#[derive(Default)]
struct Screen {
    rows: Vec<Vec<char>>,
    column: usize,
}

impl Screen {
    fn print(&mut self, text: &str) {
        if self.rows.is_empty() {
            self.rows.push(Vec::new());
        }
        for letter in text.chars() {
            let row = self.rows.last_mut().unwrap();
            match letter {
                '\n' => {
                    self.rows.push(Vec::new());
                    self.column = 0;
                }
                '\r' => self.column = 0,
                '\u{8}' => self.column -= 1,
                letter => {
                    assert!(!letter.is_control(), "{letter:?}");
                    row.resize(row.len().max(self.column + 1), ' ');
                    row[self.column] = letter;
                    self.column += 1;
                }
            }
        }
    }

    fn last(&self) -> String {
        self.rows.last().unwrap().iter().collect::<String>().trim_end().to_owned()
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
    assert_eq!(printed(&mut page), "\r> ab  \u{8}\u{8}\u{8}");
}

#[test]
fn a_long_line_shows_the_part_around_the_cursor() {
    let row = |before: &str, after: &str| Row::fit("> ", before, after, 20).text;
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

proptest! {
    /// Checks that the screen shows every change of the line, with the cursor in the right place.
    #[test]
    fn the_row_is_what_the_screen_shows(
        lines in prop::collection::vec(("[a-c]{0,30}", "[d-f]{0,30}"), 1..8),
    ) {
        let mut page = Page::new(24, PageLook::default());
        let mut screen = Screen::default();
        for (before, after) in lines {
            page.show("> ", &before, &after);
            screen.print(&printed(&mut page));
            let row = Row::fit("> ", &before, &after, 24);
            prop_assert_eq!(screen.last(), row.text.trim_end());
            prop_assert_eq!(screen.column, row.cursor);
            prop_assert!(row.width < 24);
        }
        page.hide();
        screen.print(&printed(&mut page));
        prop_assert_eq!(screen.last(), "");
    }
}
