use pollux_protocol::Completions;
use pretty_assertions::assert_eq;

use super::*;

fn composer() -> Composer<'static> {
    let commands = Live::new(CommandSet::new(Vec::new()));
    Composer::new(
        commands,
        Box::new(|_, _| tokio::spawn(async { Completions::default() })),
        Box::new(|path| path.starts_with("/pictures")),
        &[],
    )
}

fn text(text: &str) -> KeyPress {
    KeyPress::Text(text.to_owned())
}

fn shown(composer: &Composer<'_>, columns: usize) -> (Vec<String>, (usize, usize)) {
    let frame = composer.frame(columns, 5, 0);
    (frame.rows.iter().map(Row::text).collect(), frame.cursor)
}

#[test]
fn an_empty_input_shows_the_text_that_programs_wait_for() {
    let (rows, cursor) = shown(&composer(), 80);
    assert_eq!((rows[0].as_str(), cursor), (">   Type your message or @path/to/file", (0, 2)));
    assert_eq!(shown(&composer(), 20).0, ["> "]);
}

#[test]
fn a_prompt_has_lines_and_the_cursor_moves_in_them() {
    let mut composer = composer();
    for key in [text("one 漢"), KeyPress::Newline, text("two three")] {
        composer.press(key);
    }
    assert_eq!(shown(&composer, 40), (vec!["> one 漢".into(), "  two three".into()], (1, 11)));
    composer.press(KeyPress::Up);
    assert_eq!(shown(&composer, 40).1, (0, 8));
    composer.press(KeyPress::Home);
    composer.press(KeyPress::Down);
    assert_eq!(shown(&composer, 40).1, (1, 2));
    composer.press(KeyPress::End);
    assert_eq!(shown(&composer, 10).0, ["> one 漢", "  two ", "  three"]);
    let step = composer.press(KeyPress::Enter);
    let whole = "one 漢\ntwo three".to_owned();
    assert_eq!(step, ComposerStep::Submitted { text: whole.clone(), shown: whole });
    assert!(composer.is_empty());
}

#[test]
fn the_cursor_moves_in_the_rows_of_a_long_line() {
    let mut composer = composer();
    composer.press(text("an earlier prompt"));
    composer.press(KeyPress::Enter);
    composer.resize(10);
    composer.press(text("one two three"));
    assert_eq!(shown(&composer, 10), (vec!["> one two".into(), "  three".into()], (1, 7)));
    composer.press(KeyPress::Up);
    assert_eq!(shown(&composer, 10).1, (0, 7));
    composer.press(KeyPress::Down);
    assert_eq!(shown(&composer, 10).1, (1, 7));
    for _ in 0..2 {
        composer.press(KeyPress::Up);
    }
    assert_eq!(composer.text(), "an earlier prompt");
    // The cursor does not stop in the label of a pasted text.
    composer.clear();
    composer.press(text("one "));
    composer.paste(&"x\n".repeat(9));
    composer.press(text(" two"));
    composer.press(KeyPress::Up);
    assert_eq!(composer.editor.before(), "one ");
}

#[test]
fn shell_mode_has_its_own_text_and_history() {
    let commands = Live::new(CommandSet::new(Vec::new()));
    let complete = Box::new(|_, _| tokio::spawn(async { Completions::default() }));
    let history = ["!ls -l".to_owned(), "a prompt".to_owned()];
    let mut composer = Composer::new(commands, complete, Box::new(|_| true), &history);
    composer.toggle_shell();
    assert_eq!(shown(&composer, 40).0, ["!   Type your shell command"]);
    composer.press(KeyPress::Up);
    assert_eq!((composer.text(), composer.draft()), ("ls -l".into(), "!ls -l".into()));
    assert_eq!(shown(&composer, 40).0, ["! ls -l"]);
    let step = composer.press(KeyPress::Enter);
    let line = "!ls -l".to_owned();
    assert_eq!(step, ComposerStep::Submitted { text: line.clone(), shown: line });
    // A path at the start is no command, and the mode stays.
    composer.press(text("/bin/l"));
    assert!(composer.completion.is_none() && composer.is_shell());
    composer.clear();
    assert_eq!(composer.press(KeyPress::Enter), ComposerStep::Edited);
    // A stopped command comes back to its mode, and a prompt to the other one.
    composer.replace("!sleep 9".to_owned());
    assert_eq!((composer.text(), composer.is_shell()), ("sleep 9".into(), true));
    composer.put_before("queued");
    assert_eq!((composer.text(), composer.is_shell()), ("queued".into(), false));
    composer.clear();
    composer.press(KeyPress::Up);
    assert_eq!(composer.text(), "a prompt");
}

