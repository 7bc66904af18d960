//! Tokens, as the vendors count them.

use serde::{Deserialize, Serialize};

/// Tokens of one request or of many. All counts are the vendor's own figures; zero when not told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub prompt: u64,
    /// Tokens of the answer, thoughts excluded.
    pub candidates: u64,
    /// The vendor's total.
    pub total: u64,
    /// Part of `prompt` that came from the vendor's cache.
    pub cached: u64,
    /// Part of `prompt` that was written to the vendor's cache, where the vendor bills that apart.
    pub cache_write: u64,
    /// Tokens of thoughts.
    pub thoughts: u64,
    /// Tokens of tool results the vendor itself put into the prompt.
    pub tool: u64,
}

/// Tokens of one request of the conversation, as they are reported to a frontend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageReport {
    /// Name of the model.
    pub model: String,
    /// Tokens of the request and its answer.
    pub usage: Usage,
    /// Tokens that the model takes at most; 0 when that is not known.
    pub context: u64,
}

impl Usage {
    /// All tokens: the vendor's total, or the sum of what it told where that is more.
    pub fn all(&self) -> u64 {
        let parts = [self.prompt, self.candidates, self.thoughts, self.tool];
        self.total.max(parts.into_iter().fold(0, u64::saturating_add))
    }

    /// Tokens of the request that had to be read anew: `prompt - cached`, never negative.
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
