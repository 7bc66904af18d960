//! Questions to the user as forms, for clients that have them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent_client_protocol_schema::v1::{
    BooleanPropertySchema, CreateElicitationResponse, ElicitationAction, ElicitationContentValue,
    ElicitationPropertySchema, ElicitationSchema, EnumOption, IntegerPropertySchema,
    MultiSelectPropertySchema, NumberPropertySchema, StringFormat, StringPropertySchema,
};
use async_trait::async_trait;
use pollux_input::{ConsentSheet, QuestionSheet};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    Confirmation, ConfirmationKind, ConsentItem, FieldFormat, FieldKind, Form, FormField,
    Modification, Operator, Question, QuestionChoice, QuestionOutcome, QuestionReply,
    QuestionSubject, SurveyKind, SurveyQuestion,
};
use serde_json::Value;

use crate::json_rpc::connection::RequestError;

/// Name of the only field of a form with choices.
const CHOICE: &str = "choice";

/// Values of the fields of a form that the user has submitted.
type Submitted = BTreeMap<String, ElicitationContentValue>;

/// Client that can show forms (elicitation). The schemas of the Agent Client Protocol are those of
/// the Model Context Protocol.
#[async_trait]
pub(crate) trait Forms: Send + Sync {
    /// Shows a form, and waits until the user has decided.
    async fn show(
        &self,
        message: String,
        schema: ElicitationSchema,
    ) -> Result<CreateElicitationResponse, RequestError>;
}

/// User of a client that has forms.
pub(crate) struct FormOperator<F> {
    pub(crate) forms: F,
    /// Folder of the project.
    pub(crate) folder: PathBuf,
}

#[async_trait]
impl<F: Forms> Operator for FormOperator<F> {
    async fn ask(&self, question: Question) -> QuestionReply {
        match &question.subject {
            QuestionSubject::Consent(items) => self.ask_about_items(&question, items).await,
            QuestionSubject::Call(Confirmation {
                kind: ConfirmationKind::Questions(questions),
                ..
            }) => self.survey(&question, questions).await,
            QuestionSubject::Form(form) if !form.fields.is_empty() => {
                self.form(&question, form).await
            }
            _ => self.choose(&question).await,
        }
    }
}

impl<F: Forms> FormOperator<F> {
    /// Shows a form. Returns nothing if the user does not submit it.
    async fn submitted(&self, message: String, schema: ElicitationSchema) -> Option<Submitted> {
        match self.forms.show(message, schema).await.ok()?.action {
            ElicitationAction::Accept(accepted) => Some(accepted.content.unwrap_or_default()),
            _ => None,
        }
    }

    async fn choose(&self, question: &Question) -> QuestionReply {
        let choices = question.choices.iter();
        let choices = choices
            .map(|choice| EnumOption::new(choice_id(choice.outcome), visible(&choice.label)));
        let field = StringPropertySchema::new().one_of(choices.collect::<Vec<_>>());
        let schema = ElicitationSchema::new().property(CHOICE, field, true);
        let message = QuestionSheet::subject(question, &self.folder).join("\n");
        let submitted = self.submitted(message, schema).await.unwrap_or_default();
        let chosen = text(&submitted, CHOICE);
        let is_chosen = |choice: &QuestionChoice| chosen == Some(&*choice_id(choice.outcome));
        let chosen = question.choices.iter().position(is_chosen);
        let reply = chosen.and_then(|index| question.choose(index));
        reply.unwrap_or_else(|| question.reply(QuestionOutcome::Cancel))
    }

    async fn ask_about_items(&self, question: &Question, items: &[ConsentItem]) -> QuestionReply {
        let names = (1..).zip(items).map(|(number, _): (usize, _)| format!("item_{number}"));
        let names: Vec<String> = names.collect();
        let sheet = ConsentSheet::new(items);
        let fields =
            names.iter().zip(items).fold(ElicitationSchema::new(), |schema, (name, item)| {
                let title = format!("Allow {}", visible(&item.name));
                let field = BooleanPropertySchema::new().title(title).default_value(false);
                schema.property(name, field, false)
            });
        let Some(submitted) = self.submitted(sheet.text(), fields).await else {
            return question.reply(QuestionOutcome::Cancel);
        };
        let is_yes = |name: &String| {
            matches!(submitted.get(name), Some(ElicitationContentValue::Boolean(true)))
        };
        let modification = Some(Modification::Consents(names.iter().map(is_yes).collect()));
        QuestionReply { modification, ..question.reply(QuestionOutcome::ProceedOnce) }
    }

