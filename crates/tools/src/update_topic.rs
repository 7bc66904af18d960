//! `update_topic`: records the present topic of the work and the next steps.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Directive, Display, Effects, Invocation, ModelLimits, Part, RunContext,
    Tool, ToolError, ToolFacts, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::ToolContext;
use crate::validation::{Schema, invalid};

/// Name of the tool for models and policies.
const NAME: &str = "update_topic";
/// Maximum size of each argument in bytes.
const MAX_TEXT: usize = 8192;

/// Text for a value that was never given.
const NOTHING: &str = "...";

/// The tool `update_topic`. It keeps the last values, to recognise a new topic.
pub(crate) struct UpdateTopicTool {
    context: Arc<ToolContext>,
    schema: Schema,
    last: Arc<Mutex<Last>>,
}

/// Values of the last call.
#[derive(Default)]
struct Last {
    topic: Option<String>,
    intent: Option<String>,
}

impl UpdateTopicTool {
    /// Creates the tool for a session that has no topic yet.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "title": {
                    "type": "string",
                    "description": "The new topic, in a few words. Omit it if the topic has not changed."
                },
                "summary": {
                    "type": "string",
                    "description": "What you have done and what you will do, in one or two sentences."
                },
                "strategic_intent": {
                    "type": "string",
                    "description": "The purpose of the next step, in one sentence."
                },
                "wait_for_previous": {
                    "type": "boolean",
                    "description": "Wait until all earlier calls of this turn are finished. Default: false."
                }
            },
            "required": ["strategic_intent"]
        }));
        Self { context, schema, last: Arc::default() }
    }
}

#[derive(Deserialize)]
struct Params {
    strategic_intent: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    summary: Option<String>,
}

impl Tool for UpdateTopicTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Update Topic Context"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Think
    }

    fn facts(&self) -> ToolFacts {
        ToolFacts { announces: true, ..ToolFacts::default() }
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Shows the user the current topic of your work and the next step. Call it in \
                          your first turn, when the topic or the plan changes, and in your last turn \
                          with a summary of the results. Until the last turn, always send it \
                          together with other calls."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn is_offered_to(&self, _model: &str, _limits: ModelLimits) -> bool {
        self.context.options.topics
    }

    fn recall(&self, args: &Value, _response: &Value) -> Option<Directive> {
        let title = args.get("title")?.as_str()?;
        (!title.trim().is_empty()).then(|| Directive::SetTopic(title.to_owned()))
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let Params { strategic_intent, title, summary } = self.schema.read(args)?;
        let texts = [Some(&strategic_intent), title.as_ref(), summary.as_ref()];
        if texts.into_iter().flatten().any(|text| text.len() > MAX_TEXT) {
            return Err(invalid(format!("Each text has at most {MAX_TEXT} bytes.")));
        }
        // A title is always one line.
        let title = title.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let given = |text: String| (!text.is_empty()).then_some(text);
        Ok(Box::new(UpdateTopic {
            last: Arc::clone(&self.last),
            intent: given(strategic_intent),
            title: given(title),
            summary: summary.and_then(given),
        }))
    }
}

struct UpdateTopic {
    last: Arc<Mutex<Last>>,
    intent: Option<String>,
    title: Option<String>,
    summary: Option<String>,
}

#[async_trait]
impl Invocation for UpdateTopic {
    fn effects(&self) -> Effects {
        Effects { alone: true, ..Effects::default() }
    }

    fn describe(&self) -> String {
        if let Some(title) = &self.title {
            return format!("Update topic to: \"{title}\"");
        }
        format!("Update tactical intent: \"{}\"", self.intent.as_deref().unwrap_or(NOTHING))
    }

    async fn run(&self, _run: RunContext) -> ToolOutput {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(intent) = &self.intent {
            last.intent = Some(intent.trim().to_owned());
        }
        let Some(title) = self.title.as_ref().filter(|title| last.topic.as_ref() != Some(*title))
        else {
            let intent = self.intent.as_ref().or(last.intent.as_ref());
            let intent = intent.map_or(NOTHING, String::as_str);
            return ToolOutput::quiet(format!("Strategic Intent: {intent}"))
                .display(Display::Text(shown_intent(intent)));
        };
        last.topic = Some(title.clone());
        let summary = self.summary.as_deref().unwrap_or(NOTHING);
        let (reported_intent, shown_intent) = match &self.intent {
            Some(intent) => {
                (format!("\n\nStrategic Intent: {intent}"), format!("\n\n{}", shown_intent(intent)))
            }
            None => Default::default(),
        };
        let reported =
            format!("Current topic: \"{title}\"\nTopic summary: {summary}{reported_intent}");
        let shown = format!("## 📂 Topic: **{title}**\n\n**Summary:**\n{summary}{shown_intent}");
        ToolOutput {
            content: vec![Part::text(reported)],
            display: Some(Display::Text(shown)),
            directives: vec![Directive::SetTopic(title.clone())],
            ..ToolOutput::default()
        }
    }
}

fn shown_intent(intent: &str) -> String {
    format!("> [!STRATEGY]\n> **Intent:** {intent}")
}
