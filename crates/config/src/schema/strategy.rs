//! Strategies for merging two layers of one setting.

/// Strategy for a key that exists in both layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeStrategy {
    /// Scalars and arrays are replaced; objects merge key by key.
    Replace,
    /// Each key of the object is replaced as a whole.
    ShallowMerge,
    /// The upper array is appended.
    Concat,
    /// The upper array is appended and repeats are dropped.
    Union,
}

impl MergeStrategy {
    /// Returns the name of the strategy in the reference and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::ShallowMerge => "shallow_merge",
            Self::Concat => "concat",
            Self::Union => "union",
        }
    }
}
