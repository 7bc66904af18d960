//! JSON schema of the settings, for editors.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::kind::{ObjectKind, SettingKind};
use super::setting::{Setting, SettingScope};
use super::tree::{Branch, Node, root};

/// Returns the schema of a settings file, JSON Schema draft 2020-12. The schema rejects unknown
/// keys, so that an editor marks them; the program itself keeps them.
pub fn json_schema() -> Value {
    let mut definitions = BTreeMap::new();
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of Pollux and Gemini CLI",
        "description": "A settings.json of the user, the project or the system.",
    });
    let mut properties = group(root(), &mut definitions);
    if let Some(hooks) = properties.get_mut("hooks") {
        // Hooks of events that this version does not know have the same form.
        hooks["additionalProperties"] =
            json!({"type": "array", "items": {"$ref": "#/$defs/HookGroup"}});
    }
    if let Some(telemetry) = properties.get_mut("telemetry") {
        let object = telemetry.take();
        *telemetry = json!({"anyOf": [{"type": "boolean"}, object]});
    }
    schema["type"] = json!("object");
    schema["additionalProperties"] = json!(false);
    schema["properties"] = Value::Object(properties);
    schema["$defs"] = json!(definitions);
    schema
}

type Definitions = BTreeMap<&'static str, Value>;

fn group(branch: &Branch, definitions: &mut Definitions) -> Map<String, Value> {
    let property = |(name, node): &(&'static str, Node)| {
        let schema = match node {
            Node::Setting(setting) => property(setting, definitions),
            Node::Group(below) => {
                let properties = group(below, definitions);
                json!({
                    "type": "object",
                    "additionalProperties": false,
                    "properties": properties,
                })
            }
        };
        ((*name).to_owned(), schema)
    };
    branch.children.iter().map(property).collect()
}

fn property(setting: &Setting, definitions: &mut Definitions) -> Value {
    let mut schema = kind(setting.kind, definitions);
    let mut description = setting.description.to_owned();
    if setting.scope == SettingScope::Remote {
        description.push_str(" Settings files cannot set it.");
    }
    match setting.needless {
        Some(reason) => description.extend([" Has no effect in Pollux: ", reason]),
        None if !setting.acted_on => {
            description.push_str(" Has no effect in this version of Pollux.");
        }
        None => {}
    }
    schema["description"] = json!(description);
    if let Some(default) = setting.default.to_value() {
        schema["default"] = default;
    }
    schema
}

fn kind(kind: SettingKind, definitions: &mut Definitions) -> Value {
    let mut below = |below: SettingKind| self::kind(below, definitions);
    match kind {
        SettingKind::Anything => json!({}),
        SettingKind::Boolean => json!({"type": "boolean"}),
        SettingKind::Number => json!({"type": "number"}),
        SettingKind::Text => json!({"type": "string"}),
        SettingKind::Choice(choices) => json!({"type": "string", "enum": choices}),
        SettingKind::List(items) => json!({"type": "array", "items": below(*items)}),
        SettingKind::Map(values) => {
            json!({"type": "object", "additionalProperties": below(*values)})
        }
        SettingKind::Either(kinds) => {
            let schemas: Vec<Value> = kinds.iter().map(|kind| below(*kind)).collect();
            json!({"anyOf": schemas})
        }
        SettingKind::Record(record) => {
            define(record, definitions);
            json!({"$ref": format!("#/$defs/{}", record.name)})
        }
    }
}

fn define(record: &ObjectKind, definitions: &mut Definitions) {
    if definitions.contains_key(record.name) {
        return;
    }
    let mut properties = Map::new();
    for field in record.fields {
        properties.insert(field.name.to_owned(), kind(field.kind, definitions));
    }
    let required = record.fields.iter().filter(|field| field.is_required);
    let required: Vec<_> = required.map(|field| field.name).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if record.is_strict {
        schema["additionalProperties"] = json!(false);
    }
    definitions.insert(record.name, schema);
}
