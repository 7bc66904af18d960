//! What a configuration is for.

/// For what a configuration is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purpose<'a> {
    /// Who asks; none for the conversation itself, which `core` in an override matches.
    pub scope: Option<&'a str>,
    /// The answer before was unusable.
    pub is_retry: bool,
}
