//! Token counts of the vendors.

use serde::{Deserialize, Serialize};

/// Tokens of one request or of many. All counts are the vendor's own figures; zero if not reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the request, including cached ones.
    pub prompt: u64,
    /// Tokens of the answer, without thoughts.
    pub candidates: u64,
    /// Total of the vendor.
    pub total: u64,
    /// Part of `prompt` that was read from the vendor's cache.
    pub cached: u64,
    /// Part of `prompt` that was written to the vendor's cache, if the vendor bills it separately.
    pub cache_write: u64,
    /// Tokens of thoughts.
    pub thoughts: u64,
    /// Tokens of tool results that the vendor itself added to the prompt.
    pub tool: u64,
}

/// Tokens of one request of the conversation, reported to a frontend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageReport {
    /// Name of the model.
    pub model: String,
    /// Tokens of the request and its answer.
    pub usage: Usage,
    /// Maximum number of tokens of the model; 0 if unknown.
    pub context: u64,
}

impl Usage {
    /// Returns the number of all tokens: the vendor's total, or the sum of the single counts if
    /// that is more.
    pub fn all(&self) -> u64 {
        let parts = [self.prompt, self.candidates, self.thoughts, self.tool];
        self.total.max(parts.into_iter().fold(0, u64::saturating_add))
    }

    /// Returns the request tokens that were not read from the cache: `prompt - cached`, never
    /// negative.
    pub fn input(&self) -> u64 {
        self.prompt.saturating_sub(self.cached)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.candidates = self.candidates.saturating_add(other.candidates);
        self.total = self.total.saturating_add(other.total);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.thoughts = self.thoughts.saturating_add(other.thoughts);
        self.tool = self.tool.saturating_add(other.tool);
    }
}
