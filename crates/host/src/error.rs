//! Reasons why a session cannot be opened.

use pollux_protocol::ModelError;

/// Reason why a session cannot be opened, or why a prompt cannot be prepared. Each message says
/// what happened and how to fix it; the program that opened the session maps the variant to an exit
/// code.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HostError {
    /// Settings, policy files, prices or limits that cannot be used.
    #[error("{0}")]
    Config(String),
    /// Input that cannot be used: a session that cannot be resumed, or a file that a prompt names
    /// and that cannot be read.
    #[error("{0}")]
    Input(String),
    /// A sandbox that was asked for and is not available.
    #[error("{0}")]
    Sandbox(String),
    /// A session log that cannot be written.
    #[error("{0}")]
    Log(String),
    /// No model is available: there are no credentials, or the service refused them.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// All other errors.
    #[error("{0}")]
    General(String),
}

impl HostError {
    pub(crate) fn config(error: &impl ToString) -> Self {
        Self::Config(error.to_string())
    }

    pub(crate) fn input(error: &impl ToString) -> Self {
        Self::Input(error.to_string())
    }

    pub(crate) fn general(error: &impl ToString) -> Self {
        Self::General(error.to_string())
    }
}
