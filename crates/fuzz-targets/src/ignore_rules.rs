//! Ignore files: for any content, every path gets a verdict in bounded time, and a pattern has the
//! same meaning as in the simplest possible implementation. The input is a file's content and a
//! path.

use pollux_fs::IgnorePatterns;

/// Maximum length of an input for the simple implementation, which tries all combinations and is
/// slow for longer inputs.
const SMALL: usize = 14;

pub(crate) fn run(input: (bool, bool, &[u8], &[u8])) {
    let (fold_case, is_directory, content, path) = input;
    let patterns = IgnorePatterns::parse(content, fold_case, false);
    let verdict = patterns.verdict(path, is_directory);
    assert_eq!(verdict, patterns.verdict(path, is_directory), "the same question, the same answer");
    if verdict.is_some() && !is_directory {
        assert!(patterns.verdict(path, true).is_some(), "what speaks of files speaks of folders");
    }
    let plain = |byte: &u8| byte.is_ascii_lowercase() || b"*?/".contains(byte);
    let is_small = content.len() <= SMALL && path.len() <= SMALL;
    let is_simple =
        content.contains(&b'/') && !content.starts_with(b"/") && !content.ends_with(b"/");
    if is_small && is_simple && content.iter().chain(path).all(plain) && !path.is_empty() {
        let expected = matches(content, 0, path).then_some(true);
        assert_eq!(IgnorePatterns::parse(content, false, false).verdict(path, false), expected);
    }
}

/// Returns true if a pattern of letters, `*`, `?`, `**` and `/`, from `at` on, matches a path.
fn matches(pattern: &[u8], at: usize, path: &[u8]) -> bool {
    let Some(first) = pattern.get(at) else { return path.is_empty() };
    if *first != b'*' {
        let fits = |byte: &u8| byte == first || *first == b'?' && *byte != b'/';
        return path.first().is_some_and(fits) && matches(pattern, at + 1, &path[1..]);
    }
    let stars = pattern[at..].iter().take_while(|byte| **byte == b'*').count();
    let behind = at + stars;
    // The text before the first wildcard is compared separately, so the rest counts as a new
    // beginning.
    let begins = !pattern[..at].iter().any(|byte| b"*?".contains(byte)) || pattern[at - 1] == b'/';
    let is_component = stars > 1 && begins && matches!(pattern.get(behind), None | Some(b'/'));
    if !is_component {
        let reach = path.iter().take_while(|byte| **byte != b'/').count();
        return (0..=reach).any(|taken| matches(pattern, behind, &path[taken..]));
    }
    if behind == pattern.len() {
        return true;
    }
    let folders = (1..=path.len()).filter(|end| path[end - 1] == b'/');
    std::iter::once(0).chain(folders).any(|start| matches(pattern, behind + 1, &path[start..]))
}
