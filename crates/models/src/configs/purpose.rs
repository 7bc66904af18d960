//! Purpose of a configuration.

/// Purpose for which a configuration is requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purpose<'a> {
    /// Name of the caller; `None` for the main conversation, which `core` in an override matches.
    pub scope: Option<&'a str>,
    /// True if the previous response was unusable.
    pub is_retry: bool,
}
