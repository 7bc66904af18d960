//! Sort order of names for display.

use icu_normalizer::DecomposingNormalizerBorrowed;

/// ASCII punctuation in the order of the Unicode collation algorithm; digits and letters follow.
const PUNCTUATION: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Sort key of a name: letters without marks and case, then the marks, then the case, then the name
/// itself.
pub(crate) type CollationKey = (Vec<u32>, Vec<char>, Vec<bool>, String);

/// Returns a key that sorts similarly to JavaScript's `localeCompare` in English: punctuation,
/// digits, letters; accents are compared after letters, and case last, with lower case first.
pub fn collation_key(name: &str) -> CollationKey {
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(name);
    let (marks, letters): (Vec<char>, Vec<char>) =
        decomposed.chars().partition(|letter| is_mark(*letter));
    let expanded = letters.iter().flat_map(|letter| match letter {
        'ß' => ['s', 's'].to_vec(),
        'æ' | 'Æ' => ['a', 'e'].to_vec(),
        'œ' | 'Œ' => ['o', 'e'].to_vec(),
        letter => letter.to_lowercase().collect(),
    });
    let weight = |letter: char| match PUNCTUATION.chars().position(|known| known == letter) {
        Some(position) => position as u32,
        None => PUNCTUATION.len() as u32 + u32::from(letter),
    };
    let case = letters.iter().map(|letter| letter.is_uppercase()).collect();
    (expanded.map(weight).collect(), marks, case, name.to_owned())
}

/// Returns true for the combining marks of decomposed Latin, Greek and Cyrillic letters.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_come_after_letters() {
        let mut names = vec!["z", "über", "éa", "eb", "Ea", "ß", "st", "uber", "ärger", "日"];
        names.sort_by_cached_key(|name| collation_key(name));
        assert_eq!(names, ["ärger", "Ea", "éa", "eb", "ß", "st", "uber", "über", "z", "日"]);
    }

    #[test]
    fn names_sort_as_people_expect() {
        let mut names = vec!["Zeta", "alpha", "Beta", "beta", ".git", "_x", "10", "2", "a-b"];
        names.sort_by_cached_key(|name| collation_key(name));
        assert_eq!(names, ["_x", ".git", "10", "2", "a-b", "alpha", "beta", "Beta", "Zeta"]);
    }
}
