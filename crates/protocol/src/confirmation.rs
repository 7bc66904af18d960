//! Contents of the question whether a call may run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{CallId, ConfinementLevel, DiffStat};

/// Call that needs approval.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    /// Id of the call.
    pub call_id: CallId,
    /// Heading, such as `Confirm Shell Command`.
    pub title: String,
    /// Details that the user reviews.
    pub kind: ConfirmationKind,
}

/// Details that the user reviews before approving a call.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfirmationKind {
    /// A file is about to change.
    Edit {
        /// Absolute path of the file.
        path: PathBuf,
        /// Unified patch from the text on disk to the proposed text.
        patch: String,
        /// Text on disk; `None` for a new file.
        original: Option<String>,
        /// Proposed text.
        proposed: String,
        /// Counts of added and removed lines and characters.
        stat: DiffStat,
        /// Set if the change removes most of a large file.
        rewrite: Option<Rewrite>,
    },
    /// A command is about to run.
    Execute {
        /// The whole command line.
        command: String,
        /// Programs that the command starts, as far as known.
        programs: Vec<String>,
        /// Commands of the line with their arguments, as far as known.
        commands: Vec<String>,
        /// Files that the redirections of the command write, as far as known.
        writes: Vec<String>,
        /// Constructs that may start further programs or write further files.
        unknown: Vec<String>,
        /// Sentences about what the programs start by themselves, for a question that offers an
        /// approval for more than this command line.
        starts: Vec<String>,
        /// Reason why the policy asks; `None` if the reason is only that no rule allows the
        /// command.
        reason: Option<String>,
        /// Confinement of this and later commands if the approval lasts longer than this call.
        level: ConfinementLevel,
        /// Description of the command by the model.
        purpose: Option<String>,
        /// Folder that the command runs in, if it is not the folder of the project.
        folder: Option<String>,
        /// True if the command continues in the background.
        is_background: bool,
    },
    /// A plan is about to be carried out. [`crate::QuestionOutcome::ProceedOnce`] asks again before
    /// each change, [`crate::QuestionOutcome::ProceedAlways`] changes files without asking.
    /// [`crate::Modification::Feedback`] rejects the plan.
    Plan {
        /// Absolute path of the file with the plan.
        path: PathBuf,
        /// Text of the plan.
        text: String,
    },
    /// The model has questions for the user. The answers come as [`crate::Modification::Answers`].
    Questions(Vec<SurveyQuestion>),
    /// A tool of a server is about to run.
    ServerTool(Box<ServerToolCall>),
    /// Any other call, described in a sentence.
    Information {
        /// Description of what the call will do.
        prompt: String,
        /// URLs involved.
        urls: Vec<String>,
    },
}

/// Call of a server's tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerToolCall {
    /// Name of the server.
    pub server: String,
    /// Name of the tool, as the server calls it.
    pub tool: String,
    /// Name of the tool for display.
    pub display_name: String,
    /// Description of the tool, written by the server.
    pub description: String,
    /// Arguments of the call.
    pub arguments: serde_json::Map<String, serde_json::Value>,
    /// JSON schema of the arguments.
    pub schema: serde_json::Value,
    /// True if the server has changed the tool since the user approved it.
    pub is_changed: bool,
}

/// Change that removes most of a file, which is more than the user expects of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewrite {
    /// Number of removed lines.
    pub removed: u64,
    /// Number of lines of the file before the change.
    pub lines: u64,
}

impl Rewrite {
    /// Minimum number of lines of a large file. A user sees at a glance what a change does to a
    /// smaller one.
    const LARGE: u64 = 50;

    /// Returns the details if a change removes more than half of the lines of a large file.
    pub fn of(removed: u64, lines: u64) -> Option<Self> {
        (lines >= Self::LARGE && removed.saturating_mul(2) > lines)
            .then_some(Self { removed, lines })
    }
}

impl std::fmt::Display for Rewrite {
    /// `removes 480 of 500 lines`
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "removes {} of {} lines", self.removed, self.lines)
    }
}

/// Question from the model to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SurveyQuestion {
    /// Text of the question.
    pub question: String,
    /// Short name of the question, one or two words.
    pub header: String,
    /// Kind of answer.
    #[serde(default, rename = "type")]
    pub kind: SurveyKind,
    /// Options to choose from; the user may also answer with a text.
    #[serde(default)]
    pub options: Vec<SurveyOption>,
    /// True if several options can be chosen.
    #[serde(default)]
    pub multi_select: bool,
    /// Example of a text answer.
    #[serde(default)]
    pub placeholder: String,
}

/// Kind of answer to a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SurveyKind {
    /// Choice of one option, or of several.
    #[default]
    Choice,
    /// Free text.
    Text,
    /// Yes or no.
    YesNo,
}

/// Option that the user can choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurveyOption {
    /// The answer.
    pub label: String,
    /// Explanation of the answer.
    pub description: String,
}
