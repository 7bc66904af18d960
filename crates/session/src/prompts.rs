//! The prompts of a project as people typed them: `logs.json`, in the layout of Gemini CLI. They can be called
//! back in later conversations.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use pollux_config::ProjectIdentity;
use pollux_fs::{DirLock, Error, WriteOptions};
use serde_json::{Value, json};

use crate::log::timestamp;

#[cfg(test)]
mod tests;

/// A larger file is left alone: it would cost more at every prompt than it is worth.
const MAX_BYTES: u64 = 16 << 20;
/// How long to wait for another process that records.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// Records the prompts of one session, on a thread of its own. What waits is written before it is dropped.
#[derive(Debug)]
pub struct PromptLog {
    sender: Option<mpsc::Sender<(Timestamp, String)>>,
    thread: Option<JoinHandle<()>>,
}

impl PromptLog {
    /// Records for the session `id` of a project.
    pub fn new(project: &ProjectIdentity, id: &str) -> Self {
        let (path, id) = (project.prompts_file(), id.to_owned());
        let (sender, prompts) = mpsc::channel::<(Timestamp, String)>();
        let thread = std::thread::Builder::new().name("prompts".to_owned()).spawn(move || {
            for (time, prompt) in prompts {
                // The session has the prompt too; without this file nothing but a convenience is missing.
                drop(record(&path, &id, time, &prompt));
            }
        });
        Self { sender: Some(sender), thread: thread.ok() }
    }

    /// Records what a person has just typed.
    pub fn record(&self, prompt: &str) {
        if let Some(sender) = &self.sender {
            // A thread that the system did not give has no receiver.
            drop(sender.send((Timestamp::now(), prompt.to_owned())));
        }
    }
}

impl Drop for PromptLog {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// The last prompts of a project, the oldest first, at most `count`. Blocks the thread.
pub fn recent_prompts(project: &ProjectIdentity, count: usize) -> Vec<String> {
    let entries = read(&project.prompts_file()).ok().and_then(Result::ok).unwrap_or_default();
    let prompts: Vec<&str> = entries
        .iter()
        .filter(|entry| entry["type"] == "user")
        .filter_map(|entry| entry["message"].as_str())
        .collect();
    let start = prompts.len().saturating_sub(count);
    prompts[start..].iter().map(|prompt| (*prompt).to_owned()).collect()
}

/// Adds one entry. Entries of others stay as they are.
fn record(path: &Path, session_id: &str, time: Timestamp, prompt: &str) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        pollux_fs::create_private_directories(folder)?;
    }
    let _lock = DirLock::acquire(path, LOCK_WAIT)?;
    let mut entries = match read(path)? {
        Ok(entries) => entries,
        Err(reason) => {
            pollux_fs::rename(path, &aside(path, reason, time))?;
            Vec::new()
        }
    };
    let own = entries.iter().filter(|entry| entry["sessionId"] == session_id);
    let last = own.filter_map(|entry| entry["messageId"].as_u64()).max();
    entries.push(json!({
        "sessionId": session_id,
        "messageId": last.map_or(0, |last| last.saturating_add(1)),
        "timestamp": timestamp(time),
        "type": "user",
        "message": prompt,
    }));
    let text = format!("{:#}", Value::Array(entries));
    pollux_fs::write_atomic(path, text.as_bytes(), &WriteOptions::private()).map(drop)
}

/// The entries of the file, or what is wrong with it, in the word that Gemini CLI has for it.
fn read(path: &Path) -> Result<Result<Vec<Value>, &'static str>, Error> {
    let bytes = match pollux_fs::read_bytes(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(Ok(Vec::new())),
        Err(error) => return Err(error),
    };
    Ok(match serde_json::from_slice(&bytes) {
        Ok(Value::Array(entries)) => Ok(entries),
        Ok(_) => Err("malformed_array"),
        Err(_) => Err("invalid_json"),
    })
}

/// Where a file goes that is no list, as in Gemini CLI.
fn aside(path: &Path, reason: &str, time: Timestamp) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{reason}.{}.bak", time.as_millisecond()));
    name.into()
}
