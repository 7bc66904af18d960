//! The questions of a survey as data, for a frontend that shows them with keys of its own.

use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    FieldKind, FormField, Modification, SurveyKind, SurveyOption, SurveyQuestion,
};
use serde_json::Value;

use super::{Asked, NO_ANSWER, Survey, details, indented, shown};

/// Label of the option that gives no value.
const NO_VALUE: &str = "No value";
/// Text in the empty field for an answer that is not one of the options, as in Gemini CLI.
const CUSTOM: &str = "Enter a custom value";
/// Text in the empty field of a question without options, as in Gemini CLI.
const RESPONSE: &str = "Enter your response";

/// A question of the model or a field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurveyItem {
    /// Short name.
    pub header: String,
    /// Lines of the question.
    pub lines: Vec<String>,
    /// Options to choose from.
    pub options: Vec<SurveyOption>,
    /// True if several options can be chosen.
    pub is_multi: bool,
    /// Text of the empty field for other words; `None` if only options are answers.
    pub placeholder: Option<String>,
    /// Indexes of the options that are chosen at first.
    pub default: Vec<usize>,
}

/// Answer to a [`SurveyItem`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SurveyAnswer {
    /// Indexes of the chosen options.
    pub options: Vec<usize>,
    /// Other words.
    pub words: String,
}

impl Survey {
    /// Returns all questions. Unseen characters are visible in their texts.
    pub fn items(&self) -> Vec<SurveyItem> {
        match &self.asked {
            Asked::Questions { questions, .. } => questions.iter().map(of_question).collect(),
            Asked::Fields { fields, .. } => fields.iter().map(of_field).collect(),
        }
    }

    /// Returns the answer to the question at this index for display; an empty text is no answer.
    ///
    /// # Errors
    /// A message for the user that says what is expected.
    pub fn check(&self, index: usize, answer: &SurveyAnswer) -> Result<String, String> {
        match &self.asked {
            Asked::Questions { questions, .. } => {
                let text = questions.get(index).map(|question| words_of(question, answer));
                Ok(visible(&text.unwrap_or_default()))
            }
            Asked::Fields { fields, .. } => {
                let Some(field) = fields.get(index) else { return Ok(String::new()) };
                let value = value_of(field, answer)?;
                Ok(value.map_or_else(String::new, |value| shown(field, &value)))
            }
        }
    }

    /// Returns the reply with these answers, one for each question. One of several questions of the
    /// model may stay without an answer: it has an empty one in the reply.
    ///
    /// # Errors
    /// Index of the first question whose answer is missing or not valid, and a message for the
    /// user.
    pub fn reply(&self, answers: &[SurveyAnswer]) -> Result<Modification, (usize, String)> {
        match &self.asked {
            Asked::Questions { questions, .. } => {
                let words = questions.iter().zip(answers);
                let words: Vec<String> =
                    words.map(|(question, answer)| words_of(question, answer)).collect();
                if matches!(words.as_slice(), [only] if only.is_empty()) {
                    return Err((0, NO_ANSWER.to_owned()));
                }
                Ok(Modification::Answers(words))
            }
            Asked::Fields { fields, .. } => {
                let mut values = serde_json::Map::new();
                for (index, (field, answer)) in fields.iter().zip(answers).enumerate() {
                    let value = value_of(field, answer).map_err(|hint| (index, hint))?;
                    values.extend(value.map(|value| (field.name.clone(), value)));
                }
                Ok(Modification::Form(values))
            }
        }
    }
}

fn option(label: &str, description: &str) -> SurveyOption {
    SurveyOption { label: visible(label), description: visible(description) }
}

fn of_question(question: &SurveyQuestion) -> SurveyItem {
    let options = super::options(question).into_iter();
    let options: Vec<_> = options.map(|(label, about)| option(label, about)).collect();
    let usual = if options.is_empty() { RESPONSE } else { CUSTOM };
    let placeholder = match question.placeholder.trim() {
        "" => usual.to_owned(),
        example => visible(example),
    };
    SurveyItem {
        header: visible(&question.header),
        lines: question.question.lines().map(visible).collect(),
        is_multi: question.multi_select && question.kind == SurveyKind::Choice,
        options,
        placeholder: Some(placeholder),
        default: Vec::new(),
    }
}

fn of_field(field: &FormField) -> SurveyItem {
    let header = visible(&field.title);
    let mut options: Vec<_> = match field.kind {
        FieldKind::Boolean => vec![option("Yes", ""), option("No", "")],
        _ => field.options().iter().map(|one| option(&one.label, "")).collect(),
    };
    let index = |value: &Value| match (&field.kind, value) {
        (FieldKind::Boolean, value) => value.as_bool().map(|yes| usize::from(!yes)),
        (_, value) => field.options().iter().position(|one| Some(&*one.value) == value.as_str()),
    };
    let default = match &field.default {
        Some(Value::Array(values)) => values.iter().filter_map(index).collect(),
        default => default.iter().filter_map(index).collect(),
    };
    let placeholder = options.is_empty().then(|| match &field.default {
        Some(default) => format!("Enter for {}", shown(field, default)),
        None if field.required => RESPONSE.to_owned(),
        None => "Enter for none".to_owned(),
    });
    let is_multi = matches!(field.kind, FieldKind::Choices { .. });
    if has_no_value(field) {
        options.push(option(NO_VALUE, ""));
    }
    let mut lines = vec![format!("{header}{}", details(field))];
    lines.extend(indented(&field.description));
    SurveyItem { header, lines, options, is_multi, placeholder, default }
}

