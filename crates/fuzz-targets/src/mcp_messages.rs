//! Messages of an MCP server: whatever it sends, reading it does not fail in another way than by
//! refusing the message, and a message that is read once is read again from the same bytes.

pub(crate) fn run(bytes: &[u8]) {
    let is_read = pollux_mcp::read_message(bytes);
    assert_eq!(pollux_mcp::read_message(bytes), is_read, "the reader keeps nothing");
}
