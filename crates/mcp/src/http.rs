//! Requests of the streamable HTTP transport, over Pollux's own HTTP client: proxies, certificates
//! and redirects are handled as for models.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::{Future, ready};
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use pollux_net::{Authoriser, HttpClient, HttpRequest, Renewal, Response, StatusError};
use pollux_protocol::plain_text::one_line;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::incoming::{Reader, Shortener, TooLarge, shown_line};
use crate::oauth::{Challenge, OAuthError, ServerTokens, challenge_of};
use crate::stdio::LARGE_MESSAGE;

/// Maximum number of bytes of an error response that are read.
const ERROR_BODY: usize = 4096;

/// Minimum number of milliseconds before a stream is opened again, whatever the server asks for: a
/// server that ends each stream at once must not be asked without a pause.
const SHORTEST_RETRY: u64 = 250;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Failure of a request to a server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpFailure {
    /// The request was not answered, or the answer broke off.
    #[error(transparent)]
    Net(#[from] pollux_net::Error),
    /// The server refused the request.
    #[error("HTTP {status}{}", if message.is_empty() { String::new() } else { format!(": {message}") })]
    Status {
        /// Status of the response.
        status: StatusCode,
        /// Beginning of its body.
        message: String,
    },
    /// The server wants the user to sign in.
    #[error("HTTP 401: the server requires authentication. Sign in: /mcp auth {0}")]
    Unauthorized(String),
    /// The token of the user lacks a permission.
    #[error(
        "HTTP 403: the server requires more permissions than you have granted. Sign in again to \
         grant them: /mcp auth {0}"
    )]
    LacksPermission(String),
    /// There is no token to send.
    #[error(transparent)]
    Token(#[from] OAuthError),
    /// A message is too large.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The stream of events cannot be read.
    #[error("the stream of events broke off: {0}")]
    Stream(String),
    /// A text that should be an address is none, or leads to another server.
    #[error("the server named an address that is not used: {0}")]
    Address(String),
}

/// Signer of the requests to one server.
#[derive(Clone)]
pub(crate) enum Signer {
    /// Token of the user who signed in to the server, if there is one.
    User(Arc<ServerTokens>),
    /// Google credentials.
    Google(Arc<dyn Authoriser>),
}

/// HTTP connection to one server.
#[derive(Clone)]
pub(crate) struct HttpConnection {
    client: HttpClient,
    /// Headers from the settings.
    headers: HeaderMap,
    reader: Reader,
    /// Signer of every request.
    signer: Signer,
    /// Ends all requests.
    cancel: CancellationToken,
}

type Failure = StreamableHttpError<HttpFailure>;
/// Server-sent events of a response.
pub(crate) type Events = BoxStream<'static, Result<Sse, SseError>>;

impl HttpConnection {
    /// Creates a connection that sends these headers with every request.
    pub(crate) fn new(
        client: HttpClient,
        headers: HeaderMap,
        signer: Signer,
        cancel: CancellationToken,
    ) -> Self {
        Self { client, headers, reader: Reader::default(), signer, cancel }
    }

    /// Returns the reader for the server's messages.
    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// # Errors
    /// [`HttpFailure::Net`], [`HttpFailure::Unauthorized`] for status 401,
    /// [`HttpFailure::LacksPermission`], and [`HttpFailure::Token`].
    pub(crate) async fn send(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Vec<Bytes>,
    ) -> Result<Response, HttpFailure> {
        let mut request = HttpRequest { method, url, headers: self.headers.clone(), body };
        for (name, value) in headers {
            request.headers.extend(name.map(|name| (name, value)));
        }
        let tokens = match &self.signer {
            Signer::User(tokens) => tokens,
            Signer::Google(authoriser) => return self.send_as(request, &**authoriser).await,
        };
        let mut is_repeated = false;
        loop {
            let token = tokens.header().await?;
            let mut signed = request.clone();
            signed.headers.extend(token.clone().map(|token| (AUTHORIZATION, token)));
            let response = self.client.execute(signed, &self.cancel).await?;
            let Some(challenge) = refusal(&response) else { return Ok(response) };
            tokens.note_refusal(challenge.clone(), token.is_some());
            // Once, with another token.
            if !is_repeated && tokens.replaced(token.as_ref(), &challenge).await? {
                is_repeated = true;
                continue;
            }
            let server = tokens.server().to_owned();
            return Err(if challenge.lacks_scope && token.is_some() {
                HttpFailure::LacksPermission(server)
            } else {
                HttpFailure::Unauthorized(server)
            });
        }
    }

