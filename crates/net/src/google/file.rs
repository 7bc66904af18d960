//! Files of Google credentials. Pure.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::addresses::{Service, checked, subject_address};
use super::{LOGIN, shown};

/// Address that gives tokens to users and service accounts.
const TOKEN: &str = "https://oauth2.googleapis.com/token";
/// The only universe that is supported: Google Cloud itself.
const UNIVERSE: &str = "googleapis.com";
/// Maximum lifetime of a token for a service account, in seconds.
const LONGEST_LIFE: u64 = 12 * 3600;
/// Maximum number of accounts through which another one is impersonated.
const MOST_DELEGATES: usize = 20;

/// Content of a file of credentials.
#[derive(Clone)]
pub struct GoogleFile {
    pub(super) credential: Credential,
    /// Project that the file belongs to.
    pub(super) project: Option<String>,
    /// Project that requests are billed to.
    pub(super) quota_project: Option<String>,
}

impl std::fmt::Debug for GoogleFile {
    /// Shows no secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = formatter.debug_struct("GoogleFile");
        fields.field("kind", &self.kind()).field("project", &self.project).finish_non_exhaustive()
    }
}

/// Credentials of one kind.
#[derive(Clone)]
pub(super) enum Credential {
    /// Refresh token of a user.
    User(User),
    /// Private key of a service account.
    ServiceAccount(ServiceAccount),
    /// Service account in whose place other credentials act.
    Impersonated(Impersonation, Box<Self>),
    /// Token of another identity provider, which is exchanged.
    External(Box<External>),
}

/// Refresh token of a user, with the client that it was given to.
#[derive(Clone)]
pub(super) struct User {
    pub(super) token_url: Url,
    pub(super) client_id: String,
    pub(super) client_secret: String,
    pub(super) refresh_token: String,
    /// True if the client signs in with a header: a user of another identity provider.
    pub(super) is_external: bool,
}

/// Private key of a service account.
#[derive(Clone)]
pub(super) struct ServiceAccount {
    pub(super) token_url: Url,
    pub(super) email: String,
    /// Id of the key.
    pub(super) key_id: Option<String>,
    /// Key in the PEM format.
    pub(super) key: String,
}

/// Service account in whose place other credentials act.
#[derive(Clone)]
pub(super) struct Impersonation {
    /// Address that creates access tokens for it.
    pub(super) url: Url,
    pub(super) delegates: Vec<String>,
    /// Lifetime of its tokens in seconds.
    pub(super) lifetime: u64,
}

/// Token of another identity provider.
#[derive(Clone)]
pub(super) struct External {
    pub(super) token_url: Url,
    pub(super) audience: String,
    pub(super) subject_token_type: String,
    pub(super) source: SubjectSource,
    pub(super) format: SubjectFormat,
    pub(super) client: Option<(String, String)>,
    pub(super) user_project: Option<String>,
    pub(super) impersonation: Option<Impersonation>,
}

/// Place of the token of another identity provider.
#[derive(Debug, Clone)]
pub(super) enum SubjectSource {
    File(String),
    Address { url: Url, headers: IndexMap<String, String> },
}

/// Form of the token of another identity provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SubjectFormat {
    Text,
    /// JSON object with the token in this field.
    Json(String),
}

impl GoogleFile {
    /// Returns the kind of the credentials, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.credential {
            Credential::User(User { is_external: false, .. }) => "authorized user",
            Credential::User(_) => "user of another identity provider",
            Credential::ServiceAccount(_) => "service account",
            Credential::Impersonated(..) => "impersonated service account",
            Credential::External(_) => "workload identity federation",
        }
    }

    /// Returns the account, where the file names it.
    pub fn account(&self) -> Option<&str> {
        match &self.credential {
            Credential::ServiceAccount(account) => Some(&account.email),
            Credential::Impersonated(impersonation, _) => impersonation.account(),
            Credential::External(external) => external.impersonation.as_ref()?.account(),
            Credential::User(_) => None,
        }
    }

    /// Returns the addresses that the credentials, or tokens of them, are sent to.
    pub fn addresses(&self) -> Vec<&Url> {
        let mut found = Vec::new();
        self.credential.add_addresses(&mut found);
        found
    }

    /// Returns the project that the credentials belong to, where the file names it.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }
}

