//! What a call will do, declared once.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a call will do to the world: the one value that policy, confirmation, scheduling, sandboxing,
/// pre-images and telemetry read. Nothing else guesses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Effects {
    /// Files and folders it reads, absolute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<PathBuf>,
    /// Files and folders it creates, changes or removes, absolute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<PathBuf>,
    /// A command line it gives to a shell; what that does is known only by analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// It talks to the network itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// It must not run beside other calls: it waits for all before it, and all after it wait.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
}

impl Effects {
    /// A call that only reads `path`.
    pub fn read(path: impl Into<PathBuf>) -> Self {
        Self { reads: vec![path.into()], ..Self::default() }
    }

    /// A call that changes the file `path`, and nothing else may run beside it.
    pub fn write(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { reads: vec![path.clone()], writes: vec![path], alone: true, ..Self::default() }
    }
}
