//! Explanation of the sign-in: which one a run uses, and why not another one.

use pollux_config::{AuthType, replaced_auth_type, select_auth_type};
use pollux_net::google::{GoogleSetup, GoogleSource, find};
use serde::Serialize;

use super::google_cloud::setup;
use super::{SignInContext, authoriser, used_variable};
use crate::catalog::{self, CODE_ASSIST, GEMINI, VERTEX, Vendor};
use crate::prices::LOCAL;
use crate::vertex;

/// Description of the credentials that a command prints.
const TOKEN_COMMAND: &str = "the command in pollux.auth.tokenCommand";

/// Ways of signing in to Google: their names in the settings, what they are, and their vendors.
const GOOGLE: [(AuthType, &str, &str); 5] = [
    (AuthType::OauthPersonal, "Gemini Code Assist", CODE_ASSIST),
    (AuthType::VertexAi, "Vertex AI", VERTEX),
    (AuthType::GeminiApiKey, "Gemini API with a key", GEMINI),
    (AuthType::Gateway, "gateway for the Gemini API", GEMINI),
    (
        AuthType::ComputeDefaultCredentials,
        "Gemini Code Assist with the account of the machine",
        CODE_ASSIST,
    ),
];

/// Explanation of the sign-in of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignInReport {
    /// Way that the requested model uses; `None` if none is configured.
    pub used: Option<String>,
    /// Setting, variable or model that selected it.
    pub selected_by: Option<String>,
    /// All ways: those of Google, then the other vendors.
    pub ways: Vec<SignInWay>,
}

/// One way of signing in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignInWay {
    /// Name in `security.auth.selectedType`, or the id of the vendor.
    pub id: String,
    /// Name of the service.
    pub name: String,
    /// True if it is used.
    pub used: bool,
    /// True if nothing is missing.
    pub ready: bool,
    /// Credentials that are used or would be, without secrets.
    pub credentials: Option<String>,
    /// Reason why it is not used, or what is missing.
    pub reason: Option<String>,
}

/// Service that a run uses although nothing selects it: a credential is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundService {
    /// Name of the sign-in method in the settings, or id of the vendor.
    pub id: String,
    /// Message for the user: the service, the reason, and how to select another one.
    pub message: String,
    /// True for a key of the Gemini API without other credentials: everyone expects this choice.
    pub is_expected: bool,
}

/// Returns the service that a run uses because of its credentials alone; `None` if the settings or
/// a variable for this purpose select one. `default` is the vendor of models whose names contain
/// none. Opens nothing.
pub(crate) fn found_service(context: &SignInContext, default: &str) -> Option<FoundService> {
    let SignInContext { settings, environment, .. } = context;
    if settings.selected_type.is_some() || settings.enforced_type.is_some() {
        return None;
    }
    let chosen = select_auth_type(settings, environment);
    let (id, name, by) = match &chosen {
        Some(AuthType::OauthPersonal | AuthType::VertexAi | AuthType::Other(_)) => return None,
        // The message about the replaced method is enough.
        Some(_) if replaced_auth_type(settings, environment).is_some() => return None,
        Some(method) => {
            let (_, name, _) = GOOGLE.iter().find(|(known, ..)| known == method)?;
            (method.as_str(), *name, selected_by(context, method))
        }
        None => {
            let vendor = catalog::vendor(default).ok()?;
            (default, vendor.name.as_str(), selecting_variable(context, vendor)?)
        }
    };
    let others: Vec<&str> = catalog::all()
        .iter()
        .filter(|vendor| vendor.id != default)
        .filter_map(|vendor| used_variable(vendor, environment))
        .collect();
    let others_set = match others[..] {
        [] => String::new(),
        _ => format!(" (also set: {})", others.join(", ")),
    };
    let message = format!(
        "Using {name}, because {by} and nothing selects a service{others_set}. --model VENDOR/NAME selects another; docs/models.md has the order."
    );
    let is_expected = chosen == Some(AuthType::GeminiApiKey) && others.is_empty();
    Some(FoundService { id: id.to_owned(), message, is_expected })
}

/// Returns the variable that makes a vendor the default one, as a reason.
fn selecting_variable(context: &SignInContext, vendor: &Vendor) -> Option<String> {
    let mut variables = vendor.credential_variables().chain(&vendor.base_url_variable);
    let variable = variables.find(|name| context.environment.non_empty(name).is_some())?;
    Some(format!("{variable} is set"))
}

