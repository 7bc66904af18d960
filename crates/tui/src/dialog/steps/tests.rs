use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollux_input::KeyPress;
use pollux_protocol::{
    CallId, Confirmation, ConfirmationKind, FieldKind, Form, FormField, FormOption, Modification,
    Question, QuestionSubject, SurveyKind, SurveyOption, SurveyQuestion,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::dialog::{Dialog, DialogStep};
use crate::row::Row;

/// A dialog, whose keys are slow enough to be keys, and which is drawn after each of them.
struct Stage {
    dialog: Dialog,
    now: Instant,
    size: (usize, usize),
}

impl Stage {
    fn of(subject: QuestionSubject) -> Self {
        let question = Question::new(Arc::default(), subject, Vec::new(), None);
        let mut stage = Self {
            dialog: Dialog::new(question, Path::new("/p")),
            now: Instant::now(),
            size: (79, 24),
        };
        stage.rows();
        stage
    }

    fn new(questions: Vec<SurveyQuestion>) -> Self {
        let kind = ConfirmationKind::Questions(questions);
        let (call_id, title) = (CallId::new("1"), String::new());
        Self::of(QuestionSubject::Call(Confirmation { call_id, title, kind }))
    }

    fn rows(&mut self) -> Vec<String> {
        let frame = self.dialog.frame(self.size, self.now, None);
        assert!(frame.rows.len() <= self.size.1 && frame.cursor.0 < frame.rows.len());
        frame.rows.iter().map(Row::text).collect()
    }

    fn press(&mut self, key: KeyPress) -> DialogStep {
        self.now += Duration::from_millis(100);
        let step = self.dialog.press(key, self.now);
        self.rows();
        step
    }

    /// Presses keys of which none may answer.
    fn keys(&mut self, keys: &[KeyPress]) {
        for key in keys {
            assert_eq!(self.press(key.clone()), DialogStep::Open, "{key:?}");
        }
    }

    /// Presses a key that answers; returns the answer.
    fn end(&mut self, key: KeyPress) -> Modification {
        match self.press(key) {
            DialogStep::Reply(reply) => reply.modification.unwrap(),
            step => panic!("{step:?}: {:?}", self.rows()),
        }
    }
}

fn question(kind: SurveyKind, options: &[&str], multi_select: bool) -> SurveyQuestion {
    let option = |label: &&str| SurveyOption {
        label: (*label).to_owned(),
        description: format!("about {label}"),
    };
    SurveyQuestion {
        question: "Which?".to_owned(),
        header: "Data".to_owned(),
        kind,
        options: options.iter().map(option).collect(),
        multi_select,
        placeholder: String::new(),
    }
}

fn answers(answers: &[&str]) -> Modification {
    Modification::Answers(answers.iter().map(|answer| (*answer).to_owned()).collect())
}

fn text(text: &str) -> KeyPress {
    KeyPress::Text(text.to_owned())
}

#[test]
fn one_option_is_chosen() {
    let one = || Stage::new(vec![question(SurveyKind::Choice, &["SQLite", "Postgres"], false)]);
    assert_eq!(
        one().rows(),
        [
            "! Answer Questions",
            "Which?",
            "● 1. SQLite - about SQLite",
            "  2. Postgres - about Postgres",
            "  3. Enter a custom value",
            "Enter to select · ↑/↓ to navigate · Esc to cancel",
        ]
    );
    assert_eq!(one().end(text("2")), answers(&["Postgres"]));
    assert_eq!(one().end(KeyPress::Enter), answers(&["SQLite"]));
    let mut stage = one();
    stage.keys(&[KeyPress::Down]);
    assert_eq!(stage.end(KeyPress::Enter), answers(&["Postgres"]));
    // The number of the field selects it; then digits are words.
    let mut stage = one();
    stage.keys(&[text("9"), text("0"), text(" "), text("3"), KeyPress::Enter, text("1")]);
    let rows = stage.rows();
    assert_eq!(rows[4..], ["● 3. 1", "Enter to submit · ↑/↓ to navigate · Esc to cancel"]);
    stage.keys(&[text("2"), KeyPress::Left, KeyPress::Backspace, text("7")]);
    let frame = stage.dialog.frame(stage.size, stage.now, None);
    assert_eq!(frame.cursor, (4, 6), "the cursor is between the digits");
    assert_eq!(stage.end(KeyPress::Enter), answers(&["72"]));
    // Other characters begin words at once.
    let mut stage = one();
    stage.keys(&[text("D"), text("uckDB")]);
    assert_eq!(stage.end(KeyPress::Enter), answers(&["DuckDB"]));
}

#[test]
fn several_options_are_chosen() {
    let several = || Stage::new(vec![question(SurveyKind::Choice, &["a", "b", "c"], true)]);
    assert_eq!(
        several().rows()[1..],
        [
            "Which? (Select all that apply)",
            "● 1. [ ] a - about a",
            "  2. [ ] b - about b",
            "  3. [ ] c - about c",
            "  4. [ ] All of the above - Select all options",
            "  5. [ ] Enter a custom value",
            "  6. Done",
            "Enter to select · ↑/↓ to navigate · Esc to cancel",
        ]
    );
    let mut stage = several();
    stage.keys(&[text(" "), KeyPress::Down, KeyPress::Enter, text("3"), text("3")]);
    assert_eq!(stage.rows()[2..5].concat().matches("[x]").count(), 2);
    assert_eq!(stage.end(text("6")), answers(&["a, b"]));
    let mut stage = several();
    stage.keys(&[text("4"), text("2"), text("5"), text("1 more"), KeyPress::Enter]);
    assert_eq!(stage.rows()[6..8], ["  5. [x] 1 more", "● 6. Done"]);
    assert_eq!(stage.end(KeyPress::Enter), answers(&["a, c, 1 more"]));
    let mut stage = several();
    stage.keys(&[text("4"), text("4"), text("6")]);
    assert!(stage.rows().contains(&"Type an answer and press Enter; Esc declines.".to_owned()));
}

fn several_questions() -> Stage {
    Stage::new(vec![
        question(SurveyKind::Choice, &["SQLite", "Postgres"], false),
        SurveyQuestion { header: "Name".to_owned(), ..question(SurveyKind::Text, &[], false) },
        SurveyQuestion { header: "Sure".to_owned(), ..question(SurveyKind::YesNo, &[], false) },
    ])
}

#[test]
fn answers_are_kept_between_the_steps_and_reviewed() {
    let mut stage = several_questions();
    assert_eq!(stage.rows()[1], "← □ Data │ □ Name │ □ Sure │ ≡ Review →");
    stage.keys(&[text("2")]);
    assert_eq!(
        stage.rows()[1..],
        [
            "← ✓ Data │ □ Name │ □ Sure │ ≡ Review →",
            "Which?",
            "> Enter your response",
            "Enter to submit · Tab/Shift+Tab to switch questions · Esc to cancel",
        ]
    );
    stage.keys(&[text("my"), KeyPress::Left, KeyPress::Right, KeyPress::Tab, KeyPress::Right]);
    assert_eq!(
        stage.rows()[2..],
        [
            "Review your answers:",
            "  Data → Postgres",
            "  Name → my",
            "  Sure → (not answered)",
            "1 question has no answer.",
            "Enter to submit · Tab/Shift+Tab to edit answers · Esc to cancel",
        ]
    );
    stage.keys(&[text("1"), KeyPress::CycleMode, text("n"), KeyPress::Enter]);
    assert_eq!(stage.rows()[5], "  Sure → No");
    stage.keys(&[KeyPress::Tab]);
    assert_eq!(stage.rows()[4], "● 2. Postgres ✓ - about Postgres");
    stage.keys(&[KeyPress::Left]);
    assert_eq!(stage.end(KeyPress::Enter), answers(&["Postgres", "my", "No"]));
    let mut stage = several_questions();
    stage.keys(&[KeyPress::Left]);
    assert_eq!(stage.end(KeyPress::Enter), answers(&["", "", ""]));
}

#[test]
fn keys_before_a_step_was_drawn_do_not_answer_it() {
    let mut stage = several_questions();
    for key in [text("1"), text("2"), KeyPress::Enter, KeyPress::Tab, KeyPress::Escape] {
        assert_eq!(stage.dialog.press(key, stage.now), DialogStep::Open);
    }
    assert_eq!(stage.rows()[3], "> Enter your response");
    // What a terminal pastes without marks is no answer, and its line end no Enter key.
    let at = stage.now + Duration::from_millis(100);
    for key in [text("one"), KeyPress::Enter, text("two"), KeyPress::Enter] {
        assert_eq!(stage.dialog.press(key, at), DialogStep::Open);
    }
    stage.now = at;
    assert_eq!(stage.rows()[3], "> one two ");
}

#[test]
fn pasted_text_is_words() {
    let mut stage = several_questions();
    stage.keys(&[KeyPress::PasteBegin, text("2"), text("\n1\n\t"), KeyPress::PasteEnd]);
    assert_eq!(stage.rows()[5].trim_end(), "● 3. 2 1");
    let mut stage = Stage::new(vec![question(SurveyKind::Choice, &["a", "b"], true)]);
    stage.keys(&[KeyPress::PasteBegin, text(" "), text("5"), KeyPress::PasteEnd]);
    assert!(!stage.rows()[2..5].concat().contains("[x]"), "{:?}", stage.rows());
}

#[test]
fn every_row_of_a_step_is_shown_before_it_is_answered() {
    let mut stage = several_questions();
    stage.size = (30, 6);
    let mut seen = stage.rows().concat();
    while !seen.contains("3. Enter a custom value") {
        assert_eq!(stage.press(text("1")), DialogStep::Open);
        stage.keys(&[text(" ")]);
        seen += &stage.rows().concat();
    }
    assert!(seen.contains("1. SQLite") && seen.contains("2. Postgres"), "{seen}");
    while !stage.dialog.is_seen() {
        stage.keys(&[text(" ")]);
    }
    stage.keys(&[text("1")]);
    while !stage.dialog.is_seen() {
        stage.keys(&[text(" ")]);
    }
    assert!(stage.rows().contains(&"> Enter your response".to_owned()), "{:?}", stage.rows());
}

#[test]
fn the_fields_of_a_form_are_steps() {
    let field = |title: &str, kind, required, default| FormField {
        name: title.to_lowercase(),
        title: title.to_owned(),
        description: "The field".to_owned(),
        required,
        kind,
        default,
    };
    let options = ["r", "g"].map(|value| FormOption {
        value: value.to_owned(),
        label: format!("The \u{1b}[31m{value}"),
    });
    let age = FieldKind::Integer { min: Some(1), max: None };
    let colours = FieldKind::Choices { options: options.to_vec(), min: None, max: None };
    let form = Form {
        source: "MCP server 'x'".to_owned(),
        message: "Who are you?".to_owned(),
        fields: vec![
            field("Age", age, true, None),
            field("Colours", colours, true, Some(json!(["g"]))),
            field("Sure", FieldKind::Boolean, false, Some(json!(false))),
        ],
    };
    let mut stage = Stage::of(QuestionSubject::Form(form));
    assert_eq!(
        stage.rows()[..5],
        [
            "! MCP server 'x' asks:",
            "  Who are you?",
            "← □ Age │ ✓ Colours │ ✓ Sure │ ≡ Review →",
            "Age (whole number)",
            "  The field",
        ]
    );
    stage.keys(&[text("0"), KeyPress::Enter]);
    assert_eq!(stage.rows().last().unwrap(), "The number must be at least 1.");
    stage.keys(&[KeyPress::Backspace, KeyPress::Left, KeyPress::Enter]);
    // The step with the missing value is shown again.
    assert_eq!(stage.rows().last().unwrap(), "A value is required.");
    stage.keys(&[text("42"), KeyPress::Enter]);
    assert_eq!(stage.rows()[0], "! MCP server 'x' asks:");
    assert_eq!(stage.rows()[4], "● 1. [ ] The \\u{1b}[31mr");
    assert_eq!(stage.rows()[5], "  2. [x] The \\u{1b}[31mg");
    stage.keys(&[text("1"), text("4"), text("1")]);
    let values = json!({"age": 42, "colours": ["r", "g"], "sure": true});
    let expected = Modification::Form(values.as_object().cloned().unwrap());
    assert_eq!(stage.end(KeyPress::Enter), expected);
}
