use pollux_config::consent::item;
use pretty_assertions::assert_eq;

use super::*;

fn hook(name: &str, detail: &str) -> ConsentItem {
    item("hook", name, detail.to_owned(), detail.as_bytes())
}

#[test]
fn only_a_plain_yes_is_a_yes() {
    let cases = [
        (Some("y"), true, Some(Answer::One(true))),
        (Some(" YES \n"), true, Some(Answer::One(true))),
        (Some(""), true, Some(Answer::One(false))),
        (Some("\n"), true, Some(Answer::One(false))),
        (Some("n"), true, Some(Answer::One(false))),
        (Some("all"), true, Some(Answer::All)),
        (Some("all"), false, None),
        (Some("none"), false, Some(Answer::None)),
        (Some("1"), true, None),
        (Some("yy"), true, None),
        (Some("y y"), true, None),
        (None, true, Some(Answer::None)),
    ];
    for (line, whole, expected) in cases {
        assert_eq!(Answer::read(line, whole), expected, "{line:?}");
    }
}

#[test]
fn nothing_in_an_item_moves_the_cursor_or_hides() {
    let sly = hook("a\u{1b}]0;x\u{7}", "runs: ls\u{1b}[2K\r\u{202e}true\nline two\u{200b}");
    let text = group_text(&[&sly]);
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
        assert!(group_text(&[&long]).contains("[cut here; SHA-256 of all of it: "));
    }
    assert!(group_text(&[&hook("long", &"x".repeat(401))]).contains(&hash));
}

#[test]
fn the_choices_are_the_originals() {
    let words = |folder: &str| -> Vec<String> {
        trust_choices(Path::new(folder)).into_iter().map(|(words, _)| words).collect()
    };
    assert_eq!(
        words("/home/you/shop"),
        ["Trust folder (shop)", "Trust parent folder (you)", "Don't trust"]
    );
    assert_eq!(words("/"), ["Trust folder (/)", "Don't trust"]);
}

#[test]
fn items_of_one_kind_are_asked_about_together() {
    let (one, two) = (hook("a", ""), hook("b", ""));
    let other = item("policy", "p", String::new(), b"");
    let groups = groups(&[&one, &other, &two]);
    let names: Vec<Vec<&str>> =
        groups.iter().map(|group| group.iter().map(|item| item.name.as_str()).collect()).collect();
    assert_eq!(names, [vec!["a", "b"], vec!["p"]]);
}
