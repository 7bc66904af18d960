//! Requests of a server for an answer of the user or of the model, read from bytes; for fuzzing.

#![allow(deprecated, reason = "sampling is deprecated, but is what today's servers use")]

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::FutureExt as _;
use pollux_protocol::{
    FieldKind, FormField, ModelRequest, Modification, Operator, Question, QuestionOutcome,
    QuestionReply, QuestionSubject,
};
use rmcp::model::{JsonRpcMessage, ServerRequest};
use serde_json::{Value, json};

use crate::elicitation::Elicitation;
use crate::incoming::Reader;
use crate::sampling::SamplingRequest;

/// Effects of a request of a server, if the user agrees to everything.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct RequestReading {
    /// Questions to the user.
    pub asked: Vec<QuestionSubject>,
    /// Values of the user's form that are sent to the server.
    pub sent: Option<Value>,
    /// Request to the model.
    pub request: Option<ModelRequest>,
}

/// User who agrees to everything.
#[derive(Default)]
struct Agreeing(Mutex<Vec<QuestionSubject>>);

#[async_trait]
impl Operator for Agreeing {
    async fn ask(&self, question: Question) -> QuestionReply {
        let modification = match &question.subject {
            QuestionSubject::Form(form) => {
                let fields = form.fields.iter();
                let values = fields.map(|field| (field.name.clone(), value(field))).collect();
                Some(Modification::Form(values))
            }
            _ => None,
        };
        let reply = QuestionReply { modification, ..question.reply(QuestionOutcome::ProceedOnce) };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(question.subject);
        reply
    }
}

/// Returns the default of a field, or a value of its type.
fn value(field: &FormField) -> Value {
    let first = field.options().first().map(|option| option.value.clone());
    field.default.clone().unwrap_or_else(|| match &field.kind {
        FieldKind::Text { .. } => json!("text"),
        FieldKind::Number { .. } | FieldKind::Integer { .. } => json!(1),
        FieldKind::Boolean => json!(true),
        FieldKind::Choice(_) => json!(first),
        FieldKind::Choices { .. } => json!([first]),
    })
}

/// Reads one message of a server, and returns its effects; `None` if it is not such a request, or
/// is refused unread.
#[doc(hidden)]
pub fn read_request(text: &[u8]) -> Option<RequestReading> {
    let JsonRpcMessage::Request(message) = Reader::default().read(text).ok()? else { return None };
    let user = Arc::new(Agreeing::default());
    let operator = Arc::clone(&user) as Arc<dyn Operator>;
    let elicitation = Elicitation::new("s", operator, Arc::default(), Arc::new(|_| {}));
    let mut reading = RequestReading::default();
    match message.request {
        ServerRequest::ElicitRequest(request) => {
            reading.sent = elicitation.ask(request.params).now_or_never()?.content;
        }
        ServerRequest::CreateMessageRequest(request) => {
            let SamplingRequest { text, request } = SamplingRequest::read(request.params).ok()?;
            let is_permitted = elicitation.permits_model(&text).now_or_never()?;
            reading.request = is_permitted.then_some(request);
        }
        _ => return None,
    }
    reading.asked = std::mem::take(&mut *user.0.lock().unwrap_or_else(PoisonError::into_inner));
    Some(reading)
}
