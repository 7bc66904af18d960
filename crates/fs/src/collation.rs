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
    if name.is_ascii() {
        let weights = name.bytes().map(|letter| ASCII_WEIGHTS[usize::from(letter)]).collect();
        let case = name.bytes().map(|letter| letter.is_ascii_uppercase()).collect();
        return (weights, Vec::new(), case, name.to_owned());
    }
    any_collation_key(name)
}

/// Does the same for a name with any letters.
fn any_collation_key(name: &str) -> CollationKey {
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(name);
    let (marks, letters): (Vec<char>, Vec<char>) =
        decomposed.chars().partition(|letter| is_mark(*letter));
    let expanded = letters.iter().flat_map(|letter| match letter {
        'ß' => ['s', 's'].to_vec(),
        'æ' | 'Æ' => ['a', 'e'].to_vec(),
        'œ' | 'Œ' => ['o', 'e'].to_vec(),
        letter => letter.to_lowercase().collect(),
    });
    let weight = |letter: char| match u8::try_from(letter) {
        Ok(byte) if byte.is_ascii() => ASCII_WEIGHTS[usize::from(byte)],
        _ => PUNCTUATION.len() as u32 + u32::from(letter),
    };
    let case = letters.iter().map(|letter| letter.is_uppercase()).collect();
    (expanded.map(weight).collect(), marks, case, name.to_owned())
}

/// Weights of the ASCII characters, in which the case makes no difference.
const ASCII_WEIGHTS: [u32; 128] = {
    let punctuation = PUNCTUATION.as_bytes();
    let mut weights = [0; 128];
    let mut letter: u8 = 0;
    while letter < 128 {
        weights[letter as usize] = punctuation.len() as u32 + letter.to_ascii_lowercase() as u32;
        letter += 1;
    }
    let mut position = 0;
    while position < punctuation.len() {
        weights[punctuation[position] as usize] = position as u32;
        position += 1;
    }
    weights
};

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
    fn names_in_ascii_have_the_key_of_all_names() {
        let every: String = (0..128_u8).map(char::from).collect();
        for name in ["", "a", "Ab-c_d.E 9", &every] {
            assert_eq!(collation_key(name), any_collation_key(name));
        }
    }

    #[test]
    fn names_sort_as_people_expect() {
        let mut names = vec!["Zeta", "alpha", "Beta", "beta", ".git", "_x", "10", "2", "a-b"];
        names.sort_by_cached_key(|name| collation_key(name));
        assert_eq!(names, ["_x", ".git", "10", "2", "a-b", "alpha", "beta", "Beta", "Zeta"]);
    }
}
