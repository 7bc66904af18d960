//! The operating system by the name that Gemini CLI's formats have for it.

/// Name of the operating system as Node has it; session contexts hold it.
pub(crate) fn node_platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}
