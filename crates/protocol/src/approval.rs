//! Approval modes: the calls that the user has allowed in advance.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The approval mode of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalMode {
    /// Reads are allowed; every other call needs approval.
    #[default]
    Default,
    /// Edits of files are allowed, too.
    AutoEdit,
    /// All calls are allowed.
    Yolo,
    /// Only the plan itself may be changed.
    Plan,
}

impl ApprovalMode {
    /// Returns the spelling of the command line, settings and messages (`auto_edit`).
    pub fn flag(self) -> &'static str {
        match self {
            Self::AutoEdit => "auto_edit",
            other => other.as_str(),
        }
    }

    /// Returns the spelling of policies, telemetry and protocols (`autoEdit`).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AutoEdit => "autoEdit",
            Self::Yolo => "yolo",
            Self::Plan => "plan",
        }
    }
}

impl fmt::Display for ApprovalMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Error of a text that is not the name of an approval mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown approval mode \"{0}\": choose default, auto_edit, yolo or plan")]
pub struct UnknownMode(pub String);

impl FromStr for ApprovalMode {
    type Err = UnknownMode;

    /// Accepts the command line's spelling (`auto_edit`) and that of policies (`autoEdit`).
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "default" => Ok(Self::Default),
            "auto_edit" | "autoEdit" => Ok(Self::AutoEdit),
            "yolo" => Ok(Self::Yolo),
            "plan" => Ok(Self::Plan),
            other => Err(UnknownMode(other.to_owned())),
        }
    }
}
