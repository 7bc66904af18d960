//! The methods of the Gemini API.

/// The methods of the Gemini API that the server knows, named as in the path behind `:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// `streamGenerateContent`, answered as server-sent events.
    StreamGenerateContent,
    /// `generateContent`.
    GenerateContent,
    /// `countTokens`.
    CountTokens,
    /// `batchEmbedContents`.
    BatchEmbedContents,
}

impl Endpoint {
    pub(crate) fn of(action: &str) -> Option<Self> {
        match action {
            "streamGenerateContent" => Some(Self::StreamGenerateContent),
            "generateContent" => Some(Self::GenerateContent),
            "countTokens" => Some(Self::CountTokens),
            "batchEmbedContents" => Some(Self::BatchEmbedContents),
            _ => None,
        }
    }
}
