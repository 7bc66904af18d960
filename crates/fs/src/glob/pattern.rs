//! Compiled patterns, and the folders that cannot contain a match.

use std::borrow::Cow;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use super::extended::{ExtendedPattern, is_extended};
use super::named::NamedFolders;
use crate::error::{Error, Result};

/// Maximum length of a pattern, in bytes; longer ones are not written on purpose.
const MAX_LENGTH: usize = 64 * 1024;

/// Maximum nesting depth of alternatives.
const MAX_BRACES: usize = 16;

/// Maximum number of items of a range.
const MAX_ITEMS: u32 = 1000;

pub(super) struct Pattern {
    matcher: Matcher,
    /// Leading components without wildcards, in lower case unless case matters.
    fixed: Vec<String>,
    named: NamedFolders,
    /// Maximum depth of a match in components; `None` if there is no limit.
    depth: Option<usize>,
    case_sensitive: bool,
}

enum Matcher {
    Plain(GlobMatcher),
    Extended(ExtendedPattern),
}

/// Refuses patterns whose compilation would need unbounded stack or memory, because alternatives
/// are compiled recursively.
pub(crate) fn check_size(pattern: &str) -> Result<()> {
    if pattern.len() > MAX_LENGTH {
        return Err(Error::Pattern("the pattern is too long".into()));
    }
    let mut depth = 0_usize;
    for byte in pattern.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BRACES {
            return Err(Error::Pattern("braces are nested too deep".into()));
        }
    }
    Ok(())
}

impl Pattern {
    /// Compiles `pattern` for the files below `root`; `None` for an absolute pattern outside
    /// `root`.
    pub(super) fn new(root: &Path, pattern: &str, case_sensitive: bool) -> Result<Option<Self>> {
        check_size(pattern)?;
        let slashed = if cfg!(windows) { pattern.replace('\\', "/") } else { pattern.to_owned() };
        let mut relative = slashed.as_str();
        if Path::new(relative).is_absolute() {
            let root = root.to_string_lossy();
            let below = relative.strip_prefix(root.trim_end_matches('/'));
            let Some(below) = below.and_then(|below| below.strip_prefix('/')) else {
                return Ok(None);
            };
            relative = below;
        }
        while let Some(rest) = relative.strip_prefix("./") {
            relative = rest;
        }
        let special = relative.contains(['*', '?', '[', '{', '(', '\\']);
        let named = special && std::fs::symlink_metadata(root.join(relative)).is_ok();
        let glob = if named {
            globset::escape(relative)
        } else {
            let spelled = spell_out_ranges(relative);
            check_size(&spelled)?;
            spelled.split('/').map(collapse_stars).collect::<Vec<_>>().join("/")
        };
        let extended = !named && is_extended(&glob);
        let matcher = if extended {
            Matcher::Extended(ExtendedPattern::new(&glob, case_sensitive)?)
        } else {
            let plain = GlobBuilder::new(&glob)
                .literal_separator(true)
                .case_insensitive(!case_sensitive)
                .backslash_escape(true)
                .empty_alternates(true)
                .build();
            let plain = plain.map_err(|error| Error::Pattern(error.to_string()))?;
            Matcher::Plain(plain.compile_matcher())
        };
        let components: Vec<&str> = glob.split('/').collect();
        let special = ['*', '?', '[', '{', '}', '\\'];
        let plain = |component: &&&str| {
            !(component.contains(special) || extended && component.contains(['(', ')', '|']))
        };
        let fixed = components[..components.len() - 1].iter().take_while(plain);
        let fold =
            |text: &&str| if case_sensitive { (*text).to_owned() } else { text.to_lowercase() };
        let unlimited = extended || components.contains(&"**") || glob.contains('{');
        Ok(Some(Self {
            matcher,
            fixed: fixed.map(fold).collect(),
            named: NamedFolders::new(&glob, case_sensitive),
            depth: (!unlimited).then_some(components.len()),
            case_sensitive,
        }))
    }

    pub(super) fn matches(&self, relative: &str) -> bool {
        match &self.matcher {
            Matcher::Plain(plain) => plain.is_match(relative),
            Matcher::Extended(extended) => extended.matches(relative),
        }
    }

    /// Returns true if the pattern names the folder at `relative`, which may therefore be a link.
    pub(super) fn names_folder(&self, relative: &str) -> bool {
        self.named.contains(relative)
    }

