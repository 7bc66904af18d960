//! Service behind a model, in the terms of OpenTelemetry's semantic conventions.

use pollux_config::{AuthType, Environment, Settings, names as variables, select_auth_type};
use pollux_models::catalog::{self, OPENAI};
use pollux_models::configs::{ModelConfigs, Purpose, Resolved};
use pollux_models::names;
use pollux_telemetry::{Service, Services};

/// Returns the function that describes the service of a model. The table of configurations is read
/// on first use.
pub(super) fn services(settings: &Settings, environment: &Environment) -> Services {
    let asked = settings.value("modelConfigs").cloned();
    let gemini = gemini(settings, environment);
    let environment = environment.clone();
    let mut configs = None;
    Box::new(move |requested| {
        let configs = configs.get_or_insert_with(|| ModelConfigs::new(asked.as_ref()));
        describe(requested, configs, gemini.as_ref(), &environment)
    })
}

fn describe(
    requested: &str,
    configs: &ModelConfigs,
    gemini: Option<&Service>,
    environment: &Environment,
) -> Service {
    let requested = requested.trim();
    if catalog::after_prefix(requested, "local").is_some() {
        return Service { provider: "local".to_owned(), ..Service::default() };
    }
    let named = catalog::after_prefix(requested, "gemini").unwrap_or(requested);
    let resolved = resolve(named, configs);
    let model = resolved.as_ref().map_or(requested, |resolved| &resolved.model);
    let vendor = catalog::split(requested).or_else(|| catalog::split(model));
    let mut service = match (vendor, gemini) {
        (Some((id, _)), _) => vendors(id, environment),
        (None, Some(gemini)) => gemini.clone(),
        (None, None) => vendors(OPENAI, environment),
    };
    // Requests to other vendors carry no settings, so that the vendor's defaults apply, except
    // those that a configured alias sets.
    if vendor.is_none() && gemini.is_some() || configs.knows(named) {
        service.settings = resolved.map(|resolved| resolved.config).unwrap_or_default();
    }
    service
}

fn resolve(requested: &str, configs: &ModelConfigs) -> Option<Resolved> {
    let is_alias = configs.knows(requested) && !names::is_auto(requested);
    let name = if is_alias { requested } else { names::resolve(requested) };
    configs.resolve(name, Purpose::default()).ok()
}

/// Returns the Gemini API by its public name, as in Gemini CLI, even if `GOOGLE_GEMINI_BASE_URL`
/// names another server; `None` if the run is not signed in for it.
fn gemini(settings: &Settings, environment: &Environment) -> Option<Service> {
    let (provider, address) = match select_auth_type(&settings.auth(), environment)? {
        AuthType::GeminiApiKey => {
            ("gcp.gen_ai", Some("generativelanguage.googleapis.com".to_owned()))
        }
        AuthType::VertexAi => {
            let location = environment.non_empty(variables::GOOGLE_CLOUD_LOCATION);
            let host = |location| format!("{location}-aiplatform.googleapis.com");
            ("gcp.vertex_ai", location.map(host))
        }
        AuthType::Other(_) => return None,
        AuthType::OauthPersonal | AuthType::ComputeDefaultCredentials | AuthType::Gateway => {
            ("gcp.gen_ai", None)
        }
    };
    let port = address.is_some().then_some(443);
    Some(Service { provider: provider.to_owned(), address, port, ..Service::default() })
}

fn vendors(id: &str, environment: &Environment) -> Service {
    let provider = match id {
        "mistral" => "mistral_ai",
        "xai" => "x_ai",
        other => other,
    };
    let base = catalog::vendor(id).ok().map(|vendor| {
        let variable = vendor.base_url_variable.as_deref();
        let own = variable.and_then(|variable| environment.non_empty(variable));
        own.unwrap_or(&vendor.base_url).to_owned()
    });
    let (address, port) = base.as_deref().and_then(host_and_port).unzip();
    Service { provider: provider.to_owned(), address, port, ..Service::default() }
}

/// Returns host and port of a URL; never the user information, which may hold credentials.
fn host_and_port(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let server = authority.rsplit('@').next()?;
    let usual = if scheme.eq_ignore_ascii_case("http") { 80 } else { 443 };
    let (host, port) = match server.rsplit_once(':') {
        // The colons of an IPv6 address are inside brackets.
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (server, usual),
    };
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn reported(requested: &str, signed_in: bool) -> String {
        let gemini = Service { provider: "gcp.gen_ai".to_owned(), ..Service::default() };
        let configs = ModelConfigs::new(Some(&serde_json::json!({"customAliases": {
            "mine": {"modelConfig": {
                "model": "groq/m", "generateContentConfig": {"temperature": 0.25}
            }}
        }})));
        let gemini = Some(&gemini).filter(|_| signed_in);
        let environment = Environment::from_pairs([("ANTHROPIC_BASE_URL", "http://gateway:81/v1")]);
        let service = describe(requested, &configs, gemini, &environment);
        let address = service.address.unwrap_or_default();
        let temperature = service.settings.get("temperature");
        let temperature = temperature.map(Value::to_string).unwrap_or_default();
        format!("{} {address} {temperature}", service.provider)
    }

    #[test]
    fn the_name_of_a_model_tells_who_answers() {
        for (requested, signed_in, expected) in [
            ("gemini-2.5-pro", true, "gcp.gen_ai  1"),
            ("gemini/unknown", true, "gcp.gen_ai  1"),
            ("auto", true, "gcp.gen_ai  1"),
            ("auto", false, "openai api.openai.com "),
            ("gpt-x", false, "openai api.openai.com "),
            ("mistral/large", true, "mistral_ai api.mistral.ai "),
            ("anthropic/sonnet", true, "anthropic gateway "),
            ("mine", true, "groq api.groq.com 0.25"),
            ("local/llama", true, "local  "),
        ] {
            assert_eq!(reported(requested, signed_in), expected, "{requested}");
        }
    }

    #[test]
    fn secrets_in_an_address_are_not_reported() {
        for (url, expected) in [
            ("https://api.x.ai/v1", Some(("api.x.ai", 443))),
            ("http://me:secret@proxy:8080/v1?key=1", Some(("proxy", 8080))),
            ("http://[::1]/v1", Some(("[::1]", 80))),
            ("http://[::1]:11434/v1", Some(("[::1]", 11434))),
            ("nonsense", None),
        ] {
            let expected = expected.map(|(host, port)| (host.to_owned(), port));
            assert_eq!(host_and_port(url), expected, "{url}");
        }
    }
}
