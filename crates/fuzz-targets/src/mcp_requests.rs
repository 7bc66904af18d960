//! Requests of an MCP server to the user and the model: whatever a server asks, the question is
//! small enough for a person, its address is one that a browser may open, no invalid value is sent
//! to the server, and the request to the model is limited.

use pollux_protocol::{AddressRequest, Form, FormField, QuestionSubject};
use serde_json::Value;

pub(crate) fn run(bytes: &[u8]) {
    let Some(reading) = pollux_mcp::read_request(bytes) else { return };
    assert!(reading.asked.len() <= 1, "one request, one question");
    for subject in &reading.asked {
        match subject {
            QuestionSubject::Form(form) => {
                check_form(form);
                check_values(form, reading.sent.as_ref());
            }
            QuestionSubject::Address(request) => check_address(request),
            QuestionSubject::Request { text } => {
                assert!(text.chars().count() <= 2100, "{} characters", text.len());
            }
            other => panic!("a question of another kind: {other:?}"),
        }
    }
    if let Some(request) = &reading.request {
        assert!(!reading.asked.is_empty(), "the model is not used without a question");
        assert!((1..=200).contains(&request.entries.len()));
        let tokens = request.adjustments.tuning.max_output_tokens.as_ref();
        let tokens = tokens.and_then(serde_json::Number::as_u64);
        assert!(tokens.is_some_and(|tokens| (1..=16_384).contains(&tokens)), "{tokens:?}");
    }
}

fn check_form(form: &Form) {
    assert!(form.fields.len() <= 64 && form.message.chars().count() <= 4000);
    for field in &form.fields {
        assert!(field.title.chars().count() <= 200 && field.description.chars().count() <= 4000);
        assert!(field.options().len() <= 500);
        assert!(field.options().iter().all(|option| option.label.chars().count() <= 200));
        let default = field.default.as_ref();
        assert!(default.is_none_or(|default| field.check(default).is_ok()), "{field:?}");
    }
}

fn check_values(form: &Form, sent: Option<&Value>) {
    let Some(sent) = sent else { return };
    let values = sent.as_object().expect("an object");
    for (name, value) in values {
        let field: Option<&FormField> = form.fields.iter().find(|field| field.name == *name);
        assert!(field.is_some_and(|field| field.check(value).is_ok()), "{name}: {value}");
    }
    let is_given = |field: &FormField| !field.required || values.contains_key(&field.name);
    assert!(form.fields.iter().all(is_given), "{sent}");
}

fn check_address(request: &AddressRequest) {
    let AddressRequest { url, message, .. } = request;
    let rest = ["https://", "http://localhost", "http://127.", "http://[::1]"]
        .iter()
        .find_map(|start| url.strip_prefix(start));
    let host = rest.unwrap_or_else(|| panic!("{url}")).split(['/', '?', '#']).next();
    assert!(!host.is_some_and(|host| host.contains('@')), "{url}");
    assert!(url.is_ascii() && !url.contains(char::is_control), "{url}");
    assert!(url.len() <= 8192 && message.chars().count() <= 4000);
}
