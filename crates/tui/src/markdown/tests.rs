use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::palette::Palette;
use crate::row::Look;

fn rows(pieces: &[&str], cells: usize) -> Vec<Row> {
    let mut answer = Markdown::default();
    let mut rows: Vec<AnswerRow> =
        pieces.iter().flat_map(|piece| answer.push(piece, cells)).collect();
    rows.extend(answer.end(cells));
    plain(rows)
}

fn plain(rows: Vec<AnswerRow>) -> Vec<Row> {
    rows.into_iter().flat_map(AnswerRow::into_rows).collect()
}

fn shown(text: &str, cells: usize) -> String {
    rows(&[text], cells).iter().map(Row::text).collect::<Vec<_>>().join("\n")
}

#[test]
fn blocks_are_laid_out() {
    for (text, expected) in [
        ("one two three", "one two\nthree"),
        ("one\ntwo\n\n\n\nthree", "one\ntwo\n\nthree"),
        ("# Head #\ntext", "Head\ntext"),
        ("text\n## Head", "text\n\nHead"),
        ("Head\n===\ntext", "Head\ntext"),
        ("- one two three\n- four", "- one two\n  three\n- four"),
        ("* a\n  * b\n    * c c c c", "- a\n  - b\n   - c c c\n     c"),
        ("9. a\n10. b\n    c", "9. a\n10. b\n    c"),
        ("- a\n\n  b\n\nc", "- a\n\n  b\n\nc"),
        ("- a\nlazy", "- a\n  lazy"),
        ("- a\n      - b", "- a\n  - b"),
        ("- [ ] open\n- [x] done\n- [X] done", "[ ] open\n[x] done\n[x] done"),
        ("- \n- b", "-\n- b"),
        ("- - a", "- - a"),
        ("> a b c d e f\n> g\n\nh", "> a b c d\n> e f\n> g\n\nh"),
        ("> - a\n>   b", "> - a\n>   b"),
        ("---\n***\n- - -", "----------\n----------\n----------"),
        ("a\n-\n", "a\n-"),
        ("2024 was\n1986. Not a list", "2024 was\n1986. Not\na list"),
        ("```rust\nfn a() { }\n\n  b\n```\nnot it", "```rust\nfn a() { }\n\n  b\n```\nnot it"),
        ("~~~\n```\n~~~", "~~~\n```\n~~~"),
        ("```\nopen", "```\nopen"),
        ("- a\n  ```\n  b\n c\n  ```\n- d", "- a\n  ```\n  b\n  c\n  ```\n- d"),
        ("    let a;\n\n    b", "    let a;\n\n    b"),
        ("a `b\nc` d", "a b\nc d"),
        ("1. # b\n2. > c", "1. b\n2. > c"),
        ("a <b> &amp; 3 < 4 \\* x_y_z", "a <b> & 3\n< 4 *\nx_y_z"),
        ("\x1b[31mred\x1b[0m \u{202e}x\x07&#27;[2J", "red x"),
        ("a\tb", "a    b"),
        ("", ""),
    ] {
        assert_eq!(shown(text, 10), expected, "{text:?}");
    }
}

#[test]
fn marks_become_looks() {
    let row = &rows(&["a **b _c_** *d* `e*f`"], 40)[0];
    let pieces: Vec<_> = row.pieces().collect();
    assert_eq!(
        pieces,
        [
            (Look::Plain, "a "),
            (Look::Bold, "b "),
            (Look::BoldItalic, "c"),
            (Look::Plain, " "),
            (Look::Italic, "d"),
            (Look::Plain, " "),
            (Look::Cyan, "e*f"),
        ]
    );
    assert_eq!(rows(&["# a *b*"], 40), [Row::new(Look::Title, "a b")]);
    assert_eq!(rows(&["## a *b*"], 40)[0].pieces().next(), Some((Look::Bold, "a ")));
}

#[test]
fn marks_stay_where_there_are_no_looks() {
    let mut answer = Markdown::new(MarkupMarks::Shown);
    let mut rows = answer.push("## a\n\n**b** *c* `d`\n\n# e", 40);
    rows.extend(answer.end(40));
    let texts: Vec<String> = plain(rows).iter().map(Row::text).collect();
    assert_eq!(texts, ["## a", "", "**b** *c* `d`", "", "# e"]);
}

