//! Documents and headers with which servers say where users sign in: whatever they contain, only
//! addresses that are secure come out, and no text that acts on a terminal.

pub(crate) fn run(bytes: &[u8]) {
    let found = pollux_mcp::read_oauth(bytes);
    for address in &found.addresses {
        let is_secure = address.starts_with("https://")
            || ["http://localhost", "http://127.", "http://[::1]"]
                .iter()
                .any(|start| address.starts_with(start));
        assert!(is_secure, "{address}");
        assert!(!address.contains(char::is_control), "{address}");
    }
    for text in &found.texts {
        assert!(!text.contains(pollux_protocol::plain_text::acts_on_terminal), "{text:?}");
        assert!(text.len() <= 20_000, "texts are limited");
    }
}
