//! Credentials for the requests to a vendor, and the errors when they are missing.
//!
//! The *method* of signing in to Google is selected by [`pollux_config::select_auth_type`]; this
//! module checks it and converts it to an [`Authoriser`]. Unlike in Gemini CLI, a key and a base
//! URL together simply work, and a `gateway` is not refused without a terminal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::HeaderName;
use http::header::AUTHORIZATION;
use pollux_config::environment::names;
use pollux_config::{AuthSettings, AuthType, Environment, replaced_auth_type, select_auth_type};
use pollux_net::{Authoriser, FixedCredentials};
use pollux_protocol::{ModelError, ModelErrorKind};

use crate::catalog::{SignIn, Vendor};
use crate::endpoint::{Endpoint, custom_address, custom_headers, secret};

mod google_cloud;
mod report;
mod stored;
mod token_command;

pub(crate) use google_cloud::project;
pub use google_cloud::with_google_client;
use token_command::TokenCommand;

pub use report::{FoundService, SignInReport, SignInWay};
pub(crate) use report::{Naming, found_service, report};
pub use stored::{FILE as GOOGLE_SIGN_IN, write_google_sign_in};

/// Page where a key for the Gemini API can be obtained.
pub(crate) const KEY_PAGE: &str = "https://aistudio.google.com/apikey";

const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

const ANTHROPIC_KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

/// Inputs of signing in.
#[derive(Debug, Clone)]
pub(crate) struct SignInContext {
    pub(crate) settings: AuthSettings,
    /// Variables, with the user's OAuth client at Google.
    pub(crate) environment: Environment,
    /// Setting or variable that names this client; `None` without one.
    pub(crate) google_client: Option<&'static str>,
    /// Path of the user's settings file, for messages; stored sign-ins are in the same folder.
    pub(crate) user_settings: PathBuf,
    /// Command that prints the token for gateways (`pollux.auth.tokenCommand`).
    pub(crate) token_command: Option<String>,
    /// Headers of requests to Vertex AI, from the settings.
    pub(crate) routing: Vec<(String, String)>,
}

impl SignInContext {
    /// Returns the file with the sign-in to Google.
    pub(crate) fn stored_sign_in(&self) -> PathBuf {
        self.user_settings.with_file_name(stored::FILE)
    }
}

/// Returns the authoriser of a vendor. Opens nothing: credentials that are not in the environment
/// are searched for when the first request is signed.
///
/// # Errors
/// [`ModelErrorKind::Auth`]: credentials are missing or cannot be sent, or another sign-in method
/// is enforced.
pub(crate) fn authoriser(
    vendor: &Vendor,
    context: &SignInContext,
) -> Result<Arc<dyn Authoriser>, ModelError> {
    let environment = &context.environment;
    if let Some(line) = token_command(vendor, context) {
        let folder = context.user_settings.parent().unwrap_or(Path::new("/"));
        let command = TokenCommand::new(line.to_owned(), folder.to_owned(), environment.clone());
        return Ok(Arc::new(command));
    }
    Ok(match vendor.sign_in {
        SignIn::Google => Arc::new(google(vendor, &key(context)?, environment)?),
        SignIn::Vertex => google_cloud::vertex(vendor, context)?,
        SignIn::CodeAssist => google_cloud::code_assist(context)?,
        SignIn::Key => Arc::new(bearer(vendor, environment)?),
        SignIn::Anthropic => Arc::new(anthropic(vendor, environment)?),
    })
}

/// Returns the command that prints the token for a vendor: one at an address of the user.
pub(crate) fn token_command<'a>(vendor: &Vendor, context: &'a SignInContext) -> Option<&'a str> {
    let is_gateway = custom_address(vendor, &context.environment).is_some();
    context.token_command.as_deref().filter(|_| is_gateway)
}

