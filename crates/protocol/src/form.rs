//! Forms: questions with typed fields.

use serde_json::{Map, Value};

/// Form that a program asks the user to fill in.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Program that asks, such as `MCP server 'files'`.
    pub source: String,
    /// Purpose of the form, written by the program.
    pub message: String,
    /// Fields in the order in which they are shown.
    pub fields: Vec<FormField>,
}

/// Field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// Name of the value in the reply.
    pub name: String,
    /// Title for display.
    pub title: String,
    /// Explanation, possibly empty.
    pub description: String,
    /// True if the form is not valid without a value.
    pub required: bool,
    /// Type of the value.
    pub kind: FieldKind,
    /// Value if the user gives none.
    pub default: Option<Value>,
}

/// Type of a field, with its limits.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// Text.
    Text {
        /// Minimum number of characters.
        min: Option<u32>,
        /// Maximum number of characters.
        max: Option<u32>,
        /// Form of the text.
        format: Option<FieldFormat>,
    },
    /// Number with or without a fraction.
    Number {
        /// Minimum value.
        min: Option<f64>,
        /// Maximum value.
        max: Option<f64>,
    },
    /// Whole number.
    Integer {
        /// Minimum value.
        min: Option<i64>,
        /// Maximum value.
        max: Option<i64>,
    },
    /// Yes or no.
    Boolean,
    /// One of several options.
    Choice(Vec<FormOption>),
    /// Any number of options.
    Choices {
        /// The options.
        options: Vec<FormOption>,
        /// Minimum number of chosen options.
        min: Option<u64>,
        /// Maximum number of chosen options.
        max: Option<u64>,
    },
}

/// Form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldFormat {
    /// Address of a mailbox.
    Email,
    /// Absolute URI.
    Uri,
    /// Date such as `2026-01-31`.
    Date,
    /// Date and time such as `2026-01-31T12:00:00Z`.
    DateTime,
}

/// Option of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormOption {
    /// Value in the reply.
    pub value: String,
    /// Text for display.
    pub label: String,
}

impl FormField {
    /// Returns the options to choose from.
    pub fn options(&self) -> &[FormOption] {
        match &self.kind {
            FieldKind::Choice(options) | FieldKind::Choices { options, .. } => options,
            _ => &[],
        }
    }

    /// Parses a typed answer. An empty one is the default, or no value if the field is not
    /// required.
    ///
    /// # Errors
    /// A message for the user that says what is expected.
    pub fn parse(&self, answer: &str) -> Result<Option<Value>, String> {
        let answer = answer.trim();
        if answer.is_empty() {
            return match &self.default {
                None if self.required => Err("A value is required.".to_owned()),
                default => Ok(default.clone()),
            };
        }
        let value = match &self.kind {
            FieldKind::Text { .. } => Value::from(answer),
            FieldKind::Number { .. } => {
                let number = answer.parse().ok().and_then(serde_json::Number::from_f64);
                Value::Number(number.ok_or("Type a number, such as 1.5.")?)
            }
            FieldKind::Integer { .. } => {
                Value::from(answer.parse::<i64>().map_err(|_| "Type a whole number.")?)
            }
            FieldKind::Boolean => match answer.to_lowercase().as_str() {
                "1" | "y" | "yes" | "true" => Value::Bool(true),
                "2" | "n" | "no" | "false" => Value::Bool(false),
                _ => return Err("Type yes or no.".to_owned()),
            },
            FieldKind::Choice(options) => Value::from(chosen(options, answer)?),
            FieldKind::Choices { options, .. } => {
                let answers = answer.split(',').map(|one| chosen(options, one.trim()));
                Value::from(answers.collect::<Result<Vec<&str>, String>>()?)
            }
        };
        self.check(&value)?;
        Ok(Some(value))
    }

