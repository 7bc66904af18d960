//! `commandPrefix`: the words that a command begins with.

/// Words that a command must begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    text: String,
    words: Vec<String>,
    /// The first word without its folders.
    program: String,
    /// The words are what a shell makes of the text, so that they can be compared one by one.
    is_plain: bool,
}

impl Prefix {
    /// From what a rule says.
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        let is_plain = !text.contains(['"', '\'', '\\', '$', '`', '=']);
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let program = words.first().map_or("", |word| base_name(word)).to_owned();
        Self { text: text.to_owned(), words, program, is_plain }
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A shell takes its words as they are.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain && !self.words.is_empty()
    }

    /// The first word without its folders.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// The words, as far as spaces part them.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// How many of these words it takes up, when they begin with it. A word that is not constant is none.
    pub(crate) fn covers(&self, words: &[Option<&str>]) -> Option<usize> {
        let fits = self.is_plain
            && !self.words.is_empty()
            && words.len() >= self.words.len()
            && self.words.iter().zip(words).all(|(wanted, word)| *word == Some(wanted.as_str()));
        fits.then_some(self.words.len())
    }

    /// A text begins with it, and a word ends there.
    pub(crate) fn begins(&self, text: &str) -> bool {
        let rest = text.trim_start().strip_prefix(self.text.as_str());
        !self.text.is_empty()
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    }

    /// A text is nothing but this.
    pub(crate) fn is_all_of(&self, text: &str) -> bool {
        !self.text.is_empty() && text.trim() == self.text
    }

    /// A text may be meant by a rule that forbids this: it begins with it, whatever comes next.
    pub(crate) fn begins_loosely(&self, text: &str) -> bool {
        let rest = text.trim_start().strip_prefix(self.text.as_str());
        let ends = |rest: &str| !rest.starts_with(is_of_word);
        !self.text.is_empty() && rest.is_some_and(ends)
    }

    /// The same program is called with the same further words among its options: what a rule that forbids this means.
    /// Folders of the program do not count, nor does the order of options; options may stand between the words.
    /// `name` has no folders; `has_more`: more words follow that nobody knows.
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

/// How sure it is that a command is what a rule forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    Yes,
    /// Words that are only known when it runs may make it so.
    Maybe,
    No,
}

/// A letter that does not end a word of a command.
pub(crate) fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || "_-./".contains(letter)
}

/// The last part of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Every letter of a group of short options is given somewhere; a long one is given, also shortened or with a value.
fn has_option(given: &[Option<&str>], option: &str) -> bool {
    let given = given.iter().flatten();
    if let Some(name) = option.strip_prefix("--") {
        let name = name.split('=').next().unwrap_or(name);
        return given.filter_map(|word| word.strip_prefix("--")).any(|word| {
            let word = word.split('=').next().unwrap_or(word);
            word.len() > 1 && name.starts_with(word) || word == name
        });
    }
    let given: Vec<&str> = given.copied().collect();
    option[1..].chars().all(|letter| {
        let long = long_twin(letter);
        given.iter().any(|word| match word.strip_prefix("--") {
            Some(word) => long.is_some_and(|long| word.len() > 2 && long.starts_with(word)),
            None => word.strip_prefix('-').is_some_and(|letters| letters.contains(letter)),
        })
    })
}

/// The long form of the short options that rules forbid.
fn long_twin(letter: char) -> Option<&'static str> {
    match letter {
        'r' | 'R' => Some("recursive"),
        'f' => Some("force"),
        _ => None,
    }
}

/// The words stand there in this order; between them there are only options and a value for each.
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
                // It may be the word, an option, or nothing.
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