/// Checks that credentials are not sent over the internet without encryption. Keys may be sent to
/// private networks, where gateways and model servers often have no certificate. Any custom header
/// counts as a key.
///
/// # Errors
/// [`ModelErrorKind::Config`].
pub(crate) fn check_address(
    vendor: &Vendor,
    endpoint: &Endpoint,
    context: &SignInContext,
) -> Result<(), ModelError> {
    let environment = &context.environment;
    if endpoint.base().scheme() == "https" || endpoint.is_loopback() {
        return Ok(());
    }
    let sends_token = match vendor.sign_in {
        SignIn::Google | SignIn::Key | SignIn::Anthropic => false,
        SignIn::Vertex => crate::vertex::express_key(environment).is_none(),
        SignIn::CodeAssist => true,
    };
    let sends_key = used_variable(vendor, environment).is_some()
        || token_command(vendor, context).is_some()
        || !custom_headers(vendor, environment).is_empty();
    if !sends_token && (!sends_key || endpoint.is_private()) {
        return Ok(());
    }
    let source = vendor.base_url_variable.as_deref().unwrap_or("The address");
    let message = format!(
        "{source} is an http address, where credentials would be sent without encryption. Use https."
    );
    Err(ModelError::new(ModelErrorKind::Config, message))
}

/// Returns a key for Google in its own header and, if requested, also as a bearer token.
fn google(
    vendor: &Vendor,
    key: &str,
    environment: &Environment,
) -> Result<FixedCredentials, ModelError> {
    let mut credentials = FixedCredentials::none();
    // A header set by the user takes precedence.
    if !custom_headers(vendor, environment).contains_key(KEY_HEADER) {
        credentials = credentials.with(KEY_HEADER, secret(names::GEMINI_API_KEY, key)?);
    }
    let mechanism = environment.get(names::GEMINI_API_KEY_AUTH_MECHANISM);
    if mechanism == Some("bearer") && !key.is_empty() {
        let token = secret(names::GEMINI_API_KEY, &format!("Bearer {key}"))?;
        credentials = credentials.with(AUTHORIZATION, token);
    }
    Ok(credentials)
}

/// Returns a key as a bearer token. A service at a user-defined address may need no key.
fn bearer(vendor: &Vendor, environment: &Environment) -> Result<FixedCredentials, ModelError> {
    let Some(variable) = &vendor.key_variable else { return Ok(FixedCredentials::none()) };
    let key = environment.get(variable).unwrap_or_default().trim();
    if !key.is_empty() {
        let token = secret(variable, &format!("Bearer {key}"))?;
        return Ok(FixedCredentials::none().with(AUTHORIZATION, token));
    }
    without_key(vendor, environment)
}

/// Returns a key in its own header, or a token as a bearer token. Headers set by the user take
/// precedence.
fn anthropic(vendor: &Vendor, environment: &Environment) -> Result<FixedCredentials, ModelError> {
    let own = custom_headers(vendor, environment);
    let Some(variable) = used_variable(vendor, environment) else {
        return without_key(vendor, environment);
    };
    let credential = environment.get(variable).unwrap_or_default().trim();
    let is_key = vendor.key_variable.as_deref() == Some(variable);
    let mut credentials = FixedCredentials::none();
    if is_key && !own.contains_key(ANTHROPIC_KEY_HEADER) {
        credentials = credentials.with(ANTHROPIC_KEY_HEADER, secret(variable, credential)?);
    }
    let is_gateway = custom_address(vendor, environment).is_some();
    if (!is_key || is_gateway) && !own.contains_key(AUTHORIZATION) {
        let token = secret(variable, &format!("Bearer {credential}"))?;
        credentials = credentials.with(AUTHORIZATION, token);
    }
    Ok(credentials)
}

/// Returns the variable with the credentials of a vendor that are used; `None` if none is set.
pub(crate) fn used_variable<'a>(vendor: &'a Vendor, environment: &Environment) -> Option<&'a str> {
    let is_set = |name: &&String| !environment.get(name).unwrap_or_default().trim().is_empty();
    vendor.credential_variables().find(is_set).map(String::as_str)
}

/// Returns no credentials, for a service at a user-defined address, which may need none.
fn without_key(vendor: &Vendor, environment: &Environment) -> Result<FixedCredentials, ModelError> {
    if custom_address(vendor, environment).is_some() {
        return Ok(FixedCredentials::none());
    }
    let page = vendor.key_page.as_ref().map(|page| format!(" Get a key at {page}."));
    Err(refused(format!(
        "A model of {} is selected, but {} is not set.{}",
        vendor.name,
        vendor.key_variable.as_deref().unwrap_or_default(),
        page.unwrap_or_default()
    )))
}