/// Model whose name selects its service, whatever else is configured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Naming<'a> {
    /// Id of the vendor, or [`LOCAL`].
    pub(crate) vendor: &'a str,
    /// Requested name.
    pub(crate) model: &'a str,
}

/// Explains the sign-in. `default` is the vendor of models whose names contain none; `naming` is
/// the requested model if its vendor is another one. Reads files of credentials; uses the network
/// only for the way that is used, and only on this machine.
pub(crate) async fn report(
    context: &SignInContext,
    default: Option<&str>,
    naming: Option<Naming<'_>>,
) -> SignInReport {
    let selected = select_auth_type(&context.settings, &context.environment);
    let chosen = match naming {
        Some(naming) => method_of(naming.vendor, selected.as_ref()),
        None => selected,
    };
    let by = match naming {
        Some(naming) => Some(format!("the model is {}", naming.model)),
        None => chosen.as_ref().map(|chosen| selected_by(context, chosen)),
    };
    let mut ways = Vec::new();
    for (method, name, vendor) in &GOOGLE {
        let is_used = chosen.as_ref() == Some(method);
        ways.push(google(context, method, name, vendor, is_used).await);
    }
    let google_is_used = ways.iter().any(|way| way.used);
    let vendors = catalog::all().iter().filter(|vendor| !vendor.sign_in.is_googles());
    let other_vendor = naming.map(|naming| naming.vendor).or(default);
    for vendor in vendors.filter(|vendor| !vendor.quirks.local) {
        ways.push(other(context, vendor));
    }
    ways.extend(naming.and_then(|naming| on_this_machine(naming.vendor)));
    if !google_is_used
        && let Some(way) = ways.iter_mut().find(|way| Some(way.id.as_str()) == other_vendor)
    {
        way.used = true;
        way.reason.take_if(|_| way.ready && context.settings.enforced_type.is_none());
    }
    let used = ways.iter().find(|way| way.used).map(|way| way.id.clone());
    let selected_by =
        by.or_else(|| selecting_variable(context, catalog::vendor(used.as_deref()?).ok()?));
    for way in ways.iter_mut().filter(|way| !way.used && way.ready && way.reason.is_none()) {
        way.reason = selected_by.as_ref().map(|by| format!("{by}, which takes precedence"));
    }
    SignInReport { used, selected_by, ways }
}

/// Returns the method of signing in to a service of Google: the selected one, if it is for this
/// service, otherwise the first one. `None` for other vendors.
fn method_of(vendor: &str, selected: Option<&AuthType>) -> Option<AuthType> {
    let mut methods = GOOGLE.iter().filter(|(.., of)| *of == vendor).map(|(method, ..)| method);
    let is_selected = |method: &&AuthType| selected == Some(*method);
    let first = methods.clone().next();
    methods.find(is_selected).or(first).cloned()
}

/// Returns the way to servers on this machine, which need no sign-in; `None` for other vendors.
fn on_this_machine(vendor: &str) -> Option<SignInWay> {
    let known = catalog::vendor(vendor).ok().filter(|known| known.quirks.local);
    let name = match known {
        Some(known) => known.name.clone(),
        None if vendor == LOCAL => "model server on this machine".to_owned(),
        None => return None,
    };
    let (used, ready, credentials, reason) = (false, true, None, None);
    Some(SignInWay { id: vendor.to_owned(), name, used, ready, credentials, reason })
}

/// Returns what selects a method of Google.
fn selected_by(context: &SignInContext, chosen: &AuthType) -> String {
    use pollux_config::environment::names;
    let SignInContext { settings, environment, .. } = context;
    if settings.selected_type.as_deref().map(AuthType::from_name).as_ref() == Some(chosen) {
        return format!("security.auth.selectedType is {}", chosen.as_str());
    }
    let variable = match chosen {
        AuthType::OauthPersonal => names::GOOGLE_GENAI_USE_GCA,
        AuthType::VertexAi => names::GOOGLE_GENAI_USE_VERTEXAI,
        AuthType::GeminiApiKey => names::GEMINI_API_KEY,
        AuthType::Gateway => names::GOOGLE_GEMINI_BASE_URL,
        _ if environment.is_true(names::CLOUD_SHELL) => names::CLOUD_SHELL,
        _ => names::GEMINI_CLI_USE_COMPUTE_ADC,
    };
    format!("{variable} is set")
}