#[test]
fn the_keys_of_vi_edit_the_prompt() {
    let mut composer = composer();
    composer.use_vim(true);
    assert_eq!(shown(&composer, 40).0, [">   Press 'Esc' for NORMAL mode."]);
    composer.press(text("one two"));
    assert!(composer.escape_in_vim());
    assert_eq!(composer.vim_mode(), Some(VimMode::Normal));
    assert!(!composer.escape_in_vim());
    for key in ["b", "d", "w", "a", "x"] {
        composer.press(text(key));
    }
    assert_eq!((composer.text(), composer.vim_mode()), ("one x".into(), Some(VimMode::Insert)));
    composer.escape_in_vim();
    // What is pasted is no command.
    for key in [KeyPress::PasteBegin, text("dd"), KeyPress::PasteEnd] {
        composer.press(key);
    }
    assert_eq!(composer.text(), "one ddx");
    composer.clear();
    assert_eq!(shown(&composer, 40).0, [">   Press 'i' for INSERT mode."]);
    composer.use_vim(false);
    assert_eq!(shown(&composer, 40).0, [">   Type your message or @path/to/file"]);
}

#[test]
fn a_backslash_continues_the_prompt() {
    let mut composer = composer();
    composer.press(text("one\\"));
    assert_eq!(composer.press(KeyPress::Enter), ComposerStep::Edited);
    composer.press(text("two"));
    assert_eq!(composer.text(), "one\ntwo");
}

#[test]
fn a_long_paste_is_a_label_and_is_sent_whole() {
    let mut composer = composer();
    let pasted = "x\n".repeat(50);
    composer.press(text("see "));
    composer.press(KeyPress::PasteBegin);
    composer.press(text(&pasted[..20]));
    composer.press(text(&pasted[20..]));
    composer.press(KeyPress::PasteEnd);
    assert_eq!(shown(&composer, 80).0, ["> see [Pasted Text: 50 lines]"]);
    composer.press(KeyPress::Backspace);
    assert_eq!(shown(&composer, 80).0, ["> see "]);
    composer.press(KeyPress::Undo);
    let step = composer.press(KeyPress::Enter);
    let shown = "see [Pasted Text: 50 lines]".to_owned();
    assert_eq!(step, ComposerStep::Submitted { text: format!("see {pasted}"), shown });
}

#[test]
fn keys_do_not_break_the_label_of_a_pasted_text() {
    use KeyPress::*;
    let pasted = "x\n".repeat(9);
    let label = "[Pasted Text: 9 lines]";
    let table = [
        (vec![Backspace], "a  z", 2),
        (vec![KillWord], "a  z", 2),
        (vec![KillWordLeft], "a  z", 2),
        (vec![KillLeft], " z", 0),
        (vec![Left, Delete], "a  z", 2),
        (vec![Left, EndOfInput], "a  z", 2),
        (vec![WordLeft, KillWordRight], "a  z", 2),
        (vec![Left, text("b")], "a b[] z", 3),
        (vec![WordLeft, text("b")], "a b[] z", 3),
        (vec![Left, Right, text("b")], "a []b z", 5),
        (vec![Home, WordRight, WordRight, text("b")], "a []b z", 5),
        (vec![KillWord, Yank, Yank], "a [][] z", 6),
    ];
    for (keys, expected, cursor) in table {
        let mut composer = composer();
        composer.press(text("a  z"));
        (0..2).for_each(|_| drop(composer.press(Left)));
        composer.paste(&pasted);
        let shown = format!("{keys:?}");
        for key in keys {
            composer.press(key);
        }
        assert_eq!(composer.text(), expected.replace("[]", &pasted), "{shown}");
        let before = composer.editor.before().replace(label, "[]");
        assert_eq!(before, expected[..cursor], "{shown}");
        composer.press(Undo);
        assert!(composer.text().contains(&pasted), "{shown}");
    }
}

