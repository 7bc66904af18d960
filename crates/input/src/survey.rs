//! Questions of the model and forms of programs, asked one after the other. Pure.

use pollux_protocol::plain_text::visible;
use pollux_protocol::{FieldKind, Form, FormField, Modification, SurveyKind, SurveyQuestion};
use serde_json::Value;

mod items;

pub use items::{SurveyAnswer, SurveyItem};

/// Hint for a question without an answer.
const NO_ANSWER: &str = "Type an answer and press Enter; Esc declines.";

/// Questions of one call or fields of one form, and the answers so far.
#[derive(Debug)]
pub struct Survey {
    /// Lines above the first question.
    introduction: Vec<String>,
    asked: Asked,
}

#[derive(Debug)]
enum Asked {
    Questions { questions: Vec<SurveyQuestion>, answers: Vec<String> },
    Fields { fields: Vec<FormField>, values: Vec<Option<Value>> },
}

/// Result of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum SurveyStep {
    /// The line is not a valid answer; the text is a hint.
    Again(String),
    /// The next question follows.
    Next,
    /// All questions are answered; the reply contains the answers.
    Done(Modification),
}

impl Survey {
    /// Creates a survey whose first question is not answered yet.
    pub fn new(questions: Vec<SurveyQuestion>) -> Self {
        let asked = Asked::Questions { questions, answers: Vec::new() };
        Self { introduction: Vec::new(), asked }
    }

    /// Creates a survey of the fields of a form.
    pub fn of_form(form: &Form) -> Self {
        let mut introduction = vec![format!("{} asks:", visible(&form.source))];
        introduction.extend(form.message.lines().map(|line| format!("  {}", visible(line))));
        let asked = Asked::Fields { fields: form.fields.clone(), values: Vec::new() };
        Self { introduction, asked }
    }

    /// Returns the current question with its numbered options.
    pub fn text(&self) -> String {
        let mut lines = if self.answered() == 0 { self.introduction.clone() } else { Vec::new() };
        match &self.asked {
            Asked::Questions { questions, answers } => {
                let Some(question) = questions.get(answers.len()) else { return String::new() };
                let place = place(answers.len(), questions.len());
                lines.push(format!("Question{place}: {}", visible(&question.header)));
                lines.extend(indented(&question.question));
                lines.extend(numbered(options(question)));
            }
            Asked::Fields { fields, values } => {
                let Some(field) = fields.get(values.len()) else { return String::new() };
                let place = place(values.len(), fields.len());
                let title = visible(&field.title);
                lines.push(format!("Field{place}: {title}{}", details(field)));
                lines.extend(indented(&field.description));
                let options = field.options().iter().map(|option| (option.label.as_str(), ""));
                lines.extend(numbered(options));
            }
        }
        lines.join("\n")
    }

    /// Returns the label that asks for the answer.
    pub fn label(&self) -> String {
        let field = match &self.asked {
            Asked::Questions { questions, answers } => {
                return questions.get(answers.len()).map(label).unwrap_or_default();
            }
            Asked::Fields { fields, values } => fields.get(values.len()),
        };
        let Some(field) = field else { return String::new() };
        let answer = match field.kind {
            FieldKind::Choice(_) => "A number",
            FieldKind::Choices { .. } => "Numbers, with commas between them",
            FieldKind::Boolean => "Yes or no",
            _ => "Answer",
        };
        match &field.default {
            Some(default) => format!("{answer} (Enter for {}): ", shown(field, default)),
            None if field.required => format!("{answer}: "),
            None => format!("{answer} (Enter for none): "),
        }
    }

    /// Returns true if the number of an option is a complete answer to the current question.
    pub fn takes_one_number(&self) -> bool {
        match &self.asked {
            Asked::Questions { questions, answers } => questions
                .get(answers.len())
                .is_some_and(|question| !question.multi_select && !options(question).is_empty()),
            Asked::Fields { fields, values } => fields
                .get(values.len())
                .is_some_and(|field| matches!(field.kind, FieldKind::Choice(_))),
        }
    }

    /// Returns the step for several lines at once, which answer no question.
    pub fn one_line_expected() -> SurveyStep {
        SurveyStep::Again(NO_ANSWER.to_owned())
    }

