use proptest::prelude::*;

use super::{KeyPress as Key, *};

fn text(text: &str) -> Key {
    Key::Text(text.to_owned())
}

#[test]
fn the_mouse_wheel_is_a_key_in_both_forms_of_reports() {
    let table: &[(&[u8], &[Key])] = &[
        (b"\x1b[1;5H\x1b[1;2F", &[Key::ScrollStart, Key::ScrollEnd]),
        (b"\x1b[<64;10;5M\x1b[<69;1;1Mx", &[Key::WheelUp, Key::WheelDown, text("x")]),
        // Buttons of the mouse mean nothing.
        (b"\x1b[<0;10;5M\x1b[<0;10;5m\x1b[<;Mx", &[text("x")]),
        (b"\x1b[M`!!\x1b[Ma\xff!x\x1b[M !!y", &[Key::WheelUp, Key::WheelDown, text("xy")]),
    ];
    for (bytes, keys) in table {
        let found = KeyDecoder::default().decode(bytes, InputMode::Raw);
        assert_eq!(found, *keys, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn bytes_mean_keys() {
    let table: &[(&[u8], &[Key])] = &[
        (b"ab\r", &[text("ab"), Key::Enter]),
        ("grüß 漢\n".as_bytes(), &[text("grüß 漢"), Key::Newline]),
        (
            b"\x1b\r\x1b\n\x1b[13;2u\x1b[13;5u\x1b[27;2;13~\x1b[27;5;13~",
            &[Key::Newline, Key::Newline, Key::Newline, Key::Newline, Key::Newline, Key::Newline],
        ),
        (b"\x1b[13u\x1b[27;1;13~\x1bOM", &[Key::Enter, Key::Enter, Key::Enter]),
        (
            b"\x0c\x12\x19\x1f\x07\x18\x05\x18a",
            &[
                Key::ClearScreen,
                Key::Search,
                Key::Yank,
                Key::Undo,
                Key::ExternalEditor,
                Key::ExternalEditor,
                text("a"),
            ],
        ),
        (b"\x1bd\x1b\x7f", &[Key::KillWordRight, Key::KillWordLeft]),
        (b"\x1b[3;5~\x1b[3;3~\x1bz", &[Key::KillWordRight, Key::KillWordRight, Key::Undo]),
        // Answers of a terminal.
        (b"a\x1b]11;rgb:1e1e/1e1e/1e1e\x07b\x1b]10;rgb:0/0/0\x1b\\c", &[text("abc")]),
        (b"a\x1bP>|XTerm(390)\x1b\\b\x1b_G\x1b\\\x1b^x\x1b\\", &[text("ab")]),
        // An interrupted one does not swallow the following input.
        (b"\x1b]11;\r\x1b]1\x1b[A", &[Key::Enter, Key::Up]),
        (
            b"\x1b[200~a\x1b]0;b\x1b[201~\r",
            &[Key::PasteBegin, text("a"), Key::PasteEnd, Key::Enter],
        ),
        (b"\x1b[A\x1b[B\x1bOC\x1b[D", &[Key::Up, Key::Down, Key::Right, Key::Left]),
        (
            b"\x1b[1;5C\x1b[1;3D\x1bb\x1bf",
            &[Key::WordRight, Key::WordLeft, Key::WordLeft, Key::WordRight],
        ),
        (b"\x1b[H\x1b[4~\x1b[3~\x01\x05", &[Key::Home, Key::End, Key::Delete, Key::Home, Key::End]),
        (
            b"\x15\x0b\x17\x04\x7f",
            &[Key::KillLeft, Key::KillRight, Key::KillWord, Key::EndOfInput, Key::Backspace],
        ),
        (
            b"\x1b[200~a\rb\tc\x04\x1b[A\x1b[200~\x1b[201~\x1b[201~\r",
            &[Key::PasteBegin, text("a\nb\tc"), Key::PasteEnd, Key::Enter],
        ),
        (b"\x1b[5~\x1b[6~\x1b[Z", &[Key::PageUp, Key::PageDown, Key::CycleMode]),
        (b"a\xff\xfeb\r", &[text("a\u{fffd}\u{fffd}b"), Key::Enter]),
        (b"\x1b[27u\x1b[27;1u", &[Key::Escape, Key::Escape]),
        (b"\x1b[15~\x1b[?62;22cx", &[text("x")]),
        (b"\x1b[[Ax\x1b[[1y", &[text("x1y")]),
        (b"\x1bOj\x1bOp\x1bOy", &[text("*09")]),
        (b"\x1b\x1b[A", &[Key::Up]),
        // An interrupted sequence does not swallow the following input.
        (b"\x1b[12\r", &[Key::Enter]),
        (b"\x00\x13", &[]),
        // A key after the Esc key.
        (b"\x1bx\x1b1\x1b\xc3\xbc", &[text("x1ü")]),
        (b"\x1bO\r", &[text("O"), Key::Enter]),
    ];
    for (bytes, keys) in table {
        assert_eq!(KeyDecoder::default().decode(bytes, InputMode::Raw), *keys, "{bytes:?}");
    }
}

#[test]
fn a_line_feed_is_the_enter_key_only_in_canonical_mode() {
    let mut decoder = KeyDecoder::default();
    for _ in 0..2 {
        let keys = decoder.decode(b"a\nb\n\x1b\n", InputMode::Canonical);
        assert_eq!(keys, [text("a"), Key::Enter, text("b"), Key::Enter, Key::Newline]);
        let keys = decoder.decode(b"a\n\r", InputMode::Raw);
        assert_eq!(keys, [text("a"), Key::Newline, Key::Enter]);
    }
}

#[test]
fn a_paste_has_line_ends_in_every_mode() {
    for mode in [InputMode::Canonical, InputMode::Raw] {
        let keys = KeyDecoder::default().decode(b"\x1b[200~a\nb\r\x1b[201~\r", mode);
        let expected = [Key::PasteBegin, text("a\nb\n"), Key::PasteEnd, Key::Enter];
        assert_eq!(keys, expected, "{mode:?}");
    }
}

#[test]
fn the_mode_may_change_within_a_character() {
    let (left, right) = "ü\n".as_bytes().split_at(1);
    let mut decoder = KeyDecoder::default();
    assert_eq!(decoder.decode(left, InputMode::Canonical), []);
    assert_eq!(decoder.decode(right, InputMode::Raw), [text("ü"), Key::Newline]);
}

#[test]
fn a_lone_escape_waits_for_what_follows() {
    let mut decoder = KeyDecoder::default();
    assert_eq!(decoder.decode(b"\x1b", InputMode::Raw), []);
    assert_eq!(decoder.decode(b"[A", InputMode::Raw), [Key::Up]);
}

#[test]
fn an_escape_that_nothing_follows_is_a_key() {
    for (bytes, keys) in [
        (&b"\x1b"[..], vec![Key::Escape]),
        (b"\x1b[", vec![Key::Escape, text("[")]),
        (b"\x1bO", vec![Key::Escape, text("O")]),
        (b"\x1b[12", vec![Key::Escape, text("[12")]),
        (b"\x1b]", vec![Key::Escape, text("]")]),
        (b"\x1b]11;rgb", vec![]),
    ] {
        let mut decoder = KeyDecoder::default();
        assert_eq!(decoder.decode(bytes, InputMode::Raw), []);
        assert!(decoder.is_unsure(), "{bytes:?}");
        assert_eq!(decoder.end_escape(), keys, "{bytes:?}");
        assert!(!decoder.is_unsure());
        assert_eq!(decoder.decode(b"b", InputMode::Raw), [text("b")], "{bytes:?}");
    }
}

#[test]
fn the_end_of_a_slow_paste_is_waited_for() {
    let mut decoder = KeyDecoder::default();
    let keys = decoder.decode(b"\x1b[200~a\x1b", InputMode::Raw);
    assert_eq!(keys, [Key::PasteBegin, text("a")]);
    assert!(!decoder.is_unsure());
    assert_eq!(decoder.decode(b"[201~\r", InputMode::Raw), [Key::PasteEnd, Key::Enter]);
}

#[test]
fn a_sequence_without_end_is_dropped() {
    let mut decoder = KeyDecoder::default();
    for unfinished in [format!("\x1b[{}", "1".repeat(100)), format!("\x1bP{}", "1".repeat(4096))] {
        assert_eq!(decoder.decode(unfinished.as_bytes(), InputMode::Raw), []);
        assert_eq!(decoder.decode(b"x", InputMode::Raw), [text("x")]);
    }
}

#[test]
fn the_end_of_a_paste_may_be_lost() {
    let mut decoder = KeyDecoder::default();
    let keys = decoder.decode(b"\x1b[200~a\r", InputMode::Raw);
    assert_eq!(keys, [Key::PasteBegin, text("a\n")]);
    decoder.end_paste();
    assert_eq!(decoder.decode(b"\r", InputMode::Raw), [Key::Enter]);
}

/// Joins adjacent pieces of text.
fn joined(keys: Vec<Key>) -> Vec<Key> {
    let mut all = Vec::new();
    for key in keys {
        match key {
            Key::Text(text) => add_text(&mut all, &text),
            key => all.push(key),
        }
    }
    all
}

proptest! {
    #[test]
    fn cutting_changes_nothing(
        pieces in prop::collection::vec(
            prop_oneof![
                "[a-zü漢👍]{0,4}".prop_map(String::into_bytes),
                Just(b"\x1b[A".to_vec()),
                Just(b"\x1b[200~".to_vec()),
                Just(b"\x1b[201~".to_vec()),
                Just(b"\r".to_vec()),
                prop::collection::vec(any::<u8>(), 0..4),
            ],
            0..8,
        ),
        at in any::<prop::sample::Index>(),
    ) {
        let bytes = pieces.concat();
        let whole = KeyDecoder::default().decode(&bytes, InputMode::Raw);
        let (left, right) = bytes.split_at(at.index(bytes.len() + 1));
        let mut decoder = KeyDecoder::default();
        let mut cut = decoder.decode(left, InputMode::Raw);
        cut.extend(decoder.decode(right, InputMode::Raw));
        prop_assert_eq!(joined(cut), joined(whole));
    }
}

#[test]
fn keys_that_terminals_report_as_numbers_have_their_effects() {
    for (bytes, expected) in [
        (&b"\x1b[97;5u"[..], Some(KeyPress::Home)),
        (b"\x1b[27;5;97~", Some(KeyPress::Home)),
        (b"\x1b[119;5:1u", Some(KeyPress::KillWord)),
        (b"\x1b[98;3u", Some(KeyPress::WordLeft)),
        (b"\x1b[127;5u", Some(KeyPress::KillWordLeft)),
        (b"\x1b[127u", Some(KeyPress::Backspace)),
        (b"\x1b[9u", Some(KeyPress::Tab)),
        (b"\x1b[97;2u", Some(KeyPress::Text("A".to_owned()))),
        (b"\x1b[27;2;65~", Some(KeyPress::Text("A".to_owned()))),
        (b"\x1b[99;5u", Some(KeyPress::Signal(KeySignal::Interrupt))),
        (b"\x1b[27;5;122~", Some(KeyPress::Signal(KeySignal::Suspend))),
        (b"\x1b[?1u", Some(KeyPress::Knows(KeyProtocol::Kitty))),
        (b"\x1b[>4;0m", Some(KeyPress::Knows(KeyProtocol::OtherKeys))),
        (b"\x1b[57400u", Some(KeyPress::Text("1".to_owned()))),
        (b"\x1b[1;129A", Some(KeyPress::Up)),
        (b"\x1b[1;2:3A", None),
        (b"\x1b[1;2D", Some(KeyPress::Left)),
        (b"\x1b[27;2;13~", Some(KeyPress::Newline)),
        (b"\x1b[13;5u", Some(KeyPress::Newline)),
        (b"\x1b[27u", Some(KeyPress::Escape)),
        (b"\x1b[57441;1u", None),
        (b"\x1b[32~", None),
        (b"\x1b[15;5~", None),
        (b"\x1b[99999999999;5u", None),
        (b"\x1b[97;0u", None),
        (b"\x1b[;u", None),
        (b"\x1b[10;1u", None),
    ] {
        let mut decoder = KeyDecoder::default();
        let keys = decoder.decode(bytes, InputMode::Raw);
        assert_eq!(keys, expected.into_iter().collect::<Vec<_>>(), "{bytes:?}");
        assert!(!decoder.is_unsure());
    }
}

#[test]
fn reports_of_the_terminal_are_no_keys() {
    let mut decoder = KeyDecoder::default();
    let bytes = b"a\x1b]11;rgb:1e1e/1e1e/1e1e\x07b\x1b[I\x1b]11;x\x1b\\\x1b]11;#fff\x1b\\\x1b[Oc";
    // Split anywhere, the answer is the same.
    for end in 0..=bytes.len() {
        let mut keys = decoder.decode(&bytes[..end], InputMode::Raw);
        keys.extend(decoder.decode(&bytes[end..], InputMode::Raw));
        let typed: String = keys
            .iter()
            .map(|key| if let Key::Text(text) = key { text.as_str() } else { "?" })
            .collect();
        assert_eq!(typed, "abc", "{end}");
        let reports = [
            TerminalReport::Background([0x1e; 3]),
            TerminalReport::Focus(true),
            TerminalReport::Background([0xff; 3]),
            TerminalReport::Focus(false),
        ];
        assert_eq!(decoder.take_reports(), reports, "{end}");
    }
    // A flood is bounded, and pasted text contains no reports.
    decoder.decode(&b"\x1b[I".repeat(1000), InputMode::Raw);
    assert_eq!(decoder.take_reports().len(), MOST_REPORTS);
    decoder.decode(b"\x1b[200~\x1b[I\x1b]11;#fff\x07\x1b[201~", InputMode::Raw);
    assert_eq!(decoder.take_reports(), []);
}
