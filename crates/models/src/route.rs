//! Mapping of the requested name to a vendor and a model. Pure.

use pollux_protocol::plain_text::{one_line, visible};
use pollux_protocol::{ModelError, ModelErrorKind, spelling};

use crate::catalog::{self, Family, GEMINI, VERTEX, VERTEX_ANTHROPIC, Vendor};
use crate::configs::{ModelConfigs, Purpose};
use crate::names;
use crate::prices::LOCAL;

/// Target of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// Vendor of the catalog.
    Vendor {
        /// Id of the vendor.
        id: &'static str,
        /// Name of the model; `None` for the vendor's default. For Google, the name by which the
        /// configuration is looked up.
        name: Option<String>,
        /// Alias whose configuration is used.
        alias: Option<String>,
    },
    /// Model of this name on any server of this machine.
    Local(String),
    /// Name with a prefix that is not a vendor.
    UnknownVendor(String),
}

impl Route {
    fn to(id: &'static str, name: impl Into<String>) -> Self {
        Self::Vendor { id, name: Some(name.into()), alias: None }
    }

    /// True if the target is the vendor that needs a sign-in to Google.
    pub(crate) fn is_gemini_api(&self) -> bool {
        matches!(self, Self::Vendor { id, .. } if *id == GEMINI)
    }

    /// True if the target is a Gemini model: the abbreviations and configurations that come with
    /// the program apply to it.
    pub(crate) fn is_geminis(&self) -> bool {
        matches!(self, Self::Vendor { id, .. } if family(id) == Family::Gemini)
    }
}

/// Inputs of the choice besides the name.
#[derive(Debug, Clone)]
pub(crate) struct Defaults {
    /// Id of the vendor that is used if the name does not determine one.
    pub(crate) vendor: &'static str,
    /// True if the user has set the address of `vendor`. The models of a gateway may have names
    /// with slashes.
    pub(crate) is_gateway: bool,
    /// Vendors with a key whose models may be named without the vendor prefix.
    pub(crate) bare: Vec<&'static Vendor>,
}

/// Beginnings of the names of Google's resources, which contain slashes.
const RESOURCES: [&str; 5] = ["endpoints", "models", "projects", "publishers", "tunedModels"];

/// Returns the target of a request. `VENDOR/NAME` and `local/NAME` name the vendor themselves. With
/// keys for both Gemini and OpenAI, names that only OpenAI's list contains go to OpenAI.
pub(crate) fn route(requested: &str, configs: &ModelConfigs, defaults: &Defaults) -> Route {
    let name = requested.trim();
    if let Some(local) = catalog::after_prefix(name, LOCAL) {
        return Route::Local(local.trim().to_owned());
    }
    if let Some(gemini) = catalog::after_prefix(name, GEMINI) {
        return Route::to(GEMINI, alias(gemini, configs));
    }
    if let Some((id, name)) = catalog::split(name) {
        return match family(id) {
            Family::Gemini if is_claude_on(id, name) => Route::to(VERTEX_ANTHROPIC, name),
            Family::Gemini => Route::to(id, alias(name, configs)),
            Family::Other => Route::to(id, name),
        };
    }
    let known = configs.knows(name);
    let resolved = known.then(|| configs.resolve(name, Purpose::default()).ok()).flatten();
    let target = resolved.as_ref().map_or_else(|| alias(name, configs), |found| &found.model);
    if let Some((id, model)) = catalog::split(target).filter(|_| resolved.is_some()) {
        return Route::Vendor { id, name: Some(model.to_owned()), alias: Some(name.to_owned()) };
    }
    if names_unknown_vendor(target) && !defaults.is_gateway {
        return Route::UnknownVendor(target.to_owned());
    }
    if family(defaults.vendor) != Family::Gemini {
        // Names that mean Gemini models mean the vendor's default here.
        let stands_for_another = known || names::is_auto(name) || names::resolve(name) != name;
        let name = (!stands_for_another).then(|| name.to_owned());
        return Route::Vendor { id: defaults.vendor, name, alias: None };
    }
    match defaults.bare.iter().find(|vendor| !known && vendor.knows(name)) {
        Some(vendor) => Route::to(&vendor.id, name),
        None if is_claude_on(defaults.vendor, name) => Route::to(VERTEX_ANTHROPIC, name),
        None => Route::to(defaults.vendor, alias(name, configs)),
    }
}

/// True for a name with a slash that is not the name of a resource of Google.
fn names_unknown_vendor(name: &str) -> bool {
    name.split_once('/').is_some_and(|(prefix, _)| !RESOURCES.contains(&prefix))
}

/// Returns the error for the name in [`Route::UnknownVendor`].
pub(crate) fn unknown_vendor(name: &str) -> ModelError {
    let name = visible(&one_line(name));
    let (prefix, model) = name.split_once('/').unwrap_or((&name, ""));
    let ids = || catalog::ids().chain([LOCAL]);
    let prefix_in_lower_case = prefix.to_ascii_lowercase();
    let remedy = match spelling::nearest(&prefix_in_lower_case, ids()) {
        _ if model.trim().is_empty() => "Write a model as VENDOR/NAME.".to_owned(),
        Some(id) => format!("Did you mean {id}/{model}?"),
        None => format!("Known vendors: {}.", ids().collect::<Vec<_>>().join(", ")),
    };
    let message = format!("The model \"{name}\" has an unknown vendor. {remedy}");
    ModelError::new(ModelErrorKind::NotFound, message)
}