/// Returns the method of signing in to Google, checked against the enforced one.
///
/// # Errors
/// [`ModelErrorKind::Auth`]: no method is chosen, another method is enforced, or the name is
/// unknown. Except for the missing key, the messages are those of Gemini CLI.
pub(crate) fn select(context: &SignInContext) -> Result<AuthType, ModelError> {
    let SignInContext { settings, environment, user_settings, .. } = context;
    let chosen = select_auth_type(settings, environment);
    let enforced = settings.enforced_type.as_deref();
    match (chosen, enforced) {
        (None, Some(enforced)) => Err(refused(format!(
            "The auth type '{enforced}' is enforced, but no authentication is configured."
        ))),
        (None, None) => Err(refused(format!(
            "No API key is set. Get one at {KEY_PAGE}, then run:\n  export GEMINI_API_KEY=KEY\nTo keep it, write the line GEMINI_API_KEY=KEY to {}\nWithout a key, use a model server on this machine with --model local/NAME. The subcommand demo shows the program at work. The key of another vendor, such as OPENAI_API_KEY, works as well.",
            user_settings.with_file_name(".env").display()
        ))),
        (Some(AuthType::Other(_)), _) => Err(refused("Invalid auth method selected.")),
        (Some(chosen), Some(enforced)) if chosen != AuthType::from_name(enforced) => {
            Err(mismatch(enforced, &chosen))
        }
        (Some(chosen), _) => Ok(chosen),
    }
}

/// Returns the message of Gemini CLI for a method that is not the enforced one.
fn mismatch(enforced: &str, current: &AuthType) -> ModelError {
    let current = current.as_str();
    refused(format!(
        "The enforced authentication type is '{enforced}', but the current type is '{current}'. Please re-authenticate with the correct type."
    ))
}

/// Returns the notice that a key is used instead of the requested sign-in method, if it is.
pub(crate) fn replacement_notice(
    settings: &AuthSettings,
    environment: &Environment,
) -> Option<String> {
    let replaced = replaced_auth_type(settings, environment)?;
    let (method, needed) = match &replaced {
        AuthType::OauthPersonal => ("the Google sign-in", "GOOGLE_CLOUD_PROJECT is not set"),
        AuthType::VertexAi => {
            ("Vertex AI", "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION are not both set")
        }
        AuthType::ComputeDefaultCredentials => {
            ("the credentials of the machine", "GEMINI_CLI_USE_COMPUTE_ADC is not set")
        }
        other => (other.as_str(), "it is not complete"),
    };
    let name = replaced.as_str();
    Some(format!(
        "The configuration selects {method} ({name}), but {needed}. GEMINI_API_KEY is used instead."
    ))
}

/// Returns the key for the Gemini API; empty for a gateway that needs no key.
///
/// # Errors
/// [`ModelErrorKind::Auth`]: the key is missing, or a method for another service is selected.
pub(crate) fn key(context: &SignInContext) -> Result<String, ModelError> {
    let SignInContext { settings, environment, .. } = context;
    let chosen = select(context)?;
    let key = environment.get(names::GEMINI_API_KEY).unwrap_or_default().trim().to_owned();
    let has_address = environment.non_empty(names::GOOGLE_GEMINI_BASE_URL).is_some();
    match chosen {
        AuthType::GeminiApiKey if key.is_empty() => Err(refused(format!(
            "When using Gemini API, you must specify the GEMINI_API_KEY environment variable. Get a key at {KEY_PAGE}."
        ))),
        AuthType::Gateway if !has_address => Err(refused(
            "The sign-in through a gateway is selected, but GOOGLE_GEMINI_BASE_URL is not set. Set it to the gateway's address.",
        )),
        AuthType::GeminiApiKey | AuthType::Gateway => Ok(key),
        AuthType::OauthPersonal | AuthType::VertexAi | AuthType::ComputeDefaultCredentials => {
            // The name of the model asks for the Gemini API: `gemini/NAME`.
            if settings.enforced_type.is_none() && !key.is_empty() {
                return Ok(key);
            }
            Err(refused(format!(
                "Models of the Gemini API need GEMINI_API_KEY. Get a key at {KEY_PAGE}, or name the model without gemini/."
            )))
        }
        AuthType::Other(_) => Err(refused("Invalid auth method selected.")),
    }
}

fn refused(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::Auth, message)
}

#[cfg(test)]
mod tests;