    /// Sends a request that is signed with Google credentials, and once more with other ones if the
    /// server rejects them.
    async fn send_as(
        &self,
        request: HttpRequest,
        authoriser: &dyn Authoriser,
    ) -> Result<Response, HttpFailure> {
        let mut is_repeated = false;
        loop {
            let headers = authoriser.authorise(&request).await?;
            let mut signed = request.clone();
            for (name, value) in &headers {
                signed.headers.insert(name, value.clone());
            }
            let response = self.client.execute(signed, &self.cancel).await?;
            if response.status() != StatusCode::UNAUTHORIZED || is_repeated {
                return Ok(response);
            }
            let refusal = StatusError {
                host: request.url.host_str().unwrap_or_default().to_owned(),
                status: response.status(),
                headers: response.headers().clone(),
                body: Bytes::new(),
            };
            if authoriser.refused(&headers, &refusal).await? == Renewal::Unchanged {
                return Ok(response);
            }
            is_repeated = true;
        }
    }

    /// Posts a message.
    pub(crate) async fn post(
        &self,
        url: Url,
        message: &ClientJsonRpcMessage,
        mut headers: HeaderMap,
    ) -> Result<Response, HttpFailure> {
        self.reader.sent(message);
        let body = serde_json::to_vec(message).unwrap_or_default();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        self.send(Method::POST, url, headers, vec![body.into()]).await
    }

    /// Returns the failure for a response with another status than success.
    pub(crate) async fn refused(response: Response) -> HttpFailure {
        let status = response.status();
        let mut body = Vec::new();
        let mut pieces = std::pin::pin!(response.into_stream());
        while let Some(Ok(piece)) = pieces.next().await
            && body.len() < ERROR_BODY
        {
            body.extend_from_slice(&piece);
        }
        body.truncate(ERROR_BODY);
        let text = String::from_utf8_lossy(&body);
        HttpFailure::Status { status, message: shown_line(&one_line(&text)) }
    }

    /// Converts a stream of server-sent events for the SDK. Messages are corrected on the way.
    fn events(&self, response: Response) -> Events {
        let reader = self.reader.clone();
        let corrected = move |event: Result<Sse, SseError>| {
            let mut event = match event {
                Ok(event) => event,
                Err(error) => return Some(Err(error)),
            };
            if let Some(data) = event.data.take().filter(|data| !data.is_empty()) {
                let message = reader.read(data.as_bytes()).ok();
                event.data = message.and_then(|message| serde_json::to_string(&message).ok());
            }
            event.retry = event.retry.map(|delay| delay.max(SHORTEST_RETRY));
            // An event without data still says where the stream continues after a break.
            (event.data.is_some() || event.id.is_some() || event.retry.is_some())
                .then_some(Ok(event))
        };
        event_stream(response).filter_map(move |event| ready(corrected(event))).boxed()
    }
}

/// Returns the events of a response; long texts in them are cut while they arrive.
pub(crate) fn event_stream(response: Response) -> Events {
    SseStream::from_bytes_stream(shortened(response.into_stream())).boxed()
}

/// Cuts the long texts of each line. The stream fails if a line or an event is too large even so.
fn shortened(
    pieces: impl Stream<Item = Result<Bytes, pollux_net::Error>> + Send + 'static,
) -> impl Stream<Item = Result<Bytes, HttpFailure>> + Send + 'static {
    let mut shortener = Shortener::new(LARGE_MESSAGE);
    // Bytes of the present event, and of the present line without its end.
    let (mut event, mut line) = (0, 0);
    pieces.map(move |piece| {
        let piece = piece?;
        let mut kept = Vec::with_capacity(piece.len());
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let before = kept.len();
            shortener.push(part, &mut kept)?;
            event += kept.len() - before;
            if event > 2 * LARGE_MESSAGE {
                return Err(TooLarge.into());
            }
            line += part.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')).count();
            if part.ends_with(b"\n") {
                // A blank line ends an event.
                event = if line == 0 { 0 } else { event };
                line = 0;
                shortener = Shortener::new(LARGE_MESSAGE);
            }
        }
        Ok(Bytes::from(kept))
    })
}

/// Reads the body of a response as one message, whose long texts are cut.
async fn whole_message(mut response: Response) -> Result<Vec<u8>, HttpFailure> {
    let mut shortener = Shortener::new(LARGE_MESSAGE);
    let mut message = Vec::new();
    while let Some(piece) = response.chunk().await? {
        shortener.push(&piece, &mut message)?;
    }
    Ok(message)
}

/// Returns the challenge of a response that refuses a request for want of a token, or of a
/// permission of the token.
fn refusal(response: &Response) -> Option<Challenge> {
    let challenge = || challenge_of(response.headers());
    match response.status() {
        StatusCode::UNAUTHORIZED => Some(challenge()),
        StatusCode::FORBIDDEN => Some(challenge()).filter(|challenge| challenge.lacks_scope),
        _ => None,
    }
}

/// Returns true if the response has this media type.
fn has_type(response: &Response, media_type: &str) -> bool {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(media_type)
}

