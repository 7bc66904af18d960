use std::sync::Arc;

use pollux_protocol::{
    CallId, ConfinementLevel, ConsentItem, DiffStat, ItemDetail, QuestionChoice,
};
use pretty_assertions::assert_eq;

use super::*;

fn choices() -> Vec<QuestionChoice> {
    vec![
        QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow once", 'y'),
        QuestionChoice::new(QuestionOutcome::ProceedAlways, "Allow for this session", 'a'),
        QuestionChoice::new(QuestionOutcome::ModifyWithEditor, "Modify with external editor", 'e'),
        QuestionChoice::new(QuestionOutcome::Cancel, "No, suggest changes", 'n'),
    ]
}

fn dialog(kind: ConfirmationKind) -> Dialog {
    let confirmation = Confirmation { call_id: CallId::new("1"), title: String::new(), kind };
    let subject = QuestionSubject::Call(confirmation);
    let question = Question::new(Arc::default(), subject, choices(), Some(0));
    Dialog::new(question, Path::new("/p"))
}

fn edit(lines: usize) -> Dialog {
    let patch: Vec<String> = (1..=lines).map(|line| format!("\n+line {line}")).collect();
    let patch = patch.concat();
    dialog(ConfirmationKind::Edit {
        path: "/p/src/a.rs".into(),
        patch: format!("--- a\n+++ a\n@@ -0,0 +1 @@{patch}"),
        original: None,
        proposed: "new".to_owned(),
        stat: DiffStat { model_added_lines: lines as u64, ..DiffStat::default() },
        rewrite: None,
    })
}

fn command(command: &str) -> Dialog {
    dialog(ConfirmationKind::Execute {
        command: command.to_owned(),
        programs: Vec::new(),
        commands: Vec::new(),
        writes: Vec::new(),
        unknown: Vec::new(),
        starts: Vec::new(),
        reason: None,
        level: ConfinementLevel::None,
        purpose: None,
        folder: None,
        is_background: false,
    })
}

const PLAN: &str = "# Goal\n\nMend **it**.\n";

fn plan() -> Dialog {
    dialog(ConfirmationKind::Plan { path: "/t/a.md".into(), text: PLAN.to_owned() })
}

fn shown(dialog: &mut Dialog, size: (usize, usize), now: Instant) -> Vec<String> {
    dialog.frame(size, now, None).rows.iter().map(Row::text).collect()
}

fn text(text: &str) -> KeyPress {
    KeyPress::Text(text.to_owned())
}

fn outcome(step: &DialogStep) -> Option<QuestionOutcome> {
    match step {
        DialogStep::Reply(reply) => Some(reply.outcome),
        _ => None,
    }
}

#[test]
fn a_change_is_shown_with_its_choices() {
    let now = Instant::now();
    let mut dialog = edit(2);
    assert_eq!(
        shown(&mut dialog, (79, 24), now),
        [
            "! Change of src/a.rs (+2 -0):",
            "  1 + line 1",
            "  2 + line 2",
            "Apply this change?",
            "● 1. Allow once",
            "  2. Allow for this session",
            "  3. Modify with external editor",
            "  4. No, suggest changes (esc)",
        ]
    );
    let frame = dialog.frame((79, 24), now, None);
    let green = |(look, _): &(Look, &str)| *look == Look::Green;
    assert_eq!(frame.rows[1].pieces().filter(green).count(), 2);
    assert_eq!(frame.cursor, (4, 0));
}

