//! Texts that every match of a pattern contains: a single search for all such texts is faster than
//! one search for each pattern.

use pollux_config::Expression;
use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::{ExtractKind, Extractor};

/// Text before every command that patterns are matched against.
const KEY: &str = "\"command\":\"";
/// Maximum number of texts for one pattern; more would not be selective enough.
const MOST: usize = 16;
/// Minimum length of a text; shorter ones occur everywhere.
const SHORTEST: usize = 2;

/// Returns texts of which each matching text contains at least one; `None` if no useful texts are
/// known.
pub(super) fn needles(expression: &Expression) -> Option<Vec<String>> {
    let tree = regex_syntax::parse(expression.as_linear()?).ok()?;
    let ends = [ExtractKind::Prefix, ExtractKind::Suffix];
    let found = ends.into_iter().filter_map(|kind| at_one_end(&tree, kind));
    let (length, needles) = found.max_by_key(|(length, _)| *length)?;
    (length >= SHORTEST).then_some(needles)
}

/// Returns the texts with which every match begins or ends, with a measure of how selective they
/// are.
fn at_one_end(tree: &Hir, kind: ExtractKind) -> Option<(usize, Vec<String>)> {
    let found = Extractor::new().kind(kind).limit_total(MOST).extract(tree);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let needles: Option<Vec<String>> =
        found.literals()?.iter().map(|literal| text(literal.as_bytes())).collect();
    let needles = needles?;
    let length = needles.iter().map(|needle| needle.replace(KEY, "").len()).min()?;
    Some((length, needles))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_must_be_there() {
        for (pattern, expected) in [
            ("git (?:log|status)", Some(vec!["git log", "git status"])),
            ("^npm run", Some(vec!["npm run"])),
            ("^(?:npm|yarn) .*", Some(vec!["npm ", "yarn "])),
            ("\"command\":\"[^\"]*sudo ", Some(vec!["sudo "])),
            (".*", None),
            ("a?b", None),
            ("[0-9]+", None),
            ("", None),
        ] {
            let found = needles(&Expression::new(pattern).unwrap());
            let found: Option<Vec<&str>> =
                found.as_ref().map(|found| found.iter().map(String::as_str).collect());
            assert_eq!(found, expected, "{pattern}");
        }
    }
}
