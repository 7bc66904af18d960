//! Tests of `get_internal_docs` with the program's own pages.

use pollux_protocol::{ModelLimits, ToolErrorKind};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::session::{Session, display};

#[tokio::test]
async fn pages_are_listed_and_read() {
    let session = Session::new();
    for args in [json!({}), json!({"path": ""})] {
        let list = session.ok("get_internal_docs", args).await;
        assert!(
            list.starts_with("Available Pollux documentation files:\n\n- README.md\n- "),
            "{list}"
        );
        assert!(list.ends_with("- tools.md\n- troubleshooting.md"), "{list}");
    }
    let page = session.ok("get_internal_docs", json!({"path": "./exit-codes.md"})).await;
    assert!(page.starts_with("# "), "{page}");
}

#[tokio::test]
async fn nothing_else_is_read() {
    let session = Session::new();
    session.file("secret.md", "secret");
    let secret = session.path("secret.md").display().to_string();
    for path in ["../README.md", "/etc/passwd", secret.as_str(), "generated/../../../Cargo.toml"] {
        let output = session.call("get_internal_docs", json!({"path": path})).await;
        assert_eq!(display(&output), format!("Failed to access documentation: {path}"));
        let error = output.error.unwrap();
        assert_eq!(error.kind, ToolErrorKind::ExecutionFailed);
        let reason = "Access denied: Requested path is outside the documentation directory.";
        assert_eq!(error.message, reason, "{path}");
    }
}

#[test]
fn the_main_conversation_has_it_only_when_it_is_named() {
    let offered = |session: &Session| {
        session.tool("get_internal_docs").is_offered_to("m", ModelLimits::default())
    };
    assert!(!offered(&Session::new()));
    assert!(offered(&Session::with(|context| context.options.internal_docs = true)));
}