/// Returns true for a field with options that has one more, for no value.
fn has_no_value(field: &FormField) -> bool {
    let is_single = matches!(field.kind, FieldKind::Boolean | FieldKind::Choice(_));
    is_single && !field.required && field.default.is_none()
}

/// Returns the answer to a question of the model as text.
fn words_of(question: &SurveyQuestion, answer: &SurveyAnswer) -> String {
    let options = super::options(question);
    let labels = answer.options.iter().filter_map(|index| options.get(*index));
    let words = match (question.kind, answer.words.trim()) {
        (SurveyKind::YesNo, "y" | "Y") => "Yes",
        (SurveyKind::YesNo, "n" | "N") => "No",
        (_, words) => words,
    };
    let words = Some(words).filter(|words| !words.is_empty());
    labels.map(|(label, _)| *label).chain(words).collect::<Vec<_>>().join(", ")
}

/// Returns the value of a field; `None` if the field is left out.
fn value_of(field: &FormField, answer: &SurveyAnswer) -> Result<Option<Value>, String> {
    let values = answer.options.iter().filter_map(|index| field.options().get(*index));
    let mut values = values.map(|one| Value::from(one.value.as_str()));
    let first = answer.options.first();
    let value = match field.kind {
        FieldKind::Choices { .. } => {
            let values: Vec<Value> = values.collect();
            let is_left_out = values.is_empty() && !field.required && field.default.is_none();
            (!is_left_out).then_some(Value::Array(values))
        }
        FieldKind::Boolean if first.is_some_and(|index| *index < 2) => {
            first.map(|index| Value::Bool(*index == 0))
        }
        FieldKind::Choice(_) if first.is_some_and(|index| *index < field.options().len()) => {
            values.next()
        }
        _ => return field.parse(&answer.words),
    };
    value.as_ref().map_or(Ok(()), |value| field.check(value))?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{Form, FormOption};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn chosen(options: &[usize], words: &str) -> SurveyAnswer {
        SurveyAnswer { options: options.to_vec(), words: words.to_owned() }
    }

    fn question(kind: SurveyKind, labels: &[&str], multi_select: bool) -> SurveyQuestion {
        SurveyQuestion {
            question: "Which\none\u{1b}?".to_owned(),
            header: "Data".to_owned(),
            kind,
            options: labels.iter().map(|label| option(label, "about")).collect(),
            multi_select,
            placeholder: String::new(),
        }
    }

    #[test]
    fn answers_to_questions_become_text() {
        let survey = Survey::new(vec![
            question(SurveyKind::Choice, &["1", "b"], true),
            question(SurveyKind::YesNo, &[], false),
            question(SurveyKind::Text, &[], false),
        ]);
        let items = survey.items();
        assert_eq!(items[0].lines, ["Which", "one\\u{1b}?"]);
        let texts = items.iter().map(|item| item.placeholder.as_deref().unwrap());
        assert_eq!(texts.collect::<Vec<_>>(), [CUSTOM, CUSTOM, RESPONSE]);
        assert_eq!(
            items.iter().map(|item| item.is_multi).collect::<Vec<_>>(),
            [true, false, false]
        );
        let answers = [chosen(&[0, 1], " 2 "), chosen(&[], "y"), chosen(&[], "")];
        let expected = ["1, b, 2", "Yes", ""].map(str::to_owned).to_vec();
        assert_eq!(survey.reply(&answers), Ok(Modification::Answers(expected)));
        assert_eq!(survey.check(2, &answers[2]), Ok(String::new()));
        let survey = Survey::new(vec![question(SurveyKind::Text, &[], false)]);
        assert_eq!(survey.reply(&[chosen(&[], " ")]), Err((0, NO_ANSWER.to_owned())));
    }

    fn field(name: &str, kind: FieldKind, required: bool, default: Option<Value>) -> FormField {
        let [name, title, description] = [name, "Title", ""].map(str::to_owned);
        FormField { name, title, description, required, kind, default }
    }

    #[test]
    fn answers_to_fields_become_values() {
        let options = ["r", "g"]
            .map(|value| FormOption { value: value.to_owned(), label: value.to_uppercase() });
        let several = FieldKind::Choices { options: options.to_vec(), min: Some(1), max: None };
        let one = FieldKind::Choice(options.to_vec());
        let form = Form {
            source: "x".to_owned(),
            message: String::new(),
            fields: vec![
                field("several", several, true, Some(json!(["g"]))),
                field("one", one, false, None),
                field("sure", FieldKind::Boolean, true, Some(json!(false))),
                field("age", FieldKind::Integer { min: None, max: None }, true, None),
            ],
        };
        let survey = Survey::of_form(&form);
        let items = survey.items();
        assert_eq!(items[0].default, [1]);
        assert_eq!(items[1].options.last().unwrap().label, NO_VALUE);
        assert_eq!(items[2].default, [1]);
        assert_eq!(items[3].lines, ["Title (whole number)"]);
        let answers = |several: &[usize], one, age| {
            [chosen(several, ""), chosen(one, ""), chosen(&[0], ""), chosen(&[], age)]
        };
        let values = json!({"several": ["r", "g"], "sure": true, "age": 7});
        assert_eq!(
            survey.reply(&answers(&[0, 1], &[2], "7")),
            Ok(Modification::Form(values.as_object().cloned().unwrap()))
        );
        let missing = "The number of options must be at least 1.".to_owned();
        assert_eq!(survey.reply(&answers(&[], &[0], "7")), Err((0, missing)));
        let wrong = "Type a whole number.".to_owned();
        assert_eq!(survey.reply(&answers(&[1], &[0], "x")), Err((3, wrong)));
        assert_eq!(survey.check(1, &chosen(&[1], "")), Ok("G".to_owned()));
    }
}
