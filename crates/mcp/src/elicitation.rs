//! Questions of a server to the user: forms, and addresses to open.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pollux_protocol::{
    AddressRequest, FieldFormat, FieldKind, Form, FormField, FormOption, Modification, Operator,
    Origin, Question, QuestionChoice, QuestionOutcome, QuestionSubject,
};
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, EnumSchema,
    MultiSelectEnumSchema, PrimitiveSchemaDefinition, SingleSelectEnumSchema, StringFormat,
};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;
use url::{Host, Url};

use crate::handler::LogSink;

/// Number of questions that the user may refuse in a row before the server's further questions are
/// refused without asking, until it is called again.
const MOST_REFUSALS: usize = 3;
/// Maximum number of questions of a server that wait for their turn.
const MOST_WAITING: usize = 8;
/// Maximum number of fields of a form.
const MOST_FIELDS: usize = 64;
/// Maximum number of options of a field.
const MOST_OPTIONS: usize = 500;
/// Maximum length of a message or description, in characters.
const LONGEST_TEXT: usize = 4000;
/// Maximum length of the text of a request for the model that is shown, in characters.
const LONGEST_SHOWN: usize = 2000;
/// Maximum length of a title or option, in characters.
const LONGEST_TITLE: usize = 200;
/// Maximum length of an address, in bytes.
const LONGEST_ADDRESS: usize = 8192;

/// Asks the user what a server wants to know.
pub(crate) struct Elicitation {
    source: String,
    operator: Arc<dyn Operator>,
    origin: Arc<Origin>,
    log: LogSink,
    refusals: AtomicUsize,
    waiting: AtomicUsize,
    /// The user allows all use of models for this session.
    may_use_models: AtomicBool,
    /// A user answers one question of a server at a time.
    turn: Mutex<()>,
}

impl Elicitation {
    /// Creates the connection between a server and the user of a session.
    pub(crate) fn new(
        server: &str,
        operator: Arc<dyn Operator>,
        origin: Arc<Origin>,
        log: LogSink,
    ) -> Self {
        Self {
            source: format!("MCP server '{server}'"),
            operator,
            origin,
            log,
            refusals: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            may_use_models: AtomicBool::new(false),
            turn: Mutex::new(()),
        }
    }

    /// Notes that the user wants something of the server, so that it may ask again.
    pub(crate) fn called(&self) {
        self.refusals.store(0, Ordering::Relaxed);
    }

