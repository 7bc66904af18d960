//! Parser of lines of code: the syntaxes of `bat`.

use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};

use super::LineColours;
use super::scopes::Scopes;

/// Parser with the state after the last line.
#[derive(Default)]
pub(super) struct Parser {
    /// Tables, which are loaded for the first block.
    tables: Option<Tables>,
    /// State of the block; `None` if its language is not known, or after an error.
    state: Option<(ParseState, ScopeStack)>,
}

struct Tables {
    syntaxes: SyntaxSet,
    scopes: Scopes,
}

/// Names of languages in fences that are no name or file extension of a syntax.
const NAMES: [(&str, &str); 9] = [
    ("console", "sh"),
    ("shell", "sh"),
    ("shell-session", "sh"),
    ("golang", "go"),
    ("jsonc", "json"),
    ("json5", "json"),
    ("csharp", "cs"),
    ("docker", "dockerfile"),
    ("patch", "diff"),
];

impl Parser {
    /// Begins a block in the language of this name.
    pub(super) fn begin(&mut self, language: &str) {
        let tables = self.tables.get_or_insert_with(|| Tables {
            syntaxes: two_face::syntax::extra_newlines(),
            scopes: Scopes::default(),
        });
        let name = NAMES.iter().find(|(name, _)| *name == language);
        let name = name.map_or(language, |(_, name)| name);
        let syntax = tables.syntaxes.find_syntax_by_token(name);
        self.state = syntax.map(|syntax| (ParseState::new(syntax), ScopeStack::new()));
    }

    /// Returns the looks of the parts of the next line that are not plain.
    pub(super) fn line(&mut self, text: &str) -> LineColours {
        let (Some(tables), Some((state, stack))) = (&mut self.tables, &mut self.state) else {
            return LineColours::default();
        };
        let parsed = state.parse_line(&format!("{text}\n"), &tables.syntaxes);
        let mut colours = LineColours::default();
        let mut start = 0;
        for (end, op) in parsed.unwrap_or_default() {
            let end = end.min(text.len());
            tables.scopes.add(stack, start..end, &mut colours);
            if stack.apply(&op).is_err() {
                self.state = None;
                return colours;
            }
            start = end;
        }
        tables.scopes.add(stack, start..text.len(), &mut colours);
        colours.retain(|(part, _)| text.get(part.clone()).is_some());
        colours
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::row::Look;

    fn looks(parser: &mut Parser, language: &str, line: &str) -> Vec<(String, Look)> {
        parser.begin(language);
        let colours = parser.line(line);
        colours.into_iter().map(|(part, look)| (line[part].to_owned(), look)).collect()
    }

    #[test]
    fn common_languages_are_known() {
        let mut parser = Parser::default();
        for (language, line, text, look) in [
            ("rust", "let a = 1;", "let", Look::Keyword),
            ("python", "def greet(name):", "greet", Look::Function),
            ("ts", "const a: number = 1;", "const", Look::Keyword),
            ("tsx", "const a = \"b\";", "\"b\"", Look::StringText),
            ("javascript", "// note", "// note", Look::Comment),
            ("go", "return 12", "12", Look::Number),
            ("golang", "return 12", "return", Look::Keyword),
            ("bash", "echo \"a\"", "\"a\"", Look::StringText),
            ("console", "echo 'a'", "'a'", Look::StringText),
            ("json", "{\"a\": 1}", "1", Look::Number),
            ("yaml", "a: 1", "1", Look::Number),
            ("toml", "a = 1", "1", Look::Number),
            ("html", "<!-- a -->", "<!-- a -->", Look::Comment),
            ("css", "/* a */", "/* a */", Look::Comment),
            ("sql", "select 1", "select", Look::Keyword),
            ("c", "return 0;", "return", Look::Keyword),
            ("cpp", "return 0;", "return", Look::Keyword),
            ("java", "return 0;", "return", Look::Keyword),
            ("kotlin", "return 0", "return", Look::Keyword),
            ("csharp", "return 0;", "return", Look::Keyword),
            ("dockerfile", "FROM a", "FROM", Look::Keyword),
            ("makefile", "# a", "# a", Look::Comment),
            ("diff", "+added", "+added", Look::Green),
            ("diff", "-removed", "-removed", Look::Red),
        ] {
            let found = looks(&mut parser, language, line);
            assert!(found.contains(&(text.to_owned(), look)), "{language}: {found:?}");
        }
    }

    #[test]
    fn any_text_is_parsed() {
        let mut parser = Parser::default();
        assert_eq!(parser.line("a"), [], "no block has begun");
        for language in ["rust", "", "nothing", "\u{6f22}", "html"] {
            for line in ["", "\u{6f22}\"", "<a", "\u{0}\u{1b}", "'''''\"\"\"\"/*/*"] {
                parser.begin(language);
                for _ in 0..3 {
                    for (part, _) in parser.line(line) {
                        assert!(line.get(part).is_some());
                    }
                }
            }
        }
    }
}
