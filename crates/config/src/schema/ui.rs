//! `ui`: appearance of the terminal.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, choice, integer, object, texts, unset};

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    boolean("ui.debugRainbow", false, "Draws each frame in a different colour, for debugging.").restart().idle(),
    unset("ui.theme", SettingKind::Text, "Colour theme: its name, or the path of a file below the home directory. Unset: the colours of the terminal."),
    boolean("ui.autoThemeSwitching", true, "Shows the counterpart of the theme, such as `Default Light`, on a background of the other kind."),
    integer("ui.terminalBackgroundPollingInterval", 60, "Interval between two checks of the terminal's background, in seconds.").idle(),
    object("ui.customThemes", &SettingKind::Record(&records::THEME), "The user's own themes, by name."),
    boolean("ui.hideWindowTitle", false, "Does not change the window title.").restart().idle(),
    choice("ui.inlineThinkingMode", &["off", "full"], "off", "Shows the model's thoughts in the conversation.").idle(),
    boolean("ui.showStatusInTitle", false, "Shows the model's thoughts in the window title.").idle(),
    boolean("ui.dynamicWindowTitle", true, "Shows the state as a symbol in the window title.").idle(),
    boolean("ui.showHomeDirectoryWarning", true, "Warns when the program runs in the home directory.").restart(),
    boolean("ui.showCompatibilityWarnings", true, "Warns about limits of the terminal.").restart().idle(),
    boolean("ui.hideTips", false, "Hides the tips at start.").idle(),
    boolean("ui.escapePastedAtSymbols", false, "Treats `@` in pasted text literally.").idle(),
    boolean("ui.showShortcutsHint", true, "Shows the hint about shortcuts.").idle(),
    boolean("ui.compactToolOutput", true, "Shortens the output of tools.").idle(),
    boolean("ui.hideBanner", false, "Hides the banner.").idle(),
    boolean("ui.hideContextSummary", false, "Hides the line about loaded context.").idle(),
    unset("ui.footer.items", SettingKind::TEXTS, "Items of the footer, in order.").idle(),
    boolean("ui.footer.showLabels", true, "Names the items of the footer.").idle(),
    boolean("ui.footer.hideCWD", false, "Hides the current directory in the footer.").idle(),
    boolean("ui.footer.hideSandboxStatus", false, "Hides the sandbox in the footer.").idle(),
    boolean("ui.footer.hideModelInfo", false, "Hides the model in the footer.").idle(),
    boolean("ui.footer.hideContextPercentage", true, "Hides the context usage.").idle(),
    boolean("ui.hideFooter", false, "Hides the footer.").idle(),
    boolean("ui.collapseDrawerDuringApproval", true, "Expands the area of a question about a tool call.").idle(),
    boolean("ui.showMemoryUsage", false, "Shows the memory in use.").idle(),
    boolean("ui.showLineNumbers", true, "Numbers the lines of code.").idle(),
    boolean("ui.showCitations", false, "Shows citations.").idle(),
    boolean("ui.showModelInfoInChat", false, "Names the model at each answer.").idle(),
    boolean("ui.showUserIdentity", true, "Shows who is signed in.").idle(),
    boolean("ui.useAlternateBuffer", false, "Draws on the alternate screen.").restart().idle(),
    boolean("ui.renderProcess", true, "Draws in a process of its own in Gemini CLI.").restart().idle(),
    boolean("ui.terminalBuffer", false, "Selects the newer buffer of Gemini CLI.").restart().idle(),
    boolean("ui.useBackgroundColor", true, "Uses background colours.").idle(),
    boolean("ui.incrementalRendering", true, "Redraws only what changed.").restart().idle(),
    boolean("ui.showSpinner", true, "Shows an activity indicator.").idle(),
    choice("ui.loadingPhrases", &["tips", "witty", "all", "off"], "off", "Kind of text that is shown while waiting.").idle(),
    choice("ui.errorVerbosity", &["low", "full"], "low", "Level of detail of error messages.").idle(),
    texts("ui.customWittyPhrases", &[], "The user's own phrases that are shown while waiting.").idle(),
    boolean("ui.accessibility.enableLoadingPhrases", true, "Replaced by `ui.loadingPhrases`.").restart().idle(),
    boolean("ui.accessibility.screenReader", false, "Shortens the label of the prompt for screen readers.").restart().flag("--screen-reader"),
];
