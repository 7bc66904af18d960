//! Matchers, which select the tools or reasons for which a hook runs.
//!
//! A matcher for tools is a JavaScript regular expression that may match anywhere in the name. It
//! is translated for Rust's regex engine, which takes linear time. Expressions that this engine
//! does not support (lookaround, backreferences) go to a backtracking engine with a bounded number
//! of steps. Text that is not a valid regular expression is compared as a name.

use std::sync::{Arc, OnceLock};

use regex::Regex;

/// Maximum number of backtracking steps for one name. A matcher that exceeds this limit counts as a
/// match, so its hook runs.
const MOST_STEPS: usize = 100_000;
/// Maximum size of a compiled matcher, in bytes.
const COMPILED_SIZE: usize = 1 << 20;

/// A matcher, compiled on first use.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    /// `None` matches everything.
    text: Option<Arc<str>>,
    compiled: OnceLock<Arc<Compiled>>,
}

#[derive(Debug)]
enum Compiled {
    Linear(Regex),
    Trying(fancy_regex::Regex),
    Name(String),
}

impl Matcher {
    /// Creates a matcher. `None`, blank text and `*` match everything.
    pub(crate) fn new(text: Option<&str>) -> Self {
        let text = text.filter(|text| !text.trim().is_empty() && text.trim() != "*");
        Self { text: text.map(Arc::from), compiled: OnceLock::new() }
    }

    /// Returns true if the hook runs for this tool.
    pub(crate) fn takes_tool(&self, tool: &str) -> bool {
        let Some(text) = &self.text else { return true };
        match self.compiled.get_or_init(|| Arc::new(compile(text))).as_ref() {
            Compiled::Linear(expression) => expression.is_match(tool),
            Compiled::Trying(expression) => expression.is_match(tool).unwrap_or(true),
            Compiled::Name(name) => name == tool,
        }
    }

    /// Returns true if the hook runs for this reason. Reasons are compared as plain text.
    pub(crate) fn takes_reason(&self, reason: &str) -> bool {
        self.text.as_deref().is_none_or(|text| text.trim() == reason)
    }
}

fn compile(text: &str) -> Compiled {
    let name = || Compiled::Name(text.to_owned());
    let Some(pattern) = translate(text) else { return name() };
    let linear = regex::RegexBuilder::new(&pattern).size_limit(COMPILED_SIZE).build();
    if let Ok(expression) = linear {
        return Compiled::Linear(expression);
    }
    let trying = fancy_regex::RegexBuilder::new(&pattern)
        .backtrack_limit(MOST_STEPS)
        .delegate_size_limit(COMPILED_SIZE)
        .build();
    trying.map_or_else(|_| name(), Compiled::Trying)
}

