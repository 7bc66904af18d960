//! The tokens of a source file, read without a compiler.
//!
//! `proc-macro2` reads the text as the compiler does for macros: comments are dropped, and a doc
//! comment is an attribute, `#[doc = "…"]`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// An identifier, a literal, or one punctuation character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// Number of the first line, counted from 1.
    pub(crate) line: usize,
    /// True for a string, a character or a number.
    pub(crate) is_literal: bool,
}

/// Returns the tokens of a source text, in order. A text that is not Rust has none: the compiler
/// reports it.
pub(crate) fn read(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    flatten(source.parse().unwrap_or_default(), &mut tokens);
    tokens
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let is_literal = matches!(tree, TokenTree::Literal(_));
        let TokenTree::Group(group) = tree else {
            tokens.push(Token { text: tree.to_string(), line, is_literal });
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        let mark = |text: &str, line| Token { text: text.to_owned(), line, is_literal: false };
        tokens.push(mark(open, line));
        flatten(group.stream(), tokens);
        tokens.push(mark(close, group.span_close().end().line));
    }
}

/// Returns the tokens that are compiled into the product: items under `#[cfg(test)]` are left out.
pub(crate) fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let [first, others @ ..] = rest {
        rest = if is_test_attribute(rest) {
            &rest[length_of_item(rest)..]
        } else {
            kept.push(first.clone());
            others
        };
    }
    kept
}

/// Returns the literals of a source text that are compiled into the product, in order. Doc comments
/// are not among them.
pub(crate) fn literals(source: &str) -> Vec<Token> {
    let tokens = without_tests(&read(source));
    let is_doc = |index: usize| {
        index >= 2 && tokens[index - 2].text == "doc" && tokens[index - 1].text == "="
    };
    let literals =
        tokens.iter().enumerate().filter(|(index, token)| token.is_literal && !is_doc(*index));
    literals.map(|(_, token)| token.clone()).collect()
}

/// Returns the number of lines of items under `#[cfg(test)]`.
pub(crate) fn lines_of_tests(tokens: &[Token]) -> usize {
    let mut lines = 0;
    let mut rest = tokens;
    while let [first, others @ ..] = rest {
        rest = if is_test_attribute(rest) {
            let (item, after) = rest.split_at(length_of_item(rest));
            lines += item.last().map_or(0, |last| last.line + 1 - first.line);
            after
        } else {
            others
        };
    }
    lines
}

/// Returns true if `#[cfg(test)]`, or a `cfg` whose condition names `test` but not `not`, starts
/// here.
fn is_test_attribute(tokens: &[Token]) -> bool {
    let text = |index: usize| tokens.get(index).map(|token| token.text.as_str());
    if (text(0), text(1), text(2)) != (Some("#"), Some("["), Some("cfg")) {
        return false;
    }
    let condition = tokens[3..].iter().take_while(|token| token.text != "]");
    let words: Vec<&str> = condition.map(|token| token.text.as_str()).collect();
    words.contains(&"test") && !words.contains(&"not")
}

/// Returns the number of tokens of the item whose attributes come first: up to its `;` or closing
/// brace.
fn length_of_item(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            ";" if depth == 0 => return index + 1,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn texts(tokens: &[Token]) -> Vec<&str> {
        tokens.iter().map(|token| token.text.as_str()).collect()
    }

    #[test]
    fn comments_are_dropped_and_lines_are_counted() {
        let tokens = read("// a\nfn f() {\n  /* b */ g(\"x\ny\", 'c');\n}");
        assert_eq!(
            texts(&tokens),
            ["fn", "f", "(", ")", "{", "g", "(", "\"x\ny\"", ",", "'c'", ")", ";", "}"]
        );
        assert_eq!(tokens[7].line, 3);
        assert!(tokens[7].is_literal && !tokens[5].is_literal);
        assert_eq!(tokens.last().map(|token| token.line), Some(5));
    }

    #[test]
    fn items_for_tests_are_left_out_and_counted() {
        let source = "#[cfg(test)]\nuse a::b;\nfn f() {}\n#[cfg(all(test, unix))]\nmod tests {\n  g!();\n}\n\
                      #[cfg(not(test))]\nfn h() {}";
        let tokens = read(source);
        let product = without_tests(&tokens);
        assert!(texts(&product).starts_with(&["fn", "f"]), "{product:?}");
        assert!(texts(&product).ends_with(&["fn", "h", "(", ")", "{", "}"]), "{product:?}");
        assert_eq!(lines_of_tests(&tokens), 2 + 4);
        assert_eq!(lines_of_tests(&read("fn f() {}")), 0);
    }
}