/// Returns the headers of a request from those that the SDK asks for.
fn request_headers(
    session: Option<Arc<str>>,
    token: Option<String>,
    others: HashMap<HeaderName, HeaderValue>,
) -> HeaderMap {
    let mut headers: HeaderMap = others.into_iter().collect();
    headers.insert(ACCEPT, EITHER);
    let value = |text: &str| HeaderValue::from_str(text).ok();
    headers.extend(session.and_then(|id| value(&id)).map(|id| (SESSION, id)));
    let bearer = token.and_then(|token| value(&format!("Bearer {token}")));
    headers.extend(bearer.map(|bearer| (AUTHORIZATION, bearer)));
    headers
}

fn parse(uri: &str) -> Result<Url, Failure> {
    Url::parse(uri).map_err(|_| Failure::Client(HttpFailure::Address(uri.to_owned())))
}

impl StreamableHttpClient for HttpConnection {
    type Error = HttpFailure;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let in_session = session_id.is_some();
        let headers = request_headers(session_id, auth_header, custom_headers);
        let response = self.post(parse(&uri)?, &message, headers).await.map_err(Failure::Client)?;
        let status = response.status();
        let awaits_answer = matches!(message, JsonRpcMessage::Request(_));
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(Failure::SessionExpired);
        }
        let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok());
        let session = session.map(str::to_owned);
        if status.is_success() && has_type(&response, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response), session));
        }
        if !has_type(&response, JSON) {
            if !status.is_success() {
                return Err(Failure::Client(Self::refused(response).await));
            }
            if !awaits_answer {
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            let given = response.headers().get(CONTENT_TYPE);
            let given = given.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
            return Err(Failure::UnexpectedContentType(given));
        }
        let body = whole_message(response).await.map_err(Failure::Client)?;
        match self.reader.read(&body) {
            // An error response may carry the reason as a message of the protocol.
            Ok(read) if status.is_success() || matches!(read, JsonRpcMessage::Error(_)) => {
                Ok(StreamableHttpPostResponse::Json(read, session))
            }
            _ if status.is_success() && !awaits_answer => Ok(StreamableHttpPostResponse::Accepted),
            _ => {
                let text: String = String::from_utf8_lossy(&body).chars().take(300).collect();
                let text = shown_line(&one_line(&text));
                let problem = format!("HTTP {status}: the answer is no message: {text}");
                Err(Failure::UnexpectedServerResponse(Cow::Owned(problem)))
            }
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let headers = request_headers(Some(session_id), auth_header, custom_headers);
        let sent = self.send(Method::DELETE, parse(&uri)?, headers, Vec::new()).await;
        // A server need not support this, and nothing depends on it.
        sent.map(drop).map_err(Failure::Client)
    }

    fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> impl Future<Output = Result<Events, Failure>> + Send + '_ {
        let mut headers = request_headers(session_id, auth_header, custom_headers);
        let last = last_event_id.and_then(|id| HeaderValue::from_str(&id).ok());
        headers.extend(last.map(|id| (LAST_EVENT, id)));
        async move {
            let url = parse(&uri)?;
            let response =
                self.send(Method::GET, url, headers, Vec::new()).await.map_err(Failure::Client)?;
            let status = response.status();
            if matches!(status, StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND) {
                return Err(Failure::ServerDoesNotSupportSse);
            }
            if !status.is_success() {
                return Err(Failure::Client(Self::refused(response).await));
            }
            if !has_type(&response, EVENTS) {
                return Err(Failure::ServerDoesNotSupportSse);
            }
            Ok(self.events(response))
        }
    }
}

/// Reads the whole body into memory; for tests of what is cut.
#[cfg(test)]
async fn collected(pieces: impl Stream<Item = Result<Bytes, HttpFailure>>) -> Vec<u8> {
    let mut pieces = std::pin::pin!(pieces);
    let mut all = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        all.extend_from_slice(&piece);
    }
    all
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use pretty_assertions::assert_eq;

    use super::*;

    #[tokio::test]
    async fn long_lines_of_events_are_cut() {
        let mut all = vec![Bytes::from_static(b"id: 1\ndata: {\"text\":\"")];
        all.extend(std::iter::repeat_n(Bytes::from(vec![b'x'; 1 << 20]), 40));
        all.push(Bytes::from_static(b"\"}\n\ndata: {\"a\":1}\n\n"));
        let read = collected(shortened(stream::iter(all.into_iter().map(Ok)))).await;
        assert!(read.len() < LARGE_MESSAGE + 1000);
        let text = String::from_utf8(read).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("id: 1"));
        let data = lines.next().unwrap().strip_prefix("data: ").unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(data).is_ok());
        assert_eq!(lines.collect::<Vec<_>>(), ["", "data: {\"a\":1}", ""]);
    }
}