#[test]
fn digits_and_arrows_with_enter_choose() {
    let now = Instant::now();
    let step = |keys: &[KeyPress]| {
        let mut dialog = edit(1);
        shown(&mut dialog, (79, 24), now);
        let mut steps = keys.iter().map(|key| dialog.press(key.clone(), now));
        steps.find(|step| *step != DialogStep::Open)
    };
    let table = [
        (vec![text("1")], Some(QuestionOutcome::ProceedOnce)),
        (vec![text("2")], Some(QuestionOutcome::ProceedAlways)),
        (vec![text("4")], Some(QuestionOutcome::Cancel)),
        (vec![text("5")], None),
        (vec![text("0")], None),
        (vec![text("y")], Some(QuestionOutcome::ProceedOnce)),
        (vec![text("n")], Some(QuestionOutcome::Cancel)),
        (vec![text("a")], None),
        (vec![text("yes")], None),
        (vec![KeyPress::Enter], Some(QuestionOutcome::ProceedOnce)),
        (vec![KeyPress::Down, KeyPress::Enter], Some(QuestionOutcome::ProceedAlways)),
        (vec![KeyPress::Up, KeyPress::Enter], Some(QuestionOutcome::Cancel)),
        (vec![KeyPress::Escape], Some(QuestionOutcome::Cancel)),
    ];
    for (keys, expected) in table {
        assert_eq!(step(&keys).as_ref().and_then(outcome), expected, "{keys:?}");
    }
    let proposal = EditProposal { name: "a.rs".to_owned(), text: "new".to_owned(), file: None };
    assert_eq!(step(&[text("3")]), Some(DialogStep::Edit(proposal)));
}

#[test]
fn nothing_is_approved_before_all_of_it_was_on_the_screen() {
    let now = Instant::now();
    let many = "echo line\n".repeat(60) + "rm -rf /";
    let one_long = format!("echo {}; rm -rf /", "x".repeat(700));
    for size in [(79, 24), (39, 10), (19, 5), (19, 2), (19, 1)] {
        for make in [&many, &one_long] {
            let mut dialog = command(make);
            let mut all = String::new();
            for _ in 0..2000 {
                let rows = shown(&mut dialog, size, now);
                assert!(rows.len() <= size.1, "{size:?}");
                let parts = rows.iter().filter(|row| !row.starts_with("Space shows"));
                all.extend(parts.map(|row| row.replace(' ', "")));
                let is_seen = all.contains("4.No,suggestchanges(esc)") || dialog.is_seen();
                let step = dialog.press(text("1"), now);
                assert_eq!(outcome(&step).is_some(), dialog.is_seen(), "{size:?}");
                if is_seen {
                    break;
                }
                dialog.press(text(" "), now);
            }
            assert!(dialog.is_seen(), "{size:?}");
            assert!(all.contains("rm-rf/"), "{size:?}");
        }
    }
}

#[test]
fn every_part_is_shown_in_turn() {
    let now = Instant::now();
    let mut dialog = edit(50);
    let mut seen = std::collections::BTreeSet::new();
    while !dialog.is_seen() {
        let rows = shown(&mut dialog, (39, 10), now);
        seen.extend(
            rows.iter()
                .filter_map(|row| row.split_once(" + line ").map(|(_, rest)| rest.to_owned())),
        );
        dialog.press(KeyPress::PageDown, now);
    }
    assert_eq!(seen.len(), 50);
    // The selection stays on the screen.
    let rows = shown(&mut dialog, (39, 10), now);
    assert!(rows.contains(&"● 1. Allow once".to_owned()), "{rows:?}");
    assert_eq!(rows[9], "Page Up shows earlier rows · rows 48...");
}

#[test]
fn earlier_rows_can_be_read_again() {
    let now = Instant::now();
    let mut dialog = edit(50);
    while !dialog.is_seen() {
        shown(&mut dialog, (39, 10), now);
        dialog.press(KeyPress::PageDown, now);
    }
    let mut seen = String::new();
    for _ in 0..10 {
        dialog.press(KeyPress::PageUp, now);
        seen = shown(&mut dialog, (39, 10), now).join("\n") + &seen;
    }
    assert!(seen.starts_with("! Change of") && seen.contains(" + line 20\n"), "{seen}");
    dialog.press(KeyPress::Down, now);
    let rows = shown(&mut dialog, (39, 10), now);
    assert!(rows.contains(&"● 2. Allow for this session".to_owned()), "{rows:?}");
}