    /// Asks the user. Dropping the future withdraws the question.
    pub(crate) async fn ask(&self, params: ElicitRequestParams) -> ElicitResult {
        let question = match params {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                self.form(&message, requested_schema).map(QuestionSubject::Form)
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                self.address(&message, &url).map(QuestionSubject::Address)
            }
            _ => Err("a question of an unknown kind".to_owned()),
        };
        let subject = match question {
            Ok(subject) => subject,
            Err(problem) => return self.declined(&problem),
        };
        match self.in_turn(self.decided(subject)).await {
            Ok(result) => result,
            Err(problem) => self.declined(problem),
        }
    }

    /// Asks the user whether the server may use the model, for a request that begins with `text`.
    pub(crate) async fn permits_model(&self, text: &str) -> bool {
        if self.may_use_models.load(Ordering::Relaxed) {
            return true;
        }
        let permitted = self.in_turn(self.asked_about_model(text)).await;
        permitted.unwrap_or_else(|problem| {
            (self.log)(format!("Declined a request for the model: {problem}."));
            false
        })
    }

    async fn asked_about_model(&self, text: &str) -> bool {
        let shown = shortened(text, LONGEST_SHOWN);
        let more = if shown.len() < text.len() { "\n..." } else { "" };
        let source = &self.source;
        let text = format!("{source} wants an answer of your model to this text:\n{shown}{more}");
        let choices = vec![
            QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow once", 'y'),
            QuestionChoice::new(
                QuestionOutcome::ProceedAlwaysServer,
                "Allow this server for this session",
                's',
            ),
            QuestionChoice::new(QuestionOutcome::Cancel, "Refuse", 'n'),
        ];
        let subject = QuestionSubject::Request { text };
        let question = Question::new(Arc::clone(&self.origin), subject, choices, None);
        match self.operator.ask(question).await.outcome {
            QuestionOutcome::ProceedOnce => {}
            QuestionOutcome::ProceedAlwaysServer => {
                self.may_use_models.store(true, Ordering::Relaxed);
            }
            _ => {
                self.refusals.fetch_add(1, Ordering::Relaxed);
                return false;
            }
        }
        self.refusals.store(0, Ordering::Relaxed);
        true
    }

    /// Asks when it is the question's turn.
    ///
    /// # Errors
    /// The reason not to ask the user.
    async fn in_turn<T>(&self, asking: impl Future<Output = T>) -> Result<T, &'static str> {
        if self.refusals.load(Ordering::Relaxed) >= MOST_REFUSALS {
            return Err("the user has refused the last questions");
        }
        let _waiting = Waiting::new(&self.waiting);
        if self.waiting.load(Ordering::Relaxed) > MOST_WAITING {
            return Err("too many questions at once");
        }
        let _turn = self.turn.lock().await;
        Ok(asking.await)
    }

    async fn decided(&self, subject: QuestionSubject) -> ElicitResult {
        let (yes, no) = match &subject {
            QuestionSubject::Address(_) => ("I have opened it", "Do not open it"),
            _ => ("Accept", "Decline"),
        };
        let choices = vec![
            QuestionChoice::new(QuestionOutcome::ProceedOnce, yes, 'y'),
            QuestionChoice::new(QuestionOutcome::Cancel, no, 'n'),
        ];
        let form = match &subject {
            QuestionSubject::Form(form) => Some(form.clone()),
            _ => None,
        };
        let question = Question::new(Arc::clone(&self.origin), subject, choices, None);
        let reply = self.operator.ask(question).await;
        if reply.outcome != QuestionOutcome::ProceedOnce {
            self.refusals.fetch_add(1, Ordering::Relaxed);
            return ElicitResult::new(ElicitationAction::Decline);
        }
        let Some(form) = form else { return ElicitResult::new(ElicitationAction::Accept) };
        let values = match reply.modification {
            Some(Modification::Form(values)) => values,
            _ => Map::new(),
        };
        // A frontend may leave checks to its client, and the server relies on the types.
        match form.checked(values) {
            Ok(values) => {
                self.refusals.store(0, Ordering::Relaxed);
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values))
            }
            Err(problem) => self.declined(&problem),
        }
    }

    fn declined(&self, reason: &str) -> ElicitResult {
        (self.log)(format!("Declined a question of the server: {reason}."));
        ElicitResult::new(ElicitationAction::Decline)
    }

    fn form(&self, message: &str, schema: ElicitationSchema) -> Result<Form, String> {
        if schema.properties.len() > MOST_FIELDS {
            return Err(format!("a form with more than {MOST_FIELDS} fields"));
        }
        let required = schema.required.unwrap_or_default();
        let order = schema.property_order.unwrap_or_default();
        let mut properties: Vec<_> = schema.properties.into_iter().collect();
        let place = |name: &String| order.iter().position(|known| known == name);
        properties.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
        let field = |(name, definition): (String, PrimitiveSchemaDefinition)| {
            let required = required.contains(&name);
            field(name, definition, required)
        };
        Ok(Form {
            source: self.source.clone(),
            message: shortened(message, LONGEST_TEXT),
            fields: properties.into_iter().map(field).collect::<Result<_, String>>()?,
        })
    }

    fn address(&self, message: &str, url: &str) -> Result<AddressRequest, String> {
        let parsed = Url::parse(url).map_err(|error| format!("an invalid address: {error}"))?;
        let is_local = match parsed.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        // `https://known.example@other.example/` leads to another place than it seems to.
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err("an address with a user name".to_owned());
        }
        if parsed.as_str().len() > LONGEST_ADDRESS {
            return Err("an address that is too long".to_owned());
        }
        if parsed.scheme() != "https" && !(parsed.scheme() == "http" && is_local) {
            return Err("an address that is not https".to_owned());
        }
        let (source, message) = (self.source.clone(), shortened(message, LONGEST_TEXT));
        Ok(AddressRequest { source, message, url: parsed.into() })
    }
}

/// Counts a question while it waits.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Type of a field, title, description and default.
type Described = (FieldKind, Option<String>, Option<String>, Option<Value>);

