//! How alike two names are, for "did you mean".

/// Names longer than this, in bytes, are near to nothing: the cost grows with the product of the lengths, and names come
/// from models and files.
const LONGEST: usize = 128;

/// How many characters must be put in, left out or replaced to get from one name to the other (Levenshtein);
/// [`usize::MAX`] when one of them is too long to be worth comparing.
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
