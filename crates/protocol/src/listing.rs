//! Models that can be asked for.

use crate::{Limits, Price};

/// A model that can be asked for, as far as it is known without asking its vendor.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelListing {
    /// Name to ask for it, such as `groq/qwen/qwen3-32b`.
    pub name: String,
    /// Name of its vendor for a person.
    pub vendor: String,
    /// Limits; a `context` that nobody knows is the vendor's usual one.
    pub limits: Limits,
    /// Abilities.
    pub abilities: Abilities,
    /// Price, where one is known.
    pub price: Option<Price>,
}

/// Abilities of a model; `None` is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Calls tools natively.
    pub tools: Option<bool>,
    /// Sees images.
    pub vision: Option<bool>,
    /// Longest answer, in tokens.
    pub max_output: Option<u64>,
}