#[test]
fn links_show_their_addresses() {
    for (text, expected, links) in [
        ("[a](https://b.c/d)", "a (https://b.c/d)", 2),
        ("[https://b.c](https://b.c)", "https://b.c", 1),
        ("<https://b.c> https://d.e.", "https://b.c https://d.e.", 2),
        ("<a@b.c> [x](mailto:x)", "a@b.c x", 2),
        ("[good](file:///etc/passwd)", "good (file:///etc/passwd)", 0),
        ("![pic](https://b.c/p.png)", "pic (https://b.c/p.png)", 2),
        ("[a](<https://b.c/\x1b\\x>)", "a (https://b.c/x)", 2),
        ("[https://good.com](https://bad.com)", "https://good.com (https://bad.com)", 2),
        ("https://b.c/d_e_f_g", "https://b.c/d_e_f_g", 1),
        ("[a](https://b\u{430}.c)", "a (https://b\u{430}.c)", 0),
        ("[a](src/b.rs) [ ] [c]", "a (src/b.rs) [ ] [c]", 0),
    ] {
        let found = rows(&[text], 60);
        assert_eq!(found[0].text(), expected, "{text}");
        let mut bytes = Vec::new();
        found[0].encode(&Palette::sixteen(), &mut bytes);
        let bytes = String::from_utf8(bytes).unwrap();
        let begins = bytes.matches("\x1b]8;;").count() - bytes.matches("\x1b]8;;\x1b\\").count();
        assert_eq!(begins, links, "{text}: {bytes:?}");
    }
}

#[test]
fn tables_are_aligned() {
    let table = "before\n\n|Item|\u{54c1}\u{540d}|Price|\n|:-|:-:|-:|\n|Tea|\u{7dd1}\u{8336}|3.50|\n\
                 |Coffee|a\\|b `c|12.00|\nafter";
    assert_eq!(
        shown(table, 70),
        "before\n\nItem    \u{54c1}\u{540d}  Price\n------  ------  -----\n\
         Tea     \u{7dd1}\u{8336}   3.50\nCoffee  a|b `c  12.00\nafter"
            .replace("Item    \u{54c1}\u{540d}  Price", "Item     \u{54c1}\u{540d}   Price")
            .replace("Tea     \u{7dd1}\u{8336}   3.50", "Tea      \u{7dd1}\u{8336}    3.50")
    );
    assert_eq!(
        shown("|Item|Price|\n|-|-|\n|Tea|3|\n|**Coffee**||\n", 40),
        "Item: Tea\nPrice: 3\n\nItem: Coffee"
    );
    // It is no table.
    assert_eq!(shown("a | b\n- | c", 70), "a | b\n- | c");
    assert_eq!(shown("a\n|-|-|", 70), "a\n|-|-|");
}

#[test]
fn a_wide_table_wraps_its_cells() {
    let long = "word ".repeat(30);
    let table = format!("|a|b|c|\n|-|-|-|\n|x|{long}|y|\n|1<br>2|z|<br/>|");
    let text = shown(&table, 60);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0].trim_end(), format!("a  b{}c", " ".repeat(55)).trim_end());
    assert!(lines[2].starts_with("x  word word") && lines[2].ends_with("  y"), "{text}");
    assert!(lines[3].starts_with("   word"), "{text}");
    assert_eq!(lines[lines.len() - 2..], ["1  z", "2"]);
}

#[test]
fn a_long_table_is_written_in_steps() {
    let mut answer = Markdown::default();
    let mut written = answer.push("|number|square|\n|-|-|\n", 70).len();
    for number in 0..500 {
        written += answer.push(&format!("|{number}|{}|\n", number * number), 70).len();
        assert!(answer.rows(70).len() <= 70);
    }
    assert!(written > 400, "{written}");
    let rest = plain(answer.end(70));
    assert_eq!(rest.last().map(Row::text), Some("499     249001".to_owned()));
}

#[test]
fn the_block_in_progress_becomes_the_finished_rows() {
    let mut answer = Markdown::default();
    let live =
        |answer: &Markdown| answer.rows(10).iter().map(Row::text).collect::<Vec<_>>().join("\n");
    assert_eq!(answer.push("one two", 10), []);
    assert_eq!(live(&answer), "one two");
    assert_eq!(answer.push(" three **fo", 10), []);
    assert_eq!(live(&answer), "one two\nthree **fo");
    let rows = plain(answer.push("ur**\n\n", 10));
    assert_eq!(rows.iter().map(Row::text).collect::<Vec<_>>(), ["one two", "three four"]);
    assert_eq!(live(&answer), "");
    // A mark may still become another one.
    assert_eq!(answer.push("#", 10), []);
    assert_eq!(live(&answer), "");
    assert_eq!(answer.push("# a\n```\nb\n``", 10).len(), 4);
    assert_eq!(live(&answer), "");
    assert_eq!(answer.push("`\n", 10).len(), 1);
    assert!(answer.is_empty());
}

