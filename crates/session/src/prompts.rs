//! Prompts of a project as the user typed them: `logs.json`, in the layout of Gemini CLI. They can
//! be recalled in later conversations.

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

/// Maximum size of the file in bytes. A larger file is left unchanged: updating it at every prompt
/// would cost more than it is worth.
const MAX_BYTES: u64 = 16 << 20;
/// Maximum time to wait for another process that is recording.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// Log of the prompts of one session, written on a separate thread. Pending prompts are written
/// before the log is dropped.
#[derive(Debug)]
pub struct PromptLog {
    sender: Option<mpsc::Sender<(Timestamp, String)>>,
    thread: Option<JoinHandle<()>>,
}

impl PromptLog {
    /// Creates a log for the session `id` of a project.
    pub fn new(project: &ProjectIdentity, id: &str) -> Self {
        let (path, id) = (project.prompts_file(), id.to_owned());
        let (sender, prompts) = mpsc::channel::<(Timestamp, String)>();
        let thread = std::thread::Builder::new().name("prompts".to_owned()).spawn(move || {
            for (time, prompt) in prompts {
                // The session contains the prompt too; without this file only a convenience is
                // lost.
                drop(record(&path, &id, time, &prompt));
            }
        });
        Self { sender: Some(sender), thread: thread.ok() }
    }

    /// Records a prompt that the user has just typed.
    pub fn record(&self, prompt: &str) {
        if let Some(sender) = &self.sender {
            // If the thread could not be started, the channel has no receiver.
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

/// Returns the last prompts of a project, the oldest first, at most `count`. Blocks the thread.
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

/// Adds one entry. Entries of other processes are kept.
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

/// Returns the entries of the file, or Gemini CLI's keyword for the problem with its content.
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

/// Returns the new path for a file whose content is not a list, as in Gemini CLI.
fn aside(path: &Path, reason: &str, time: Timestamp) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{reason}.{}.bak", time.as_millisecond()));
    name.into()
}
