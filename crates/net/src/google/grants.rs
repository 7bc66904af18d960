//! Requests that turn credentials into an access token.

use serde_json::json;
use url::Url;

use super::assertion::assertion;
use super::file::{Credential, External, Impersonation, ServiceAccount, User};
use super::requests::Requests;
use super::subject::subject_token;
use super::{GoogleError, GoogleToken, now};

/// Permission to create tokens for service accounts.
const IAM_SCOPE: &str = "https://www.googleapis.com/auth/iam";
/// Audience of an assertion, whatever the address is that it is sent to.
const AUDIENCE: &str = "https://oauth2.googleapis.com/token";

/// Requests for tokens of credentials that are described by `who`.
pub(super) struct Grants<'a> {
    pub(super) requests: &'a Requests,
    /// Description of the credentials, for messages.
    pub(super) who: &'a str,
}

impl Grants<'_> {
    /// Returns an access token with these permissions.
    pub(super) async fn token(
        &self,
        credential: &Credential,
        scopes: &[String],
    ) -> Result<GoogleToken, GoogleError> {
        match credential {
            Credential::User(user) => self.user(user, scopes).await,
            Credential::ServiceAccount(account) => self.service_account(account, scopes).await,
            Credential::Impersonated(target, source) => {
                let needed = [IAM_SCOPE.to_owned()];
                let token = match &**source {
                    // A user's permissions were decided when the user signed in.
                    Credential::User(user) => self.user(user, &[]).await?,
                    Credential::ServiceAccount(account) => {
                        self.service_account(account, &needed).await?
                    }
                    Credential::External(external) => self.external(external, &needed).await?,
                    Credential::Impersonated(..) => {
                        let text = "An impersonated account cannot impersonate another one.";
                        return Err(GoogleError::Refused(text.to_owned()));
                    }
                };
                self.impersonated(target, &token, scopes).await
            }
            Credential::External(external) => self.external(external, scopes).await,
        }
    }

    async fn user(&self, user: &User, scopes: &[String]) -> Result<GoogleToken, GoogleError> {
        let scope = scopes.join(" ");
        let mut pairs = vec![("grant_type", "refresh_token")];
        let client = user.is_external.then(|| (user.client_id.clone(), user.client_secret.clone()));
        if !user.is_external {
            pairs.push(("client_id", &user.client_id));
            pairs.push(("client_secret", &user.client_secret));
        }
        pairs.push(("refresh_token", &user.refresh_token));
        // A file of gcloud has the permissions that the user agreed to; asking for others fails.
        if !scope.is_empty() && user.is_external {
            pairs.push(("scope", &scope));
        }
        let reply = self.requests.form(&user.token_url, &pairs, client.as_ref()).await?;
        reply.token(self.who)
    }

    async fn service_account(
        &self,
        account: &ServiceAccount,
        scopes: &[String],
    ) -> Result<GoogleToken, GoogleError> {
        let signed = assertion(account, AUDIENCE, &scopes.join(" "), now());
        let signed = signed
            .map_err(|cause| GoogleError::Refused(format!("Cannot use {}: {cause}", self.who)))?;
        let pairs = [
            ("assertion", signed.as_str()),
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ];
        self.requests.form(&account.token_url, &pairs, None).await?.token(self.who)
    }

    async fn external(
        &self,
        external: &External,
        scopes: &[String],
    ) -> Result<GoogleToken, GoogleError> {
        let subject = subject_token(self.requests, &external.source, &external.format).await?;
        // The exchanged token only creates another one.
        let scope = match external.impersonation {
            Some(_) => IAM_SCOPE.to_owned(),
            None => scopes.join(" "),
        };
        let project = external.user_project.as_ref().filter(|_| external.client.is_none());
        let options = project.map(|project| json!({"userProject": project}).to_string());
        let mut pairs = vec![
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("audience", &external.audience),
            ("scope", &scope),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("subject_token", &subject),
            ("subject_token_type", &external.subject_token_type),
        ];
        pairs.extend(options.as_deref().map(|options| ("options", options)));
        let client = external.client.as_ref();
        let reply = self.requests.form(&external.token_url, &pairs, client).await?;
        let token = reply.token(self.who)?;
        match &external.impersonation {
            Some(target) => self.impersonated(target, &token, scopes).await,
            None => Ok(token),
        }
    }

    async fn impersonated(
        &self,
        target: &Impersonation,
        token: &GoogleToken,
        scopes: &[String],
    ) -> Result<GoogleToken, GoogleError> {
        let body = json!({
            "delegates": target.delegates,
            "scope": scopes,
            "lifetime": format!("{}s", target.lifetime),
        });
        self.requests.json(&target.url, &body, token).await?.account_token(self.who)
    }

    /// Returns an ID token of a service account for an audience. `token` must be allowed to create
    /// it.
    pub(super) async fn id_token(
        &self,
        iam: &str,
        account: &str,
        audience: &str,
        token: &GoogleToken,
    ) -> Result<GoogleToken, GoogleError> {
        let url = Url::parse(iam).ok().and_then(|mut url| {
            let method = format!("{account}:generateIdToken");
            url.path_segments_mut().ok()?.pop_if_empty().extend([
                "v1",
                "projects",
                "-",
                "serviceAccounts",
                &method,
            ]);
            Some(url)
        });
        let url = url.ok_or_else(|| GoogleError::Refused(format!("{iam} is not an address.")))?;
        let body = json!({"audience": audience, "includeEmail": true});
        self.requests.json(&url, &body, token).await?.id_token(self.who)
    }
}
