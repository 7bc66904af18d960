//! Signing requests: the headers that show who asks.
//!
//! Signing headers are made for each attempt and kept nowhere, so credentials that expire are renewed
//! between two attempts, inside [`HttpClient::send_signed`](crate::HttpClient::send_signed), and no caller
//! knows of it.

use std::fmt;

use async_trait::async_trait;
use http::{HeaderMap, HeaderName, HeaderValue};

use tokio_util::sync::CancellationToken;

use crate::client::{HttpClient, Request, Response};
use crate::error::{Error, StatusError};

/// Signs the requests to one service.
///
/// The futures may be dropped at any time, when a caller cancels. Work that must not be left half done,
/// such as using up a refresh token, runs in a task of its own.
#[async_trait]
pub trait Authoriser: fmt::Debug + Send + Sync {
    /// Returns the headers that sign one attempt. They replace headers of the request that have the same
    /// names.
    ///
    /// # Errors
    /// [`Error::Credentials`] when there are no credentials to be had, with the remedy; errors of the
    /// network as they are, since trying again may help there.
    async fn authorise(&self, request: &Request) -> Result<HeaderMap, Error>;

    /// Reacts to an attempt that the service answered with 401 or 403, once for each such answer.
    ///
    /// `signed_with` are the headers that signed the attempt: credentials that were renewed in the
    /// meantime, for another request, need not be renewed again.
    ///
    /// # Errors
    /// As for [`authorise`](Self::authorise): the credentials should have been renewed and could not be.
    async fn refused(
        &self,
        signed_with: &HeaderMap,
        refusal: &StatusError,
    ) -> Result<Renewal, Error>;
}

impl HttpClient {
    /// Like [`send`](Self::send), signed by `authoriser`. An attempt that is answered with 401 or 403 is made
    /// again, once, if the authoriser has other credentials by then.
    ///
    /// # Errors
    /// Those of [`send`](Self::send) and of the authoriser.
    pub async fn send_signed(
        &self,
        request: Request,
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

fn signed(request: &Request, headers: &HeaderMap) -> Request {
    let mut signed = request.clone();
    for (name, value) in headers {
        signed.headers.insert(name, value.clone());
    }
    signed
}

/// Outcome of a refusal for the credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// There are other credentials now: the attempt is made again at once.
    Renewed,
    /// There are no others: the refusal stands.
    Unchanged,
}

/// Credentials that never change, such as keys: the same headers for each attempt.
#[derive(Debug, Clone, Default)]
pub struct FixedCredentials {
    headers: HeaderMap,
}

impl FixedCredentials {
    /// For services that want no credentials.
    pub fn none() -> Self {
        Self::default()
    }

    /// These credentials with one more header, whose value is never shown.
    #[must_use]
    pub fn with(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.headers.insert(name, value);
        self
    }
}

#[async_trait]
impl Authoriser for FixedCredentials {
    async fn authorise(&self, _request: &Request) -> Result<HeaderMap, Error> {
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
