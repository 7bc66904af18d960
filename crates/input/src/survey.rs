//! Questions of the model, asked one after the other. Pure.

use pollux_protocol::plain_text::visible;
use pollux_protocol::{SurveyKind, SurveyQuestion};

/// Questions of one call, and the answers so far.
#[derive(Debug)]
pub struct Survey {
    questions: Vec<SurveyQuestion>,
    answers: Vec<String>,
}

/// Result of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum SurveyStep {
    /// The line is not a valid answer; the text is a hint.
    Again(String),
    /// The next question follows.
    Next,
    /// All questions are answered, with these answers.
    Done(Vec<String>),
}

impl Survey {
    /// Creates a survey whose first question is not answered yet.
    pub fn new(questions: Vec<SurveyQuestion>) -> Self {
        Self { questions, answers: Vec::new() }
    }

    fn current(&self) -> Option<&SurveyQuestion> {
        self.questions.get(self.answers.len())
    }

    /// Returns the current question with its numbered options.
    pub fn text(&self) -> String {
        let Some(question) = self.current() else { return String::new() };
        let place = match self.questions.len() {
            1 => String::new(),
            all => format!(" ({} of {all})", self.answers.len() + 1),
        };
        let header = visible(&question.header);
        let mut lines = vec![format!("Question{place}: {header}")];
        lines.extend(question.question.lines().map(|line| format!("  {}", visible(line))));
        lines.extend((1..).zip(options(question)).map(|(number, (label, description))| {
            let description = match description {
                "" => String::new(),
                words => format!(" - {}", visible(words)),
            };
            format!("  {number}. {}{description}", visible(label))
        }));
        lines.join("\n")
    }

    /// Returns the label that asks for the answer.
    pub fn label(&self) -> String {
        match self.current() {
            Some(SurveyQuestion { kind: SurveyKind::Text, placeholder, .. }) => {
                match placeholder.trim() {
                    "" => "Answer: ".to_owned(),
                    example => format!("Answer (such as {}): ", visible(example)),
                }
            }
            Some(question) if question.multi_select => {
                "Numbers, with commas between them, or an answer of your own: ".to_owned()
            }
            Some(_) => "A number, or an answer of your own: ".to_owned(),
            None => String::new(),
        }
    }

    /// Takes a line as the answer to the current question.
    pub fn answer(&mut self, line: &str) -> SurveyStep {
        let line = line.trim();
        let Some(question) = self.current() else { return SurveyStep::Done(self.answers.clone()) };
        if line.is_empty() {
            return SurveyStep::Again("Type an answer and press Enter; Esc declines.".to_owned());
        }
        match read(question, line) {
            Ok(answer) => self.answers.push(answer),
            Err(last) => {
                return SurveyStep::Again(format!("There are only the numbers from 1 to {last}."));
            }
        }
        if self.current().is_some() {
            SurveyStep::Next
        } else {
            SurveyStep::Done(self.answers.clone())
        }
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
    use pollux_protocol::SurveyOption;
    use pretty_assertions::assert_eq;

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
        assert_eq!(survey.answer("7"), SurveyStep::Done(answers));
    }

    #[test]
    fn a_letter_answers_a_yes_no_question() {
        for (line, expected) in [("y", "Yes"), ("NO", "No"), ("1", "Yes"), ("perhaps", "perhaps")] {
            let asked = question(SurveyKind::YesNo, &[], false);
            let done = SurveyStep::Done(vec![expected.to_owned()]);
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
            let done = SurveyStep::Done(vec![expected.to_owned()]);
            assert_eq!(Survey::new(vec![choice]).answer(line), done, "{line}");
        }
    }
}
