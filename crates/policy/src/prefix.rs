//! Conditions of `commandPrefix`: the words that a command begins with.

/// Words that a command must begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    text: String,
    words: Vec<String>,
    /// First word without its folders.
    program: String,
    /// True if a shell splits the text into the same words, so that they can be compared one by
    /// one.
    is_plain: bool,
}

impl Prefix {
    /// Creates a prefix from the text of a rule.
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        let is_plain = !text.contains(['"', '\'', '\\', '$', '`', '=']);
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let program = words.first().map_or("", |word| base_name(word)).to_owned();
        Self { text: text.to_owned(), words, program, is_plain }
    }

    /// Returns the text as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True if a shell leaves the words unchanged.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain && !self.words.is_empty()
    }

    /// Returns the first word without its folders.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// Returns the words, separated at spaces.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the number of words that the prefix matches at the start of these words. A word that
    /// is not constant does not match.
    pub(crate) fn covers(&self, words: &[Option<&str>]) -> Option<usize> {
        let fits = self.is_plain
            && !self.words.is_empty()
            && words.len() >= self.words.len()
            && self.words.iter().zip(words).all(|(wanted, word)| *word == Some(wanted.as_str()));
        fits.then_some(self.words.len())
    }

    /// True if a text begins with the prefix, and a word ends there.
    pub(crate) fn begins(&self, text: &str) -> bool {
        let rest = text.trim_start().strip_prefix(self.text.as_str());
        !self.text.is_empty()
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    }

    /// True if a text is equal to the prefix.
    pub(crate) fn is_all_of(&self, text: &str) -> bool {
        !self.text.is_empty() && text.trim() == self.text
    }

    /// True if a deny rule with this prefix may match the text: the text begins with the prefix,
    /// whatever follows.
    pub(crate) fn begins_loosely(&self, text: &str) -> bool {
        let rest = text.trim_start().strip_prefix(self.text.as_str());
        let ends = |rest: &str| !rest.starts_with(is_of_word);
        !self.text.is_empty() && rest.is_some_and(ends)
    }

    /// Returns the match of a deny rule with this prefix: the same program is called with the same
    /// further words among its options. The program's folders and the order of options are ignored;
    /// options may be between the words. `name` has no folders; `has_more` means that more, unknown
    /// words follow.
    pub(crate) fn likeness(&self, name: &str, given: &[Option<&str>], has_more: bool) -> Likeness {
        let Some((_, wanted)) = self.words.split_first() else { return Likeness::No };
        if !name.eq_ignore_ascii_case(&self.program) {
            return Likeness::No;
        }
        let (options, plain): (Vec<&String>, Vec<&String>) =
            wanted.iter().partition(|word| word.starts_with('-') && word.len() > 1);
        let is_open = has_more || given.contains(&None);
        let has_options = options.iter().all(|option| has_option(given, option));
        match has_words(given, &plain) {
            Likeness::Yes if has_options => Likeness::Yes,
            Likeness::No if !has_more => Likeness::No,
            _ if is_open => Likeness::Maybe,
            _ => Likeness::No,
        }
    }
}

/// Certainty that a deny rule matches a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    Yes,
    /// The match depends on words that are known only when the command runs.
    Maybe,
    No,
}

/// Returns true for a letter that does not end a word of a command.
pub(crate) fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || "_-./".contains(letter)
}

/// Returns the last component of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns true if every letter of a group of short options is given somewhere; a long option must
/// be given, possibly shortened or with a value. One letter can be enough for a program: `rm --r`.
fn has_option(given: &[Option<&str>], option: &str) -> bool {
    let given = given.iter().flatten();
    if let Some(name) = option.strip_prefix("--") {
        let name = name.split('=').next().unwrap_or(name);
        return given.filter_map(|word| word.strip_prefix("--")).any(|word| {
            let word = word.split('=').next().unwrap_or(word);
            !word.is_empty() && name.starts_with(word) || word == name
        });
    }
    let given: Vec<&str> = given.copied().collect();
    option[1..].chars().all(|letter| {
        let long = long_twin(letter);
        given.iter().any(|word| match word.strip_prefix("--") {
            Some(word) => long.is_some_and(|long| !word.is_empty() && long.starts_with(word)),
            None => word.strip_prefix('-').is_some_and(|letters| letters.contains(letter)),
        })
    })
}

