use super::*;
use proptest::prelude::*;

#[test]
fn sequences_go_and_text_stays() {
    let table = [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;2;1;2;3mx\x1b[?25l", "x"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\u{9b}31mred", "red"),
        ("\u{9d}0;title\u{9c}after", "after"),
        ("\x1bPq#0\x1b\\x", "x"),
        ("\x1b(Bx\x1b=y\x1b7", "xy"),
        ("\x1b[31", ""),
        ("a\x1b", "a"),
        ("\x1b[12\nnext", "\nnext"),
        ("\x1b]0;never closed", "0;never closed"),
        ("\x1b]0;cut\x1b[1mbold", "0;cutbold"),
        ("\x1b[é", "é"),
        ("progress\r100 %\x08", "progress\r100 %\x08"),
        ("\u{85}next line", "next line"),
    ];
    for (text, expected) in table {
        assert_eq!(strip_ansi(text), expected, "{text:?}");
    }
}

#[test]
fn plain_text_is_not_copied() {
    assert!(matches!(strip_ansi("häßlich 漢字\t\r\n"), Cow::Borrowed(_)));
}

#[test]
fn many_unclosed_strings_take_linear_time() {
    for unclosed in ["\x1b]", "\u{9d}", "\x1bP0", "\x1b[", "\x1b"] {
        let text = unclosed.repeat(1_000_000);
        let started = std::time::Instant::now();
        assert!(strip_ansi(&text).len() < text.len());
        // A quadratic algorithm takes minutes.
        assert!(started.elapsed().as_secs() < 5, "{unclosed:?}");
    }
}

proptest! {
    #[test]
    fn no_escape_survives(text in "[\\x1b\\u{80}-\\u{9f}\\[\\]P0-9;m\\x07\\\\a-zé]{0,60}") {
        let stripped = strip_ansi(&text).into_owned();
        prop_assert!(!stripped.contains(is_introducer));
        prop_assert!(matches!(strip_ansi(&stripped), Cow::Borrowed(_)));
        // The remaining characters keep their order.
        let mut source = text.chars();
        prop_assert!(stripped.chars().all(|kept| source.any(|letter| letter == kept)));
    }
}

fn in_pieces(text: &str, size: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut stripper = AnsiStripper::default();
    let pieces = letters.chunks(size).map(|piece| piece.iter().collect::<String>());
    pieces.map(|piece| stripper.strip(&piece).into_owned()).collect()
}

#[test]
fn sequences_may_come_in_pieces() {
    let text = "a\x1b[1;31mb\x1b[0m \x1b]0;title\x07c\x1b]8;;url\x1b\\d\u{9b}1me\x1b(Bf\x1bMg";
    for size in 1..text.chars().count() {
        assert_eq!(in_pieces(text, size), "ab cdefg", "{size}");
    }
}

#[test]
fn a_sequence_without_end_is_not_held_forever() {
    let text = format!("\x1b]{}", "x".repeat(10_000));
    assert_eq!(in_pieces(&text, 100).len(), 10_000);
    let mut stripper = AnsiStripper::default();
    assert_eq!(stripper.strip("a\x1b]unclosed"), "a");
    assert_eq!(stripper.strip("\x1b[0mb"), "unclosedb");
}

#[test]
fn harmless_text_keeps_lines_and_tabs_only() {
    assert_eq!(harmless("a\tb\r\n\x07\x1b[2Jc\x08"), "a\tb\nc");
    assert!(matches!(harmless("häßlich\t\n"), Cow::Borrowed(_)));
}

/// Characters that act on a terminal, together with some that do not and with pieces of sequences.
const ACTING: &str = "[\\x00-\\x1f\\x7f-\\u{9f}\\u{61c}\\u{200b}-\\u{200f}\\u{202a}-\\u{202e}\\u{2066}-\\u{2069}\\[\\]P0-9;m\\\\a-zé漢]{0,60}";

/// Characters that must not reach a terminal, listed independently of the implementation.
fn acts(letter: char) -> bool {
    let code = u32::from(letter);
    let is_control = code < 0x20 || (0x7f..=0x9f).contains(&code);
    let is_direction = [0x61c, 0x200e, 0x200f].contains(&code)
        || (0x202a..=0x202e).contains(&code)
        || (0x2066..=0x2069).contains(&code);
    (is_control && letter != '\n' && letter != '\t') || is_direction
}

proptest! {
    #[test]
    fn nothing_acts_on_a_terminal(text in ACTING) {
        let shown = for_terminal(&text).into_owned();
        prop_assert!(!shown.contains(acts), "{shown:?}");
        prop_assert!(matches!(for_terminal(&shown), Cow::Borrowed(_)));
        let mut source = text.chars();
        prop_assert!(shown.chars().all(|kept| source.any(|letter| letter == kept)));
    }

    #[test]
    fn json_on_a_terminal_keeps_its_value(text in ACTING) {
        let value = serde_json::json!({ &text: [&text] });
        let json = serde_json::to_string_pretty(&value).unwrap();
        let shown = json_for_terminal(&json);
        prop_assert!(!shown.contains(acts), "{shown:?}");
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn what_does_not_act_on_a_terminal_stays(text in "[^\\p{Cc}\\p{Cf}]{0,60}[\\t\\n\\u{200d}]?") {
        prop_assert_eq!(for_terminal(&text), text.as_str());
        prop_assert_eq!(json_for_terminal(&text), text.as_str());
    }
}

#[test]
fn one_line_has_single_blanks_and_no_control_characters() {
    assert_eq!(one_line(" a\n\n b\rc\u{8}\u{1b}[K\u{85}\u{2028}d\t"), "a b c [K d");
    assert_eq!(one_line(" \n\u{0}"), "");
}

#[test]
fn unseen_characters_are_spelt_out() {
    assert_eq!(
        visible("a\u{1b}[2K\tb\n\u{202e}c\u{200b}é"),
        "a\\u{1b}[2K\tb\\u{a}\\u{202e}c\\u{200b}é"
    );
    assert_eq!(visible_lines("a\u{1b}\n\n b\r\n"), "a\\u{1b}\n\n b\\u{d}\n");
}

#[test]
fn everything_that_unicode_calls_invisible_is_spelt_out() {
    use regex_syntax::hir::{Class, HirKind};
    let invisible = r"[[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Z}]--[\p{Prepended_Concatenation_Mark}\x20\t]]";
    let parsed = regex_syntax::parse(invisible).unwrap();
    let HirKind::Class(Class::Unicode(class)) = parsed.kind() else { unreachable!() };
    let letters = class.ranges().iter().flat_map(|range| range.start()..=range.end());
    let shown: Vec<char> =
        letters.filter(|letter| visible(&letter.to_string()).contains(*letter)).collect();
    assert!(
        shown.is_empty(),
        "{:?}",
        shown.iter().map(|one| one.escape_unicode()).collect::<Vec<_>>()
    );
}