/// True for a model of Anthropic on Vertex AI, which is requested in Anthropic's dialect.
fn is_claude_on(vendor: &str, name: &str) -> bool {
    vendor == VERTEX && name.starts_with("claude-")
}

/// Returns the family of a vendor's models.
fn family(id: &str) -> Family {
    catalog::vendor(id).map(|vendor| vendor.family).unwrap_or_default()
}

/// Returns the name to request in a side call: the alias of the configuration, unless the vendor of
/// the conversation has no Gemini models. In that case the model of the conversation is used,
/// except if the configuration itself names a vendor.
pub(crate) fn side_model<'a>(
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

/// Returns the name by which the configuration of a requested model is looked up.
pub(crate) fn alias<'a>(requested: &'a str, configs: &'a ModelConfigs) -> &'a str {
    let requested = requested.trim();
    if let Some(target) = configs.tables().resolve(requested) {
        target
    } else if configs.knows(requested) && !names::is_auto(requested) {
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
        Defaults { vendor, is_gateway: false, bare: openai.into_iter().collect() }
    }

    fn shown(requested: &str, vendor: &'static str, has_openai: bool) -> String {
        let configs = ModelConfigs::new(Some(&json!({"customAliases": {
            "mine": {"modelConfig": {"model": "groq/m"}},
            "wrong": {"modelConfig": {"model": "groqq/m"}}
        }})));
        match route(requested, &configs, &defaults(vendor, has_openai)) {
            Route::Vendor { id, name, alias } => {
                let name = name.as_deref().unwrap_or("*");
                alias.map_or(format!("{id} {name}"), |alias| format!("{id} {name} as {alias}"))
            }
            Route::Local(name) => format!("local {name}"),
            Route::UnknownVendor(name) => format!("unknown {name}"),
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
            ("vertex/claude-opus-4-5", GEMINI, true, "vertex-anthropic claude-opus-4-5"),
            ("claude-opus-4-5@20251101", VERTEX, true, "vertex-anthropic claude-opus-4-5@20251101"),
            ("vertex/gemini-2.5-pro", GEMINI, true, "vertex gemini-2.5-pro"),
            ("models/gemini-2.5-pro", GEMINI, true, "gemini gemini-2.5-pro"),
            ("tunedModels/x", GEMINI, true, "gemini tunedModels/x"),
            ("publishers/google/models/x", VERTEX, true, "vertex publishers/google/models/x"),
            ("Anthropic/opus", GEMINI, false, "anthropic opus"),
            ("GEMINI/pro", OPENAI, true, "gemini gemini-3.1-pro-preview"),
            ("Local/x", GEMINI, false, "local x"),
            ("antropic/opus", GEMINI, false, "unknown antropic/opus"),
            ("antropic/opus", OPENAI, true, "unknown antropic/opus"),
            ("meta-llama/x", VERTEX, false, "unknown meta-llama/x"),
            ("anthropic/", GEMINI, false, "unknown anthropic/"),
            ("wrong", GEMINI, false, "unknown groqq/m"),
        ] {
            assert_eq!(shown(requested, default, has_openai), expected, "{requested}");
        }
    }

    #[test]
    fn a_gateway_may_have_names_with_slashes() {
        for vendor in [GEMINI, OPENAI] {
            let defaults = Defaults { is_gateway: true, ..defaults(vendor, false) };
            let found = route("Qwen/Qwen3-32B", &ModelConfigs::new(None), &defaults);
            assert_eq!(found, Route::to(vendor, "Qwen/Qwen3-32B"));
        }
    }

    #[test]
    fn an_unknown_vendor_is_answered_with_a_similar_one() {
        for (name, expected) in [
            ("antropic/opus", "Did you mean anthropic/opus?"),
            ("OpenAl/gpt-5", "Did you mean openai/gpt-5?"),
            ("locl/qwen3", "Did you mean local/qwen3?"),
            ("acme/a/b", "Known vendors: gemini, vertex, "),
            ("anthropic/", "Write a model as VENDOR/NAME."),
        ] {
            let error = unknown_vendor(name);
            assert_eq!(error.kind, ModelErrorKind::NotFound);
            assert!(error.message.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_tables_of_the_user_come_first() {
        let setting = json!({"modelIdResolutions": {"pro": {"default": "gemini-2.5-pro"}}});
        let built_in = ModelConfigs::new(Some(&setting));
        let own = built_in.clone().with_tables(&setting);
        for (configs, expected) in [(built_in, "gemini-3.1-pro-preview"), (own, "gemini-2.5-pro")] {
            let Route::Vendor { name, .. } = route("pro", &configs, &defaults(GEMINI, false))
            else {
                panic!("a vendor")
            };
            assert_eq!(name.as_deref(), Some(expected));
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
            assert_eq!(
                side_model(alias, main, &configs, &defaults),
                expected,
                "{alias} beside {main}"
            );
        }
    }
}
