//! Contents of the question whether a call may run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{CallId, ConfinementLevel, DiffStat};

/// A call that needs approval.
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
        /// The change takes most of a large file away.
        rewrite: Option<Rewrite>,
    },
    /// A command is about to run.
    Execute {
        /// The whole command line.
        command: String,
        /// The programs it will start, as far as known.
        programs: Vec<String>,
        /// The files that its redirections write, as far as known.
        writes: Vec<String>,
        /// Constructs for which there may be more of both than is known.
        unknown: Vec<String>,
        /// Sentences about what the programs start by themselves, where an approval for more than this line is offered.
        starts: Vec<String>,
        /// Reason for which policy asks, if it is another one than that no rule allows the command.
        reason: Option<String>,
        /// Confinement of this and further commands if the approval lasts longer than this call.
        level: ConfinementLevel,
    },
    /// A plan is about to be carried out. [`crate::Outcome::ProceedOnce`] asks again before each change,
    /// [`crate::Outcome::ProceedAlways`] makes changes of files without asking. With [`crate::Modification::Feedback`] it is not agreed to.
    Plan {
        /// The file that holds it, absolute.
        path: PathBuf,
        /// The plan.
        text: String,
    },
    /// The model wants to know something. The answer comes as [`crate::Modification::Answers`].
    Questions(Vec<SurveyQuestion>),
    /// Anything else, told in words.
    Information {
        /// What will happen.
        prompt: String,
        /// Addresses involved.
        urls: Vec<String>,
    },
}

/// A change that takes most of a file away: more than a person expects of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewrite {
    /// Lines that go.
    pub removed: u64,
    /// Lines of the file.
    pub lines: u64,
}

impl Rewrite {
    /// Smaller files are seen at a glance.
    const LARGE: u64 = 50;

    /// What is to be called out about a change that removes so many of a file's lines: it goes when more than half of a
    /// large file does.
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

/// Something that a model asks the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SurveyQuestion {
    /// The whole question.
    pub question: String,
    /// A word or two that name it.
    pub header: String,
    /// How it is answered.
    #[serde(default, rename = "type")]
    pub kind: SurveyKind,
    /// What can be chosen; words of one's own are an answer too.
    #[serde(default)]
    pub options: Vec<SurveyOption>,
    /// Several can be chosen.
    #[serde(default)]
    pub multi_select: bool,
    /// An example of an answer in words.
    #[serde(default)]
    pub placeholder: String,
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SurveyKind {
    /// One of the options, or several.
    #[default]
    Choice,
    /// In words.
    Text,
    /// Yes or no.
    YesNo,
}

/// One possible answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurveyOption {
    /// The answer.
    pub label: String,
    /// What it means.
    pub description: String,
}