impl Credential {
    fn add_addresses<'a>(&'a self, found: &mut Vec<&'a Url>) {
        match self {
            Self::User(user) => found.push(&user.token_url),
            Self::ServiceAccount(account) => found.push(&account.token_url),
            Self::Impersonated(target, source) => {
                found.push(&target.url);
                source.add_addresses(found);
            }
            Self::External(external) => {
                found.push(&external.token_url);
                found.extend(external.impersonation.as_ref().map(|target| &target.url));
            }
        }
    }
}

impl Impersonation {
    /// Returns the address of the account, which is the last part of the path.
    fn account(&self) -> Option<&str> {
        let (account, _method) = self.url.path_segments()?.next_back()?.split_once(':')?;
        Some(account)
    }
}

/// Fields of all kinds of files.
#[derive(Deserialize)]
struct Fields {
    #[serde(rename = "type")]
    kind: Option<String>,
    universe_domain: Option<String>,
    project_id: Option<String>,
    quota_project_id: Option<String>,
    token_uri: Option<String>,
    token_url: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
    refresh_token: Option<String>,
    client_email: Option<String>,
    private_key_id: Option<String>,
    private_key: Option<String>,
    source_credentials: Option<Value>,
    delegates: Option<Vec<String>>,
    audience: Option<String>,
    subject_token_type: Option<String>,
    credential_source: Option<SourceFields>,
    service_account_impersonation_url: Option<String>,
    service_account_impersonation: Option<ImpersonationFields>,
    workforce_pool_user_project: Option<String>,
}

#[derive(Deserialize)]
struct ImpersonationFields {
    token_lifetime_seconds: Option<u64>,
}

#[derive(Deserialize)]
struct SourceFields {
    file: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: IndexMap<String, String>,
    format: Option<FormatFields>,
    executable: Option<Value>,
    environment_id: Option<String>,
    certificate: Option<Value>,
}

#[derive(Deserialize)]
struct FormatFields {
    #[serde(rename = "type")]
    kind: Option<String>,
    subject_token_field_name: Option<String>,
}

/// Reads the content of a file of credentials.
///
/// # Errors
/// The reason why it cannot be used, as the end of a sentence. It contains no secret.
pub fn read_google_file(bytes: &[u8]) -> Result<GoogleFile, String> {
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| format!("it is not JSON (line {}).", error.line()))?;
    read(value, true)
}

fn read(value: Value, may_impersonate: bool) -> Result<GoogleFile, String> {
    // The text of an error could contain a value of the file.
    let fields: Fields = serde_json::from_value(value)
        .map_err(|_| "it is not an object with the fields of Google credentials.".to_owned())?;
    let kind = fields.kind.as_deref().unwrap_or_default();
    if let Some(universe) = fields.universe_domain.as_deref().filter(|text| *text != UNIVERSE) {
        return Err(format!(
            "it is for the cloud {}, and Pollux supports {UNIVERSE} only.",
            shown(universe)
        ));
    }
    let credential = match kind {
        "authorized_user" => Credential::User(user(&fields)?),
        "external_account_authorized_user" => Credential::User(external_user(&fields)?),
        "service_account" => Credential::ServiceAccount(service_account(&fields)?),
        "impersonated_service_account" if may_impersonate => impersonated(&fields)?,
        "external_account" => Credential::External(Box::new(external(&fields)?)),
        "" => {
            return Err(format!(
                "it has no type. The file of an OAuth client is not a file of credentials: run `{LOGIN}`."
            ));
        }
        other => return Err(format!("the type \"{}\" is not supported.", shown(other))),
    };
    let Fields { project_id, quota_project_id, .. } = fields;
    Ok(GoogleFile { credential, project: project_id, quota_project: quota_project_id })
}

/// Returns a field that must be there.
fn required(name: &str, value: Option<&String>) -> Result<String, String> {
    let value = value.filter(|text| !text.is_empty());
    value.cloned().ok_or_else(|| format!("it has no {name}."))
}

fn user(fields: &Fields) -> Result<User, String> {
    let url = fields.token_uri.as_deref().unwrap_or(TOKEN);
    Ok(User {
        token_url: checked(Service::Token, "token_uri", url)?,
        client_id: required("client_id", fields.client_id.as_ref())?,
        client_secret: required("client_secret", fields.client_secret.as_ref())?,
        refresh_token: required("refresh_token", fields.refresh_token.as_ref())?,
        is_external: false,
    })
}

fn external_user(fields: &Fields) -> Result<User, String> {
    let url = required("token_url", fields.token_url.as_ref())?;
    let token_url = checked(Service::Exchange, "token_url", &url)?;
    let User { client_id, client_secret, refresh_token, .. } = user(fields)?;
    Ok(User { token_url, client_id, client_secret, refresh_token, is_external: true })
}

