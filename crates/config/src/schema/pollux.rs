//! `pollux`: settings that Gemini CLI does not know.

use super::setting::{Setting, boolean, integer, texts};

// One row per line reads better than what the formatter makes of it.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    integer("pollux.shell.timeout", 600, "Seconds after which a command is ended, whatever it prints; zero for never."),
    boolean("pollux.tools.saveMemory", false, "Offers the tool that keeps facts in the person's context file.").restart(),
    texts("pollux.web.privateHosts", &[], "Hosts that `web_fetch` may reach though they are private, as in `NO_PROXY`.").restart(),
];
