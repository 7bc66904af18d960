//! A compiled pattern, and which folders it cannot be below.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::error::{Error, Result};

/// Longer patterns are not written by anyone who means one.
const MAX_LENGTH: usize = 64 * 1024;

/// Alternatives inside alternatives.
const MAX_BRACES: usize = 16;

pub(super) struct Pattern {
    matcher: GlobMatcher,
    /// Leading components without wildcards, lower-cased unless case matters.
    fixed: Vec<String>,
    /// Deepest level of a match in components, unless there is no limit.
    depth: Option<usize>,
    case_sensitive: bool,
}

/// Refuses patterns whose compilation would take unbounded stack or memory: alternatives are compiled
/// recursively.
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
    /// Compiles `pattern` for the files below `root`; `None` when it is an absolute one that leads elsewhere.
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
        let glob = if special && std::fs::symlink_metadata(root.join(relative)).is_ok() {
            globset::escape(relative)
        } else {
            translate(relative)?
        };
        let matcher = GlobBuilder::new(&glob)
            .literal_separator(true)
            .case_insensitive(!case_sensitive)
            .backslash_escape(true)
            .empty_alternates(true)
            .build()
            .map_err(|error| Error::Pattern(error.to_string()))?
            .compile_matcher();
        let components: Vec<&str> = glob.split('/').collect();
        let plain = |component: &&&str| !component.contains(['*', '?', '[', '{', '}', '\\']);
        let fixed = components[..components.len() - 1].iter().take_while(plain);
        let fold =
            |text: &&str| if case_sensitive { (*text).to_owned() } else { text.to_lowercase() };
        let unlimited = components.contains(&"**") || glob.contains('{');
        Ok(Some(Self {
            matcher,
            fixed: fixed.map(fold).collect(),
            depth: (!unlimited).then_some(components.len()),
            case_sensitive,
        }))
    }

    pub(super) fn matches(&self, relative: &str) -> bool {
        self.matcher.is_match(relative)
    }

    /// Whether a match can be in the folder at `relative` or deeper.
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

/// Extended globs in terms of braces, and runs of `*` inside a component as one.
fn translate(pattern: &str) -> Result<String> {
    let mut glob = String::with_capacity(pattern.len() + 8);
    // What closes each open extended glob.
    let mut closers = Vec::new();
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let opens = characters.peek() == Some(&'(');
        match character {
            '\\' => {
                glob.push(character);
                glob.extend(characters.next());
            }
            '@' | '?' if opens => {
                characters.next();
                glob.push('{');
                closers.push(if character == '?' { ",}" } else { "}" });
            }
            '+' | '*' | '!' if opens => {
                return Err(Error::Pattern(format!(
                    "`{character}(…)` is not supported in patterns; use `{{a,b}}`"
                )));
            }
            '|' if !closers.is_empty() => glob.push(','),
            ',' if !closers.is_empty() => glob.push_str("\\,"),
            ')' if !closers.is_empty() => glob.push_str(closers.pop().unwrap_or_default()),
            _ => glob.push(character),
        }
    }
    if !closers.is_empty() {
        return Err(Error::Pattern("unclosed `(` in the pattern".into()));
    }
    let collapse = |component: &str| {
        if component == "**" { component.to_owned() } else { collapse_stars(component) }
    };
    Ok(glob.split('/').map(collapse).collect::<Vec<_>>().join("/"))
}

fn collapse_stars(component: &str) -> String {
    let mut result = String::with_capacity(component.len());
    for character in component.chars() {
        if character != '*' || !result.ends_with('*') || result.ends_with("\\*") {
            result.push(character);
        }
    }
    result
}