#[test]
fn a_new_size_shows_the_parts_again_unless_all_were_shown() {
    let now = Instant::now();
    let mut dialog = edit(30);
    shown(&mut dialog, (39, 10), now);
    dialog.press(text(" "), now);
    shown(&mut dialog, (39, 10), now);
    let rows = shown(&mut dialog, (30, 10), now);
    assert!(rows[0].starts_with("! Change"), "{rows:?}");
    shown(&mut dialog, (39, 60), now);
    shown(&mut dialog, (39, 10), now);
    assert_eq!(outcome(&dialog.press(text("1"), now)), Some(QuestionOutcome::ProceedOnce));
}

#[test]
fn keys_before_the_question_was_shown_do_not_answer_it() {
    let now = Instant::now();
    let later = |milliseconds| now + Duration::from_millis(milliseconds);
    let mut dialog = edit(1);
    assert_eq!(dialog.press(text("1"), now), DialogStep::Open);
    assert_eq!(dialog.press(KeyPress::Escape, now), DialogStep::Open);
    dialog.frame((79, 24), later(10), None);
    // Read before, and only handled now.
    for key in [KeyPress::Enter, KeyPress::Escape] {
        assert_eq!(dialog.press(key, now), DialogStep::Open);
    }
    let mut dialog = edit(1);
    dialog.frame((79, 24), later(10), Some(now));
    assert_eq!(dialog.press(text("1"), later(200)), DialogStep::Open, "the user was typing");
    assert_eq!(dialog.press(text("1"), later(600)), DialogStep::Open);
    assert!(outcome(&dialog.press(text("1"), later(1200))).is_some());
}

#[test]
fn pasted_text_never_answers() {
    let now = Instant::now();
    let later = now + Duration::from_secs(2);
    let tasks = ["1", "2", "y", "1. first do this", "2. then\n3. the tests", "   "];
    for pasted in tasks {
        for mut dialog in [command("rm -r x"), edit(2), edit(100)] {
            shown(&mut dialog, (79, 24), now);
            for key in [KeyPress::PasteBegin, text(pasted), KeyPress::PasteEnd] {
                assert_eq!(dialog.press(key, later), DialogStep::Open, "{pasted:?}");
            }
        }
    }
    let mut dialog = plan();
    shown(&mut dialog, (79, 24), now);
    let pasted = [KeyPress::PasteBegin, text("1. first do this"), KeyPress::PasteEnd];
    for key in pasted {
        dialog.press(key, later);
    }
    let rows = shown(&mut dialog, (79, 24), later);
    assert!(rows.contains(&"● 4. Feedback: 1. first do this".to_owned()), "{rows:?}");
    // A terminal that does not mark pasted text sends it at once.
    let mut dialog = command("rm -r x");
    shown(&mut dialog, (79, 24), now);
    assert_eq!(dialog.press(text("1. first do this"), later), DialogStep::Open);
    // Its line end is no Enter key.
    assert_eq!(dialog.press(KeyPress::Enter, later), DialogStep::Open);
    assert_eq!(outcome(&dialog.press(text("1"), later)), Some(QuestionOutcome::ProceedOnce));
}

#[test]
fn a_plan_takes_feedback() {
    let now = Instant::now();
    let mut dialog = plan();
    assert_eq!(
        shown(&mut dialog, (79, 24), now),
        [
            "! Plan (/t/a.md):",
            "Goal",
            "",
            "Mend it.",
            "Ready to start implementation?",
            "● 1. Allow once - Approves plan but requires confirmation for each tool",
            "  2. Allow for this session - Approves plan and allows tools to run",
            "     automatically",
            "  3. Modify with external editor",
            "  4. Type your feedback...",
            "Enter to select · ↑/↓ to navigate · Ctrl+G to edit plan · Esc to cancel",
        ]
    );
    dialog.press(text("use tabs"), now);
    let frame = dialog.frame((79, 24), now, None);
    assert_eq!(frame.rows[9].text(), "● 4. Feedback: use tabs");
    assert_eq!(frame.cursor, (9, 23));
    let DialogStep::Reply(reply) = dialog.press(KeyPress::Enter, now + PAUSE) else {
        panic!("no reply")
    };
    assert_eq!(reply.modification, Some(Modification::Feedback("use tabs".to_owned())));
}

