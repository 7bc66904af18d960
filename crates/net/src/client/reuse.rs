//! Detection of requests that were sent over a connection which existed before.
//!
//! A server may close such a connection just when the next request is sent. The request can then be
//! sent again at once, because the failure says nothing about the server.

use std::cell::Cell;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

tokio::task_local! {
    /// True if the request of this task has begun to open a connection.
    static IS_CONNECTING: Cell<bool>;
}

/// Runs a request. Returns its result, and true if it opened no connection of its own.
pub(super) async fn watched<T>(request: impl Future<Output = T>) -> (T, bool) {
    let watching = async {
        let result = request.await;
        (result, !IS_CONNECTING.with(Cell::get))
    };
    IS_CONNECTING.scope(Cell::new(false), watching).await
}

/// Layer around the connector of the HTTP library, which is called for each new connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct WatchConnector;

impl<S> Layer<S> for WatchConnector {
    type Service = WatchedConnector<S>;

    fn layer(&self, inner: S) -> Self::Service {
        WatchedConnector { inner }
    }
}

/// Connector that notes that it was called.
#[derive(Debug, Clone)]
pub(super) struct WatchedConnector<S> {
    inner: S,
}

impl<R, S: Service<R>> Service<R> for WatchedConnector<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: R) -> S::Future {
        // A connection may also be opened outside of a request.
        IS_CONNECTING.try_with(|connecting| connecting.set(true)).unwrap_or_default();
        self.inner.call(request)
    }
}
