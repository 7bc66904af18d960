//! List of available models.

use crate::{ModelLimits, Price};

/// Model that can be requested, as far as known without asking its vendor.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelListing {
    /// Name for requesting the model, such as `groq/qwen/qwen3-32b`.
    pub name: String,
    /// Display name of its vendor.
    pub vendor: String,
    /// Limits; if the model's `context` is unknown, the vendor's usual value.
    pub limits: ModelLimits,
    /// Abilities.
    pub abilities: Abilities,
    /// Price, if known.
    pub price: Option<Price>,
    /// Dates of the model.
    pub dates: ModelDates,
    /// Origin of this entry.
    pub origin: ListingOrigin,
}

/// Origin of an entry in the list of models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListingOrigin {
    /// Tables that come with the program.
    #[default]
    BuiltIn,
    /// The user's own table, at least in part.
    User,
    /// A server on this machine that has the model.
    Server,
}

/// Dates of a model, `YYYY-MM-DD`, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelDates {
    /// Day on which the vendor published the model.
    pub released: Option<String>,
    /// Day from which the vendor no longer serves the model.
    pub retires: Option<String>,
}

/// Abilities of a model; `None` means unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// True if the model calls tools natively.
    pub tools: Option<bool>,
    /// True if the model accepts images.
    pub vision: Option<bool>,
    /// Maximum length of an answer, in tokens.
    pub max_output: Option<u64>,
}
