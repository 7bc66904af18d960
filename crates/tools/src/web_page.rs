//! Fetching and decoding of one page.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, USER_AGENT};
use pollux_net::{Backoff, Error, Page, PageClient, Retry, RetryAdvice, retry};
use pollux_protocol::CancellationToken;
use url::Url;

use crate::charset;
use crate::html::{MarkdownOptions, html_to_markdown};

/// Maximum size of a body in bytes.
const BODY_LIMIT: usize = 10 * 1024 * 1024;

/// Maximum total time for one page, including attempts and redirects.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// Maximum number of attempts. It is small because an unavailable page is recognised soon.
const ATTEMPTS: u32 = 3;

/// Maximum number of UTF-16 code units of text.
pub(crate) const TEXT_LIMIT: usize = 250_000;
/// Text that marks omitted content.
const CUT: &str = "\n\n... [Content truncated due to size limit] ...";

const AGENT: &str = concat!("Mozilla/5.0 (compatible; Pollux/", env!("CARGO_PKG_VERSION"), ")");

/// Access to web pages.
#[derive(Debug, Clone)]
pub struct WebAccess {
    /// Client that fetches pages.
    pub pages: PageClient,
    /// Delays between attempts.
    pub backoff: Backoff,
}

/// A response with its body.
#[derive(Debug)]
pub(crate) struct Fetched {
    /// Address of the page after redirects.
    pub(crate) url: Url,
    pub(crate) status: u16,
    /// Status with its reason phrase: `404 Not Found`.
    pub(crate) status_line: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl WebAccess {
    /// Fetches a page with any final status. Retries after network errors and if the server is
    /// busy.
    ///
    /// # Errors
    /// Fails if no page could be fetched.
    pub(crate) async fn fetch(
        &self,
        url: &Url,
        accept: &'static str,
        cancel: &CancellationToken,
    ) -> Result<Fetched, PageError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let rules = Retry { max_attempts: ATTEMPTS, backoff: self.backoff, cancel };
        let fetching = retry(
            rules,
            |attempt| self.attempt(url, &headers, cancel, attempt == ATTEMPTS),
            PageError::advice,
            |_| {},
        );
        let timed_out = |_| Err(PageError::TooSlow);
        tokio::time::timeout(TIME_LIMIT, fetching).await.unwrap_or_else(timed_out)
    }

