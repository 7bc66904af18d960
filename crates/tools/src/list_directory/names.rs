//! Matching of file names with patterns.

/// Returns true if a whole name matches a pattern of `*` (any text) and `?` (any character). Takes
/// at most time proportional to the product of both lengths.
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
                // Let the last star match one more character.
                let Some((place, taken)) = star else { return false };
                star = Some((place, taken + 1));
                (in_pattern, at) = (place + 1, taken + 1);
            }
        }
    }
    pattern[in_pattern..].iter().all(|letter| *letter == '*')
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
}
