//! Roles: tasks beside the conversation, each of which may have a model of its own
//! (`pollux.roles`), also of another vendor.

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::catalog;

/// Roles, with the configurations that belong to them.
const ROLES: [(&str, &[&str]); 4] = [
    (
        "compressor",
        &[
            "chat-compression-3-pro",
            "chat-compression-3-flash",
            "chat-compression-3.1-flash-lite",
            "chat-compression-2.5-pro",
            "chat-compression-2.5-flash",
            "chat-compression-2.5-flash-lite",
            "chat-compression-default",
        ],
    ),
    ("router", &["classifier"]),
    ("judge", &["loop-detection", "loop-detection-double-check", "next-speaker-checker"]),
    ("editFixer", &["llm-edit-fixer"]),
];

/// Changes the configurations of the roles in `setting`, an object of names of models by role. A
/// model of another vendor does not get the parameters of the built-in configuration, which are
/// meant for Gemini models.
pub(super) fn assign(aliases: &mut IndexMap<String, Value>, setting: Option<&Value>) {
    for (role, names) in ROLES {
        let model = setting.and_then(|setting| setting.get(role)).and_then(Value::as_str);
        let Some(model) = model.map(str::trim).filter(|model| !model.is_empty()) else { continue };
        for name in names {
            let entry = aliases.entry((*name).to_owned()).or_insert_with(|| json!({}));
            if catalog::split(model).is_some() || !entry.is_object() {
                *entry = json!({});
            }
            if !entry["modelConfig"].is_object() {
                entry["modelConfig"] = json!({});
            }
            entry["modelConfig"]["model"] = json!(model);
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::configs::{ModelConfigs, Purpose};

    #[test]
    fn a_role_gets_its_model_and_keeps_the_parameters_of_gemini_models_only() {
        let mut configs = ModelConfigs::new(None);
        let setting =
            json!({"router": "openai/gpt-5-mini", "judge": "flash", "main": "x", "editFixer": 7});
        assign(&mut configs.aliases, Some(&setting));
        let resolved = |name: &str| {
            let resolved = configs.resolve(name, Purpose::default()).unwrap();
            (resolved.model, !resolved.config.is_empty())
        };
        assert_eq!(resolved("classifier"), ("openai/gpt-5-mini".to_owned(), false));
        assert_eq!(resolved("loop-detection"), ("flash".to_owned(), true));
        assert_eq!(resolved("loop-detection-double-check").0, "flash");
        assert_eq!(resolved("llm-edit-fixer").0, "gemini-3-flash-preview");
    }
}
