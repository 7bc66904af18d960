//! Patterns of one ignore file. Syntax and meaning are git's (`gitignore(5)`).

use std::collections::HashMap;

use super::wildcard::Wildcard;

/// Maximum number of patterns; the rest is ignored, because each one costs memory and time.
const MAX_PATTERNS: usize = 20_000;
/// Maximum length of a pattern in bytes; longer ones are left out, because no path is that long.
const MAX_LENGTH: usize = 16 * 1024;

/// Patterns of one ignore file, for paths below its folder.
#[derive(Debug, Clone, Default)]
pub struct IgnorePatterns {
    rules: Vec<Rule>,
    /// Indexes of rules that match one name, one path, or all names with one suffix; the last by
    /// their last byte.
    names: HashMap<Vec<u8>, Vec<usize>>,
    paths: HashMap<Vec<u8>, Vec<usize>>,
    endings: HashMap<u8, Vec<(usize, Vec<u8>)>>,
    /// Indexes of all other rules.
    others: Vec<(usize, Wildcard)>,
    fold_case: bool,
}

#[derive(Debug, Clone, Copy)]
struct Rule {
    /// True for a pattern that includes ignored files again.
    negated: bool,
    only_directories: bool,
    /// True if the pattern matches names in any folder, not paths.
    any_folder: bool,
}

impl IgnorePatterns {
    /// Parses the content of an ignore file; patterns that can never match are skipped. With
    /// `fold_case`, ASCII letters match in either case, as in git with `core.ignoreCase`. With
    /// `indented`, blanks before a pattern are not part of it, in contrast to git.
    pub fn parse(content: &[u8], fold_case: bool, indented: bool) -> Self {
        let mut patterns = Self { fold_case, ..Self::default() };
        let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
        for line in content.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let line = if indented { line.trim_ascii_start() } else { line };
            if !line.starts_with(b"#") {
                patterns.add(without_blanks_behind(line));
            }
            if patterns.rules.len() >= MAX_PATTERNS {
                break;
            }
        }
        patterns
    }

    /// True if there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    fn add(&mut self, line: &[u8]) {
        if line.is_empty() || line.len() > MAX_LENGTH {
            return;
        }
        let (negated, line) = line.strip_prefix(b"!").map_or((false, line), |rest| (true, rest));
        let (only_directories, line) =
            line.strip_suffix(b"/").map_or((false, line), |rest| (true, rest));
        let any_folder = !line.contains(&b'/');
        let line = line.strip_prefix(b"/").unwrap_or(line);
        let Some(wildcard) = Wildcard::new(line, self.fold_case) else { return };
        let number = self.rules.len();
        self.rules.push(Rule { negated, only_directories, any_folder });
        if let Some(literal) = wildcard.as_literal() {
            let known = if any_folder { &mut self.names } else { &mut self.paths };
            known.entry(literal).or_default().push(number);
            return;
        }
        match wildcard.as_ending().filter(|_| any_folder) {
            Some(ending) => {
                let last = ending.last().copied().unwrap_or_default();
                self.endings.entry(last).or_default().push((number, ending));
            }
            None => self.others.push((number, wildcard)),
        }
    }

    /// Returns the result for the path `relative` (separated by `/`, from the file's folder):
    /// ignored, included, or no match. The last pattern that matches decides. The folders above the
    /// path are not checked.
    pub fn verdict(&self, relative: &[u8], is_directory: bool) -> Option<bool> {
        if self.rules.is_empty() || relative.is_empty() {
            return None;
        }
        let folded;
        let path = if self.fold_case {
            folded = relative.to_ascii_lowercase();
            &folded
        } else {
            relative
        };
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let applies = |number: &usize| is_directory || !self.rules[*number].only_directories;
        let last_of = |numbers: Option<&Vec<usize>>| numbers?.iter().rev().copied().find(applies);
        let mut last = last_of(self.names.get(name)).max(last_of(self.paths.get(path)));
        let endings = name.last().and_then(|byte| self.endings.get(byte));
        for (number, ending) in endings.into_iter().flatten().rev() {
            if Some(*number) <= last {
                break;
            }
            if applies(number) && name.ends_with(ending) {
                last = Some(*number);
                break;
            }
        }
        for (number, wildcard) in self.others.iter().rev() {
            if Some(*number) <= last {
                break;
            }
            let text = if self.rules[*number].any_folder { name } else { path };
            if applies(number) && wildcard.matches(text) {
                last = Some(*number);
                break;
            }
        }
        last.map(|number| !self.rules[number].negated)
    }
}

/// Removes trailing blanks, which are not part of the pattern unless a backslash precedes them, and
/// everything after a NUL.
fn without_blanks_behind(line: &[u8]) -> &[u8] {
    let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
    let (mut at, mut end) = (0, 0);
    while at < line.len() {
        match line[at] {
            b' ' => at += 1,
            byte => {
                at += if byte == b'\\' { 2 } else { 1 };
                end = at.min(line.len());
            }
        }
    }
    &line[..end]
}
