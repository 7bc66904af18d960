//! Name of the operating system as Gemini CLI's formats spell it.

/// Returns the name of the operating system as Node.js spells it, for session contexts.
pub(crate) fn node_platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}