async fn google(
    context: &SignInContext,
    method: &AuthType,
    name: &str,
    vendor: &str,
    is_used: bool,
) -> SignInWay {
    let mut way = SignInWay {
        id: method.as_str().to_owned(),
        name: name.to_owned(),
        used: is_used,
        ready: false,
        credentials: None,
        reason: None,
    };
    // As if the method were selected; a key must not replace it.
    let mut alone = context.clone();
    alone.settings.selected_type = Some(method.as_str().to_owned());
    if !is_used {
        alone.settings.enforced_type = Some(method.as_str().to_owned());
    }
    let checked = catalog::vendor(vendor).and_then(|vendor| authoriser(vendor, &alone));
    if let Err(error) = checked {
        way.reason = Some(on_one_line(&error.message));
        return way;
    }
    let of_command = catalog::vendor(vendor)
        .is_ok_and(|vendor| super::token_command(vendor, context).is_some())
        .then(|| Ok(Some(TOKEN_COMMAND.to_owned())));
    let found = match of_command {
        Some(found) => found,
        None => credentials(context, method, is_used).await,
    };
    match found {
        Ok(credentials) => (way.ready, way.credentials) = (true, credentials),
        Err(reason) => way.reason = Some(reason),
    }
    if let Some(enforced) = context.settings.enforced_type.as_deref()
        && AuthType::from_name(enforced) != *method
    {
        way.reason = Some(format!("security.auth.enforcedType allows only {enforced}"));
    }
    way
}

/// Returns a description of the credentials of a method.
async fn credentials(
    context: &SignInContext,
    method: &AuthType,
    is_used: bool,
) -> Result<Option<String>, String> {
    use pollux_config::environment::names;
    let environment = &context.environment;
    let has = |name| environment.non_empty(name).is_some();
    let mut setup = setup(environment);
    match method {
        AuthType::GeminiApiKey => return Ok(Some(names::GEMINI_API_KEY.to_owned())),
        AuthType::Gateway if has(names::GEMINI_API_KEY) => {
            return Ok(Some(names::GEMINI_API_KEY.to_owned()));
        }
        AuthType::VertexAi if vertex::express_key(environment).is_some() => {
            return Ok(Some(names::GOOGLE_API_KEY.to_owned()));
        }
        AuthType::OauthPersonal
            if environment.is_true(names::GOOGLE_GENAI_USE_GCA)
                && has(names::GOOGLE_CLOUD_ACCESS_TOKEN) =>
        {
            return Ok(Some(names::GOOGLE_CLOUD_ACCESS_TOKEN.to_owned()));
        }
        AuthType::OauthPersonal => {
            let path = context.stored_sign_in();
            if pollux_fs::info(&path).is_ok() {
                let renewed = match context.google_client {
                    Some(name) => format!(", renewed through the OAuth client in {name}"),
                    None => String::new(),
                };
                return Ok(Some(format!("the Google sign-in in {}{renewed}", path.display())));
            }
        }
        AuthType::ComputeDefaultCredentials => {
            setup = GoogleSetup { named_file: None, gcloud_file: None, ..setup };
        }
        AuthType::VertexAi => {}
        AuthType::Gateway | AuthType::Other(_) => return Ok(None),
    }
    // Nobody waits for a metadata server that is not used.
    setup.uses_metadata &= is_used || setup.is_metadata_named;
    match find(&setup).await {
        Ok(source) => Ok(Some(described(&source))),
        Err(error) => Err(on_one_line(&error.to_string())),
    }
}

fn described(source: &GoogleSource) -> String {
    let description = source.description();
    match source {
        GoogleSource::File { file, .. } => match file.account() {
            Some(account) => format!("{description}: {account}"),
            None => description,
        },
        GoogleSource::Machine => description,
    }
}

fn other(context: &SignInContext, vendor: &Vendor) -> SignInWay {
    let used = used_variable(vendor, &context.environment);
    let variable = used.or(vendor.key_variable.as_deref()).unwrap_or_default();
    let ready = authoriser(vendor, context).is_ok();
    let reason = match (&context.settings.enforced_type, ready) {
        (Some(enforced), _) if *enforced != vendor.id => {
            Some(format!("security.auth.enforcedType allows only {enforced}"))
        }
        (_, true) => Some(format!("used with --model {}/NAME", vendor.id)),
        (_, false) => Some(format!("{variable} is not set")),
    };
    SignInWay {
        id: vendor.id.clone(),
        name: vendor.name.clone(),
        used: false,
        ready,
        credentials: super::token_command(vendor, context)
            .map(|_| TOKEN_COMMAND)
            .or(used)
            .map(str::to_owned),
        reason,
    }
}

/// Returns a message whose lines follow each other on one line: each of them may name a remedy.
fn on_one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
