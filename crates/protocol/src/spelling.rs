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

/// Returns true if one insertion, removal, replacement or swap of neighbouring characters at most
/// turns one name into the other.
pub fn is_one_edit(left: &str, right: &str) -> bool {
    left.len().max(right.len()) <= LONGEST && strsim::osa_distance(left, right) <= 1
}

/// Returns the name that is most similar to `wanted`: within one edit, or within two for longer
/// names. The name itself does not count.
pub fn nearest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let is_near =
        |name: &&str| is_one_edit(wanted, name) || name.len() >= 6 && distance(wanted, name) <= 2;
    let near = names.into_iter().filter(|name| *name != wanted).filter(is_near);
    near.min_by_key(|name| strsim::osa_distance(wanted, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit() {
        for (left, right, expected) in [
            ("list", "list", true),
            ("lsit", "list", true),
            ("lis", "list", true),
            ("liszt", "list", true),
            ("lost", "list", true),
            ("tsil", "list", false),
            ("", "a", true),
        ] {
            assert_eq!(is_one_edit(left, right), expected, "{left} {right}");
        }
        assert!(!is_one_edit(&"a".repeat(1_000_000), &"a".repeat(1_000_000)));
    }

    #[test]
    fn the_most_similar_name() {
        let names = ["help", "model", "memory", "mode", "permissions"];
        for (wanted, expected) in [
            ("hlp", Some("help")),
            ("modle", Some("model")),
            ("permisions", Some("permissions")),
            ("memroy", Some("memory")),
            ("mode", Some("model")),
            ("keep", None),
            ("x", None),
        ] {
            assert_eq!(nearest(wanted, names), expected, "{wanted}");
        }
    }

    #[test]
    fn a_name_of_hostile_length_is_near_to_nothing() {
        assert_eq!(distance("read_fil", "read_file"), 1);
        assert_eq!(distance(&"a".repeat(1_000_000), "read_file"), usize::MAX);
        assert_eq!(distance("read_file", &"a".repeat(1_000_000)), usize::MAX);
    }
}
