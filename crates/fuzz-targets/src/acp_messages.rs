//! Messages of a client of the Agent Client Protocol: whatever it sends, each line has at most one
//! answer, each answer is a message, and a request that follows is answered.

use std::io::Write;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pollux_protocol::{
    PreparedSession, SessionEntry, SessionFailure, SessionRequest, Sessions, SessionsError,
};
use pollux_serve::{AcpOptions, AcpServer};
use serde_json::Value;

/// Request after the input, which must be answered.
const LAST: &[u8] = b"\n{\"jsonrpc\":\"2.0\",\"id\":\"the last\",\"method\":\"nosuch\"}\n";

pub(crate) fn run(bytes: &[u8]) {
    let input = [bytes, LAST].concat();
    let lines = input.split(|byte| *byte == b'\n').count();
    let output = Output::default();
    let options = AcpOptions {
        version: "0",
        request: SessionRequest::new("/"),
        describe_failure: |_| None,
    };
    let server = AcpServer::new(Arc::new(NoSessions), options);
    let serving = server.serve(std::io::Cursor::new(input), output.clone(), std::future::pending());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(serving);
    let written = output.0.lock().expect("the output").clone();
    let text = String::from_utf8(written).expect("the output is text");
    let answers: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an answer is JSON")).collect();
    for answer in &answers {
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        assert!(answer.get("id").is_some(), "{answer}");
        assert_ne!(answer.get("result").is_some(), answer.get("error").is_some(), "{answer}");
    }
    assert!(answers.len() < lines, "{} answers to {lines} lines", answers.len());
    assert!(answers.iter().any(|answer| answer["id"] == "the last"), "the last request");
}

/// Standard output of the agent.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("the output").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Sessions that cannot be opened.
struct NoSessions;

fn refused<T>() -> Result<T, SessionsError> {
    Err(SessionFailure::General("no sessions".to_owned()).into())
}

#[async_trait]
impl Sessions for NoSessions {
    async fn prepare(
        &self,
        _request: SessionRequest,
    ) -> Result<Box<dyn PreparedSession>, SessionsError> {
        refused()
    }

    async fn list(&self, _request: SessionRequest) -> Result<Vec<SessionEntry>, SessionsError> {
        refused()
    }

    async fn delete(
        &self,
        _request: SessionRequest,
        _session: &str,
    ) -> Result<SessionEntry, SessionsError> {
        refused()
    }
}
