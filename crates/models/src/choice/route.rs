//! From what was asked for to who answers. Pure.

use crate::catalog::{self, OPENAI};
use crate::configs::{ModelConfigs, Purpose};
use crate::names;

/// Who answers when the name does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// The Gemini API.
    Gemini,
    /// OpenAI, or the service at `OPENAI_BASE_URL`.
    OpenAi,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// The Gemini API; what the configuration is looked up by.
    Gemini(String),
    /// A vendor of the catalog.
    Vendor {
        /// Its id.
        id: &'static str,
        /// The model; none for the vendor's choice.
        name: Option<String>,
        /// The alias whose configuration holds for it.
        alias: Option<String>,
    },
    /// The model of this name on whichever server of this machine has it.
    Local(String),
}

/// What the choice depends on beside the name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doors {
    /// Who answers when the name does not say.
    pub(crate) default: Door,
    /// There is a key for OpenAI.
    pub(crate) has_openai: bool,
}

/// Finds who answers. `VENDOR/NAME` and `local/NAME` say so themselves; with keys for both Gemini and
/// OpenAI, names that only OpenAI's list knows go there.
pub(crate) fn route(requested: &str, configs: &ModelConfigs, doors: Doors) -> Route {
    let name = requested.trim();
    if let Some(local) = name.strip_prefix("local/") {
        return Route::Local(local.trim().to_owned());
    }
    if let Some(gemini) = name.strip_prefix("gemini/") {
        return Route::Gemini(alias(gemini, configs).to_owned());
    }
    if let Some((id, name)) = catalog::split(name) {
        return Route::Vendor { id, name: Some(name.to_owned()), alias: None };
    }
    let known = configs.knows(name);
    if known
        && let Ok(resolved) = configs.resolve(name, Purpose::default())
        && let Some((id, model)) = catalog::split(&resolved.model)
    {
        return Route::Vendor { id, name: Some(model.to_owned()), alias: Some(name.to_owned()) };
    }
    match doors.default {
        Door::OpenAi => {
            // Names that stand for Gemini models stand for the vendor's choice here.
            let stands_for_another = known || names::is_auto(name) || names::resolve(name) != name;
            let name = (!stands_for_another).then(|| name.to_owned());
            Route::Vendor { id: OPENAI, name, alias: None }
        }
        Door::Gemini if doors.has_openai && !known && is_openais(name) => {
            Route::Vendor { id: OPENAI, name: Some(name.to_owned()), alias: None }
        }
        Door::Gemini => Route::Gemini(alias(name, configs).to_owned()),
    }
}

/// What is asked for in a side call: the configuration, unless the conversation is with a vendor that knows none of
/// Gemini's. Then its own model answers, except where the configuration names a vendor itself.
pub(crate) fn beside<'a>(
    alias: &'a str,
    main: &'a str,
    configs: &ModelConfigs,
    doors: Doors,
) -> &'a str {
    let is_geminis = matches!(route(main, configs, doors), Route::Gemini(_));
    let names_a_vendor =
        matches!(route(alias, configs, doors), Route::Vendor { alias: Some(_), .. });
    if is_geminis || names_a_vendor { alias } else { main }
}

/// What the configuration of a requested model is looked up by.
pub(crate) fn alias<'a>(requested: &'a str, configs: &ModelConfigs) -> &'a str {
    let requested = requested.trim();
    if configs.knows(requested) && !names::is_auto(requested) {
        requested
    } else {
        names::resolve(requested)
    }
}

fn is_openais(name: &str) -> bool {
    catalog::vendor(OPENAI).is_ok_and(|vendor| vendor.knows(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(requested: &str, default: Door, has_openai: bool) -> String {
        let configs = ModelConfigs::new(Some(&json!({"customAliases": {
            "mine": {"modelConfig": {"model": "groq/m"}}
        }})));
        match route(requested, &configs, Doors { default, has_openai }) {
            Route::Gemini(alias) => format!("gemini {alias}"),
            Route::Vendor { id, name, alias } => {
                let name = name.as_deref().unwrap_or("*");
                alias.map_or(format!("{id} {name}"), |alias| format!("{id} {name} as {alias}"))
            }
            Route::Local(name) => format!("local {name}"),
        }
    }

    #[test]
    fn names_find_who_answers() {
        use Door::{Gemini, OpenAi};
        for (requested, default, has_openai, expected) in [
            ("auto", Gemini, true, "gemini gemini-3.1-pro-preview"),
            ("gpt-5", Gemini, true, "openai gpt-5"),
            ("gpt-5", Gemini, false, "gemini gpt-5"),
            ("mystery", Gemini, true, "gemini mystery"),
            ("gemini-2.5-pro", Gemini, true, "gemini gemini-2.5-pro"),
            ("classifier", Gemini, true, "gemini classifier"),
            ("auto", OpenAi, true, "openai *"),
            ("flash", OpenAi, true, "openai *"),
            ("classifier", OpenAi, true, "openai *"),
            ("mystery", OpenAi, true, "openai mystery"),
            ("gemini/pro", OpenAi, true, "gemini gemini-3.1-pro-preview"),
            ("openai/gpt-5", Gemini, false, "openai gpt-5"),
            ("openrouter/a/b", OpenAi, true, "openrouter a/b"),
            ("mine", Gemini, false, "groq m as mine"),
            ("local/qwen3:8b", Gemini, false, "local qwen3:8b"),
            ("models/gemini-2.5-pro", Gemini, true, "gemini gemini-2.5-pro"),
            ("tunedModels/x", Gemini, true, "gemini tunedModels/x"),
        ] {
            assert_eq!(shown(requested, default, has_openai), expected, "{requested}");
        }
    }

    #[test]
    fn side_calls_stay_with_the_vendor_of_the_conversation() {
        let configs = ModelConfigs::new(Some(&json!({"customAliases": {
            "web-search": {"modelConfig": {"model": "groq/m"}}
        }})));
        for (alias, main, default, expected) in [
            ("web-fetch", "auto", Door::Gemini, "web-fetch"),
            ("web-fetch", "gemini-2.5-pro", Door::Gemini, "web-fetch"),
            ("web-fetch", "groq/llama", Door::Gemini, "groq/llama"),
            ("web-fetch", "local/qwen3", Door::Gemini, "local/qwen3"),
            ("web-fetch", "auto", Door::OpenAi, "auto"),
            ("web-search", "local/qwen3", Door::Gemini, "web-search"),
        ] {
            let doors = Doors { default, has_openai: true };
            assert_eq!(beside(alias, main, &configs, doors), expected, "{alias} beside {main}");
        }
    }
}