/// Returns the long form of a short option that rules deny.
fn long_twin(letter: char) -> Option<&'static str> {
    match letter {
        'r' | 'R' => Some("recursive"),
        'f' => Some("force"),
        _ => None,
    }
}

/// Returns whether the words occur in this order, with only options and their values between them.
fn has_words(given: &[Option<&str>], wanted: &[&String]) -> Likeness {
    let mut at = 0;
    for word in wanted {
        let mut may_be_value = false;
        loop {
            match given.get(at) {
                Some(Some(found)) if *found == word.as_str() => break,
                Some(Some(found)) if found.starts_with('-') => may_be_value = true,
                Some(Some(_)) if may_be_value => may_be_value = false,
                None | Some(Some(_)) => return Likeness::No,
                // The unknown word may be the wanted word, an option, or empty.
                Some(None) => return Likeness::Maybe,
            }
            at += 1;
        }
        at += 1;
    }
    Likeness::Yes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Option<&str>> {
        line.split(' ').map(|word| (!word.starts_with('$')).then_some(word)).collect()
    }

    #[test]
    fn words_are_compared_whole() {
        for (prefix, line, covered) in [
            ("git", "git status", Some(1)),
            ("git status", "git status -s", Some(2)),
            ("git", "gitk", None),
            ("git st", "git status", None),
            ("git status", "git", None),
            ("git status", "git $x", None),
            ("  git  ", "git", Some(1)),
            ("", "git", None),
        ] {
            assert_eq!(Prefix::new(prefix).covers(&words(line)), covered, "{prefix} {line}");
        }
    }

    #[test]
    fn what_is_forbidden_is_known_by_its_sense() {
        for (prefix, line, expected) in [
            ("rm", "/bin/rm x", Likeness::Yes),
            ("rm -rf", "rm -r -f x", Likeness::Yes),
            ("rm -rf", "rm -fr x", Likeness::Yes),
            ("rm -rf", "rm x --recursive --force", Likeness::Yes),
            ("rm -rf", "rm x --rec --forc", Likeness::Yes),
            ("rm -rf", "rm --r --f x", Likeness::Yes),
            ("rm --recursive", "rm --r x", Likeness::Yes),
            ("rm --recursive", "rm -- x", Likeness::No),
            ("rm -rf", "rm -- rf", Likeness::No),
            ("sh -", "sh -", Likeness::Yes),
            ("sh -", "sh x", Likeness::No),
            ("rm -rf", "rm --rx --fx", Likeness::No),
            ("rm -rf", "rm -r x", Likeness::No),
            ("rm", "rmdir x", Likeness::No),
            ("git push", "git -C . push", Likeness::Yes),
            ("git push", "git --no-pager push origin", Likeness::Yes),
            ("git push", "git $x push", Likeness::Maybe),
            ("rm -rf", "rm $x", Likeness::Maybe),
            ("rm", "rm $x", Likeness::Yes),
            ("git push", "git status $x", Likeness::No),
            ("git push", "git log push", Likeness::No),
            ("git push --force", "git push origin --force-with-lease", Likeness::No),
            ("git push --force", "git push origin --forc", Likeness::Yes),
            ("git push -f", "git push --force", Likeness::Yes),
            ("npm run deploy", "npm run build", Likeness::No),
        ] {
            let words = words(line);
            let name = base_name(words[0].unwrap());
            let likeness = Prefix::new(prefix).likeness(name, &words[1..], false);
            assert_eq!(likeness, expected, "{prefix} {line}");
        }
    }

    #[test]
    fn texts() {
        let prefix = Prefix::new("FOO=1 git");
        assert!(prefix.begins("FOO=1 git status"));
        assert!(!prefix.begins("FOO=1 gitk"));
        assert!(Prefix::new("rm").begins_loosely("rm\"\" x"));
        assert!(!Prefix::new("rm").begins_loosely("rm-it"));
        assert!(Prefix::new("make > log").is_all_of(" make > log\n"));
    }
}
