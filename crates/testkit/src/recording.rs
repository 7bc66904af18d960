//! Replies from a recording of the program (`--record-wire`).

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::reply::{ModelReply, reply};
use crate::server::ModelServer;

/// Headers of a recorded response that the server writes itself.
const FRAMING: [&str; 4] =
    ["connection", "content-encoding", "content-length", "transfer-encoding"];

impl ModelServer {
    /// Answers from a recording: the requests of each path get the recorded responses of this path
    /// in order, in the recorded pieces and without the recorded delays. A request without a
    /// recorded response is a failure of the test.
    pub fn serve_recording(&self, folder: &Path) -> &Self {
        let mut replies: BTreeMap<String, VecDeque<ModelReply>> = BTreeMap::new();
        for exchange in folders(folder) {
            let request = read_json(&exchange.join("request.json"));
            let url = request["url"].as_str().expect("a recorded address");
            replies.entry(path_of(url).to_owned()).or_default().push_back(recorded(&exchange));
        }
        for (path, replies) in replies {
            let replies = Mutex::new(replies);
            self.route(&path, move |_| {
                let mut replies = replies.lock().unwrap_or_else(PoisonError::into_inner);
                replies.pop_front().expect("a recorded response for this request")
            });
        }
        self
    }
}

/// Returns the folders of the requests. Their names begin with the time.
fn folders(recording: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(recording).expect("a folder with a recording");
    let paths = entries.map(|entry| entry.expect("an entry of the recording").path());
    let mut folders: Vec<_> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Returns the reply that a folder describes.
fn recorded(exchange: &Path) -> ModelReply {
    let head = exchange.join("response.json");
    if !head.exists() {
        return reply().hang_up();
    }
    let head = read_json(&head);
    let pieces = fs::read_to_string(exchange.join("pieces.jsonl")).expect("the recorded pieces");
    let pieces = pieces.lines().map(|line| serde_json::from_str(line).expect("a recorded piece"));
    let pieces: Vec<Value> = pieces.collect();
    let body = fs::read(exchange.join("response.body")).expect("the recorded body");
    let mut rest = body.as_slice();
    let mut chunks = Vec::new();
    for size in pieces.iter().filter_map(|piece| piece["bytes"].as_u64()) {
        let size = usize::try_from(size).expect("a size").min(rest.len());
        let (chunk, after) = rest.split_at(size);
        chunks.push(chunk.to_vec());
        rest = after;
    }
    let is_broken = pieces.last().is_some_and(|last| last["end"] == "failed");
    let status = head["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let count = chunks.len();
    let mut reply = reply().pieces(status.expect("a status"), chunks);
    for header in head["headers"].as_array().expect("recorded headers") {
        let (name, value) = (header[0].as_str().unwrap(), header[1].as_str().unwrap());
        if !FRAMING.contains(&name) {
            reply = reply.header(name, value);
        }
    }
    if is_broken { reply.drop_after(count) } else { reply }
}

fn read_json(path: &Path) -> Value {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the path of an address, without the query.
fn path_of(url: &str) -> &str {
    let (_, rest) = url.split_once("://").expect("an address");
    let path = rest.find('/').map_or("/", |start| &rest[start..]);
    path.split_once('?').map_or(path, |(path, _)| path)
}
