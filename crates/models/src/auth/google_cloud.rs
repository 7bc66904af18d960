//! Signing in to Vertex AI and to Code Assist, with Google credentials.

use std::path::PathBuf;
use std::sync::Arc;

use http::header::AUTHORIZATION;
use pollux_config::environment::names;
use pollux_config::{AuthType, Environment, Settings, select_auth_type};
use pollux_net::google::{CLOUD_PLATFORM, GoogleAuthoriser, GoogleSetup, OAuthClient};
use pollux_net::{Authoriser, ClientOptions, FixedCredentials};
use pollux_protocol::{ModelError, ModelErrorKind};

use super::stored::StoredSignIn;
use super::{KEY_HEADER, SignInContext, mismatch, refused, select};
use crate::catalog::Vendor;
use crate::endpoint::{custom_headers, secret};
use crate::vertex;

/// Returns the Google Cloud project of the user. Code Assist does not know projects by their
/// numbers.
pub(crate) fn project(environment: &Environment) -> Option<String> {
    let names = [names::GOOGLE_CLOUD_PROJECT, names::GOOGLE_CLOUD_PROJECT_ID];
    let project = names.into_iter().find_map(|name| environment.non_empty(name))?;
    Some(project.trim().to_owned()).filter(|project| !project.is_empty())
}

/// Returns the environment with the user's OAuth client at Google: that of the variables, or else
/// that of the settings.
pub fn with_google_client(environment: &Environment, settings: &Settings) -> Environment {
    let text = |key| settings.text(key).map(str::trim).filter(|text| !text.is_empty());
    match text("pollux.auth.googleClientId") {
        Some(id) if environment.non_empty(names::POLLUX_GOOGLE_OAUTH_CLIENT_ID).is_none() => {
            let secret = text("pollux.auth.googleClientSecret").unwrap_or_default();
            environment
                .with(names::POLLUX_GOOGLE_OAUTH_CLIENT_ID, id)
                .with(names::POLLUX_GOOGLE_OAUTH_CLIENT_SECRET, secret)
        }
        _ => environment.clone(),
    }
}

/// Returns where Google credentials are, as the environment says.
pub(crate) fn setup(environment: &Environment) -> GoogleSetup {
    let lookup = |name: &str| environment.get(name).map(str::to_owned);
    let client = ClientOptions::from_environment(&lookup);
    GoogleSetup::from_environment(&lookup, environment.home().as_deref(), client)
}

/// Returns the authoriser for Vertex AI.
///
/// # Errors
/// [`ModelErrorKind::Auth`]: variables are missing or not valid, or another method is enforced.
pub(super) fn vertex(
    vendor: &Vendor,
    context: &SignInContext,
) -> Result<Arc<dyn Authoriser>, ModelError> {
    let SignInContext { settings, environment, .. } = context;
    if let Some(enforced) = settings.enforced_type.as_deref()
        && AuthType::from_name(enforced) != AuthType::VertexAi
    {
        return Err(mismatch(enforced, &AuthType::VertexAi));
    }
    vertex::check(environment)?;
    let Some(key) = vertex::express_key(environment) else {
        return tokens(setup(environment));
    };
    let credentials = FixedCredentials::none();
    // A header set by the user takes precedence.
    if custom_headers(vendor, environment).contains_key(KEY_HEADER) {
        return Ok(Arc::new(credentials));
    }
    Ok(Arc::new(credentials.with(KEY_HEADER, secret(names::GOOGLE_API_KEY, key)?)))
}

/// Returns the authoriser for Code Assist.
///
/// # Errors
/// [`ModelErrorKind::Auth`]: there is no sign-in to Google, or another method is enforced.
pub(super) fn code_assist(context: &SignInContext) -> Result<Arc<dyn Authoriser>, ModelError> {
    let environment = &context.environment;
    if project(environment).is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(refused(
            "GOOGLE_CLOUD_PROJECT is a project number. Set it to the id of the project, such as my-project.",
        ));
    }
    if code_assist_method(context)? == AuthType::ComputeDefaultCredentials {
        // The account of the machine, whatever files a user has.
        return tokens(GoogleSetup { named_file: None, gcloud_file: None, ..setup(environment) });
    }
    let token = environment.get(names::GOOGLE_CLOUD_ACCESS_TOKEN).unwrap_or_default();
    if environment.is_true(names::GOOGLE_GENAI_USE_GCA) && !token.trim().is_empty() {
        let bearer = format!("Bearer {}", token.trim());
        let bearer = secret(names::GOOGLE_CLOUD_ACCESS_TOKEN, &bearer)?;
        return Ok(Arc::new(FixedCredentials::none().with(AUTHORIZATION, bearer)));
    }
    let lookup = |name: &str| environment.get(name).map(str::to_owned);
    let client = OAuthClient::from_environment(&lookup);
    let client = client.map_err(|error| refused(error.to_string()))?;
    let stored = StoredSignIn::new(context.stored_sign_in(), client, setup(environment));
    Ok(Arc::new(stored.map_err(|error| invalid(&error))?))
}

/// Returns the method of signing in to Code Assist. If another service is selected, the name of the
/// model asks for Code Assist (`code-assist/NAME`): the user's credentials at Google are enough.
fn code_assist_method(context: &SignInContext) -> Result<AuthType, ModelError> {
    let SignInContext { settings, environment, .. } = context;
    let is_own = |method: &AuthType| {
        matches!(method, AuthType::OauthPersonal | AuthType::ComputeDefaultCredentials)
    };
    if select_auth_type(settings, environment).is_some_and(|chosen| is_own(&chosen)) {
        return select(context);
    }
    if let Some(name) = settings.enforced_type.as_deref() {
        let enforced = AuthType::from_name(name);
        return if is_own(&enforced) {
            Ok(enforced)
        } else {
            Err(mismatch(name, &AuthType::OauthPersonal))
        };
    }
    let GoogleSetup { named_file, gcloud_file, .. } = setup(environment);
    let is_there = |path: PathBuf| pollux_fs::info(&path).is_ok();
    if named_file.is_some()
        || [gcloud_file, Some(context.stored_sign_in())].into_iter().flatten().any(is_there)
    {
        return Ok(AuthType::OauthPersonal);
    }
    Err(refused(
        "Code Assist needs a sign-in to Google, and no credentials were found. Run gcloud auth application-default login, set GOOGLE_GENAI_USE_GCA=true, or set \"security.auth.selectedType\" to \"oauth-personal\".",
    ))
}

fn tokens(setup: GoogleSetup) -> Result<Arc<dyn Authoriser>, ModelError> {
    let authoriser = GoogleAuthoriser::new(setup, vec![CLOUD_PLATFORM.to_owned()]);
    Ok(Arc::new(authoriser.map_err(|error| invalid(&error))?))
}

fn invalid(error: &pollux_net::Error) -> ModelError {
    ModelError::new(ModelErrorKind::Config, error.to_string())
}
