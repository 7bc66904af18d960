//! One HTTP/1.1 connection: requests in, scripted replies out, byte by byte.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

use super::Shared;
use super::capture::CapturedRequest;
use crate::reply::Ending;
use crate::reply::render::Rendered;

const HEAD_LIMIT: usize = 256 * 1024;
const BODY_LIMIT: usize = 512 * 1024 * 1024;
/// Chunks without a delay between them are written together up to this many bytes.
const WRITE_SIZE: usize = 64 * 1024;
/// Time that lets the bytes before a reset reach the client; a reset discards bytes that are still
/// on their way.
const BEFORE_RESET: Duration = Duration::from_millis(30);

/// Serves requests until the client leaves or a reply ends the connection.
pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    stream.set_nodelay(true).ok();
    let mut connection = Connection { stream, buffer: BytesMut::new() };
    // A client that disconnects between requests or sends no HTTP leaves no request to record.
    while let Ok(Some(request)) = connection.read_request().await {
        let endpoint = request.endpoint;
        let is_streamed = request.body["stream"] == true;
        let (number, reply) = shared.take_reply(&request);
        match connection.answer(&reply.render(endpoint, is_streamed)).await {
            Outcome::Complete => {}
            Outcome::ClientGone => return shared.mark_aborted(number),
            Outcome::Ended => return,
        }
    }
}

struct Connection {
    stream: TcpStream,
    /// Bytes that were read but not used yet.
    buffer: BytesMut,
}

enum Outcome {
    /// The answer was sent; the connection stays open.
    Complete,
    /// The client closed before the answer was complete.
    ClientGone,
    /// The reply itself ended the connection.
    Ended,
}

impl Connection {
    /// Reads one request; `None` if the client closed the connection before the head was complete.
    async fn read_request(&mut self) -> Result<Option<CapturedRequest>> {
        let end = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end;
            }
            ensure!(self.buffer.len() <= HEAD_LIMIT, "the request's head is too long");
            if !self.fill().await? {
                return Ok(None);
            }
        };
        let head = self.buffer.split_to(end + 4);
        let (method, target, headers) = parse_head(std::str::from_utf8(&head[..end])?)?;
        let header =
            |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let body = if header("transfer-encoding").is_some_and(|value| value == "chunked") {
            self.read_chunked().await?
        } else {
            let length = header("content-length").map_or(Ok(0), |value| value.parse())?;
            self.read_exactly(length).await?
        };
        Ok(Some(CapturedRequest::new(method, &target, headers, body.freeze())))
    }

    async fn read_exactly(&mut self, length: usize) -> Result<BytesMut> {
        ensure!(length <= BODY_LIMIT, "the request's body is too long");
        while self.buffer.len() < length {
            ensure!(self.fill().await?, "the client left in the middle of its request");
        }
        Ok(self.buffer.split_to(length))
    }

    async fn read_chunked(&mut self) -> Result<BytesMut> {
        let mut body = BytesMut::new();
        loop {
            let line = self.read_line().await?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).context("a chunk's size")?;
            if size == 0 {
                while !self.read_line().await?.is_empty() {}
                return Ok(body);
            }
            ensure!(body.len().saturating_add(size) <= BODY_LIMIT, "the body is too long");
            body.extend_from_slice(&self.read_exactly(size).await?);
            ensure!(self.read_line().await?.is_empty(), "a chunk without its end");
        }
    }

    async fn read_line(&mut self) -> Result<String> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n") {
                let line = self.buffer.split_to(end);
                self.buffer.advance(2);
                return Ok(std::str::from_utf8(&line)?.to_owned());
            }
            ensure!(self.buffer.len() <= HEAD_LIMIT, "a line is too long");
            ensure!(self.fill().await?, "the client left in the middle of its request");
        }
    }

    async fn fill(&mut self) -> Result<bool> {
        Ok(self.stream.read_buf(&mut self.buffer).await? > 0)
    }

    /// Sends a reply while watching whether the client disconnects.
    async fn answer(&mut self, reply: &Rendered) -> Outcome {
        let (mut read, mut write) = self.stream.split();
        let sent = tokio::select! {
            biased;
            sent = send(&mut write, reply) => sent.is_ok(),
            () = client_gone(&mut read, &mut self.buffer) => false,
        };
        match reply.ending {
            _ if !sent => Outcome::ClientGone,
            Ending::Complete => Outcome::Complete,
            Ending::ResetAfter(_) => {
                self.stream.set_zero_linger().ok();
                Outcome::Ended
            }
            _ => Outcome::Ended,
        }
    }
}

/// Sends the reply. Returns when nothing more is to be sent; for a stalled reply, never.
async fn send(write: &mut WriteHalf<'_>, reply: &Rendered) -> std::io::Result<()> {
    if reply.ending == Ending::NeverAnswer {
        std::future::pending::<()>().await;
    }
    if let Some(gate) = &reply.gate {
        gate.pass().await;
    }
    tokio::time::sleep(reply.delay_before).await;
    if reply.ending == Ending::HangUp {
        return Ok(());
    }
    write.write_all(head(reply).as_bytes()).await?;
    let count = match reply.ending {
        Ending::ResetAfter(count) | Ending::StallAfter(count) => count.min(reply.chunks.len()),
        _ => reply.chunks.len(),
    };
    let mut pending = Vec::new();
    for (index, chunk) in reply.chunks[..count].iter().enumerate() {
        if index > 0 && !reply.delay_between.is_zero() {
            write.write_all(&pending).await?;
            pending.clear();
            tokio::time::sleep(reply.delay_between).await;
        }
        frame(&mut pending, chunk, reply.streamed);
        if pending.len() >= WRITE_SIZE {
            write.write_all(&pending).await?;
            pending.clear();
        }
    }
    if reply.streamed && reply.ending == Ending::Complete {
        pending.extend_from_slice(b"0\r\n\r\n");
    }
    write.write_all(&pending).await?;
    match reply.ending {
        Ending::StallAfter(_) => std::future::pending().await,
        Ending::ResetAfter(_) => tokio::time::sleep(BEFORE_RESET).await,
        _ => {}
    }
    Ok(())
}

/// Returns when the client has closed its side. Bytes that it still sends belong to its next
/// request.
async fn client_gone(read: &mut ReadHalf<'_>, buffer: &mut BytesMut) {
    while buffer.len() <= HEAD_LIMIT {
        match read.read_buf(buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    std::future::pending::<()>().await;
}

fn head(reply: &Rendered) -> String {
    let mut head = format!("HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status));
    for (name, value) in &reply.headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    if reply.streamed {
        head.push_str("transfer-encoding: chunked\r\n");
    } else {
        let length: usize = reply.chunks.iter().map(bytes::Bytes::len).sum();
        write!(head, "content-length: {length}\r\n").unwrap();
    }
    head + "\r\n"
}

fn frame(pending: &mut Vec<u8>, chunk: &[u8], streamed: bool) {
    if !streamed {
        pending.extend_from_slice(chunk);
    } else if !chunk.is_empty() {
        // An empty chunk would end the body.
        pending.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        pending.extend_from_slice(chunk);
        pending.extend_from_slice(b"\r\n");
    }
}

type Head = (String, String, Vec<(String, String)>);

fn parse_head(head: &str) -> Result<Head> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next())
    else {
        bail!("no request line");
    };
    ensure!(version.starts_with("HTTP/1."), "not HTTP/1: {version}");
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(':').context("a header without a colon")?;
        Ok((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    Ok((method.to_owned(), target.to_owned(), headers.collect::<Result<_>>()?))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}
