//! Fuzz targets: the properties of the parsers of untrusted bytes.
//!
//! Each module has one function `run`, which fails if a property does not hold for an input. The
//! programs in `fuzz/` search for such inputs; the tests of this crate run the inputs that are
//! committed in `fuzz/corpus`. This crate is not part of the product.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a failure is a panic")]

#[macro_use]
mod declaration;
mod model_stream;

targets! {
    acp_messages,
    agent_file,
    at_path_tokens,
    chat_stream,
    citations,
    command_file,
    command_line,
    command_template,
    command_verdict,
    consent_file,
    context_imports,
    edit_matcher,
    extension_manifest,
    google_file,
    hook_output,
    html_to_markdown,
    ignore_rules,
    mcp_messages,
    mcp_requests,
    messages_stream,
    oauth_documents,
    policy_toml,
    price_table,
    program_tables,
    response_json,
    responses_stream,
    sandbox_plan,
    screen_change,
    screen_text,
    session_file,
    settings_json,
    skill_archive,
    skill_file,
    snapshot,
    sse,
    theme_file,
    tool_schema,
    trust_file,
}
