//! Request signing: the headers that identify the caller.
//!
//! Signing headers are made for each attempt and are not stored. Credentials that expire are
//! therefore renewed between two attempts, inside
//! [`HttpClient::send_signed`](crate::HttpClient::send_signed), without any work for the caller.

use std::fmt;

use async_trait::async_trait;
use http::{HeaderMap, HeaderName, HeaderValue};

use tokio_util::sync::CancellationToken;

use crate::client::{HttpClient, HttpRequest, Response};
use crate::error::{Error, StatusError};

/// Signs the requests to one service.
///
/// The futures may be dropped at any time, because the caller may cancel. Work that must not be
/// interrupted halfway, such as using up a refresh token, runs in a separate task.
#[async_trait]
pub trait Authoriser: fmt::Debug + Send + Sync {
    /// Returns the headers that sign one attempt. They replace headers of the request that have the
    /// same names.
    ///
    /// # Errors
    /// [`Error::Credentials`] when no credentials are available, with the remedy in the message.
    /// Network errors are returned unchanged, because another attempt may succeed.
    async fn authorise(&self, request: &HttpRequest) -> Result<HeaderMap, Error>;

    /// Reacts to an attempt that the service rejected with status 401 or 403. Called once for each
    /// such response.
    ///
    /// `signed_with` are the headers that signed the attempt: if another request has already
    /// renewed the credentials, they need not be renewed again.
    ///
    /// # Errors
    /// The same as for [`authorise`](Self::authorise): the credentials should have been renewed and
    /// could not be.
    async fn refused(
        &self,
        signed_with: &HeaderMap,
        refusal: &StatusError,
    ) -> Result<Renewal, Error>;
}

impl HttpClient {
    /// Like [`send`](Self::send), signed by `authoriser`. An attempt that is rejected with status
    /// 401 or 403 is repeated once if the authoriser has other credentials by then.
    ///
    /// # Errors
    /// The errors of [`send`](Self::send) and of the authoriser.
    pub async fn send_signed(
        &self,
        request: HttpRequest,
        authoriser: &dyn Authoriser,
        cancel: &CancellationToken,
    ) -> Result<Response, Error> {
        let sending = async {
            let signed_with = authoriser.authorise(&request).await?;
            match self.send(signed(&request, &signed_with), cancel).await {
                Err(Error::Status(refusal)) if matches!(refusal.status.as_u16(), 401 | 403) => {
                    match authoriser.refused(&signed_with, &refusal).await? {
                        Renewal::Unchanged => Err(Error::Status(refusal)),
                        Renewal::Renewed => {
                            let signed_with = authoriser.authorise(&request).await?;
                            self.send(signed(&request, &signed_with), cancel).await
                        }
                    }
                }
                outcome => outcome,
            }
        };
        cancel.run_until_cancelled(sending).await.unwrap_or(Err(Error::Cancelled))
    }
}

fn signed(request: &HttpRequest, headers: &HeaderMap) -> HttpRequest {
    let mut signed = request.clone();
    for (name, value) in headers {
        signed.headers.insert(name, value.clone());
    }
    signed
}

/// Result of [`Authoriser::refused`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// The credentials have changed: the attempt is repeated immediately.
    Renewed,
    /// The credentials are the same: the error is returned to the caller.
    Unchanged,
}

/// Credentials that never change, such as API keys: the same headers for each attempt.
#[derive(Debug, Clone, Default)]
pub struct FixedCredentials {
    headers: HeaderMap,
}

impl FixedCredentials {
    /// Returns an empty set of credentials, for services that need none.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns these credentials with one more header, whose value is marked as sensitive.
    #[must_use]
    pub fn with(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.headers.insert(name, value);
        self
    }
}

#[async_trait]
impl Authoriser for FixedCredentials {
    async fn authorise(&self, _request: &HttpRequest) -> Result<HeaderMap, Error> {
        Ok(self.headers.clone())
    }

    async fn refused(
        &self,
        _signed_with: &HeaderMap,
        _refusal: &StatusError,
    ) -> Result<Renewal, Error> {
        Ok(Renewal::Unchanged)
    }
}
