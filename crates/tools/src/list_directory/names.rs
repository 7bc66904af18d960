//! Names of files: which a pattern means, and how people sort them.

/// ASCII punctuation in the order in which the Unicode collation algorithm sorts it; digits and letters follow.
const PUNCTUATION: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Whether a whole name matches a pattern of `*` (any run) and `?` (any character). Never worse than the product of both
/// lengths.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut in_pattern, mut star) = (0, 0, None);
    while at < name.len() {
        match pattern.get(in_pattern) {
            Some('*') => {
                star = Some((in_pattern, at));
                in_pattern += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[at] => {
                at += 1;
                in_pattern += 1;
            }
            _ => {
                // Let the last star take one character more.
                let Some((place, taken)) = star else { return false };
                star = Some((place, taken + 1));
                (in_pattern, at) = (place + 1, taken + 1);
            }
        }
    }
    pattern[in_pattern..].iter().all(|letter| *letter == '*')
}

/// Sorts close to JavaScript's `localeCompare` in English: punctuation, digits, letters; case matters last, small letters
/// first.
pub(super) fn collation_key(name: &str) -> (Vec<u32>, Vec<bool>, String) {
    let weight = |letter: char| match PUNCTUATION.chars().position(|known| known == letter) {
        Some(position) => position as u32,
        None => PUNCTUATION.len() as u32 + u32::from(letter),
    };
    let folded = name.chars().flat_map(char::to_lowercase).map(weight).collect();
    (folded, name.chars().map(char::is_uppercase).collect(), name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        let table = [
            ("*.rs", "a.rs", true),
            ("*.rs", "a.rs.bak", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*b*c", "aXbbXc", true),
            ("a.c", "abc", false),
            ("[ab]", "a", false),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        assert!(!matches(&"*a".repeat(40), &"a".repeat(30)));
    }

    #[test]
    fn names_sort_as_people_expect() {
        let mut names = vec!["Zeta", "alpha", "Beta", "beta", ".git", "_x", "10", "2", "a-b"];
        names.sort_by_cached_key(|name| collation_key(name));
        assert_eq!(names, ["_x", ".git", "10", "2", "a-b", "alpha", "beta", "Beta", "Zeta"]);
    }
}
