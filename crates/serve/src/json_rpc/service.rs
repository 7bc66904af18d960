//! Service for one client: the loop that reads messages and passes them on.

use std::future::Future;
use std::io::Read;
use std::time::Duration;

use agent_client_protocol_schema::v1::{Error, RequestId};
use serde_json::Value;
use tokio::task::JoinSet;

use super::connection::Connection;
use super::input::{InputLine, lines};
use super::message::{Message, Params};
use super::outbox::ClientGone;

/// Maximum time that the work may take to end, and the client to read the last messages.
const GRACE: Duration = Duration::from_secs(4);

/// Service for one client.
pub(crate) trait Service: Send {
    /// Capabilities of the client.
    type Capabilities: Clone + Default + Send;
    /// Result of a task.
    type Done: Send + 'static;

    /// Returns the connection to the client.
    fn connection(&self) -> &Connection<Self::Capabilities>;

    /// Returns the tasks that run.
    fn tasks(&mut self) -> &mut JoinSet<Self::Done>;

    /// Handles the end of a task; `None` if it has panicked.
    fn done(&mut self, done: Option<Self::Done>);

    /// Handles a request. Returns the result, or `None` if a task answers the request.
    ///
    /// # Errors
    /// The error that answers the request.
    fn request(
        &mut self,
        id: RequestId,
        method: &str,
        params: &Params,
    ) -> Result<Option<Value>, Error>;

    /// Handles a notification. Unknown ones are ignored, as the protocols demand.
    fn notification(&mut self, method: &str, params: &Params);

    /// Ends all work, and waits for its end.
    fn end(&mut self) -> impl Future<Output = ()> + Send;
}

/// Serves a client until its last message, until it accepts no more messages, or until `stop` is
/// ready. Then all work ends.
pub(crate) async fn serve<S: Service>(
    mut service: S,
    input: impl Read + Send + 'static,
    stop: impl Future<Output = ()>,
) {
    let outbox = service.connection().outbox().clone();
    let mut lines = lines(input);
    tokio::pin!(stop);
    loop {
        tokio::select! {
            // Whatever has ended is known before the next message.
            biased;
            () = &mut stop => break,
            () = outbox.gone() => break,
            Some(done) = service.tasks().join_next() => service.done(done.ok()),
            line = lines.recv() => {
                let Some(line) = line else { break };
                tokio::select! {
                    () = &mut stop => break,
                    taken = take(&mut service, line) => if taken.is_err() { break },
                }
            }
        }
    }
    let ending = async {
        service.connection().end_of_input();
        service.end().await;
        outbox.finish().await;
    };
    // A client that does not read its messages must not keep the program alive.
    drop(tokio::time::timeout(GRACE, ending).await);
    outbox.close();
}

/// Handles one message.
async fn take<S: Service>(service: &mut S, line: InputLine) -> Result<(), ClientGone> {
    let message = match line {
        InputLine::Whole(line) => Message::read(&line),
        InputLine::TooLong(head) => Message::cut_off(&head),
    };
    let (id, result) = match message {
        Message::Request { id, method, params } => {
            match service.request(id.clone(), &method, &params) {
                Ok(Some(result)) => (id, Ok(result)),
                // The answer comes later.
                Ok(None) => return Ok(()),
                Err(error) => (id, Err(error)),
            }
        }
        Message::Notification { method, params } => {
            service.notification(&method, &params);
            return Ok(());
        }
        Message::Response { id, result } => {
            service.connection().take_answer(&id, result);
            return Ok(());
        }
        Message::Invalid { id, error } => (id, Err(error)),
    };
    service.connection().answer(id, result).await
}
