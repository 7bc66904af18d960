//! Similarity of names, for "did you mean" suggestions.

/// Maximum length of a name to compare, in bytes. The cost grows with the product of the lengths,
/// and names come from models and files.
const LONGEST: usize = 128;

/// Returns the number of characters to insert, remove or replace to turn one name into the other
/// (Levenshtein distance); [`usize::MAX`] if one of the names is too long to compare.
pub fn distance(left: &str, right: &str) -> usize {
    if left.len().max(right.len()) > LONGEST {
        return usize::MAX;
    }
    strsim::levenshtein(left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_hostile_length_is_near_to_nothing() {
        assert_eq!(distance("read_fil", "read_file"), 1);
        assert_eq!(distance(&"a".repeat(1_000_000), "read_file"), usize::MAX);
        assert_eq!(distance("read_file", &"a".repeat(1_000_000)), usize::MAX);
    }
}
