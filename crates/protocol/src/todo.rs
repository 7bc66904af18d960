//! To-do list of a session.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One entry of the to-do list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// Task, in a short line.
    pub description: String,
    /// State of the work on the task.
    #[serde(default)]
    pub status: TodoStatus,
}

/// State of the work on a to-do entry. The strings are those of the tool's arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not started.
    #[default]
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
    /// Not needed any more.
    Cancelled,
    /// Waits for something.
    Blocked,
}

impl TodoStatus {
    /// Returns the string of the tool's arguments.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Blocked => "blocked",
        }
    }

    /// Returns true if work remains.
    pub fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::InProgress | Self::Blocked => true,
            Self::Completed | Self::Cancelled => false,
        }
    }
}

impl fmt::Display for TodoStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