#[test]
fn keys_of_vi_do_not_break_the_label_of_a_pasted_text() {
    let pasted = "x\n".repeat(9);
    for (keys, expected) in [
        ("x", "a "),
        ("0wdw", "a "),
        ("0wdl", "a "),
        ("0wiq", "a q[]"),
        ("0wr.", "a ."),
        ("09~", "A []"),
        ("0wylP", "a [][]"),
    ] {
        let mut composer = composer();
        composer.use_vim(true);
        composer.press(text("a "));
        composer.paste(&pasted);
        composer.escape_in_vim();
        for key in keys.chars() {
            composer.press(text(&key.to_string()));
        }
        assert_eq!(composer.text(), expected.replace("[]", &pasted), "{keys}");
    }
}

#[test]
fn a_dragged_file_becomes_a_reference() {
    let mut composer = composer();
    composer.press(text("see "));
    composer.paste("'/pictures/a b.png' ");
    assert_eq!(composer.text(), "see @/pictures/a\\ b.png ");
    composer.paste("/etc/passwd");
    assert_eq!(composer.text(), "see @/pictures/a\\ b.png /etc/passwd");
    composer.clear();
    composer.toggle_shell();
    composer.paste("/pictures/a.png");
    assert_eq!(composer.text(), "/pictures/a.png");
}

/// Handles the end of the search for these paths.
fn found(composer: &mut Composer<'_>, paths: &[&str]) {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    composer.completed(&paths);
}

#[tokio::test]
async fn paths_are_listed_while_they_are_typed() {
    let mut composer = composer();
    composer.press(text("see @"));
    assert!(composer.completion.is_none());
    composer.press(text("s"));
    composer.press(text("r"));
    // The first search is over, and the next one begins.
    found(&mut composer, &["other/s.rs"]);
    assert!(composer.completion.is_some());
    assert_eq!(shown(&composer, 40).0, ["> see @sr"]);
    found(&mut composer, &["src/", "src/main.rs"]);
    let rows: Vec<String> = composer.frame(60, 5, 9).rows.iter().map(Row::text).collect();
    assert_eq!(rows[1..3], ["> src/", "  src/main.rs"]);
    assert!(rows[3].contains("Enter inserts"), "{rows:?}");
    composer.press(KeyPress::Down);
    assert_eq!(composer.press(KeyPress::Enter), ComposerStep::Edited);
    assert_eq!(composer.text(), "see @src/main.rs");
    let step = composer.press(KeyPress::Enter);
    assert!(matches!(step, ComposerStep::Submitted { .. }), "{step:?}");
}

#[tokio::test]
async fn enter_sends_a_prompt_whose_path_is_complete() {
    let mut composer = composer();
    composer.press(text("@a.rs"));
    found(&mut composer, &["a.rs", "b/a.rs"]);
    let step = composer.press(KeyPress::Enter);
    let whole = "@a.rs".to_owned();
    assert_eq!(step, ComposerStep::Submitted { text: whole.clone(), shown: whole });
}

#[test]
fn a_high_prompt_shows_the_rows_around_the_cursor() {
    let mut composer = composer();
    let lines: Vec<String> = (1..20).map(|number| format!("{number}\n")).collect();
    composer.press(text(&lines.concat()));
    let (rows, cursor) = shown(&composer, 40);
    assert_eq!((rows.len(), rows[0].as_str(), cursor), (5, "[...]", (4, 2)));
}