#[test]
fn the_cost_of_hostile_text_is_bounded() {
    let deep = "> - ".repeat(20_000);
    let brackets = "[".repeat(100_000) + &"](".repeat(10_000);
    let stars = "*a _b ".repeat(30_000);
    let line = "x".repeat(200_000);
    let wide = "\u{6f22}".repeat(100_000);
    let blanks = " ".repeat(200_000) + "x";
    let table = format!("{0}\n{1}\n{0}", "|a".repeat(50_000), "|-".repeat(50_000));
    let closing = format!("http://a{}", ")".repeat(100_000));
    let fence = format!("```\n{line}");
    for text in [&deep, &brackets, &stars, &line, &wide, &blanks, &table, &closing, &fence] {
        for cells in [4, 80] {
            let mut answer = Markdown::default();
            for piece in text.as_bytes().chunks(4096) {
                let rows = plain(answer.push(&String::from_utf8_lossy(piece), cells));
                assert!(rows.iter().all(|row| row.width() <= cells));
                assert!(
                    answer.rows(cells).iter().map(|row| row.text().len()).sum::<usize>() < 40_000
                );
            }
            answer.end(cells);
        }
    }
}

#[test]
fn pieces_make_no_difference_to_a_sample() {
    let sample = include_str!("tests/sample.md");
    let letters: Vec<String> = sample.chars().map(String::from).collect();
    let pieces: Vec<&str> = letters.iter().map(String::as_str).collect();
    for cells in [12, 40, 80] {
        let whole = rows(&[sample], cells);
        assert_eq!(rows(&pieces, cells), whole);
        for cut in (0..sample.len()).filter(|cut| sample.is_char_boundary(*cut)) {
            let (head, tail) = sample.split_at(cut);
            assert!(rows(&[head, tail], cells) == whole, "{cells} {cut}");
        }
    }
}

proptest! {
    /// The rows do not depend on how the text is split into pieces, and fit.
    #[test]
    fn pieces_make_no_difference(
        text in "([a-c\u{6f22}`*_#|>()~<&:.\\[\\]-]{0,9}[ \n]{1,3}){0,20}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        cells in 4..90_usize,
    ) {
        let end = |cut: &prop::sample::Index| text.floor_char_boundary(cut.index(text.len() + 1));
        let mut ends: Vec<usize> = cuts.iter().map(end).collect();
        ends.extend([0, text.len()]);
        ends.sort_unstable();
        let pieces: Vec<&str> = ends.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        let whole = rows(&[&text], cells);
        prop_assert_eq!(&rows(&pieces, cells), &whole);
        prop_assert!(whole.iter().all(|row| row.width() <= cells));
    }

    /// No letter or digit of an answer is lost, except for the numbers of entities.
    #[test]
    fn no_text_is_lost(text in "([a-c\u{6f22}0-9`*_#|>()~:.-]{0,9}[ \n]{1,3}){0,20}") {
        let letters = |text: &str| text.replace(|it: char| !it.is_alphanumeric(), "");
        prop_assert_eq!(letters(&shown(&text, 70)), letters(&text));
    }
}

#[test]
fn lines_of_code_know_their_language() {
    let text = "```Rust title\na\n```\n~~~ {.python}\nb\n~~~\n```\nc\n```\n\n    d\n";
    let mut answer = Markdown::default();
    let rows = answer.push(text, 40).into_iter();
    let code: Vec<(String, usize, String)> = rows
        .filter_map(|row| match row {
            AnswerRow::Code(line, number, language) => {
                Some((line.text, number, language.to_string()))
            }
            AnswerRow::Row(_) => None,
        })
        .collect();
    let expected = [("a", 1, "rust"), ("b", 2, "python"), ("c", 3, ""), ("    d", 0, "")];
    assert_eq!(
        code,
        expected.map(|(text, number, name)| (text.to_owned(), number, name.to_owned()))
    );
    let long = "```rust\n".to_owned() + &"a\n".repeat(400);
    let rows = Markdown::default().push(&long, 40);
    let is_coloured =
        |row: &&AnswerRow| matches!(row, AnswerRow::Code(_, _, language) if !language.is_empty());
    assert_eq!(rows.iter().filter(is_coloured).count(), crate::code::MOST_LINES);
}
