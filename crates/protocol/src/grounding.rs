//! Web sources that a vendor used for an answer, and the passages that they support.

/// Page that supports an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebSource {
    /// Title of the page, if given.
    pub title: Option<String>,
    /// URL of the page, if given.
    pub uri: Option<String>,
}

/// Passage of an answer that is supported by sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Support {
    /// Index of the answer's part in which the offsets count, from 0, including thoughts.
    pub part: u64,
    /// Start of the passage, in bytes of the part's UTF-8 text.
    pub start: u64,
    /// End of the passage, in the same unit: the first byte after it.
    pub end: u64,
    /// Text of the passage, if given.
    pub text: Option<String>,
    /// Indexes into [`Grounding::sources`], from 0.
    pub sources: Vec<u64>,
}

/// Result of reading a URL that the vendor was asked to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrievedUrl {
    /// The URL.
    pub url: String,
    /// True if the URL was read.
    pub success: bool,
    /// Status as the vendor spells it, such as `URL_RETRIEVAL_STATUS_PAYWALL`.
    pub status: String,
}

/// Web sources that the vendor used for an answer. All fields come from the vendor and are not
/// verified: indexes and offsets may be wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grounding {
    /// Web searches of the vendor.
    pub queries: Vec<String>,
    /// Pages that support the answer.
    pub sources: Vec<WebSource>,
    /// Passages with the sources that support them.
    pub supports: Vec<Support>,
    /// URLs that the vendor was asked to read.
    pub retrieved: Vec<RetrievedUrl>,
}
