//! Connection to a client: requests and notifications to it, and the answers to requests.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    Error, JsonRpcMessage, Notification, Request, RequestId, Response,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
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

/// Function that returns the method and parameters of the notification that withdraws a request.
type Withdrawal = fn(i64) -> (&'static str, Value);

/// Connection to a client with capabilities of the type `C`.
pub(crate) struct Connection<C> {
    outbox: Outbox,
    capabilities: Mutex<C>,
    withdrawal: Withdrawal,
    last_id: AtomicI64,
    /// Requests that wait for an answer; `None` after the last message of the client.
    waiting: Mutex<Option<HashMap<i64, Taker>>>,
}

impl<C: Clone + Default> Connection<C> {
    pub(crate) fn new(outbox: Outbox, withdrawal: Withdrawal) -> Self {
        Self {
            outbox,
            capabilities: Mutex::default(),
            withdrawal,
            last_id: AtomicI64::new(0),
            waiting: Mutex::new(Some(HashMap::new())),
        }
    }

    /// Returns the queue of messages to the client.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Returns what the client can do, as far as it is known.
    pub(crate) fn capabilities(&self) -> C {
        self.capabilities.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_capabilities(&self, capabilities: C) {
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

    /// Sends a notification.
    pub(crate) async fn notify(
        &self,
        method: &'static str,
        params: impl Serialize,
    ) -> Result<(), ClientGone> {
        self.outbox.send(&notification(method, params)).await
    }

    /// Sends a notification from a thread that cannot wait. It is dropped if far too many messages
    /// are waiting.
    pub(crate) fn notify_now(&self, method: &'static str, params: impl Serialize) {
        // A notification does not matter to a client that is gone.
        drop(self.outbox.send_now(&notification(method, params)));
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

    /// Takes the answer to a request to the client. Answers that nothing waits for are ignored.
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

    fn wait_for(&self, taker: Taker) -> Result<Waiting<'_, C>, RequestError> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed);
        let mut waiting = self.waiting();
        waiting.as_mut().ok_or(RequestError::NoAnswer)?.insert(id, taker);
        Ok(Waiting { connection: self, id })
    }
}

/// Request that waits for its answer, until it is dropped.
struct Waiting<'a, C: Clone + Default> {
    connection: &'a Connection<C>,
    id: i64,
}

impl<C: Clone + Default> Drop for Waiting<'_, C> {
    /// Tells the client that the answer is of no interest any more.
    fn drop(&mut self) {
        let taker = self.connection.waiting().as_mut().and_then(|all| all.remove(&self.id));
        if taker.is_some() {
            let (method, params) = (self.connection.withdrawal)(self.id);
            self.connection.notify_now(method, params);
        }
    }
}

fn notification<P: Serialize>(method: &str, params: P) -> JsonRpcMessage<Notification<P>> {
    JsonRpcMessage::wrap(Notification { method: method.into(), params: Some(params) })
}

fn result<R: DeserializeOwned>(answer: Result<Box<RawValue>, Error>) -> Result<R, RequestError> {
    let result = answer.map_err(RequestError::Refused)?;
    serde_json::from_str(result.get()).map_err(|error| RequestError::Malformed(error.to_string()))
}
