//! From what was asked for to who answers. Pure.

use crate::catalog::{self, GEMINI, Vendor};
use crate::configs::{ModelConfigs, Purpose};
use crate::names;

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// A vendor of the catalog.
    Vendor {
        /// Its id.
        id: &'static str,
        /// The model; none for the vendor's choice. For Google it is what the configuration is looked up by.
        name: Option<String>,
        /// The alias whose configuration holds for it.
        alias: Option<String>,
    },
    /// The model of this name on whichever server of this machine has it.
    Local(String),
}

impl Route {
    fn to(id: &'static str, name: impl Into<String>) -> Self {
        Self::Vendor { id, name: Some(name.into()), alias: None }
    }

    /// True if the configurations that come with the program are for who answers.
    pub(crate) fn is_geminis(&self) -> bool {
        matches!(self, Self::Vendor { id, .. } if *id == GEMINI)
    }
}

/// What the choice depends on beside the name.
#[derive(Debug, Clone)]
pub(crate) struct Defaults {
    /// Id of the vendor that answers when the name does not say.
    pub(crate) vendor: &'static str,
    /// Vendors with a key whose models may be named without them.
    pub(crate) bare: Vec<&'static Vendor>,
}

/// Finds who answers. `VENDOR/NAME` and `local/NAME` say so themselves; with keys for both Gemini and
/// OpenAI, names that only OpenAI's list knows go there.
pub(crate) fn route(requested: &str, configs: &ModelConfigs, defaults: &Defaults) -> Route {
    let name = requested.trim();
    if let Some(local) = name.strip_prefix("local/") {
        return Route::Local(local.trim().to_owned());
    }
    if let Some(gemini) = name.strip_prefix("gemini/") {
        return Route::to(GEMINI, alias(gemini, configs));
    }
    if let Some((id, name)) = catalog::split(name) {
        return Route::to(id, name);
    }
    let known = configs.knows(name);
    if known
        && let Ok(resolved) = configs.resolve(name, Purpose::default())
        && let Some((id, model)) = catalog::split(&resolved.model)
    {
        return Route::Vendor { id, name: Some(model.to_owned()), alias: Some(name.to_owned()) };
    }
    if defaults.vendor != GEMINI {
        // Names that stand for Gemini models stand for the vendor's choice here.
        let stands_for_another = known || names::is_auto(name) || names::resolve(name) != name;
        let name = (!stands_for_another).then(|| name.to_owned());
        return Route::Vendor { id: defaults.vendor, name, alias: None };
    }
    match defaults.bare.iter().find(|vendor| !known && vendor.knows(name)) {
        Some(vendor) => Route::to(&vendor.id, name),
        None => Route::to(GEMINI, alias(name, configs)),
    }
}

/// What is asked for in a side call: the configuration, unless the conversation is with a vendor that knows none of
/// Gemini's. Then its own model answers, except where the configuration names a vendor itself.
pub(crate) fn beside<'a>(
    alias: &'a str,
    main: &'a str,
    configs: &ModelConfigs,
    defaults: &Defaults,
) -> &'a str {
    let is_geminis = route(main, configs, defaults).is_geminis();
    let names_a_vendor =
        matches!(route(alias, configs, defaults), Route::Vendor { alias: Some(_), .. });
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    use crate::catalog::OPENAI;

    fn defaults(vendor: &'static str, has_openai: bool) -> Defaults {
        let openai = has_openai.then(|| catalog::vendor(OPENAI).unwrap());
        Defaults { vendor, bare: openai.into_iter().collect() }
    }

    fn shown(requested: &str, vendor: &'static str, has_openai: bool) -> String {
        let configs = ModelConfigs::new(Some(&json!({"customAliases": {
            "mine": {"modelConfig": {"model": "groq/m"}}
        }})));
        match route(requested, &configs, &defaults(vendor, has_openai)) {
            Route::Vendor { id, name, alias } => {
                let name = name.as_deref().unwrap_or("*");
                alias.map_or(format!("{id} {name}"), |alias| format!("{id} {name} as {alias}"))
            }
            Route::Local(name) => format!("local {name}"),
        }
    }

    #[test]
    fn names_find_who_answers() {
        for (requested, default, has_openai, expected) in [
            ("auto", GEMINI, true, "gemini gemini-3.1-pro-preview"),
            ("gpt-5", GEMINI, true, "openai gpt-5"),
            ("gpt-5", GEMINI, false, "gemini gpt-5"),
            ("mystery", GEMINI, true, "gemini mystery"),
            ("gemini-2.5-pro", GEMINI, true, "gemini gemini-2.5-pro"),
            ("classifier", GEMINI, true, "gemini classifier"),
            ("auto", OPENAI, true, "openai *"),
            ("flash", OPENAI, true, "openai *"),
            ("classifier", OPENAI, true, "openai *"),
            ("mystery", OPENAI, true, "openai mystery"),
            ("gemini/pro", OPENAI, true, "gemini gemini-3.1-pro-preview"),
            ("openai/gpt-5", GEMINI, false, "openai gpt-5"),
            ("openrouter/a/b", OPENAI, true, "openrouter a/b"),
            ("mine", GEMINI, false, "groq m as mine"),
            ("local/qwen3:8b", GEMINI, false, "local qwen3:8b"),
            ("models/gemini-2.5-pro", GEMINI, true, "gemini gemini-2.5-pro"),
            ("tunedModels/x", GEMINI, true, "gemini tunedModels/x"),
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
            ("web-fetch", "auto", GEMINI, "web-fetch"),
            ("web-fetch", "gemini-2.5-pro", GEMINI, "web-fetch"),
            ("web-fetch", "groq/llama", GEMINI, "groq/llama"),
            ("web-fetch", "local/qwen3", GEMINI, "local/qwen3"),
            ("web-fetch", "auto", OPENAI, "auto"),
            ("web-search", "local/qwen3", GEMINI, "web-search"),
        ] {
            let defaults = defaults(default, true);
            assert_eq!(beside(alias, main, &configs, &defaults), expected, "{alias} beside {main}");
        }
    }
}
