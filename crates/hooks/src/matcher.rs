//! Matchers, which select the tools or reasons for which a hook runs.
//!
//! A matcher for tools is an ECMAScript regular expression that may match anywhere in the name.
//! Text that is not a valid regular expression is compared as a name.

use std::sync::{Arc, OnceLock};

use pollux_config::{Expression, ExpressionErrorKind};

/// A matcher, compiled on first use.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    /// `None` matches everything.
    text: Option<Arc<str>>,
    compiled: OnceLock<Arc<Compiled>>,
}

#[derive(Debug)]
enum Compiled {
    Expression(Expression),
    /// Text that is compared with the name.
    Name,
    /// A valid expression that is not supported: its hook always runs.
    Unsupported,
}

impl Matcher {
    /// Creates a matcher. `None`, blank text and `*` match everything.
    pub(crate) fn new(text: Option<&str>) -> Self {
        let text = text.filter(|text| !text.trim().is_empty() && text.trim() != "*");
        Self { text: text.map(Arc::from), compiled: OnceLock::new() }
    }

    /// Returns true if the hook runs for this tool. A search that is given up counts as a match.
    pub(crate) fn takes_tool(&self, tool: &str) -> bool {
        let Some(text) = &self.text else { return true };
        match self.compiled.get_or_init(|| Arc::new(compile(text))).as_ref() {
            Compiled::Expression(expression) => expression.find(tool).is_possible(),
            Compiled::Name => **text == *tool,
            Compiled::Unsupported => true,
        }
    }

    /// Returns true if the hook runs for this reason. Reasons are compared as plain text.
    pub(crate) fn takes_reason(&self, reason: &str) -> bool {
        self.text.as_deref().is_none_or(|text| text.trim() == reason)
    }
}

fn compile(text: &str) -> Compiled {
    let expression = Expression::new(text).and_then(|made| made.check().map(|()| made));
    match expression {
        Ok(expression) => Compiled::Expression(expression),
        Err(error) if error.kind == ExpressionErrorKind::Unsupported => Compiled::Unsupported,
        Err(_) => Compiled::Name,
    }
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
            // Valid expressions that are not supported.
            ("(a)*\\1", "x", true),
            ("(?=a)*x", "y", true),
            ("((a{100}){100}){100}", "x", true),
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