    /// Shows the form of a program.
    async fn form(&self, question: &Question, form: &Form) -> QuestionReply {
        let names =
            (1..).zip(&form.fields).map(|(number, _): (usize, _)| format!("field_{number}"));
        let names: Vec<String> = names.collect();
        let schema = names.iter().zip(&form.fields).fold(ElicitationSchema::new(), with_field);
        let message = QuestionSheet::subject(question, &self.folder).join("\n");
        let Some(submitted) = self.submitted(message, schema).await else {
            return question.reply(QuestionOutcome::Cancel);
        };
        let values = names
            .iter()
            .zip(&form.fields)
            .filter_map(|(name, field)| Some((field.name.clone(), value(submitted.get(name)?))));
        let modification = Some(Modification::Form(values.collect()));
        QuestionReply { modification, ..question.reply(QuestionOutcome::ProceedOnce) }
    }

    /// Asks the questions of the model.
    async fn survey(&self, question: &Question, asked: &[SurveyQuestion]) -> QuestionReply {
        let names: Vec<String> =
            (1..).zip(asked).map(|(number, _): (usize, _)| format!("answer_{number}")).collect();
        let schema = names.iter().zip(asked).fold(ElicitationSchema::new(), with_question);
        let lines = asked.iter().map(|one| visible(&one.question));
        let message = lines.collect::<Vec<_>>().join("\n");
        let Some(submitted) = self.submitted(message, schema).await else {
            return question.reply(QuestionOutcome::Cancel);
        };
        let answer = |name: &String| match submitted.get(name) {
            Some(ElicitationContentValue::String(text)) => text.clone(),
            Some(ElicitationContentValue::StringArray(texts)) => texts.join(", "),
            Some(ElicitationContentValue::Boolean(yes)) => {
                if *yes {
                    "Yes".to_owned()
                } else {
                    "No".to_owned()
                }
            }
            _ => String::new(),
        };
        let modification = Some(Modification::Answers(names.iter().map(answer).collect()));
        QuestionReply { modification, ..question.reply(QuestionOutcome::ProceedOnce) }
    }
}

/// Adds a field of a program's form. The names are numbers, because those of a program may hold any
/// characters.
fn with_field(
    schema: ElicitationSchema,
    (name, field): (&String, &FormField),
) -> ElicitationSchema {
    let title = Some(visible(&field.title));
    let description = Some(visible(&field.description)).filter(|text| !text.is_empty());
    let options = field.options().iter();
    let options =
        options.map(|option| EnumOption::new(option.value.clone(), visible(&option.label)));
    let options: Vec<EnumOption> = options.collect();
    let default = field.default.as_ref();
    let text = || default.and_then(Value::as_str).map(str::to_owned);
    let property: ElicitationPropertySchema = match &field.kind {
        FieldKind::Text { min, max, format } => {
            let mut property = StringPropertySchema::new();
            (property.min_length, property.max_length) = (*min, *max);
            property.format = format.map(string_format);
            property.default = text();
            (property.title, property.description) = (title, description);
            property.into()
        }
        FieldKind::Choice(_) => {
            let mut property = StringPropertySchema::new().one_of(options);
            property.default = text();
            (property.title, property.description) = (title, description);
            property.into()
        }
        FieldKind::Choices { min, max, .. } => {
            let mut property = MultiSelectPropertySchema::titled(options);
            (property.min_items, property.max_items) = (*min, *max);
            let values = default.and_then(Value::as_array);
            property.default = values
                .map(|values| values.iter().filter_map(Value::as_str).map(str::to_owned).collect());
            (property.title, property.description) = (title, description);
            property.into()
        }
        FieldKind::Number { min, max } => {
            let mut property = NumberPropertySchema::new();
            (property.minimum, property.maximum) = (*min, *max);
            property.default = default.and_then(Value::as_f64);
            (property.title, property.description) = (title, description);
            property.into()
        }
        FieldKind::Integer { min, max } => {
            let mut property = IntegerPropertySchema::new();
            (property.minimum, property.maximum) = (*min, *max);
            property.default = default.and_then(Value::as_i64);
            (property.title, property.description) = (title, description);
            property.into()
        }
        FieldKind::Boolean => {
            let mut property = BooleanPropertySchema::new();
            property.default = default.and_then(Value::as_bool);
            (property.title, property.description) = (title, description);
            property.into()
        }
    };
    schema.property(name, property, field.required)
}

