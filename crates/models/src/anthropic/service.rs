//! Service of one vendor in a run of the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::USER_AGENT;
use http::{HeaderName, HeaderValue};
use pollux_protocol::{CancellationToken, ModelError, RetryListener};

use super::refusal::Refusals;
use super::request::Encodings;
use crate::dialect::Connection;
use crate::exchange::Call;
use crate::openai::{Refusals as ServiceRefusals, first_model};

const VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// Version of the API that is requested if a service does not know the one in the catalog.
const OTHER_VERSION: HeaderValue = HeaderValue::from_static("2026-10-21");

/// Form of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseForm {
    /// Server-sent events.
    Stream,
    /// One JSON object.
    Whole,
}

impl ResponseForm {
    /// Returns the method of Vertex AI.
    fn vertex_method(self) -> &'static str {
        match self {
            Self::Stream => "streamRawPredict",
            Self::Whole => "rawPredict",
        }
    }
}

/// State that is shared by all models of the vendor.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) connection: Connection,
    pub(super) refusals: Arc<Refusals>,
    pub(super) encodings: Encodings,
    /// True if the service does not know the version in the catalog.
    wants_other_version: AtomicBool,
}

impl Service {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            refusals: Arc::new(Refusals(ServiceRefusals::new(&connection))),
            connection,
            encodings: Encodings::default(),
            wants_other_version: AtomicBool::new(false),
        }
    }

    /// Returns the call that requests a response in this form.
    pub(super) fn messages<'a>(
        &'a self,
        form: ResponseForm,
        model: &'a str,
        body: Vec<Bytes>,
        on_retry: Option<&'a RetryListener>,
        cancel: &'a CancellationToken,
    ) -> Call<'a> {
        let path = match &self.connection.vendor.models_path {
            None => "messages".to_owned(),
            Some(folder) => format!("{folder}/{model}:{}", form.vertex_method()),
        };
        let call = self.call(http::Method::POST, &path, body, model, cancel);
        Call { on_retry, ..call }
    }

    /// Returns the first model in the service's list that is for conversations.
    ///
    /// # Errors
    /// The errors of [`first_model`].
    pub(super) async fn first_model(
        &self,
        cancel: &CancellationToken,
    ) -> Result<String, ModelError> {
        let call = self.call(http::Method::GET, "models", Vec::new(), "", cancel);
        first_model(&self.connection, &self.refusals.0, call).await
    }

    /// Uses the other version of the API from now on. Returns false if it is already used.
    pub(super) fn change_version(&self) -> bool {
        !self.wants_other_version.swap(true, Ordering::Relaxed)
    }

    fn call<'a>(
        &'a self,
        method: http::Method,
        path: &str,
        body: Vec<Bytes>,
        model: &'a str,
        cancel: &'a CancellationToken,
    ) -> Call<'a> {
        let mut request = self.connection.endpoint.request(method, path, body);
        if let Some(agent) = self.connection.user_agent.naming(model) {
            request.headers.insert(USER_AGENT, agent);
        }
        if self.wants_other_version.load(Ordering::Relaxed) {
            request.headers.insert(VERSION, OTHER_VERSION);
        }
        let max_attempts = self.connection.exchange.max_attempts;
        Call { request, refusals: &*self.refusals, model, max_attempts, on_retry: None, cancel }
    }
}
