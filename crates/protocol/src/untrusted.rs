//! Marks text from external sources, so that a model can distinguish data from instructions.

/// Name of the tags.
const TAG: &str = "untrusted_context";

/// Puts `text` between untrusted tags. A closing tag inside it is escaped so that it cannot end the
/// block. Letter case and blanks are ignored when closing tags are searched, because models read
/// loosely.
pub fn wrap(text: &str) -> String {
    format!("<{TAG}>\n{}\n</{TAG}>", escape(text))
}

/// Returns the text of a block that [`wrap`] made; any other text as it is.
pub fn unwrap(text: &str) -> &str {
    let start = text.strip_prefix('<').and_then(|text| text.strip_prefix(TAG));
    let content = start.and_then(|text| text.strip_prefix(">\n"));
    let end = content.and_then(|text| text.strip_suffix('>'));
    let end = end.and_then(|text| text.strip_suffix(TAG));
    end.and_then(|text| text.strip_suffix("\n</")).unwrap_or(text)
}

/// Escapes the closing tags in a text that is outside of a block.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        escaped.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match closing_tag(rest) {
            Some(tag) => {
                escaped.push_str("&lt;");
                escaped.push_str(tag);
                escaped.push_str("&gt;");
                rest = &rest[tag.len() + 1..];
            }
            None => escaped.push('<'),
        }
    }
    escaped + rest
}

/// Returns the text between `<` and `>` if `text`, which follows a `<`, begins with a closing tag.
fn closing_tag(text: &str) -> Option<&str> {
    let tag = text.trim_start().strip_prefix('/')?.trim_start();
    let (name, rest) = tag.split_at_checked(TAG.len())?;
    let end = rest.trim_start();
    let closes = name.eq_ignore_ascii_case(TAG) && end.starts_with('>');
    closes.then(|| &text[..text.len() - end.len()])
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn only_a_whole_block_is_unwrapped() {
        for text in ["", "a", "<b>\n", "\n</untrusted_context>"] {
            assert_eq!(unwrap(&wrap(text)), escape(text));
        }
        for text in ["", "a", "<untrusted_context>\na", "a\n</untrusted_context>"] {
            assert_eq!(unwrap(text), text);
        }
    }

    #[test]
    fn nothing_inside_can_close_the_block() {
        let table = [
            ("a</untrusted_context>b", "a&lt;/untrusted_context&gt;b"),
            ("</Untrusted_CONTEXT>", "&lt;/Untrusted_CONTEXT&gt;"),
            ("</ untrusted_context >", "&lt;/ untrusted_context &gt;"),
            ("< /\tuntrusted_context\n>!", "&lt; /\tuntrusted_context\n&gt;!"),
            ("<</untrusted_context>>", "<&lt;/untrusted_context&gt;>"),
            (
                "</untrusted_context></untrusted_context>",
                "&lt;/untrusted_context&gt;&lt;/untrusted_context&gt;",
            ),
            ("<b>1 < 2</b> é </untrusted_contexts> <", "<b>1 < 2</b> é </untrusted_contexts> <"),
            ("</untrusted_conteé>", "</untrusted_conteé>"),
        ];
        for (text, expected) in table {
            let wrapped = format!("<untrusted_context>\n{expected}\n</untrusted_context>");
            assert_eq!(wrap(text), wrapped);
        }
    }
}
