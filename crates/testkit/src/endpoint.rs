//! The methods of the APIs.

/// The methods of the APIs that the server knows. Those of the Gemini API are named as in the path
/// behind `:`.
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
    /// `/v1/messages` of Anthropic's API, and `rawPredict` and `streamRawPredict` of Vertex AI,
    /// answered as server-sent events if the request asks for them.
    Messages,
}

impl Endpoint {
    pub(crate) fn of(path: &str) -> Option<Self> {
        if path.ends_with("/v1/messages") {
            return Some(Self::Messages);
        }
        match path.rsplit_once(':')?.1 {
            "streamGenerateContent" => Some(Self::StreamGenerateContent),
            "generateContent" => Some(Self::GenerateContent),
            "countTokens" => Some(Self::CountTokens),
            "batchEmbedContents" => Some(Self::BatchEmbedContents),
            "streamRawPredict" | "rawPredict" => Some(Self::Messages),
            _ => None,
        }
    }
}