fn service_account(fields: &Fields) -> Result<ServiceAccount, String> {
    let url = fields.token_uri.as_deref().unwrap_or(TOKEN);
    Ok(ServiceAccount {
        token_url: checked(Service::Token, "token_uri", url)?,
        email: required("client_email", fields.client_email.as_ref())?,
        key_id: fields.private_key_id.clone(),
        key: required("private_key", fields.private_key.as_ref())?,
    })
}

fn impersonation(fields: &Fields) -> Result<Option<Impersonation>, String> {
    let name = "service_account_impersonation_url";
    let Some(text) = &fields.service_account_impersonation_url else { return Ok(None) };
    let url = checked(Service::Impersonation, name, text)?;
    let last = url.path_segments().and_then(|mut parts| parts.next_back());
    if !last.is_some_and(|last| last.ends_with(":generateAccessToken")) {
        return Err(format!("{name} is not the address of a service account."));
    }
    let delegates = fields.delegates.clone().unwrap_or_default();
    if delegates.len() > MOST_DELEGATES {
        return Err(format!("it has more than {MOST_DELEGATES} delegates."));
    }
    let lifetime = fields.service_account_impersonation.as_ref();
    let lifetime = lifetime.and_then(|fields| fields.token_lifetime_seconds).unwrap_or(3600);
    Ok(Some(Impersonation { url, delegates, lifetime: lifetime.clamp(600, LONGEST_LIFE) }))
}

fn impersonated(fields: &Fields) -> Result<Credential, String> {
    let target = impersonation(fields)?
        .ok_or_else(|| "it has no service_account_impersonation_url.".to_owned())?;
    let source = fields.source_credentials.clone();
    let source = source.ok_or_else(|| "it has no source_credentials.".to_owned())?;
    let source = read(source, false).map_err(|cause| format!("in source_credentials, {cause}"))?;
    Ok(Credential::Impersonated(target, Box::new(source.credential)))
}

fn external(fields: &Fields) -> Result<External, String> {
    let token_url = required("token_url", fields.token_url.as_ref())?;
    let source = fields.credential_source.as_ref();
    let source = source.ok_or_else(|| "it has no credential_source.".to_owned())?;
    let client = fields.client_id.clone();
    Ok(External {
        token_url: checked(Service::Exchange, "token_url", &token_url)?,
        audience: required("audience", fields.audience.as_ref())?,
        subject_token_type: required("subject_token_type", fields.subject_token_type.as_ref())?,
        format: subject_format(source)?,
        source: subject_source(source)?,
        client: client.map(|id| (id, fields.client_secret.clone().unwrap_or_default())),
        user_project: fields.workforce_pool_user_project.clone(),
        impersonation: impersonation(fields)?,
    })
}

fn subject_source(fields: &SourceFields) -> Result<SubjectSource, String> {
    let refuse = |what: &str| {
        Err(format!(
            "its credential_source is {what}, which Pollux does not support. Use a source with a file or a url."
        ))
    };
    if fields.executable.is_some() {
        return refuse("a program");
    }
    if fields.environment_id.is_some() {
        return refuse("a cloud's own signature (environment_id)");
    }
    if fields.certificate.is_some() {
        return refuse("a certificate");
    }
    match (&fields.file, &fields.url) {
        (Some(file), None) => Ok(SubjectSource::File(file.clone())),
        (None, Some(url)) => {
            let sends_secret = fields.headers.keys().any(|name| !is_harmless(name));
            let url = subject_address(url, sends_secret)?;
            Ok(SubjectSource::Address { url, headers: fields.headers.clone() })
        }
        _ => Err("its credential_source needs either a file or a url.".to_owned()),
    }
}

/// True for the headers with which metadata servers want to be asked; any other one may be a
/// secret.
fn is_harmless(name: &str) -> bool {
    ["metadata", "metadata-flavor", "accept"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn subject_format(fields: &SourceFields) -> Result<SubjectFormat, String> {
    let Some(format) = &fields.format else { return Ok(SubjectFormat::Text) };
    match format.kind.as_deref() {
        None | Some("text") => Ok(SubjectFormat::Text),
        Some("json") => {
            let name = format.subject_token_field_name.as_ref();
            Ok(SubjectFormat::Json(required("subject_token_field_name", name)?))
        }
        Some(other) => Err(format!("the format \"{}\" is not supported.", shown(other))),
    }
}

#[cfg(test)]
mod tests;
