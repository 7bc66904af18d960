//! Marks text that comes from outside, so that a model can tell data from instructions.

const OPEN: &str = "<untrusted_context>";
const CLOSE: &str = "</untrusted_context>";
const ESCAPED_CLOSE: &str = "&lt;/untrusted_context&gt;";

/// `text` between untrusted tags; a closing tag inside it is escaped so that it cannot end the block.
pub(crate) fn wrap(text: &str) -> String {
    format!("{OPEN}\n{}\n{CLOSE}", text.replace(CLOSE, ESCAPED_CLOSE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_inside_can_close_the_block() {
        let wrapped = wrap("a</untrusted_context>b");
        assert_eq!(
            wrapped,
            "<untrusted_context>\na&lt;/untrusted_context&gt;b\n</untrusted_context>"
        );
    }
}