fn string_format(format: FieldFormat) -> StringFormat {
    match format {
        FieldFormat::Email => StringFormat::Email,
        FieldFormat::Uri => StringFormat::Uri,
        FieldFormat::Date => StringFormat::Date,
        FieldFormat::DateTime => StringFormat::DateTime,
    }
}

/// Returns a submitted value as JSON.
fn value(submitted: &ElicitationContentValue) -> Value {
    serde_json::to_value(submitted).unwrap_or_default()
}

/// Adds the field of a question of the model.
fn with_question(
    schema: ElicitationSchema,
    (name, asked): (&String, &SurveyQuestion),
) -> ElicitationSchema {
    let (title, description) = (visible(&asked.header), visible(&asked.question));
    let options = asked.options.iter().map(|option| {
        EnumOption::new(visible(&option.label), visible(&option.label))
            .description(visible(&option.description))
    });
    let options: Vec<EnumOption> = options.collect();
    match asked.kind {
        SurveyKind::YesNo => {
            let field = BooleanPropertySchema::new().title(title).description(description);
            schema.property(name, field, true)
        }
        SurveyKind::Choice if asked.multi_select => {
            let field = MultiSelectPropertySchema::titled(options);
            schema.property(name, field.title(title).description(description), true)
        }
        SurveyKind::Choice if !options.is_empty() => {
            let field = StringPropertySchema::new().one_of(options);
            schema.property(name, field.title(title).description(description), true)
        }
        SurveyKind::Choice | SurveyKind::Text => {
            let field = StringPropertySchema::new().title(title).description(description);
            schema.property(name, field, true)
        }
    }
}

fn text<'a>(submitted: &'a Submitted, name: &str) -> Option<&'a str> {
    match submitted.get(name)? {
        ElicitationContentValue::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the id of a choice: that of Gemini CLI, where it has the choice.
pub(crate) fn choice_id(outcome: QuestionOutcome) -> String {
    let id = match outcome {
        QuestionOutcome::ProceedOnce => "proceed_once",
        QuestionOutcome::ProceedAlways => "proceed_always",
        QuestionOutcome::ProceedAlwaysAndSave => "proceed_always_and_save",
        QuestionOutcome::ProceedAlwaysServer => "proceed_always_server",
        QuestionOutcome::ProceedAlwaysTool => "proceed_always_tool",
        QuestionOutcome::ProceedSubcommand { saved: false } => "proceed_always_subcommand",
        QuestionOutcome::ProceedSubcommand { saved: true } => "proceed_always_subcommand_and_save",
        QuestionOutcome::ProceedProgram { saved: false } => "proceed_always_program",
        QuestionOutcome::ProceedProgram { saved: true } => "proceed_always_program_and_save",
        QuestionOutcome::ModifyWithEditor => "modify_with_editor",
        QuestionOutcome::Option(index) => return format!("option_{index}"),
        QuestionOutcome::Cancel => "cancel",
    };
    id.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_an_id_of_its_own() {
        let outcomes = [
            QuestionOutcome::ProceedOnce,
            QuestionOutcome::ProceedAlways,
            QuestionOutcome::ProceedAlwaysAndSave,
            QuestionOutcome::ProceedAlwaysServer,
            QuestionOutcome::ProceedAlwaysTool,
            QuestionOutcome::ProceedSubcommand { saved: false },
            QuestionOutcome::ProceedSubcommand { saved: true },
            QuestionOutcome::ProceedProgram { saved: false },
            QuestionOutcome::ProceedProgram { saved: true },
            QuestionOutcome::ModifyWithEditor,
            QuestionOutcome::Option(0),
            QuestionOutcome::Option(1),
            QuestionOutcome::Cancel,
        ];
        let ids: std::collections::HashSet<_> = outcomes.into_iter().map(choice_id).collect();
        assert_eq!(ids.len(), outcomes.len());
    }
}