    /// Checks the type and the limits of a value.
    ///
    /// # Errors
    /// A message for the user that says what is expected.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        match (&self.kind, value) {
            (FieldKind::Text { min, max, format }, Value::String(text)) => {
                let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
                within(length, *min, *max, "The number of characters must be")?;
                format.map_or(Ok(()), |format| format.check(text))
            }
            (FieldKind::Number { min, max }, Value::Number(number)) => {
                within(number.as_f64().unwrap_or(f64::NAN), *min, *max, "The number must be")
            }
            (FieldKind::Integer { min, max }, Value::Number(number)) => {
                let whole = number.as_f64().filter(|number| number.fract() == 0.0);
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "limits are compared, so a saturated value is as good"
                )]
                let whole = number.as_i64().or(whole.map(|number| number as i64));
                within(whole.ok_or("Type a whole number.")?, *min, *max, "The number must be")
            }
            (FieldKind::Boolean, Value::Bool(_)) => Ok(()),
            (FieldKind::Choice(options), Value::String(text)) => is_option(options, text),
            (FieldKind::Choices { options, min, max }, Value::Array(values)) => {
                for value in values {
                    is_option(options, value.as_str().unwrap_or_default())?;
                }
                within(values.len() as u64, *min, *max, "The number of options must be")
            }
            _ => Err("The value has a wrong type.".to_owned()),
        }
    }
}

impl Form {
    /// Checks the values of a filled-in form, and keeps those of its fields. Fields without a value
    /// get their default.
    ///
    /// # Errors
    /// A message for the user about the first field whose value is missing or not valid.
    pub fn checked(&self, mut values: Map<String, Value>) -> Result<Map<String, Value>, String> {
        let mut checked = Map::new();
        for field in &self.fields {
            let value = match values.remove(&field.name).filter(|value| !value.is_null()) {
                Some(value) => {
                    field.check(&value).map_err(|problem| format!("{}: {problem}", field.title))?;
                    Some(value)
                }
                None => field.parse("").map_err(|problem| format!("{}: {problem}", field.title))?,
            };
            checked.extend(value.map(|value| (field.name.clone(), value)));
        }
        Ok(checked)
    }
}

impl FieldFormat {
    fn check(self, text: &str) -> Result<(), String> {
        let (is_valid, example) = match self {
            Self::Email => {
                let parts = text.split_once('@');
                let is_word = |part: &str| !part.is_empty() && !part.contains(['@', ' ']);
                let is_valid = parts.is_some_and(|(name, host)| is_word(name) && is_word(host));
                (is_valid, "an e-mail address, such as name@example.com")
            }
            Self::Uri => (url::Url::parse(text).is_ok(), "a URL, such as https://example.com/"),
            Self::Date => (text.parse::<jiff::civil::Date>().is_ok(), "a date, such as 2026-01-31"),
            Self::DateTime => (
                text.parse::<jiff::Timestamp>().is_ok(),
                "a date and time, such as 2026-01-31T12:00:00Z",
            ),
        };
        if is_valid { Ok(()) } else { Err(format!("Type {example}.")) }
    }
}

/// Returns the value of the option that an answer means: by number, value or label.
fn chosen<'o>(options: &'o [FormOption], answer: &str) -> Result<&'o str, String> {
    let number: Option<usize> = answer.parse().ok();
    let numbered = number.and_then(|number| options.get(number.checked_sub(1)?));
    let named = || options.iter().find(|option| option.value == answer || option.label == answer);
    let found = named().or(numbered).map(|option| option.value.as_str());
    found.ok_or_else(|| format!("Type numbers from 1 to {}.", options.len()))
}

fn is_option(options: &[FormOption], value: &str) -> Result<(), String> {
    let is_one = options.iter().any(|option| option.value == value);
    if is_one { Ok(()) } else { Err(format!("Not one of the options: {value}")) }
}