fn field(
    name: String,
    definition: PrimitiveSchemaDefinition,
    required: bool,
) -> Result<FormField, String> {
    let unknown = || format!("the field {name:?} has an unknown type");
    let (kind, title, description, default) = match definition {
        PrimitiveSchemaDefinition::String(text) => {
            let format = text.format.and_then(format_of);
            let kind = FieldKind::Text { min: text.min_length, max: text.max_length, format };
            (kind, owned(text.title), owned(text.description), text.default.map(Value::from))
        }
        PrimitiveSchemaDefinition::Number(number) => {
            let kind = FieldKind::Number { min: number.minimum, max: number.maximum };
            let default = number.default.map(|default| json!(default));
            (kind, owned(number.title), owned(number.description), default)
        }
        PrimitiveSchemaDefinition::Integer(number) => {
            let kind = FieldKind::Integer { min: number.minimum, max: number.maximum };
            let default = number.default.map(Value::from);
            (kind, owned(number.title), owned(number.description), default)
        }
        PrimitiveSchemaDefinition::Boolean(flag) => (
            FieldKind::Boolean,
            owned(flag.title),
            owned(flag.description),
            flag.default.map(Value::from),
        ),
        PrimitiveSchemaDefinition::Enum(choice) => choices(choice).ok_or_else(unknown)?,
        _ => return Err(unknown()),
    };
    let mut field = FormField {
        title: shortened(title.as_deref().unwrap_or(&name), LONGEST_TITLE),
        description: shortened(&description.unwrap_or_default(), LONGEST_TEXT),
        name,
        required,
        kind,
        default,
    };
    if field.options().len() > MOST_OPTIONS {
        return Err(format!("the field {:?} has more than {MOST_OPTIONS} options", field.name));
    }
    let is_valid = field.default.as_ref().is_none_or(|default| field.check(default).is_ok());
    if !is_valid {
        field.default = None;
    }
    Ok(field)
}

fn choices(choice: EnumSchema) -> Option<Described> {
    Some(match choice {
        EnumSchema::Single(SingleSelectEnumSchema::Untitled(one)) => {
            let kind = FieldKind::Choice(options(one.enum_.into_iter().map(|name| (name, None))));
            (kind, owned(one.title), owned(one.description), one.default.map(Value::from))
        }
        EnumSchema::Single(SingleSelectEnumSchema::Titled(one)) => {
            let titled = one.one_of.into_iter().map(|option| (option.const_, Some(option.title)));
            let kind = FieldKind::Choice(options(titled));
            (kind, owned(one.title), owned(one.description), one.default.map(Value::from))
        }
        EnumSchema::Multi(MultiSelectEnumSchema::Untitled(many)) => {
            let options = options(many.items.enum_.into_iter().map(|name| (name, None)));
            let kind = FieldKind::Choices { options, min: many.min_items, max: many.max_items };
            (kind, owned(many.title), owned(many.description), many.default.map(Value::from))
        }
        EnumSchema::Multi(MultiSelectEnumSchema::Titled(many)) => {
            let titled =
                many.items.any_of.into_iter().map(|option| (option.const_, Some(option.title)));
            let options = options(titled);
            let kind = FieldKind::Choices { options, min: many.min_items, max: many.max_items };
            (kind, owned(many.title), owned(many.description), many.default.map(Value::from))
        }
        EnumSchema::Legacy(one) => {
            let mut titles = one.enum_names.unwrap_or_default().into_iter();
            let titled = one.enum_.into_iter().map(|name| (name, titles.next()));
            let kind = FieldKind::Choice(options(titled));
            (kind, owned(one.title), owned(one.description), one.default.map(Value::from))
        }
        _ => return None,
    })
}

fn options(options: impl Iterator<Item = (String, Option<String>)>) -> Vec<FormOption> {
    let option = |(value, title): (String, Option<String>)| FormOption {
        label: shortened(title.as_deref().unwrap_or(&value), LONGEST_TITLE),
        value,
    };
    options.map(option).collect()
}

fn format_of(format: StringFormat) -> Option<FieldFormat> {
    match format {
        StringFormat::Email => Some(FieldFormat::Email),
        StringFormat::Uri => Some(FieldFormat::Uri),
        StringFormat::Date => Some(FieldFormat::Date),
        StringFormat::DateTime => Some(FieldFormat::DateTime),
        _ => None,
    }
}

fn owned(text: Option<std::borrow::Cow<'static, str>>) -> Option<String> {
    text.map(std::borrow::Cow::into_owned)
}

