//! How people sort names.

/// ASCII punctuation in the order in which the Unicode collation algorithm sorts it; digits and letters follow.
const PUNCTUATION: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Sorts close to JavaScript's `localeCompare` in English: punctuation, digits, letters; case matters last, small letters
/// first.
pub fn collation_key(name: &str) -> (Vec<u32>, Vec<bool>, String) {
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
    fn names_sort_as_people_expect() {
        let mut names = vec!["Zeta", "alpha", "Beta", "beta", ".git", "_x", "10", "2", "a-b"];
        names.sort_by_cached_key(|name| collation_key(name));
        assert_eq!(names, ["_x", ".git", "10", "2", "a-b", "alpha", "beta", "Beta", "Zeta"]);
    }
}