    /// Takes a line as the answer to the current question.
    pub fn answer(&mut self, line: &str) -> SurveyStep {
        let line = line.trim();
        match &mut self.asked {
            Asked::Questions { questions, answers } => {
                if let Some(question) = questions.get(answers.len()) {
                    if line.is_empty() {
                        return Self::one_line_expected();
                    }
                    match read(question, line) {
                        Ok(answer) => answers.push(answer),
                        Err(last) => {
                            let hint = format!("There are only the numbers from 1 to {last}.");
                            return SurveyStep::Again(hint);
                        }
                    }
                }
                if answers.len() < questions.len() {
                    return SurveyStep::Next;
                }
                SurveyStep::Done(Modification::Answers(answers.clone()))
            }
            Asked::Fields { fields, values } => {
                if let Some(field) = fields.get(values.len()) {
                    match field.parse(line) {
                        Ok(value) => values.push(value),
                        Err(hint) => return SurveyStep::Again(format!("{hint} Esc declines.")),
                    }
                }
                if values.len() < fields.len() {
                    return SurveyStep::Next;
                }
                let given = fields.iter().zip(values.iter());
                let given =
                    given.filter_map(|(field, value)| Some((field.name.clone(), value.clone()?)));
                SurveyStep::Done(Modification::Form(given.collect()))
            }
        }
    }

    fn answered(&self) -> usize {
        match &self.asked {
            Asked::Questions { answers, .. } => answers.len(),
            Asked::Fields { values, .. } => values.len(),
        }
    }
}

/// Returns the number of a question among several.
fn place(answered: usize, all: usize) -> String {
    if all == 1 { String::new() } else { format!(" ({} of {all})", answered + 1) }
}

fn indented(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| format!("  {}", visible(line)))
}

/// Returns a numbered line for each option, with its description.
fn numbered<'a>(
    options: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> impl Iterator<Item = String> {
    (1..).zip(options).map(|(number, (label, description)): (usize, _)| {
        let description = match description {
            "" => String::new(),
            words => format!(" - {}", visible(words)),
        };
        format!("  {number}. {}{description}", visible(label))
    })
}

/// Returns the type of a field's value, and whether it is needed.
fn details(field: &FormField) -> String {
    let kind = match &field.kind {
        FieldKind::Number { .. } => Some("number"),
        FieldKind::Integer { .. } => Some("whole number"),
        _ => None,
    };
    let optional = (!field.required).then_some("optional");
    let details: Vec<&str> = kind.into_iter().chain(optional).collect();
    if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) }
}

/// Returns a default value for display.
fn shown(field: &FormField, value: &Value) -> String {
    let label = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let option = field.options().iter().find(|option| option.value == text);
        option.map_or(text, |option| option.label.clone())
    };
    let text = match value {
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Array(values) => values.iter().map(label).collect::<Vec<_>>().join(", "),
        other => label(other),
    };
    visible(&text)
}

/// Returns the label that asks for the answer to a question of the model.
fn label(question: &SurveyQuestion) -> String {
    match question {
        SurveyQuestion { kind: SurveyKind::Text, placeholder, .. } => match placeholder.trim() {
            "" => "Answer: ".to_owned(),
            example => format!("Answer (such as {}): ", visible(example)),
        },
        question if question.multi_select => {
            "Numbers, with commas between them, or an answer of your own: ".to_owned()
        }
        _ => "A number, or an answer of your own: ".to_owned(),
    }
}

/// Returns the labels of the options and their descriptions.
fn options(question: &SurveyQuestion) -> Vec<(&str, &str)> {
    match question.kind {
        SurveyKind::Choice => question
            .options
            .iter()
            .map(|option| (option.label.as_str(), option.description.as_str()))
            .collect(),
        SurveyKind::YesNo => vec![("Yes", ""), ("No", "")],
        SurveyKind::Text => Vec::new(),
    }
}