fn shortened(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use pollux_protocol::QuestionReply;
    use pretty_assertions::assert_eq;

    use super::*;

    /// User who gives the same answer to every question, and remembers the questions.
    #[derive(Default)]
    struct Always {
        answer: Option<Map<String, Value>>,
        asked: std::sync::Mutex<Vec<QuestionSubject>>,
    }

    #[async_trait]
    impl Operator for Always {
        async fn ask(&self, question: Question) -> QuestionReply {
            self.asked.lock().unwrap().push(question.subject.clone());
            match &self.answer {
                Some(values) => QuestionReply {
                    modification: Some(Modification::Form(values.clone())),
                    ..question.reply(QuestionOutcome::ProceedOnce)
                },
                None => question.reply(QuestionOutcome::Cancel),
            }
        }
    }

    fn elicitation(answer: Option<Value>) -> (Elicitation, Arc<Always>) {
        let answer = answer.map(|answer| answer.as_object().cloned().unwrap());
        let operator = Arc::new(Always { answer, ..Always::default() });
        let asked = Arc::clone(&operator) as Arc<dyn Operator>;
        (Elicitation::new("x", asked, Arc::default(), Arc::new(|_| {})), operator)
    }

    fn form(schema: &Value) -> ElicitRequestParams {
        serde_json::from_value(json!({"message": "Who?", "requestedSchema": schema})).unwrap()
    }

    #[tokio::test]
    async fn every_kind_of_field_is_asked_in_its_form() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Name", "minLength": 1, "format": "email"},
                "age": {"type": "integer", "minimum": 0, "default": 3},
                "share": {"type": "number", "maximum": 1.5, "default": 7},
                "ok": {"type": "boolean", "description": "Is it?"},
                "old": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
                "one": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]},
                "many": {
                    "type": "array", "minItems": 1,
                    "items": {"type": "string", "enum": ["x", "y"]}, "default": ["y"],
                },
            },
            "required": ["name", "many"],
        });
        let answer = json!({"name": "a@b", "age": 4, "many": ["x"], "unasked": 1});
        let (elicitation, operator) = elicitation(Some(answer));
        let result = elicitation.ask(form(&schema)).await;
        assert_eq!(result.action, ElicitationAction::Accept);
        assert_eq!(result.content, Some(json!({"name": "a@b", "age": 4, "many": ["x"]})));
        let asked = operator.asked.lock().unwrap();
        let QuestionSubject::Form(form) = &asked[0] else { panic!("{asked:?}") };
        assert_eq!((form.source.as_str(), form.message.as_str()), ("MCP server 'x'", "Who?"));
        let field = |name: &str| form.fields.iter().find(|field| field.name == name).unwrap();
        let email = Some(FieldFormat::Email);
        assert_eq!(field("name").kind, FieldKind::Text { min: Some(1), max: None, format: email });
        assert_eq!((field("name").title.as_str(), field("name").required), ("Name", true));
        assert_eq!(field("age").default, Some(json!(3)));
        // A default outside of the limits is none.
        assert_eq!(field("share").default, None);
        assert_eq!(field("ok").description, "Is it?");
        let labels = |name: &str| -> Vec<String> {
            field(name).options().iter().map(|option| option.label.clone()).collect()
        };
        assert_eq!(
            (labels("old"), labels("one")),
            (vec!["A".into(), "B".into()], vec!["Red".into()])
        );
        assert_eq!(field("many").default, Some(json!(["y"])));
    }

    #[tokio::test]
    async fn values_that_do_not_fit_are_not_sent() {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        for wrong in [json!({}), json!({"n": "1"}), json!({"n": 1.5})] {
            let (elicitation, _) = elicitation(Some(wrong));
            let result = elicitation.ask(form(&schema)).await;
            assert_eq!((result.action, result.content), (ElicitationAction::Decline, None));
        }
    }

    #[tokio::test]
    async fn a_server_that_asks_in_a_loop_does_not_reach_the_user() {
        let (elicitation, operator) = elicitation(None);
        let schema = json!({"type": "object", "properties": {}});
        for _ in 0..100 {
            let result = elicitation.ask(form(&schema)).await;
            assert_eq!(result.action, ElicitationAction::Decline);
        }
        assert_eq!(operator.asked.lock().unwrap().len(), MOST_REFUSALS);
        elicitation.called();
        elicitation.ask(form(&schema)).await;
        assert_eq!(operator.asked.lock().unwrap().len(), MOST_REFUSALS + 1);
    }

    #[tokio::test]
    async fn only_addresses_that_a_browser_may_open_are_shown() {
        for (url, is_shown) in [
            ("https://example.com/a?b=c", true),
            ("http://localhost:8000/", true),
            ("http://127.0.0.1/", true),
            ("http://example.com/", false),
            ("file:///etc/passwd", false),
            ("javascript:alert(1)", false),
            ("not an address", false),
            ("https://known.example@other.example/", false),
            (&format!("https://example.com/{}", "<".repeat(LONGEST_ADDRESS / 3)), false),
        ] {
            let (elicitation, operator) = elicitation(Some(json!({})));
            let params = json!({"mode": "url", "message": "Pay", "url": url, "elicitationId": "1"});
            let result = elicitation.ask(serde_json::from_value(params).unwrap()).await;
            assert_eq!(operator.asked.lock().unwrap().len(), usize::from(is_shown), "{url}");
            assert_eq!(result.action == ElicitationAction::Accept, is_shown, "{url}");
        }
    }
}
