//! Work of a conversation: the prompts and commands of the user run one after the other; the others
//! wait in a queue.

use std::collections::VecDeque;

use pollux_protocol::{
    AgentHandle, Op, Part, PromptId, PromptInput, SessionFailure, SessionsError,
};
use tokio::task::JoinHandle;

/// Maximum number of queued prompts. It limits a paste of many lines into a terminal without
/// bracketed paste.
const WAITING: usize = 100;
/// Maximum total size of the queued prompts, in bytes.
const WAITING_BYTES: usize = 16 << 20;

/// Name of the command that runs the command line after a `!`.
const SHELL: &str = "shell";

/// Task that reads the files that a prompt refers to.
pub type Preparation = JoinHandle<Result<Vec<Part>, SessionsError>>;

/// Function that reads the files that a prompt refers to.
pub type Prepare<'a> = Box<dyn Fn(String) -> Preparation + 'a>;

/// State of the current work.
enum Work {
    /// No work: a prompt starts immediately.
    Idle,
    /// The files that a prompt names are being read.
    Preparing {
        /// Prompt as it was typed.
        prompt: String,
        /// Task that reads the files.
        task: Preparation,
    },
    /// The agent runs a prompt or command with this id.
    Running(PromptId),
}

/// Fate of a submitted line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submission {
    /// The line was blank.
    Blank,
    /// Its work has begun.
    Begun(WorkKind),
    /// It is a command that runs beside the current work.
    BesideWork,
    /// It was sent to the model that works.
    Steered,
    /// It waits for the end of the current work.
    Queued,
    /// Too much is waiting already.
    Refused,
}

/// Kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    /// Prompt for the model.
    Prompt,
    /// Command of the user.
    Command,
}

/// Result of a request to stop the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopResult {
    /// There is no work, or it is being stopped already.
    Nothing,
    /// A prompt whose files were being read is dropped. No event follows.
    Dropped,
    /// The agent was asked to stop; the end of the prompt follows.
    Asked,
}

/// The current work and the queue of a conversation.
pub struct Workload<'a> {
    handle: &'a dyn AgentHandle,
    prepare: Prepare<'a>,
    /// True if text that is typed during a prompt is sent to the model immediately.
    is_steered: bool,
    work: Work,
    queue: VecDeque<String>,
    /// True after the agent was asked to stop the work.
    is_stopping: bool,
    has_spoken: bool,
}

impl<'a> Workload<'a> {
    /// Creates a conversation without work.
    pub fn new(handle: &'a dyn AgentHandle, prepare: Prepare<'a>, is_steered: bool) -> Self {
        Self {
            handle,
            prepare,
            is_steered,
            work: Work::Idle,
            queue: VecDeque::new(),
            is_stopping: false,
            has_spoken: false,
        }
    }

