//! What a vendor looked at on the web for an answer, and which words rest on what.

/// A page that an answer rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Its title, when told.
    pub title: Option<String>,
    /// Its address, when told.
    pub uri: Option<String>,
}

/// Words of an answer that rest on sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Support {
    /// The part of the answer that the offsets count in, from 0, thoughts included.
    pub part: u64,
    /// Where the words begin, in bytes of the part's UTF-8 text.
    pub start: u64,
    /// Where they end, in the same unit: the first byte behind them.
    pub end: u64,
    /// The words, when told.
    pub text: Option<String>,
    /// Places in [`Grounding::sources`], from 0.
    pub sources: Vec<u64>,
}

/// How the vendor fared with an address that it was asked to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrievedUrl {
    /// The address.
    pub url: String,
    /// It was read.
    pub success: bool,
    /// The vendor's word for it, such as `URL_RETRIEVAL_STATUS_PAYWALL`.
    pub status: String,
}

/// What the vendor looked at for an answer. All of it is the vendor's word: places and offsets may be wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grounding {
    /// What it searched the web for.
    pub queries: Vec<String>,
    /// The pages that the answer rests on.
    pub sources: Vec<Source>,
    /// Which words rest on which of them.
    pub supports: Vec<Support>,
    /// The addresses that it was asked to read.
    pub retrieved: Vec<RetrievedUrl>,
}
