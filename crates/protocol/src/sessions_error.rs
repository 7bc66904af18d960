//! Errors of opening, listing and deleting sessions.

use crate::{ModelError, SettingValues};

/// Reason why a session cannot be opened, or why a prompt cannot be prepared. Each message says
/// what happened and how to fix it; a frontend may react to the variant.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SessionFailure {
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
    /// A change of a protected file, by a command of an earlier run, that cannot be undone.
    #[error("{0}")]
    ChangeNotReverted(String),
    /// An approval mode that an untrusted folder does not permit, in a run without a user.
    #[error("{0}")]
    Untrusted(String),
    /// No model is available: there are no credentials, or the service refused them.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// All other errors.
    #[error("{0}")]
    General(String),
}

impl SessionFailure {
    /// Creates the failure for settings that cannot be used.
    pub fn config(error: &impl ToString) -> Self {
        Self::Config(error.to_string())
    }

    /// Creates the failure for input that cannot be used.
    pub fn input(error: &impl ToString) -> Self {
        Self::Input(error.to_string())
    }

    /// Creates the failure for any other error.
    pub fn general(error: &impl ToString) -> Self {
        Self::General(error.to_string())
    }
}

/// Error of opening, listing or deleting a session, or of expanding its prompt, with the message
/// for the user.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{failure}")]
pub struct SessionsError {
    /// Reason.
    pub failure: Box<SessionFailure>,
    /// Id of the session, if it was known.
    pub session: Option<String>,
    /// Settings of the session, if they were known: a frontend whose output depends on them
    /// reports the error in the same form.
    pub settings: Option<SettingValues>,
}

impl From<SessionFailure> for SessionsError {
    fn from(failure: SessionFailure) -> Self {
        Self { failure: Box::new(failure), session: None, settings: None }
    }
}