/// Translates a JavaScript regular expression (without flags) to Rust's syntax. Returns `None` if
/// JavaScript rejects the expression.
fn translate(text: &str) -> Option<String> {
    let mut rest = text.chars().peekable();
    let mut pattern = String::with_capacity(text.len() + 8);
    // True if the preceding item can be repeated.
    let mut repeatable = false;
    while let Some(character) = rest.next() {
        let starts = matches!(character, '|' | '(' | '^');
        match character {
            '\\' => escape(&mut rest, &mut pattern, false)?,
            '[' => class(&mut rest, &mut pattern)?,
            '(' => group(&mut rest, &mut pattern)?,
            '*' | '+' | '?' => {
                if !repeatable {
                    return None;
                }
                pattern.push(character);
                lazy(&mut rest, &mut pattern);
            }
            '{' => {
                let ahead: String = rest.clone().take_while(|next| *next != '}').collect();
                if repeatable && is_count(&ahead) && ahead.len() < rest.clone().count() {
                    pattern.push('{');
                    pattern.extend(rest.by_ref().take(ahead.chars().count() + 1));
                    lazy(&mut rest, &mut pattern);
                } else {
                    pattern.push_str("\\{");
                }
            }
            '}' | ']' => {
                pattern.push('\\');
                pattern.push(character);
            }
            other => pattern.push(other),
        }
        repeatable = !starts && !matches!(character, '*' | '+' | '?');
    }
    Some(pattern)
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn lazy(rest: &mut Rest<'_>, pattern: &mut String) {
    if rest.next_if_eq(&'?').is_some() {
        pattern.push('?');
    }
}

/// Returns true for the text of a count (`3`, `3,` or `3,5`) with at most four digits per number.
fn is_count(text: &str) -> bool {
    let (least, most) = text.split_once(',').unwrap_or((text, ""));
    let number =
        |digits: &str| digits.len() <= 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && number(least) && number(most)
}

/// Translates the text after `(`. Returns `None` for forms that start with a question mark and that
/// JavaScript does not support.
fn group(rest: &mut Rest<'_>, pattern: &mut String) -> Option<()> {
    pattern.push('(');
    if rest.next_if_eq(&'?').is_none() {
        return Some(());
    }
    pattern.push('?');
    match rest.next()? {
        kind @ (':' | '=' | '!') => pattern.push(kind),
        '<' => {
            pattern.push('<');
            let next = *rest.peek()?;
            if !(matches!(next, '=' | '!' | '_' | '$') || next.is_alphabetic()) {
                return None;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Translates the text after a backslash.
fn escape(rest: &mut Rest<'_>, pattern: &mut String, in_class: bool) -> Option<()> {
    let character = rest.next()?;
    match character {
        // Rust's classes cover all of Unicode, JavaScript's only ASCII.
        'd' => pattern.push_str(if in_class { "0-9" } else { "[0-9]" }),
        'D' => pattern.push_str("[^0-9]"),
        'w' => pattern.push_str(if in_class { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
        'W' => pattern.push_str("[^0-9A-Za-z_]"),
        'b' if in_class => pattern.push_str("\\x08"),
        'b' => pattern.push_str("(?-u:\\b)"),
        'B' => pattern.push_str("(?-u:\\B)"),
        's' | 'S' | 'n' | 'r' | 't' | 'f' | 'v' => pattern.extend(['\\', character]),
        '0' if !rest.peek().is_some_and(char::is_ascii_digit) => pattern.push_str("\\x00"),
        '1'..='9' if !in_class => pattern.extend(['\\', character]),
        'k' if rest.peek() == Some(&'<') => pattern.push_str("\\k"),
        'x' | 'u' => {
            let digits = if character == 'x' { 2 } else { 4 };
            let ahead: String = rest.clone().take(digits).collect();
            if ahead.len() == digits && ahead.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                rest.by_ref().take(digits).for_each(drop);
                pattern.extend(["\\x{", &ahead, "}"]);
            } else {
                pattern.push(character);
            }
        }
        // Any other letter or symbol stands for itself.
        other if other.is_alphanumeric() || other == '_' => pattern.push(other),
        other => pattern.push_str(&regex::escape(&other.to_string())),
    }
    Some(())
}

/// Translates a character class whose opening bracket was already read.
fn class(rest: &mut Rest<'_>, pattern: &mut String) -> Option<()> {
    let negated = rest.next_if_eq(&'^').is_some();
    if rest.next_if_eq(&']').is_some() {
        // `[]` matches nothing, `[^]` everything.
        pattern.push_str(if negated { "[\\s\\S]" } else { "[^\\s\\S]" });
        return Some(());
    }
    pattern.push_str(if negated { "[^" } else { "[" });
    loop {
        match rest.next()? {
            ']' => break,
            '\\' => escape(rest, pattern, true)?,
            // These symbols have a special meaning in Rust's classes, but not in JavaScript's.
            sign @ ('[' | '&' | '~' | '^') => pattern.extend(['\\', sign]),
            other => pattern.push(other),
        }
    }
    pattern.push(']');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools() {
        // Results of `new RegExp(matcher).test(name)`, or of a comparison if that throws.
        let table = [
            ("", "anything", true),
            (" * ", "anything", true),
            ("write_file", "write_file", true),
            ("write", "write_file", true),
            ("Write", "write_file", false),
            ("write_file|replace", "replace", true),
            ("^(write_file|replace)$", "replace_all", false),
            (".*", "x", true),
            ("mcp_.*_get", "mcp_server_get_x", true),
            ("^(?!read).*", "read_file", false),
            ("^(?!read).*", "write_file", true),
            ("(a)\\1", "xaax", true),
            ("[unclosed", "[unclosed", true),
            ("[unclosed", "unclosed", false),
            ("*", "x", true),
            ("*a", "*a", true),
            ("*a", "a", false),
            ("a**", "a", false),
            ("(?i)write", "WRITE", false),
            ("(?i)write", "(?i)write", true),
            ("\\w+_\\d", "tool_5", true),
            ("^\\w+$", "wörter", false),
            ("a{2}", "aa", true),
            ("a{,2}", "a{,2}", true),
            ("a{,2}", "aa", false),
            ("x{", "x{", true),
            ("[[a]]", "[]", true),
            ("[a&&b]", "&", true),
            ("[^]", "x", true),
            ("[]", "x", false),
            ("a\\/b", "a/b", true),
            ("\\_x", "_x", true),
            ("\\z", "z", true),
            ("\\x41", "A", true),
            ("\\u0041", "A", true),
            ("(?<name>a)\\k<name>", "aa", true),
            ("a]", "a]", true),
            ("a\\", "a\\", true),
            ("(", "(", true),
            (")", ")", true),
            ("read_file$", "read_file", true),
        ];
        for (matcher, tool, expected) in table {
            assert_eq!(Matcher::new(Some(matcher)).takes_tool(tool), expected, "{matcher} {tool}");
        }
        assert!(Matcher::new(None).takes_tool("x"));
    }

    #[test]
    fn a_matcher_that_blows_up_ends_and_its_hook_runs() {
        let names = ["a".repeat(250) + "!", "x".to_owned()];
        for matcher in ["(a+)+$", "(?=(a+)+$)(a+)+\\1$", "((a*)*)*b", "(.*)*(?=z)"] {
            for name in &names {
                let started = std::time::Instant::now();
                Matcher::new(Some(matcher)).takes_tool(name);
                let took = started.elapsed();
                assert!(took < std::time::Duration::from_secs(10), "{matcher}: {took:?}");
            }
        }
    }

    #[test]
    fn reasons_are_compared_as_they_are() {
        let takes = |matcher| Matcher::new(Some(matcher)).takes_reason("startup");
        assert!(takes("startup") && takes("*") && takes(""));
        assert!(!takes("start") && !takes("startup|resume") && !takes(".*"));
    }

    proptest::proptest! {
        #[test]
        fn any_matcher_can_be_asked(matcher in ".{0,40}", name in ".{0,40}") {
            Matcher::new(Some(&matcher)).takes_tool(&name);
        }
    }
}
