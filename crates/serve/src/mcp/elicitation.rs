//! Forms in the client.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{CreateElicitationResponse, ElicitationSchema};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::server::Connection;
use crate::forms::Forms;
use crate::json_rpc::connection::RequestError;

/// Client that can show forms.
pub(crate) struct ClientForms {
    pub(crate) connection: Arc<Connection>,
}

#[async_trait]
impl Forms for ClientForms {
    async fn show(
        &self,
        message: String,
        schema: ElicitationSchema,
    ) -> Result<CreateElicitationResponse, RequestError> {
        let schema = serde_json::to_value(schema)
            .map_err(|error| RequestError::Malformed(error.to_string()))?;
        let params = if self.connection.capabilities().has_titled_choices {
            json!({"mode": "form", "message": message, "requestedSchema": schema})
        } else {
            json!({"message": message, "requestedSchema": without_titled_choices(schema)})
        };
        self.connection.request("elicitation/create", params).await
    }
}

/// Returns a form in the words of the version 2025-06-18: choices have a list of names, and a field
/// has one value.
fn without_titled_choices(mut schema: Value) -> Value {
    let fields = schema["properties"].as_object_mut().into_iter().flat_map(Map::values_mut);
    for field in fields.filter_map(Value::as_object_mut) {
        if let Some(choices) = field.remove("oneOf") {
            let (values, titles) = values_and_titles(&choices);
            field.insert("enum".into(), values);
            field.insert("enumNames".into(), titles);
        }
        if let Some(items) = field.remove("items") {
            let (values, _) = values_and_titles(&items["anyOf"]);
            let before = field.get("description").and_then(Value::as_str).unwrap_or_default();
            let description = format!("{before} Any of these, separated by commas: {values}");
            field.retain(|name, _| name == "title");
            field.insert("type".into(), "string".into());
            field.insert("description".into(), description.trim_start().into());
        }
    }
    schema
}

fn values_and_titles(choices: &Value) -> (Value, Value) {
    let choices = choices.as_array().map(Vec::as_slice).unwrap_or_default();
    let all = |name: &str| choices.iter().map(|choice| choice[name].clone()).collect();
    (all("const"), all("title"))
}

#[cfg(test)]
mod tests {
    use agent_client_protocol_schema::v1::{
        EnumOption, MultiSelectPropertySchema, StringPropertySchema,
    };
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn an_earlier_version_gets_choices_with_a_list_of_names() {
        let options = || vec![EnumOption::new("a", "The A"), EnumOption::new("b", "The B")];
        let schema = ElicitationSchema::new()
            .property("one", StringPropertySchema::new().one_of(options()), true)
            .property("many", MultiSelectPropertySchema::titled(options()).title("M"), false)
            .property("text", StringPropertySchema::new().title("T"), false);
        let schema = without_titled_choices(serde_json::to_value(schema).unwrap());
        assert_eq!(
            schema["properties"],
            json!({
                "one": {"type": "string", "enum": ["a", "b"], "enumNames": ["The A", "The B"]},
                "many": {
                    "type": "string", "title": "M",
                    "description": "Any of these, separated by commas: [\"a\",\"b\"]",
                },
                "text": {"type": "string", "title": "T"},
            })
        );
        assert_eq!(schema["required"], json!(["one"]));
    }
}
