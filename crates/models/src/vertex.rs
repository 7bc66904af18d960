//! Address of Vertex AI for a project and a region, and the headers that choose the kind of
//! capacity.

use pollux_config::environment::names;
use pollux_config::{Environment, Settings};
use pollux_protocol::{ModelError, ModelErrorKind};

use crate::auth::SignInContext;
use crate::catalog::Vendor;

/// Message of Gemini CLI for missing variables.
const INCOMPLETE: &str = "When using Vertex AI, you must specify either:\n• GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION environment variables.\n• GOOGLE_API_KEY environment variable (if using express mode).\nUpdate your environment and try again (no reload needed if using .env)!";

/// Settings that become headers.
const ROUTING: [(&str, &str); 2] = [
    ("billing.vertexAi.requestType", "x-vertex-ai-llm-request-type"),
    ("billing.vertexAi.sharedRequestType", "x-vertex-ai-llm-shared-request-type"),
];

/// Returns the headers that the settings ask for.
pub(crate) fn routing(settings: &Settings) -> Vec<(String, String)> {
    let header = |(key, name): &(&str, &str)| {
        let value = settings.text(key).filter(|text| !text.is_empty())?;
        Some(((*name).to_owned(), value.to_owned()))
    };
    ROUTING.iter().filter_map(header).collect()
}

/// Returns the key of the express mode, which needs no project.
pub(crate) fn express_key(environment: &Environment) -> Option<&str> {
    environment.get(names::GOOGLE_API_KEY).map(str::trim).filter(|key| !key.is_empty())
}

/// Returns project and location.
fn project(environment: &Environment) -> Option<(&str, &str)> {
    let value = |name| environment.non_empty(name).map(str::trim).filter(|text| !text.is_empty());
    let project = value(names::GOOGLE_CLOUD_PROJECT);
    let project = project.or_else(|| value(names::GOOGLE_CLOUD_PROJECT_ID));
    project.zip(value(names::GOOGLE_CLOUD_LOCATION))
}

/// Checks that the environment names a place and a way to sign in.
///
/// # Errors
/// [`ModelErrorKind::Auth`] with the message of Gemini CLI if variables are missing; for names that
/// cannot be part of an address.
pub(crate) fn check(environment: &Environment) -> Result<(), ModelError> {
    if express_key(environment).is_some() {
        return Ok(());
    }
    let Some((project, location)) = project(environment) else {
        return Err(ModelError::new(ModelErrorKind::Auth, INCOMPLETE));
    };
    for (variable, text, further) in [
        (names::GOOGLE_CLOUD_PROJECT, project, "-_.:"),
        (names::GOOGLE_CLOUD_LOCATION, location, "-"),
    ] {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || further.contains(letter);
        if text.contains("..") || !text.chars().all(is_name) {
            let message = format!(
                "{variable} is not valid. Set it to a name such as my-project or europe-west4."
            );
            return Err(ModelError::new(ModelErrorKind::Auth, message));
        }
    }
    Ok(())
}

/// Completes the catalog entry: the address of the region, the path of the project, the headers.
pub(crate) fn place(vendor: &mut Vendor, context: &SignInContext) {
    vendor.headers.extend(context.routing.iter().cloned());
    if express_key(&context.environment).is_some() {
        return;
    }
    let Some((project, location)) = project(&context.environment) else { return };
    let models = vendor.models_path.take().unwrap_or_default();
    vendor.models_path = Some(format!("projects/{project}/locations/{location}/{models}"));
    vendor.base_url = match location {
        "global" => return,
        "us" | "eu" => format!("https://aiplatform.{location}.rep.googleapis.com"),
        region => format!("https://{region}-aiplatform.googleapis.com"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{self, VERTEX};

    fn context(variables: &[(&str, &str)]) -> SignInContext {
        SignInContext {
            settings: pollux_config::AuthSettings { selected_type: None, enforced_type: None },
            environment: Environment::from_pairs(variables.iter().copied()),
            google_client: None,
            user_settings: "/h/.gemini/settings.json".into(),
            token_command: None,
            routing: vec![("x-vertex-ai-llm-request-type".to_owned(), "shared".to_owned())],
        }
    }

    /// The addresses are those of Google's client library (`google-genai` 3.6).
    #[test]
    fn the_address_follows_from_project_and_location() {
        let models = "publishers/google/models";
        for (project, location, key, base, path) in [
            ("p", "us-central1", "", "https://us-central1-aiplatform.googleapis.com", true),
            ("p", "global", "", "https://aiplatform.googleapis.com", true),
            ("p", "eu", "", "https://aiplatform.eu.rep.googleapis.com", true),
            ("p", "us", " ", "https://aiplatform.us.rep.googleapis.com", true),
            ("p", "us-central1", "k", "https://aiplatform.googleapis.com", false),
            ("", "", "k", "https://aiplatform.googleapis.com", false),
        ] {
            let variables = [
                ("GOOGLE_CLOUD_PROJECT", project),
                ("GOOGLE_CLOUD_LOCATION", location),
                ("GOOGLE_API_KEY", key),
            ];
            let context = context(&variables);
            check(&context.environment).unwrap();
            let mut vendor = catalog::vendor(VERTEX).unwrap().clone();
            place(&mut vendor, &context);
            let expected = format!("projects/{project}/locations/{location}/{models}");
            assert_eq!(vendor.base_url, base, "{variables:?}");
            let expected = if path { &*expected } else { models };
            assert_eq!(vendor.models_path.as_deref(), Some(expected), "{variables:?}");
            assert_eq!(vendor.headers["x-vertex-ai-llm-request-type"], "shared");
        }
    }

    #[test]
    fn what_cannot_be_part_of_an_address_is_refused() {
        for (project, location) in
            [("", "l"), ("p", ""), ("p", "evil.example/"), ("p", "l#"), ("../p", "l"), ("a b", "l")]
        {
            let variables =
                [("GOOGLE_CLOUD_PROJECT", project), ("GOOGLE_CLOUD_LOCATION", location)];
            assert!(check(&context(&variables).environment).is_err(), "{variables:?}");
        }
        let legacy = [("GOOGLE_CLOUD_PROJECT_ID", "example.com:p"), ("GOOGLE_CLOUD_LOCATION", "l")];
        assert!(check(&context(&legacy).environment).is_ok());
    }
}