    /// Returns true if a match can be in the folder at `relative` or deeper.
    pub(super) fn may_match_below(&self, relative: &str) -> bool {
        let fits = |(component, fixed): (&str, &String)| {
            if self.case_sensitive {
                component == fixed
            } else {
                component.to_lowercase() == *fixed
            }
        };
        self.depth.is_none_or(|depth| relative.split('/').count() < depth)
            && relative.split('/').zip(&self.fixed).all(fits)
    }
}

/// Replaces ranges by the list of their items: `{a..c}`, `{01..10}`, `{0..9..3}`. Text that only
/// looks like a range is left unchanged.
fn spell_out_ranges(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains("..") {
        return Cow::Borrowed(pattern);
    }
    let (mut spelled, mut rest) = (String::with_capacity(pattern.len()), pattern);
    while let Some(start) = rest.find('{') {
        let escaped = rest[..start].ends_with('\\');
        let body = rest[start + 1..].split(['{', '}', ',', '/']).next().unwrap_or_default();
        let end = start + 1 + body.len();
        let items = range(body).filter(|_| !escaped && rest[end..].starts_with('}'));
        match items {
            Some(items) => spelled.extend([&rest[..=start], &items.join(",")]),
            None => spelled.push_str(&rest[..end]),
        }
        rest = &rest[end..];
    }
    spelled.push_str(rest);
    Cow::Owned(spelled)
}

/// Returns the items of `first..last` or `first..last..step`: whole numbers, or single ASCII
/// letters. `None` for anything else, and for too many items.
fn range(body: &str) -> Option<Vec<String>> {
    let mut words = body.split("..");
    let (first, last, step) = (words.next()?, words.next()?, words.next());
    if words.next().is_some() {
        return None;
    }
    let step = step.map_or(Some(1), |step| step.parse::<i32>().ok())?.unsigned_abs().max(1);
    let letter = |word: &str| match word.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(i32::from(*letter)),
        _ => None,
    };
    let numbers = first.parse().ok().zip(last.parse().ok());
    let (from, to): (i32, i32) = numbers.or_else(|| letter(first).zip(letter(last)))?;
    let steps = from.abs_diff(to) / step;
    if steps >= MAX_ITEMS {
        return None;
    }
    let digits = |word: &str| word.trim_start_matches('-').to_owned();
    let is_padded =
        [first, last].iter().any(|word| digits(word).len() > 1 && digits(word).starts_with('0'));
    let width = if is_padded { first.len().max(last.len()) } else { 0 };
    let item = |index: u32| {
        let distance = i64::from(index * step);
        let value = i64::from(from) + if from <= to { distance } else { -distance };
        match u8::try_from(value).ok().filter(|_| numbers.is_none()) {
            Some(letter) => char::from(letter).to_string(),
            None => format!("{value:0width$}"),
        }
    };
    Some((0..=steps).map(item).collect())
}

/// Replaces repeated `*` inside a name by one.
fn collapse_stars(component: &str) -> Cow<'_, str> {
    if component == "**" || !component.contains("**") {
        return Cow::Borrowed(component);
    }
    let mut result = String::with_capacity(component.len());
    for character in component.chars() {
        if character != '*' || !result.ends_with('*') || result.ends_with("\\*") {
            result.push(character);
        }
    }
    Cow::Owned(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_lists() {
        for (pattern, spelled) in [
            ("{a..c}.rs", "{a,b,c}.rs"),
            ("{3..1}", "{3,2,1}"),
            ("{-1..1}", "{-1,0,1}"),
            ("{08..10}", "{08,09,10}"),
            ("{0..9..4}", "{0,4,8}"),
            ("{c..a..2}", "{c,a}"),
            ("x{1..2}/{y,{1..2}}", "x{1,2}/{y,{1,2}}"),
            ("{a..5}", "{a..5}"),
            ("{a..b,c}", "{a..b,c}"),
            ("{ab..c}", "{ab..c}"),
            ("{1..2..3..4}", "{1..2..3..4}"),
            ("{1..99999}", "{1..99999}"),
            ("\\{1..2}", "\\{1..2}"),
            ("../{..}", "../{..}"),
            ("{-2147483648..2147483647..2147483647}", "{-2147483648,-1,2147483646}"),
            ("{-2147483648..2147483647}", "{-2147483648..2147483647}"),
        ] {
            assert_eq!(spell_out_ranges(pattern), spelled, "{pattern}");
        }
    }
}
