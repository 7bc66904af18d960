//! `ask_user`: the model asks the user questions.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    Args, CallId, Confirmation, ConfirmationKind, Declaration, Display, Effects, Invocation,
    Modification, RunContext, Shortening, SideModels, SurveyKind, SurveyQuestion, Tool, ToolError,
    ToolFacts, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::validation::{Schema, invalid};

/// Name of the tool for models and policies.
const NAME: &str = "ask_user";

/// Argument that holds the answers of the user.
const ANSWERS: &str = "answers";

/// The tool `ask_user`.
pub(crate) struct AskUserTool {
    schema: Schema,
}

impl AskUserTool {
    /// Creates the tool.
    pub(crate) fn new() -> Self {
        let option = json!({
            "type": "object",
            "properties": {
                "label": {"type": "string", "description": "The answer, in one to five words."},
                "description": {"type": "string", "description": "The meaning of the answer, in one sentence."}
            },
            "required": ["label", "description"]
        });
        let question = json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "description": "The complete question, with a question mark."},
                "header": {"type": "string", "description": "A title of one or two words, such as 'Database'."},
                "type": {
                    "type": "string",
                    "enum": ["choice", "text", "yesno"],
                    "default": "choice",
                    "description": "choice: one of the options; text: free text; yesno: yes or no."
                },
                "options": {
                    "type": "array",
                    "items": option,
                    "description": "2 to 4 answers, only for type choice. The user can always enter a different answer."
                },
                "multiSelect": {"type": "boolean", "description": "Allow several options."},
                "placeholder": {"type": "string", "description": "An example of a text answer."}
            },
            "required": ["question", "header", "type"]
        });
        Self {
            schema: Schema::new(json!({
                "type": "object",
                "properties": {
                    "questions": {"type": "array", "minItems": 1, "maxItems": 4, "items": question}
                },
                "required": ["questions"]
            })),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
struct Params {
    questions: Vec<SurveyQuestion>,
    /// Answers of the user, in the order of the questions.
    #[serde(default)]
    answers: Option<Vec<String>>,
}

impl Tool for AskUserTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Ask User"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Communicate
    }

    fn facts(&self) -> ToolFacts {
        ToolFacts { shortening: Shortening::Never, ..ToolFacts::default() }
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Asks the user one to four questions and waits for the answers. Use it for \
                          decisions that only the user can make and for facts that are not in the \
                          project. Do not use it to ask for permission to run tools; Pollux does that."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let mut params: Params = self.schema.read(args)?;
        for (index, question) in params.questions.iter_mut().enumerate() {
            check(question).map_err(|error| invalid(format!("Question {}: {error}", index + 1)))?;
            question.question = unescaped(&question.question);
        }
        Ok(Box::new(AskUser { params }))
    }
}

/// Checks the rules that the schema cannot express.
fn check(question: &SurveyQuestion) -> Result<(), &'static str> {
    if question.question.trim().is_empty() {
        return Err("'question' must be a non-empty string");
    }
    let is_choice = question.kind == SurveyKind::Choice;
    if is_choice && !(2..=4).contains(&question.options.len()) {
        return Err("type='choice' requires 'options' with 2 to 4 items");
    }
    if is_choice && question.options.iter().any(|option| option.label.trim().is_empty()) {
        return Err("'label' of an option must be a non-empty string");
    }
    Ok(())
}

/// Replaces escaped line ends, because models write line ends as in JSON.
fn unescaped(text: &str) -> String {
    text.replace("\\r\\n", "\n").replace("\\n", "\n")
}

struct AskUser {
    params: Params,
}

#[async_trait]
impl Invocation for AskUser {
    fn effects(&self) -> Effects {
        Effects::default()
    }

    fn describe(&self) -> String {
        let headers: Vec<&str> =
            self.params.questions.iter().map(|question| question.header.as_str()).collect();
        format!("Asking user: {}", headers.join(", "))
    }

    async fn confirmation(
        &self,
        call_id: &CallId,
        _side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        Ok(Confirmation {
            call_id: call_id.clone(),
            title: "Ask User".to_owned(),
            kind: ConfirmationKind::Questions(self.params.questions.clone()),
        })
    }

    fn modify(&self, modification: &Modification) -> Result<Args, ToolError> {
        let Modification::Answers(answers) = modification else {
            return Err(invalid("Questions cannot be modified, only answered."));
        };
        let mut args = Map::new();
        args.insert("questions".to_owned(), json!(self.params.questions));
        args.insert(ANSWERS.to_owned(), json!(answers));
        Ok(args)
    }

    async fn run(&self, _run: RunContext) -> ToolOutput {
        let Params { questions, answers } = &self.params;
        let Some(answers) = answers.as_ref().filter(|answers| !answers.is_empty()) else {
            let text = "User dismissed ask_user dialog without answering.";
            return ToolOutput::quiet(text)
                .display(Display::Text("User dismissed dialog".to_owned()));
        };
        // An empty answer is none: the user may leave out one of several questions.
        let given = answers.iter().take(questions.len()).enumerate();
        let given = given.filter(|(_, answer)| !answer.trim().is_empty());
        let reported: Map<String, Value> = given
            .clone()
            .map(|(index, answer)| (index.to_string(), answer.as_str().into()))
            .collect();
        let lines: Vec<String> =
            given.map(|(index, answer)| format!("{}: {answer}", questions[index].header)).collect();
        let display = if lines.is_empty() {
            "User submitted without answering questions.".to_owned()
        } else {
            format!("User answered:\n{}", lines.join("\n"))
        };
        ToolOutput::quiet(json!({ "answers": reported }).to_string())
            .display(Display::Text(display))
    }
}
