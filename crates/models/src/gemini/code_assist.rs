//! Code Assist: the Gemini API inside of another one, which works within a Google Cloud project.
//!
//! The facts are those of Gemini CLI 0.61. The project is the user's, or one that the service
//! manages and that is created when the user uses the service for the first time.

use std::time::Duration;

use bytes::Bytes;
use pollux_protocol::{CancellationToken, ModelError, ModelErrorKind};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use super::service::{Method, Service};
use crate::exchange::{Call, decode};

/// Attempts of a request that sets up the service.
const ATTEMPTS: u32 = 3;
/// Time between two questions whether the project was created.
const POLL: Duration = Duration::from_secs(5);
/// Maximum number of these questions.
const MOST_POLLS: usize = 60;
/// Tier whose project the service manages itself.
const FREE: &str = "free-tier";
/// Tier that is assumed if the service suggests none.
const LEGACY: &str = "legacy-tier";
/// Maximum length of the name of an operation.
const LONGEST_NAME: usize = 256;

/// State of the connection to Code Assist.
#[derive(Debug)]
pub(super) struct CodeAssist {
    /// Project of the user.
    own: Option<String>,
    /// Project of the requests, when it is known.
    project: OnceCell<Option<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Loaded {
    current_tier: Option<Tier>,
    #[serde(default)]
    allowed_tiers: Vec<Tier>,
    #[serde(default)]
    ineligible_tiers: Vec<Ineligible>,
    cloudaicompanion_project: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tier {
    id: Option<String>,
    #[serde(default)]
    is_default: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ineligible {
    reason_message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Operation {
    name: Option<String>,
    #[serde(default)]
    done: bool,
    response: Option<Onboarded>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Onboarded {
    cloudaicompanion_project: Option<Project>,
}

#[derive(Deserialize)]
struct Project {
    id: Option<String>,
}

impl CodeAssist {
    /// Creates the state; `own` is the project of the user.
    pub(super) fn new(own: Option<String>) -> Self {
        Self { own, project: OnceCell::new() }
    }

    /// Returns the project of the requests. The first call asks the service for it.
    ///
    /// # Errors
    /// The user may not use the service, or must name a project; the errors of the requests.
    pub(super) async fn project(
        &self,
        service: &Service,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, ModelError> {
        self.project.get_or_try_init(|| self.set_up(service, cancel)).await.cloned()
    }

    async fn set_up(
        &self,
        service: &Service,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, ModelError> {
        let body = self.with_metadata(Map::new(), true);
        let loaded: Loaded = match ask(service, ":loadCodeAssist", Some(body), cancel).await {
            Ok(loaded) => loaded,
            // A perimeter of the company forbids the question, but not the use of the service.
            Err(error) if is_perimeter(&error) && self.own.is_some() => {
                return Ok(self.own.clone());
            }
            Err(error) => return Err(error),
        };
        if loaded.current_tier.is_some() {
            return self.named(loaded.cloudaicompanion_project, &loaded.ineligible_tiers);
        }
        let mut allowed = loaded.allowed_tiers.into_iter();
        let tier = allowed.find(|tier| tier.is_default).and_then(|tier| tier.id);
        let tier = tier.unwrap_or_else(|| LEGACY.to_owned());
        let mut fields = Map::new();
        fields.insert("tierId".to_owned(), json!(tier));
        let body = self.with_metadata(fields, tier != FREE);
        let mut operation: Operation = ask(service, ":onboardUser", Some(body), cancel).await?;
        for _ in 0..MOST_POLLS {
            if operation.done {
                break;
            }
            let name = operation.name.as_deref().filter(|name| is_operation(name));
            let name = name.ok_or_else(|| broken("named no operation"))?.to_owned();
            if cancel.run_until_cancelled(tokio::time::sleep(POLL)).await.is_none() {
                return Err(ModelError::cancelled());
            }
            operation = ask(service, &name, None, cancel).await?;
        }
        if !operation.done {
            return Err(broken("did not finish setting up the account"));
        }
        let project = operation.response.and_then(|response| response.cloudaicompanion_project);
        self.named(project.and_then(|project| project.id), &loaded.ineligible_tiers)
    }

    /// Returns the project that the service named, otherwise the user's.
    fn named(
        &self,
        project: Option<String>,
        ineligible: &[Ineligible],
    ) -> Result<Option<String>, ModelError> {
        let project = project.filter(|project| !project.is_empty()).or_else(|| self.own.clone());
        if project.is_some() {
            return Ok(project);
        }
        let reasons: Vec<String> = ineligible
            .iter()
            .filter_map(|tier| tier.reason_message.as_deref())
            .map(|text| pollux_protocol::plain_text::one_line(text).chars().take(300).collect())
            .collect();
        let reasons = if reasons.is_empty() { String::new() } else { reasons.join(" ") + "\n" };
        let message = format!(
            "{reasons}This account needs a Google Cloud project for Code Assist. Set GOOGLE_CLOUD_PROJECT to its id."
        );
        Err(ModelError::new(ModelErrorKind::Auth, message))
    }

    /// Completes a body that sets up the service.
    fn with_metadata(&self, mut fields: Map<String, Value>, names_project: bool) -> Bytes {
        let mut metadata = Map::new();
        metadata.insert("ideType".to_owned(), json!("IDE_UNSPECIFIED"));
        metadata.insert("platform".to_owned(), json!("PLATFORM_UNSPECIFIED"));
        metadata.insert("pluginType".to_owned(), json!("GEMINI"));
        if let Some(project) = self.own.as_ref().filter(|_| names_project) {
            fields.insert("cloudaicompanionProject".to_owned(), json!(project));
            metadata.insert("duetProject".to_owned(), json!(project));
        }
        fields.insert("metadata".to_owned(), Value::Object(metadata));
        Value::Object(fields).to_string().into()
    }
}

/// Sends a request that sets up the service: a POST with a body, otherwise a GET.
async fn ask<T: DeserializeOwned>(
    service: &Service,
    path: &str,
    body: Option<Bytes>,
    cancel: &CancellationToken,
) -> Result<T, ModelError> {
    let method = if body.is_some() { http::Method::POST } else { http::Method::GET };
    let body = body.into_iter().collect();
    let request = service.connection.endpoint.request(method, path, body);
    let call = Call {
        request,
        refusals: &*service.refusals,
        model: "",
        max_attempts: ATTEMPTS,
        on_retry: None,
        cancel,
    };
    service.connection.exchange.ask(call, |body| decode(body)).await
}

/// True for a name that can be part of an address.
fn is_operation(name: &str) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_allowed) && !name.contains("..")
}

fn is_perimeter(error: &ModelError) -> bool {
    error.to_string().contains("SECURITY_POLICY_VIOLATED")
        || error
            .refusal
            .as_ref()
            .is_some_and(|refusal| refusal.message.contains("SECURITY_POLICY_VIOLATED"))
}

fn broken(what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Broken, format!("Code Assist {what}. Try again later."))
}

/// Returns the body of a request to Code Assist, without copying the inner one.
pub(super) fn wrap(
    method: Method,
    model: &str,
    project: Option<&str>,
    prompt: &str,
    body: Vec<Bytes>,
) -> Vec<Bytes> {
    let mut pieces = Vec::with_capacity(body.len() + 2);
    if method == Method::CountTokens {
        // `{"contents":…}` with the model as another key.
        let model = json!(format!("models/{model}"));
        pieces.push(Bytes::from(format!(r#"{{"request":{{"model":{model},"#)));
        let mut body = body.into_iter();
        pieces.extend(body.next().map(|first| first.slice(1..)));
        pieces.extend(body);
    } else {
        let mut fields = Map::new();
        fields.insert("model".to_owned(), json!(model));
        fields.extend(project.map(|project| ("project".to_owned(), json!(project))));
        if !prompt.is_empty() {
            fields.insert("user_prompt_id".to_owned(), json!(prompt));
        }
        let fields = Value::Object(fields).to_string();
        let head = fields.strip_suffix('}').unwrap_or_default();
        pieces.push(Bytes::from(format!(r#"{head},"request":"#)));
        pieces.extend(body);
    }
    pieces.push(Bytes::from_static(b"}"));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(method: Method, project: Option<&str>, prompt: &str) -> Value {
        let body = vec![Bytes::from(r#"{"contents":[{"#), Bytes::from(r#""role":"user"}]}"#)];
        let pieces = wrap(method, "m", project, prompt, body);
        serde_json::from_slice(&pieces.concat()).unwrap()
    }

    #[test]
    fn requests_are_wrapped() {
        let inner = json!({"contents": [{"role": "user"}]});
        assert_eq!(
            wrapped(Method::StreamGenerateContent, Some("p"), "id"),
            json!({"model": "m", "project": "p", "user_prompt_id": "id", "request": inner})
        );
        let bare = wrapped(Method::GenerateContent, None, "");
        assert_eq!(bare, json!({"model": "m", "request": inner}));
        assert_eq!(
            wrapped(Method::CountTokens, Some("p"), "id"),
            json!({"request": {"model": "models/m", "contents": [{"role": "user"}]}})
        );
    }

    #[test]
    fn names_of_operations_stay_below_the_address() {
        for (name, is_allowed) in [
            ("operations/abc-1.2", true),
            ("", false),
            ("../x", false),
            ("a?b", false),
            ("a:b", false),
            ("https://x", false),
        ] {
            assert_eq!(is_operation(name), is_allowed, "{name}");
        }
    }
}
