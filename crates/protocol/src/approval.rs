//! How much the person has allowed in advance.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The approval mode of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalMode {
    /// Reading is free, everything else is asked.
    #[default]
    Default,
    /// Edits of files are free too.
    AutoEdit,
    /// Nothing is asked.
    Yolo,
    /// Nothing may be changed but the plan itself.
    Plan,
}

impl ApprovalMode {
    /// The spelling of policies, telemetry and protocols (`autoEdit`).
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

/// A word that names no approval mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown approval mode \"{0}\": choose default, auto_edit, yolo or plan")]
pub struct UnknownMode(pub String);

impl FromStr for ApprovalMode {
    type Err = UnknownMode;

    /// Reads both the command line's spelling (`auto_edit`) and the policies' (`autoEdit`).
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