/// Parses an answer: numbers select options, and any other text is the answer itself. Returns the
/// number of options as the error if a number is out of range.
fn read(question: &SurveyQuestion, line: &str) -> Result<String, usize> {
    let options = options(question);
    if question.kind == SurveyKind::YesNo {
        match line.to_lowercase().as_str() {
            "y" | "yes" => return Ok("Yes".to_owned()),
            "n" | "no" => return Ok("No".to_owned()),
            _ => {}
        }
    }
    let words: Vec<&str> = line.split(',').map(str::trim).collect();
    let is_list = words.len() == 1 || question.multi_select;
    let numbers: Option<Vec<usize>> = words.iter().map(|word| word.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|_| is_list && !options.is_empty()) else {
        return Ok(line.to_owned());
    };
    let labels: Option<Vec<&str>> = numbers
        .iter()
        .map(|number| options.get(number.checked_sub(1)?).map(|(label, _)| *label))
        .collect();
    labels.map(|labels| labels.join(", ")).ok_or(options.len())
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{FormOption, SurveyOption};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn question(kind: SurveyKind, labels: &[&str], multi_select: bool) -> SurveyQuestion {
        let option = |label: &&str| SurveyOption {
            label: (*label).to_owned(),
            description: format!("about {label}"),
        };
        SurveyQuestion {
            question: "Which\none?".to_owned(),
            header: "Data\u{1b}[2Jbase".to_owned(),
            kind,
            options: labels.iter().map(option).collect(),
            multi_select,
            placeholder: String::new(),
        }
    }

    #[test]
    fn questions_come_one_by_one() {
        let mut survey = Survey::new(vec![
            question(SurveyKind::Choice, &["SQLite", "Postgres"], false),
            question(SurveyKind::YesNo, &[], false),
            question(SurveyKind::Text, &[], false),
        ]);
        assert_eq!(
            survey.text(),
            "Question (1 of 3): Data\\u{1b}[2Jbase\n  Which\n  one?\n  1. SQLite - about SQLite\n  2. Postgres - about Postgres"
        );
        assert_eq!(
            survey.answer("3"),
            SurveyStep::Again("There are only the numbers from 1 to 2.".into())
        );
        assert_eq!(survey.answer(" 2 "), SurveyStep::Next);
        assert!(survey.text().ends_with("  1. Yes\n  2. No"));
        assert_eq!(survey.answer("2"), SurveyStep::Next);
        assert_eq!(survey.label(), "Answer: ");
        assert!(matches!(survey.answer(""), SurveyStep::Again(_)));
        let answers = ["Postgres", "No", "7"].map(str::to_owned).to_vec();
        assert_eq!(survey.answer("7"), SurveyStep::Done(Modification::Answers(answers)));
    }

    #[test]
    fn a_letter_answers_a_yes_no_question() {
        for (line, expected) in [("y", "Yes"), ("NO", "No"), ("1", "Yes"), ("perhaps", "perhaps")] {
            let asked = question(SurveyKind::YesNo, &[], false);
            let done = SurveyStep::Done(Modification::Answers(vec![expected.to_owned()]));
            assert_eq!(Survey::new(vec![asked]).answer(line), done, "{line}");
        }
    }

    #[test]
    fn several_options_and_own_words() {
        for (line, multi_select, expected) in [
            ("1, 3", true, "a, c"),
            ("1, 3", false, "1, 3"),
            ("something else", false, "something else"),
            ("1 but not 2", true, "1 but not 2"),
        ] {
            let choice = question(SurveyKind::Choice, &["a", "b", "c"], multi_select);
            let done = SurveyStep::Done(Modification::Answers(vec![expected.to_owned()]));
            assert_eq!(Survey::new(vec![choice]).answer(line), done, "{line}");
        }
    }

    #[test]
    fn the_fields_of_a_form_come_one_by_one() {
        let field = |name: &str, kind, required, default| FormField {
            name: name.to_owned(),
            title: name.to_uppercase(),
            description: "The\u{1b}[2J field".to_owned(),
            required,
            kind,
            default,
        };
        let text = FieldKind::Text { min: Some(2), max: None, format: None };
        let option = |value: &str, label: &str| FormOption {
            value: value.to_owned(),
            label: label.to_owned(),
        };
        let colours = FieldKind::Choice(vec![option("r", "Red"), option("g", "Green")]);
        let form = Form {
            source: "MCP server 'x'".to_owned(),
            message: "Who are you?".to_owned(),
            fields: vec![
                field("name", text, true, None),
                field("age", FieldKind::Integer { min: None, max: None }, false, None),
                field("colour", colours, true, Some(json!("g"))),
            ],
        };
        let mut survey = Survey::of_form(&form);
        assert_eq!(
            survey.text(),
            "MCP server 'x' asks:\n  Who are you?\nField (1 of 3): NAME\n  The\\u{1b}[2J field"
        );
        assert_eq!(survey.label(), "Answer: ");
        let hint = "The number of characters must be at least 2. Esc declines.";
        assert_eq!(survey.answer("a"), SurveyStep::Again(hint.to_owned()));
        assert_eq!(survey.answer("Ann"), SurveyStep::Next);
        assert!(survey.text().starts_with("Field (2 of 3): AGE (whole number, optional)\n"));
        assert_eq!(survey.label(), "Answer (Enter for none): ");
        assert_eq!(survey.answer(""), SurveyStep::Next);
        assert!(survey.text().ends_with("\n  1. Red\n  2. Green"));
        assert_eq!(survey.label(), "A number (Enter for Green): ");
        let values = json!({"name": "Ann", "colour": "g"}).as_object().cloned().unwrap();
        assert_eq!(survey.answer(""), SurveyStep::Done(Modification::Form(values)));
    }
}
