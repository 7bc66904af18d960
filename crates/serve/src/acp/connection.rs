//! Connection to a client: requests and notifications of the agent, and their answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, CancelRequestNotification, ClientCapabilities, Error, JsonRpcMessage,
    Notification, PROTOCOL_LEVEL_METHOD_NAMES, Request, RequestId, Response, SessionId,
    SessionNotification, SessionUpdate,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::outbox::{ClientGone, Outbox};

/// Reason why a request to the client has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    /// The client is gone, or did not answer in time.
    #[error("the client does not answer")]
    NoAnswer,
    /// The client has refused the request, with this error.
    #[error("{0}")]
    Refused(Error),
    /// The result does not have the shape of the protocol.
    #[error("the client's answer cannot be read: {0}")]
    Malformed(String),
}

/// Function that takes the answer to a request.
type Taker = Box<dyn FnOnce(Result<Box<RawValue>, Error>) + Send>;

/// Connection to a client.
pub(crate) struct Connection {
    outbox: Outbox,
    capabilities: Mutex<ClientCapabilities>,
    last_id: AtomicI64,
    /// Requests that wait for an answer; `None` after the last message of the client.
    waiting: Mutex<Option<HashMap<i64, Taker>>>,
}

impl Connection {
    pub(crate) fn new(outbox: Outbox) -> Self {
        Self {
            outbox,
            capabilities: Mutex::default(),
            last_id: AtomicI64::new(0),
            waiting: Mutex::new(Some(HashMap::new())),
        }
    }

    /// Returns the queue of messages to the client.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Returns what the client can do, as far as it is known.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        self.capabilities.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// True if the client can show forms.
    pub(crate) fn has_forms(&self) -> bool {
        self.capabilities().elicitation.is_some_and(|elicitation| elicitation.form.is_some())
    }

    pub(crate) fn set_capabilities(&self, capabilities: ClientCapabilities) {
        *self.capabilities.lock().unwrap_or_else(PoisonError::into_inner) = capabilities;
    }

    /// Answers a request of the client.
    pub(crate) async fn answer<R: Serialize>(
        &self,
        id: RequestId,
        result: Result<R, Error>,
    ) -> Result<(), ClientGone> {
        self.outbox.send(&JsonRpcMessage::wrap(Response::new(id, result))).await
    }

    /// Sends an update of a session.
    pub(crate) async fn update(
        &self,
        session: &SessionId,
        update: SessionUpdate,
    ) -> Result<(), ClientGone> {
        self.outbox.send(&JsonRpcMessage::wrap(update_of(session, update))).await
    }

    /// Sends an update of a session from a thread that cannot wait. It is dropped if far too many
    /// messages are waiting.
    pub(crate) fn update_now(&self, session: &SessionId, update: SessionUpdate) {
        // An update does not matter to a client that is gone.
        drop(self.outbox.send_now(&JsonRpcMessage::wrap(update_of(session, update))));
    }

    /// Sends a request and waits for its result. Dropping the future drops the result.
    pub(crate) async fn request<R: DeserializeOwned>(
        &self,
        method: &'static str,
        params: impl Serialize,
    ) -> Result<R, RequestError> {
        let (sender, receiver) = oneshot::channel();
        // Nobody waits for an answer that is dropped.
        let waiting = self.wait_for(Box::new(move |answer| drop(sender.send(answer))))?;
        let request =
            Request { id: waiting.id.into(), method: method.into(), params: Some(params) };
        self.outbox
            .send(&JsonRpcMessage::wrap(request))
            .await
            .map_err(|ClientGone| RequestError::NoAnswer)?;
        result(receiver.await.map_err(|_| RequestError::NoAnswer)?)
    }

    /// Sends a request and blocks the thread until its result arrives or the time limit is over.
    pub(crate) fn request_blocking<R: DeserializeOwned>(
        &self,
        method: &'static str,
        params: impl Serialize,
        limit: Duration,
    ) -> Result<R, RequestError> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let waiting = self.wait_for(Box::new(move |answer| drop(sender.send(answer))))?;
        let request =
            Request { id: waiting.id.into(), method: method.into(), params: Some(params) };
        match self.outbox.send_now(&JsonRpcMessage::wrap(request)) {
            Ok(true) => result(receiver.recv_timeout(limit).map_err(|_| RequestError::NoAnswer)?),
            Ok(false) | Err(ClientGone) => Err(RequestError::NoAnswer),
        }
    }

    /// Takes the answer to a request of the agent. Answers that nothing waits for are ignored.
    pub(crate) fn take_answer(&self, id: &RequestId, answer: Result<Box<RawValue>, Error>) {
        let RequestId::Number(id) = id else { return };
        let taker = self.waiting().as_mut().and_then(|waiting| waiting.remove(id));
        if let Some(taker) = taker {
            taker(answer);
        }
    }

    /// Ends the wait for all answers: the client sends no more messages.
    pub(crate) fn end_of_input(&self) {
        drop(self.waiting().take());
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<i64, Taker>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for(&self, taker: Taker) -> Result<Waiting<'_>, RequestError> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed);
        let mut waiting = self.waiting();
        waiting.as_mut().ok_or(RequestError::NoAnswer)?.insert(id, taker);
        Ok(Waiting { connection: self, id })
    }
}

/// Request that waits for its answer, until it is dropped.
struct Waiting<'a> {
    connection: &'a Connection,
    id: i64,
}

impl Drop for Waiting<'_> {
    /// Tells the client that the answer is of no interest any more.
    fn drop(&mut self) {
        let taker = self.connection.waiting().as_mut().and_then(|all| all.remove(&self.id));
        if taker.is_some() {
            let params = Some(CancelRequestNotification::new(self.id));
            let method = PROTOCOL_LEVEL_METHOD_NAMES.cancel_request.into();
            let withdrawal = Notification { method, params };
            // It does not matter to a client that is gone.
            drop(self.connection.outbox.send_now(&JsonRpcMessage::wrap(withdrawal)));
        }
    }
}

fn update_of(session: &SessionId, update: SessionUpdate) -> Notification<SessionNotification> {
    let params = Some(SessionNotification::new(session.clone(), update));
    Notification { method: CLIENT_METHOD_NAMES.session_update.into(), params }
}

fn result<R: DeserializeOwned>(answer: Result<Box<RawValue>, Error>) -> Result<R, RequestError> {
    let result = answer.map_err(RequestError::Refused)?;
    serde_json::from_str(result.get()).map_err(|error| RequestError::Malformed(error.to_string()))
}