    /// Returns the connection to the agent.
    pub fn handle(&self) -> &'a dyn AgentHandle {
        self.handle
    }

    /// Sends an op. If the agent is gone, the end of its events reports that.
    pub fn send(&self, op: Op) {
        drop(self.handle.send(op));
    }

    /// Returns true if there is no work.
    pub fn is_idle(&self) -> bool {
        matches!(self.work, Work::Idle)
    }

    /// Returns true after the agent was asked to stop the work.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    /// Returns true if the user has sent at least one prompt or `!` command in this session.
    pub fn has_spoken(&self) -> bool {
        self.has_spoken
    }

    /// Returns true if the agent runs the prompt or command with this id.
    pub fn is_running(&self, prompt: Option<&str>) -> bool {
        matches!(&self.work, Work::Running(id) if Some(id.as_str()) == prompt)
    }

    /// Returns true for the id of a command that runs beside the work of the agent. The end of the
    /// command is not that of the work.
    pub fn runs_beside(&self, prompt: Option<&str>) -> bool {
        let Work::Running(id) = &self.work else { return false };
        prompt.is_some_and(|prompt| prompt != id.as_str())
    }

    /// Returns the prompts and commands that wait, the next one first.
    pub fn queue(&self) -> impl Iterator<Item = &str> {
        self.queue.iter().map(String::as_str)
    }

    /// Makes a line the next work.
    pub fn put_first(&mut self, line: String) {
        self.queue.push_front(line);
    }

    /// Removes the line at this place of the queue.
    pub fn take_queued(&mut self, index: usize) -> Option<String> {
        self.queue.remove(index)
    }

    /// Exchanges two lines of the queue; returns false if there are no such lines.
    pub fn swap_queued(&mut self, first: usize, second: usize) -> bool {
        let has_both = first.max(second) < self.queue.len();
        if has_both {
            self.queue.swap(first, second);
        }
        has_both
    }

    /// Removes all prompts and commands that wait.
    pub fn take_queue(&mut self) -> Vec<String> {
        std::mem::take(&mut self.queue).into()
    }

    /// Removes the command at the end of the queue, or the prompts behind its last command, which
    /// it returns as one.
    pub fn take_last_queued(&mut self) -> Option<String> {
        let last = self.queue.pop_back()?;
        if !is_prompt(&last) {
            return Some(last);
        }
        let start = self.queue.iter().rposition(|line| !is_prompt(line)).map_or(0, |at| at + 1);
        let prompts: Vec<String> = self.queue.drain(start..).chain([last]).collect();
        Some(prompts.join("\n\n"))
    }

    /// Takes a line of the user.
    pub fn submit(&mut self, line: String) -> Submission {
        let waiting: usize = self.queue.iter().map(String::len).sum();
        if line.trim().is_empty() {
            return Submission::Blank;
        }
        if self.is_idle() {
            return Submission::Begun(self.begin(line));
        }
        if let Some(op) = self.command_beside_work(&line) {
            self.send(op);
            return Submission::BesideWork;
        }
        if self.is_steered && is_prompt(&line) {
            self.send(Op::Steer(line));
            return Submission::Steered;
        }
        if self.queue.len() >= WAITING || waiting + line.len() > WAITING_BYTES {
            return Submission::Refused;
        }
        self.queue.push_back(line);
        Submission::Queued
    }

    /// Starts the prompt or command of a line.
    pub fn begin(&mut self, line: String) -> WorkKind {
        // As in shells.
        let line = if matches!(line.trim(), "exit" | "quit") { "/quit".to_owned() } else { line };
        if let Some(command) = line.strip_prefix('!') {
            self.has_spoken = true;
            self.run(SHELL.to_owned(), command.trim().to_owned());
            WorkKind::Command
        } else if is_command(&line) {
            let commands = self.handle.commands().get();
            let (name, arguments) = match commands.find(&line) {
                Some((command, rest)) => (command.name().to_owned(), rest.to_owned()),
                None => {
                    (line[1..].split_whitespace().next().unwrap_or("").to_owned(), String::new())
                }
            };
            self.run(name, arguments);
            WorkKind::Command
        } else if line.contains('@') {
            let task = (self.prepare)(line.clone());
            self.work = Work::Preparing { prompt: line, task };
            WorkKind::Prompt
        } else {
            let parts = vec![Part::text(line.as_str())];
            self.prompt(line, parts);
            WorkKind::Prompt
        }
    }

    fn run(&mut self, name: String, arguments: String) {
        let id = new_id();
        self.work = Work::Running(id.clone());
        self.send(Op::Command { id, name, arguments });
    }

    fn prompt(&mut self, prompt: String, parts: Vec<Part>) {
        let as_typed = matches!(&parts[..], [part] if part.as_text() == Some(&prompt));
        let id = new_id();
        self.work = Work::Running(id.clone());
        self.has_spoken = true;
        let input = PromptInput::shown(parts, (!as_typed).then_some(prompt));
        self.send(Op::Prompt { id, input });
    }

    /// Waits for the parts of the prompt whose files are being read; waits forever if there is
    /// none.
    pub async fn preparation(&mut self) -> Result<Vec<Part>, SessionsError> {
        match &mut self.work {
            Work::Preparing { task, .. } => {
                task.await.unwrap_or_else(|error| Err(SessionFailure::general(&error).into()))
            }
            Work::Idle | Work::Running(_) => std::future::pending().await,
        }
    }

    /// Sends the prompt whose files have been read.
    ///
    /// # Errors
    /// The error of the preparation. The prompt is dropped, and [`Self::end`] must follow.
    pub fn prepared(
        &mut self,
        parts: Result<Vec<Part>, SessionsError>,
    ) -> Result<(), SessionsError> {
        if let Work::Preparing { prompt, .. } = std::mem::replace(&mut self.work, Work::Idle) {
            self.prompt(prompt, parts?);
        }
        Ok(())
    }

    /// Stops the work.
    pub fn stop(&mut self) -> StopResult {
        match &self.work {
            Work::Idle => StopResult::Nothing,
            Work::Preparing { task, .. } => {
                task.abort();
                StopResult::Dropped
            }
            Work::Running(_) if self.is_stopping => StopResult::Nothing,
            Work::Running(_) => {
                self.is_stopping = true;
                self.send(Op::Cancel);
                StopResult::Asked
            }
        }
    }

    /// Ends the current work and returns the next line of the queue, which the caller begins.
    pub fn end(&mut self) -> Option<String> {
        self.work = Work::Idle;
        self.is_stopping = false;
        self.queue.pop_front()
    }

    /// Ends the current work and returns all prompts at the front of the queue as one, with blank
    /// lines between them, or the command at its front.
    pub fn end_together(&mut self) -> Option<String> {
        let mut first = self.end()?;
        while is_prompt(&first) && self.queue.front().is_some_and(|next| is_prompt(next)) {
            first.push_str("\n\n");
            first.push_str(&self.queue.pop_front()?);
        }
        Some(first)
    }

    /// Returns the command that a line calls, if it may run during other work.
    fn command_beside_work(&self, line: &str) -> Option<Op> {
        let commands = self.handle.commands().get();
        let (command, rest) = commands.find(line).filter(|_| is_command(line))?;
        command.runs_while_working().then(|| Op::Command {
            id: new_id(),
            name: command.name().to_owned(),
            arguments: rest.to_owned(),
        })
    }
}

/// Returns true for a line that goes to the model.
pub fn is_prompt(line: &str) -> bool {
    !is_command(line) && !line.starts_with('!')
}

/// Returns true for a line that calls a command. A line that begins with a path, such as
/// `/etc/hosts`, is a prompt.
pub fn is_command(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('/') else { return false };
    let name = rest.split_whitespace().next().unwrap_or_default();
    !name.contains('/') && !name.starts_with('*')
}

fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
