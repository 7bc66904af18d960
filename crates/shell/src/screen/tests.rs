use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn screen(columns: u16, rows: u16) -> Screen {
    Screen::new(TerminalSize::new(columns, rows), OutputLimits::default(), true)
}

fn text(columns: u16, rows: u16, printed: &str) -> String {
    let mut screen = screen(columns, rows);
    screen.print(printed.as_bytes());
    screen.into_text().text()
}

#[test]
fn text_is_what_a_terminal_shows() {
    let table = [
        ("hello\r\n", "hello"),
        ("10%\r20%\rdone\r\n", "done"),
        ("\x1b[31mred\x1b[0m\r\n", "red"),
        ("a\tb\r\n", "a       b"),
        ("ab\x08c\r\n", "ac"),
        ("one\r\ntwo\r\n\x1b[1Athree\r\n", "one\nthree"),
        ("x\r\n\r\n\r\n  y\r\n", "x\n\n\n  y"),
        ("gone\r\n\x1b[H\x1b[2Jleft", "left"),
        ("\x1b]0;title\x07said", "said"),
        ("日本語 é\r\n", "日本語 é"),
        ("before\r\n\x1b[?1049hpage\x1b[?1049lafter", "before\nafter"),
    ];
    for (printed, expected) in table {
        assert_eq!(text(80, 24, printed), expected, "{printed:?}");
    }
}

#[test]
fn lines_that_the_terminal_broke_are_whole() {
    let long = "0123456789".repeat(10);
    let expected: Vec<String> = (0..50).map(|number| format!("{number}:{long}")).collect();
    let printed = expected.join("\r\n");
    for (columns, rows) in [(80, 24), (10, 3), (7, 0), (1000, 500)] {
        assert_eq!(text(columns, rows, &printed), expected.join("\n"), "{columns} {rows}");
    }
}

#[test]
fn a_program_that_ends_on_its_own_screen_is_reported_of_last() {
    let table = [
        ("said\r\n\x1b[?1049h\x1b[Hpage", "said\n\npage"),
        ("said\r\n\x1b[?47hpage\x1b[3", "said\n\n      page"),
        ("said\r\n\x1b[?1049h\x1b[H", "said"),
    ];
    for (printed, expected) in table {
        let reported = text(80, 24, printed);
        let lines: Vec<&str> =
            reported.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let wanted: Vec<&str> =
            expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, wanted, "{printed:?}");
    }
}

#[test]
fn programs_that_ask_the_terminal_are_answered() {
    let mut screen = screen(80, 24);
    screen.print(b"ab\r\nc\x1b[6n\x1b[5n\x1b[c");
    assert_eq!(screen.take_answers(), b"\x1b[2;2R\x1b[0n\x1b[?62;22c");
    assert_eq!(screen.take_answers(), b"");
    screen.print(&b"\x1b[6n".repeat(10_000));
    assert!(screen.take_answers().len() <= MOST_ANSWERS + 10);
}

#[test]
fn colours_and_styles_are_kept_for_a_person() {
    let mut screen = screen(20, 3);
    screen
        .print(b"\x1b[1;31mred\x1b[0m, \x1b[48;5;21mblue\x1b[0m \x1b[38;2;1;2;3mown\x1b[m   \r\n");
    let lines = screen.look().0;
    let shown: Vec<(&str, bool, &str, &str)> = lines[0]
        .iter()
        .map(|token| (token.text.as_str(), token.bold, token.fg.as_str(), token.bg.as_str()))
        .collect();
    let expected = [
        ("red", true, "#800000", ""),
        (", ", false, "", ""),
        ("blue", false, "", "#0000ff"),
        (" ", false, "", ""),
        ("own", false, "#010203", ""),
    ];
    assert_eq!(shown, expected);
    assert_eq!(lines.len(), 1);
}

#[test]
fn without_colour_there_is_text() {
    let mut screen = Screen::new(TerminalSize::new(20, 3), OutputLimits::default(), false);
    screen.print(b"\x1b[31mred\x1b[0m\r\nmore\r\n\r\nlast");
    let look = screen.look_back();
    assert_eq!(look.text(), "red\nmore\n\nlast");
    assert!(look.0.iter().all(|line| line.len() <= 1));
}

#[test]
fn the_lines_above_can_be_looked_at() {
    let mut screen = screen(20, 3);
    for number in 0..10_000 {
        screen.print(format!("\x1b[32mline {number}\x1b[0m\r\n").as_bytes());
    }
    let look = screen.look_back();
    assert_eq!(look.0.len(), REMEMBERED_LINES + 2);
    assert!(look.text().ends_with("line 9998\nline 9999"));
    assert_eq!(look.0[0][0].fg, "#008000");
}

#[test]
fn what_is_lost_stands_between_the_two_ends() {
    let mut screen = screen(80, 24);
    screen.print("early\r\n".repeat(100).as_bytes());
    screen.skip(1_000_000);
    screen.print("late\r\n".repeat(100).as_bytes());
    let output = screen.into_text();
    assert_eq!(output.omitted(), 1_000_000);
    let reported = output.text();
    assert!(reported.starts_with("early\nearly"), "{reported}");
    assert!(
        reported.contains("\n... [1000000 bytes omitted] ...\n")
            && reported.contains("late\nlate\n")
    );
}

#[test]
fn another_size_settles_what_is_above() {
    let mut screen = screen(80, 5);
    screen.print("line\r\n".repeat(50).as_bytes());
    for (columns, rows) in [(40, 30), (120, 3), (1, 1), (80, 24)] {
        screen.resize(TerminalSize::new(columns, rows));
    }
    screen.print(b"end");
    let reported = screen.into_text().text();
    assert!(!reported.contains("\n\n\n"), "{reported}");
    assert!(reported.starts_with("line\nline") && reported.ends_with("end"), "{reported}");
}

#[test]
fn the_line_of_the_cursor_is_where_a_program_asks() {
    let mut screen = screen(80, 24);
    screen.print(b"Installing...\r\nGo on? [y/n] ");
    assert_eq!(screen.line_of_cursor().trim_end(), "Go on? [y/n]");
    screen.print(b"\r\n");
    assert_eq!(screen.line_of_cursor(), "");
}

proptest! {
    #[test]
    fn no_output_harms(
        pieces in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..40),
                "\\x1b[\\[\\]PO?0-9;]{0,8}[A-Za-z~]".prop_map(String::into_bytes),
            ],
            0..40,
        ),
        columns in 0_u16..30,
        rows in 0_u16..10,
    ) {
        let mut screen = screen(columns, rows);
        for (index, piece) in pieces.iter().enumerate() {
            screen.print(piece);
            if index % 7 == 3 {
                screen.resize(TerminalSize::new(rows, columns));
            }
            screen.line_of_cursor();
            screen.look_back();
        }
        screen.into_text();
    }
}
