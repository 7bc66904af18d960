//! What a person is asked before a call runs, and what they answer.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{CallId, DiffStat};

/// One question about one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    /// The call in question.
    pub call_id: CallId,
    /// The heading, such as `Confirm Shell Command`.
    pub title: String,
    /// What is to be looked at.
    pub kind: ConfirmationKind,
}

/// What is to be looked at before saying yes.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfirmationKind {
    /// A file is about to change.
    Edit {
        /// The file, absolute.
        path: PathBuf,
        /// Unified patch from the bytes on disk to the proposal.
        patch: String,
        /// The text on disk; none for a new file.
        original: Option<String>,
        /// The proposed text.
        proposed: String,
        /// Lines and characters added and removed.
        stat: DiffStat,
    },
    /// A command is about to run.
    Execute {
        /// The whole command line.
        command: String,
        /// The programs it will start, as far as known.
        programs: Vec<String>,
    },
    /// Anything else, told in words.
    Information {
        /// What will happen.
        prompt: String,
        /// Addresses involved.
        urls: Vec<String>,
    },
}

/// The answer to a [`Confirmation`]. The strings are those of the agent protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Yes, this once.
    ProceedOnce,
    /// Yes, for this session.
    ProceedAlways,
    /// Yes, for all sessions to come.
    ProceedAlwaysAndSave,
    /// Yes to everything of this server.
    ProceedAlwaysServer,
    /// Yes to everything of this tool.
    ProceedAlwaysTool,
    /// Let me change it first.
    ModifyWithEditor,
    /// No.
    Cancel,
}

/// A change of a call by the person before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Modification {
    /// The whole new content of the file in question.
    NewContent(String),
}

/// An answer on its way back to the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The call that was asked about.
    pub call_id: CallId,
    /// Yes, no, or how.
    pub outcome: Outcome,
    /// The change, when there is one.
    pub modification: Option<Modification>,
}