fn within<N: PartialOrd + std::fmt::Display + Copy>(
    number: N,
    min: Option<N>,
    max: Option<N>,
    subject: &str,
) -> Result<(), String> {
    match (min, max) {
        (Some(min), _) if number < min => Err(format!("{subject} at least {min}.")),
        (_, Some(max)) if number > max => Err(format!("{subject} at most {max}.")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(kind: FieldKind) -> FormField {
        let [name, title, description] = ["n", "Name", ""].map(str::to_owned);
        FormField { name, title, description, required: true, kind, default: None }
    }

    fn options() -> Vec<FormOption> {
        let option = |(value, label): (&str, &str)| FormOption {
            value: value.to_owned(),
            label: label.to_owned(),
        };
        [("r", "Red"), ("g", "Green"), ("2", "Two")].into_iter().map(option).collect()
    }

    #[test]
    fn answers_become_values() {
        let text = |format| field(FieldKind::Text { min: Some(2), max: Some(30), format });
        let choices = FieldKind::Choices { options: options(), min: Some(1), max: Some(2) };
        for (field, answer, expected) in [
            (text(None), " ab ", Some(json!("ab"))),
            (text(None), "a", None),
            (text(None), "äö", Some(json!("äö"))),
            (text(None), &"x".repeat(31), None),
            (text(Some(FieldFormat::Email)), "a@b", Some(json!("a@b"))),
            (text(Some(FieldFormat::Email)), "ab", None),
            (text(Some(FieldFormat::Uri)), "https://x.y/", Some(json!("https://x.y/"))),
            (text(Some(FieldFormat::Uri)), "x y", None),
            (text(Some(FieldFormat::Date)), "2026-02-28", Some(json!("2026-02-28"))),
            (text(Some(FieldFormat::Date)), "2026-02-30", None),
            (
                text(Some(FieldFormat::DateTime)),
                "2026-02-28T01:02:03Z",
                Some(json!("2026-02-28T01:02:03Z")),
            ),
            (text(Some(FieldFormat::DateTime)), "2026-02-28", None),
            (field(FieldKind::Number { min: None, max: Some(2.0) }), "1.5", Some(json!(1.5))),
            (field(FieldKind::Number { min: None, max: Some(2.0) }), "2.5", None),
            (field(FieldKind::Number { min: None, max: None }), "NaN", None),
            (field(FieldKind::Integer { min: Some(-3), max: None }), "-3", Some(json!(-3))),
            (field(FieldKind::Integer { min: Some(-3), max: None }), "-4", None),
            (field(FieldKind::Integer { min: None, max: None }), "1.5", None),
            (field(FieldKind::Boolean), "y", Some(json!(true))),
            (field(FieldKind::Boolean), "No", Some(json!(false))),
            (field(FieldKind::Boolean), "maybe", None),
            (field(FieldKind::Choice(options())), "1", Some(json!("r"))),
            (field(FieldKind::Choice(options())), "Green", Some(json!("g"))),
            // A value wins over a number.
            (field(FieldKind::Choice(options())), "2", Some(json!("2"))),
            (field(FieldKind::Choice(options())), "4", None),
            (field(choices.clone()), "1, g", Some(json!(["r", "g"]))),
            (field(choices.clone()), "1, 2, 3", None),
        ] {
            let value = field.parse(answer).ok().flatten();
            assert_eq!(value, expected, "{answer:?} for {:?}", field.kind);
        }
    }

    #[test]
    fn a_missing_value_is_the_default_or_an_error() {
        let mut asked = field(FieldKind::Boolean);
        assert!(asked.parse("").is_err());
        asked.default = Some(json!(true));
        assert_eq!(asked.parse(" "), Ok(Some(json!(true))));
        asked.default = None;
        asked.required = false;
        assert_eq!(asked.parse(""), Ok(None));
    }

    #[test]
    fn only_valid_values_of_the_fields_are_kept() {
        let mut with_default = field(FieldKind::Integer { min: None, max: Some(5) });
        with_default.name = "count".to_owned();
        with_default.default = Some(json!(1));
        let fields = vec![field(FieldKind::Choice(options())), with_default];
        let form = Form { source: String::new(), message: String::new(), fields };
        let values = |value: Value| value.as_object().cloned().unwrap();
        let checked = form.checked(values(json!({"n": "r", "more": 1, "count": null})));
        assert_eq!(checked, Ok(values(json!({"n": "r", "count": 1}))));
        for wrong in [json!({}), json!({"n": 1}), json!({"n": "x"}), json!({"n": "r", "count": 6})]
        {
            assert!(form.checked(values(wrong.clone())).is_err(), "{wrong}");
        }
    }
}
