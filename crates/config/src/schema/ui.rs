//! `ui`: appearance of the terminal.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, choice, integer, object, texts, unset};

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    boolean("ui.debugRainbow", false, "Draws each frame in a different colour, for debugging.").needless("Pollux draws no frames for debugging."),
    unset("ui.theme", SettingKind::Text, "Colour theme: its name, or the path of a file below the home directory. Unset: the colours of the terminal."),
    boolean("ui.autoThemeSwitching", true, "Shows the counterpart of the theme, such as `Default Light`, on a background of the other kind."),
    integer("ui.terminalBackgroundPollingInterval", 60, "Interval between two checks of the terminal's background, in seconds.").needless("Pollux asks the terminal once, and not again while nothing happens."),
    object("ui.customThemes", &SettingKind::Record(&records::THEME), "The user's own themes, by name."),
    boolean("ui.hideWindowTitle", false, "Does not change the window title."),
    choice("ui.inlineThinkingMode", &["off", "full"], "off", "Shows the model's thoughts in the conversation."),
    boolean("ui.showStatusInTitle", false, "Shows the model's thoughts in the window title."),
    boolean("ui.dynamicWindowTitle", true, "Shows the state of the work in the window title."),
    boolean("ui.showHomeDirectoryWarning", true, "Warns when the program runs in the home directory.").restart(),
    boolean("ui.showCompatibilityWarnings", true, "Warns about a theme that is for another background than that of the terminal."),
    boolean("ui.hideTips", false, "Hides the hints for new users at the start."),
    boolean("ui.escapePastedAtSymbols", false, "Treats `@` in pasted text literally."),
    boolean("ui.showShortcutsHint", true, "Mentions the key `?` in the hints for new users."),
    boolean("ui.compactToolOutput", true, "Shows only the beginning of results, and the end of the output of commands."),
    boolean("ui.hideBanner", false, "Hides the first row, with version, model and folder."),
    boolean("ui.hideContextSummary", false, "Hides the line about loaded context.").needless("Pollux has no such line; `/memory list` and `/mcp` show what is loaded."),
    unset("ui.footer.items", SettingKind::TEXTS, "Items of the last row after the approval mode, in order: `workspace`, `git-branch`, `sandbox`, `model-name`, `context-used`, `memory-usage`, `session-id`, `token-count`. Other names have no effect."),
    boolean("ui.footer.showLabels", true, "Names what the numbers in the last row are."),
    boolean("ui.footer.hideCWD", false, "Hides the folder and the branch in the last row."),
    boolean("ui.footer.hideSandboxStatus", false, "Hides in the last row that the folder is not trusted."),
    boolean("ui.footer.hideModelInfo", false, "Hides the model in the last row."),
    boolean("ui.footer.hideContextPercentage", false, "Hides the used part of the context in the last row. Gemini CLI hides it by default."),
    boolean("ui.hideFooter", false, "Hides the last row."),
    boolean("ui.collapseDrawerDuringApproval", true, "Hides the to-do list and the queue while a question is open."),
    boolean("ui.showMemoryUsage", false, "Shows the memory in use in the last row."),
    boolean("ui.showLineNumbers", true, "Numbers the lines of code.").needless("Code has no line numbers, so that a copy of it is clean."),
    boolean("ui.showCitations", false, "Shows the sources that an answer names, on the screen."),
    boolean("ui.showModelInfoInChat", false, "Names the model at each answer."),
    boolean("ui.showUserIdentity", true, "Shows who is signed in.").needless("Pollux does not show who is signed in; `pollux auth status` does."),
    boolean(
        "ui.useAlternateBuffer",
        false,
        "Shows the conversation on the alternate screen, where Pollux scrolls it itself.",
    )
    .restart(),
    boolean("ui.renderProcess", true, "Draws in a process of its own in Gemini CLI.").needless("Pollux draws in its own process."),
    boolean("ui.terminalBuffer", false, "Selects the newer buffer of Gemini CLI.").needless("The terminal's own scrolling has everything that is finished."),
    boolean("ui.useBackgroundColor", true, "Shows changed words of a line on a background; otherwise they are underlined."),
    boolean("ui.incrementalRendering", true, "Redraws only what changed.").needless("Pollux only ever writes rows that have changed."),
    boolean("ui.showSpinner", true, "Shows the seconds while Pollux waits. Without them, nothing on the screen moves."),
    choice("ui.loadingPhrases", &["tips", "witty", "all", "off"], "off", "Texts beside the state of the work: hints (`tips`), your `ui.customWittyPhrases` (`witty`), or both (`all`)."),
    choice("ui.errorVerbosity", &["low", "full"], "low", "Level of detail of error messages.").needless("Every error is shown with its reason."),
    texts("ui.customWittyPhrases", &[], "Your phrases for `ui.loadingPhrases`. Pollux has none of its own."),
    boolean("ui.accessibility.enableLoadingPhrases", true, "`false` switches `ui.loadingPhrases` off."),
    boolean("ui.accessibility.screenReader", false, "Shortens the label of the prompt for screen readers.").restart().flag("--screen-reader"),
];
