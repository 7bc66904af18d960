//! `pollux`: settings that Gemini CLI does not know.

use super::kind::Kind;
use super::records;
use super::setting::{Setting, boolean, integer, object, texts};

// One row per line reads better than what the formatter makes of it.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    object("pollux.safetyCheckers", &Kind::Record(&records::CHECKER), "Programs that policy files name as safety checkers of type `external`, by name.").restart().shallow().not_project(),
    boolean("pollux.continueUnfinished", false, "Lets the model go on when its answer is plainly unfinished: cut off, or ending with a step that it announces."),
    integer("pollux.shell.timeout", 600, "Seconds after which a command is ended, whatever it prints; zero for never."),
    boolean("pollux.tools.saveMemory", false, "Offers the tool that keeps facts in the person's context file.").restart(),
    texts("pollux.web.privateHosts", &[], "Hosts that `web_fetch` may reach though they are private, as in `NO_PROXY`.").restart(),
];