#[test]
fn the_editor_opens_the_file_of_a_plan() {
    let now = Instant::now();
    let mut dialog = plan();
    shown(&mut dialog, (79, 24), now);
    let DialogStep::Edit(proposal) = dialog.press(KeyPress::ExternalEditor, now) else {
        panic!("no editor")
    };
    assert_eq!(proposal.file, Some("/t/a.md".into()));
    assert_eq!((proposal.name.as_str(), proposal.text.as_str()), ("a.md", PLAN));
}

#[test]
fn a_question_about_items_during_a_session_is_answered_by_its_own_choices() {
    let now = Instant::now();
    let item = ConsentItem {
        kind: "custom command".to_owned(),
        name: "/tidy".to_owned(),
        detail: ItemDetail::from("runs: true".to_owned()),
        hash: String::new(),
        needs_user: false,
    };
    for (key, expected) in [("y", QuestionOutcome::ProceedOnce), ("2", QuestionOutcome::Cancel)] {
        let choices = vec![
            QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow", 'y'),
            QuestionChoice::new(QuestionOutcome::Cancel, "Refuse", 'n'),
        ];
        let subject = QuestionSubject::Consent(vec![item.clone()]);
        let question = Question::new(Arc::default(), subject, choices, None);
        let mut dialog = Dialog::new(question, Path::new("/p"));
        shown(&mut dialog, (79, 24), now);
        assert_eq!(outcome(&dialog.press(text(key), now)), Some(expected));
    }
}

#[test]
fn a_choice_with_two_digits_can_be_typed() {
    let now = Instant::now();
    let choices = QuestionChoice::options((1..=12).map(|number| format!("model {number}")));
    for (keys, expected) in [
        (&[text("1"), text("2")][..], Some(11)),
        (&[text("1"), KeyPress::Enter], Some(0)),
        (&[text("2")], Some(1)),
        (&[text("1"), text("9")], Some(8)),
        (&[text("1")], None),
    ] {
        let subject = QuestionSubject::SignIn { text: "Which?".to_owned() };
        let question = Question::new(Arc::default(), subject, choices.clone(), None);
        let mut dialog = Dialog::new(question, Path::new("/p"));
        shown(&mut dialog, (79, 24), now);
        let mut steps =
            (1..).zip(keys).map(|(at, key)| dialog.press(key.clone(), now + at * PAUSE));
        let step = steps.find(|step| *step != DialogStep::Open);
        let expected = expected.map(QuestionOutcome::Option);
        assert_eq!(step.as_ref().and_then(outcome), expected, "{keys:?}");
    }
}

#[test]
fn a_letter_answers_a_question_about_a_plan_together_with_enter() {
    let now = Instant::now();
    for (letter, expected) in [("y", QuestionOutcome::ProceedOnce), ("n", QuestionOutcome::Cancel)]
    {
        let mut dialog = plan();
        shown(&mut dialog, (79, 24), now);
        assert_eq!(dialog.press(text(letter), now), DialogStep::Open);
        let DialogStep::Reply(reply) = dialog.press(KeyPress::Enter, now + PAUSE) else {
            panic!("{letter}")
        };
        assert_eq!((reply.outcome, reply.modification), (expected, None), "{letter}");
    }
}

#[test]
fn the_first_row_is_shown_whole_at_every_width() {
    let now = Instant::now();
    for cells in 8..79 {
        let rows = shown(&mut edit(12), (cells, 60), now);
        let all = rows.concat().replace(' ', "");
        assert!(all.contains("!Changeofsrc/a.rs(+12-0):"), "{cells}: {rows:?}");
    }
}