    async fn attempt(
        &self,
        url: &Url,
        headers: &HeaderMap,
        cancel: &CancellationToken,
        is_last: bool,
    ) -> Result<Fetched, PageError> {
        let Page { url, mut response } = self.pages.get(url.clone(), headers, cancel).await?;
        let status = response.status();
        if !is_last && matches!(status.as_u16(), 429 | 500 | 502 | 503 | 504) {
            return Err(PageError::Busy(
                status.as_u16(),
                pollux_net::retry::retry_after(response.headers()),
            ));
        }
        let headers = response.headers().clone();
        let announced =
            headers.get(http::header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        if announced
            .and_then(|length| length.parse().ok())
            .is_some_and(|length: usize| length > BODY_LIMIT)
        {
            return Err(PageError::TooLarge);
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > BODY_LIMIT {
                return Err(PageError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        let (code, status_line) = (status.as_u16(), status.to_string());
        Ok(Fetched { url, status: code, status_line, headers, body: body.freeze() })
    }
}

/// Reason why a page could not be fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// An error of the network or the address, or a private host.
    #[error(transparent)]
    Net(#[from] Error),
    /// The server is busy and asked to retry later.
    #[error("Request failed with status code {0}")]
    Busy(u16, Option<Duration>),
    /// The body exceeds the maximum size.
    #[error("Content exceeds size limit of {BODY_LIMIT} bytes")]
    TooLarge,
    /// The fetch exceeded the maximum total time.
    #[error("the page did not load within {} s", TIME_LIMIT.as_secs())]
    TooSlow,
}

impl From<pollux_net::Cancelled> for PageError {
    fn from(_: pollux_net::Cancelled) -> Self {
        Self::Net(Error::Cancelled)
    }
}

impl PageError {
    fn advice(&self) -> RetryAdvice {
        match self {
            Self::Net(error) => error.advice(),
            Self::Busy(_, after) => RetryAdvice::Retry { after: *after },
            Self::TooLarge | Self::TooSlow => RetryAdvice::Fail,
        }
    }

    /// Returns true if the address must not be reached because it is private.
    pub(crate) fn is_private(&self) -> bool {
        matches!(self, Self::Net(Error::NotPublic { .. }))
    }
}

/// Content of a page for a model.
#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    /// Text.
    Text(String),
    /// An image, audio, video or document, in base64.
    Media(String),
}

impl Fetched {
    /// Returns the media type without parameters in lower case; empty if the server sends none.
    pub(crate) fn media_type(&self) -> String {
        self.content_type().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Returns the media type with parameters, as the server sent it.
    pub(crate) fn content_type(&self) -> &str {
        self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the encoding that the server names.
    fn charset(&self) -> Option<&str> {
        self.content_type().split(';').skip(1).find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
        })
    }

    /// Returns true if the media type is HTML.
    pub(crate) fn is_html(&self) -> bool {
        matches!(self.media_type().as_str(), "text/html" | "application/xhtml+xml")
    }

    /// Returns the body as text, for any media type.
    pub(crate) fn raw_text(&self) -> String {
        charset::decode(&self.body, self.charset())
    }

    /// Returns the page in a form for models. HTML becomes Markdown; with `links`, it contains
    /// links with absolute addresses.
    pub(crate) fn content(&self, links: bool, as_html: bool) -> Content {
        let kind = self.media_type();
        let is_media = ["image/", "audio/", "video/"].iter().any(|one| kind.starts_with(one));
        if is_media || kind == "application/pdf" {
            use base64::Engine as _;
            return Content::Media(base64::engine::general_purpose::STANDARD.encode(&self.body));
        }
        let text = self.raw_text();
        if as_html {
            let links = links.then(|| self.url.clone());
            // A code unit needs at most three bytes, so this limit keeps all text that fits.
            let options = MarkdownOptions { links, limit: 3 * TEXT_LIMIT };
            return Content::Text(html_to_markdown(&text, &options));
        }
        if text.contains('\0') {
            let bytes = self.body.len();
            let kind = if kind.is_empty() { "of an unknown type" } else { &kind };
            return Content::Text(format!(
                "[{bytes} bytes of non-text content ({kind}) are not shown.]"
            ));
        }
        Content::Text(text)
    }
}

/// Cuts the text to this number of UTF-16 code units.
pub(crate) fn cut(text: String, limit: usize) -> String {
    cut_with(text, limit, CUT)
}

/// Does the same as [`cut`], with another text in place of the omitted part.
pub(crate) fn cut_with(mut text: String, limit: usize, instead: &str) -> String {
    if text.len() <= limit {
        return text;
    }
    let mut units = 0;
    let end = text.char_indices().find_map(|(at, letter)| {
        units += letter.len_utf16();
        (units > limit).then_some(at)
    });
    if let Some(end) = end {
        text.truncate(end);
        text.push_str(instead);
    }
    text
}

/// Divides `total` units fairly among texts: units that a short text does not need go to longer
/// texts.
pub(crate) fn shares(lengths: &[usize], total: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|place| lengths[*place]);
    let (mut left, mut waiting) = (total, lengths.len());
    let mut shares = vec![0; lengths.len()];
    for place in order {
        shares[place] = lengths[place].min(left / waiting);
        left -= shares[place];
        waiting -= 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn short_texts_leave_room_for_long_ones() {
        for (lengths, total, expected) in [
            (vec![400, 10], 250, vec![240, 10]),
            (vec![400, 400], 250, vec![125, 125]),
            (vec![10, 20, 30], 250, vec![10, 20, 30]),
            (vec![100, 100, 1], 101, vec![50, 50, 1]),
            (vec![], 250, vec![]),
        ] {
            assert_eq!(shares(&lengths, total), expected, "{lengths:?}");
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut_with("日本語".to_owned(), 2, "…"), "日本…");
        assert_eq!(cut_with("a😀b".to_owned(), 2, "…"), "a…");
        assert_eq!(cut_with("日本語".to_owned(), 3, "…"), "日本語");
        assert_eq!(cut_with("a".to_owned(), 0, "…"), "…");
        assert_eq!(cut("abc".to_owned(), 3), "abc");
    }

    fn fetched(content_type: Option<&'static str>, body: &[u8]) -> Fetched {
        let mut headers = HeaderMap::new();
        if let Some(value) = content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(value));
        }
        Fetched {
            url: Url::parse("https://a.example/x").unwrap(),
            status: 200,
            status_line: "200 OK".to_owned(),
            headers,
            body: Bytes::copy_from_slice(body),
        }
    }

    #[test]
    fn what_the_server_calls_it_decides() {
        let page =
            fetched(Some("Text/HTML; Charset=\"iso-8859-1\""), b"<p>caf\xe9 <a href=y>z</a>");
        assert_eq!((page.media_type().as_str(), page.is_html()), ("text/html", true));
        assert_eq!(page.content(false, true), Content::Text("café z".to_owned()));
        let linked = "café [z](https://a.example/y)";
        assert_eq!(page.content(true, true), Content::Text(linked.to_owned()));
        assert_eq!(page.content(true, false), Content::Text("<p>café <a href=y>z</a>".to_owned()));
        let image = fetched(Some("image/png"), b"\x89P");
        assert_eq!(image.content(false, false), Content::Media("iVA=".to_owned()));
        let archive = fetched(Some("application/zip"), b"PK\0\0");
        assert!(
            matches!(archive.content(false, false), Content::Text(text) if text.contains("4 bytes"))
        );
        assert_eq!(fetched(None, b"x").media_type(), "");
    }
}
