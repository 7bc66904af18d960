use pollux_config::consent::item;
use pretty_assertions::assert_eq;

use super::*;

fn hook(name: &str, detail: &str) -> ConsentItem {
    item("hook", name, detail.to_owned(), detail.as_bytes())
}

fn text(item: &ConsentItem) -> String {
    ConsentSheet::new(std::slice::from_ref(item)).text()
}

#[test]
fn only_a_plain_yes_is_a_yes() {
    let cases = [
        (Some("y"), true, Some(ConsentAnswer::One(true))),
        (Some(" YES \n"), true, Some(ConsentAnswer::One(true))),
        (Some(""), true, Some(ConsentAnswer::One(false))),
        (Some("\n"), true, Some(ConsentAnswer::One(false))),
        (Some("n"), true, Some(ConsentAnswer::One(false))),
        (Some("all"), true, Some(ConsentAnswer::All)),
        (Some("all"), false, None),
        (Some("none"), false, Some(ConsentAnswer::None)),
        (Some("1"), true, None),
        (Some("yy"), true, None),
        (Some("y y"), true, None),
        (None, true, Some(ConsentAnswer::None)),
    ];
    for (line, whole, expected) in cases {
        let detail = if whole { "runs: ls".to_owned() } else { "x".repeat(401) };
        let items = [hook("a", &detail)];
        let answer = ConsentSheet::new(&items).answer(line);
        assert_eq!(answer, expected, "{line:?}");
    }
}

#[test]
fn nothing_in_an_item_moves_the_cursor_or_hides() {
    let sly = hook("a\u{1b}]0;x\u{7}", "runs: ls\u{1b}[2K\r\u{202e}true\nline two\u{200b}");
    let text = text(&sly);
    assert_eq!(
        text,
        "\n1 hook:\n  1. a\\u{1b}]0;x\\u{7}\n       runs: ls\\u{1b}[2K\\u{d}\\u{202e}true\n       line two\\u{200b}\n"
    );
    assert!(is_shown_whole(&sly));
}

#[test]
fn what_is_cut_says_so_and_cannot_be_agreed_to_with_others() {
    let hash = hook("long", &"x".repeat(401)).hash;
    for detail in ["x".repeat(401), "x\n".repeat(17)] {
        let long = hook("long", &detail);
        assert!(!is_shown_whole(&long));
        assert!(text(&long).contains("; SHA-256 of all of it: "));
    }
    assert!(text(&hook("long", &"x".repeat(401))).contains(&hash));
}

#[test]
fn the_end_of_what_is_cut_is_shown_and_what_is_between_is_counted() {
    let blanks = text(&hook("true", &format!("runs: true{}; touch x", " ".repeat(600))));
    assert!(blanks.contains("runs: true ") && blanks.contains("; touch x\n"), "{blanks}");
    assert!(blanks.contains(" blanks, 0 invisible) cut here]"), "{blanks}");
    let lines = text(&hook("true", &format!("runs: true{}touch x", "\n".repeat(100))));
    assert!(lines.contains("touch x\n") && lines.contains("[85 lines with "), "{lines}");
    let unseen = text(&hook("true", &format!("true{}; touch x", "\u{3164}\u{2800}".repeat(600))));
    assert!(unseen.contains("\\u{3164}") && unseen.contains("invisible) cut here]"), "{unseen}");
}
