//! `agents`: subagents and the browser.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, choice, integer, object, texts, unset};

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    object("agents.overrides", &SettingKind::Record(&records::AGENT), "Overrides for subagents, by name."),
    choice("agents.browser.sessionMode", &["persistent", "isolated", "existing"], "persistent", "Which browser profile the browser agent uses.").restart().idle(),
    boolean("agents.browser.headless", false, "Hides the browser.").restart().idle(),
    unset("agents.browser.profilePath", SettingKind::Text, "Folder of the browser profile.").restart().idle(),
    unset("agents.browser.visualModel", SettingKind::Text, "Model that analyses pages.").restart().idle(),
    texts("agents.browser.allowedDomains", &["github.com", "*.google.com", "localhost"], "Hosts that the browser agent may visit.").restart().idle(),
    boolean("agents.browser.disableUserInput", true, "Blocks user input into the browser.").idle(),
    integer("agents.browser.maxActionsPerTask", 100, "Maximum number of actions per task.").idle(),
    boolean("agents.browser.confirmSensitiveActions", false, "Asks before sensitive actions.").restart().idle(),
    boolean("agents.browser.blockFileUploads", false, "Forbids uploads.").restart().idle(),
];
