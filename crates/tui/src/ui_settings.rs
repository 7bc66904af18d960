//! The settings of the screen (`ui.*`). Pure.

use pollux_protocol::SettingValues;
use pollux_protocol::plain_text::one_line;
use serde_json::Value;

/// Settings that the screen applies as soon as they change.
pub const LIVE_SETTINGS: &[&str] = &[
    "general.enableNotifications",
    "general.notificationMethod",
    "general.vimMode",
    "pollux.terminalProgress",
    "ui.accessibility.enableLoadingPhrases",
    "ui.autoThemeSwitching",
    "ui.collapseDrawerDuringApproval",
    "ui.compactToolOutput",
    "ui.customThemes",
    "ui.customWittyPhrases",
    "ui.dynamicWindowTitle",
    "ui.escapePastedAtSymbols",
    "ui.footer.hideCWD",
    "ui.footer.hideContextPercentage",
    "ui.footer.hideModelInfo",
    "ui.footer.hideSandboxStatus",
    "ui.footer.items",
    "ui.footer.showLabels",
    "ui.hideBanner",
    "ui.hideFooter",
    "ui.hideTips",
    "ui.hideWindowTitle",
    "ui.inlineThinkingMode",
    "ui.loadingPhrases",
    "ui.showCitations",
    "ui.showCompatibilityWarnings",
    "ui.showMemoryUsage",
    "ui.showModelInfoInChat",
    "ui.showShortcutsHint",
    "ui.showSpinner",
    "ui.showStatusInTitle",
    "ui.theme",
    "ui.useBackgroundColor",
];

/// Maximum number of phrases of the user.
const MOST_PHRASES: usize = 100;
/// Maximum number of characters of a phrase.
const LONGEST_PHRASE: usize = 120;

/// Settings of the screen, as they were last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UiSettings {
    /// Hides the first row, with the version, the model and the folder.
    pub(crate) hides_banner: bool,
    /// Hides the hints for new users.
    pub(crate) hides_tips: bool,
    /// Mentions `?` in these hints.
    pub(crate) has_shortcuts_hint: bool,
    pub(crate) hides_footer: bool,
    /// Names what the numbers in the last row are.
    pub(crate) has_labels: bool,
    pub(crate) footer: Vec<FooterItem>,
    /// Hides the to-do list and the queue while a question about a call is open.
    pub(crate) collapses: bool,
    /// Shows the sources that an answer names.
    pub(crate) has_citations: bool,
    /// Names the model before each answer.
    pub(crate) names_model: bool,
    /// Shows the thoughts of the model in the conversation.
    pub(crate) has_thoughts: bool,
    /// Shows only the beginning of results.
    pub(crate) is_compact: bool,
    /// Nothing moves while Pollux waits: no clock.
    pub(crate) is_still: bool,
    /// Shows backgrounds behind changed words.
    pub(crate) has_backgrounds: bool,
    /// Warns about a theme for another background.
    pub(crate) has_warnings: bool,
    /// Treats `@` in pasted text literally.
    pub(crate) escapes_pasted_at: bool,
    /// Texts that are shown while the model works.
    pub(crate) phrases: Phrases,
}

/// Texts that are shown while the model works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Phrases {
    /// True for the hints of the program.
    pub(crate) has_tips: bool,
    /// Phrases of the user.
    pub(crate) own: Vec<String>,
}

/// Part of the last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FooterItem {
    Workspace,
    GitBranch,
    Sandbox,
    ModelName,
    ContextUsed,
    MemoryUsage,
    SessionId,
    TokenCount,
}

/// Names of the items in `ui.footer.items`.
const ITEMS: [(&str, FooterItem); 8] = [
    ("workspace", FooterItem::Workspace),
    ("git-branch", FooterItem::GitBranch),
    ("sandbox", FooterItem::Sandbox),
    ("model-name", FooterItem::ModelName),
    ("context-used", FooterItem::ContextUsed),
    ("memory-usage", FooterItem::MemoryUsage),
    ("session-id", FooterItem::SessionId),
    ("token-count", FooterItem::TokenCount),
];

impl Default for UiSettings {
    fn default() -> Self {
        Self::read(&SettingValues::default())
    }
}

impl UiSettings {
    /// Reads the settings.
    pub(crate) fn read(settings: &SettingValues) -> Self {
        let is = |key: &str, default: bool| {
            settings.get(key).and_then(Value::as_bool).unwrap_or(default)
        };
        let text = |key: &str| settings.get(key).and_then(Value::as_str).unwrap_or_default();
        Self {
            hides_banner: is("ui.hideBanner", false),
            hides_tips: is("ui.hideTips", false),
            has_shortcuts_hint: is("ui.showShortcutsHint", true),
            hides_footer: is("ui.hideFooter", false),
            has_labels: is("ui.footer.showLabels", true),
            footer: footer(settings, &is),
            collapses: is("ui.collapseDrawerDuringApproval", true),
            has_citations: is("ui.showCitations", false),
            names_model: is("ui.showModelInfoInChat", false),
            has_thoughts: text("ui.inlineThinkingMode") == "full",
            is_compact: is("ui.compactToolOutput", true),
            is_still: !is("ui.showSpinner", true),
            has_backgrounds: is("ui.useBackgroundColor", true),
            has_warnings: is("ui.showCompatibilityWarnings", true),
            escapes_pasted_at: is("ui.escapePastedAtSymbols", false),
            phrases: phrases(settings, &is, text("ui.loadingPhrases")),
        }
    }
}

/// Returns the items of the last row after the approval mode: those of `ui.footer.items`, otherwise
/// all that are not hidden.
fn footer(settings: &SettingValues, is: &impl Fn(&str, bool) -> bool) -> Vec<FooterItem> {
    if let Some(Value::Array(names)) = settings.get("ui.footer.items") {
        let item = |name: &Value| {
            let known = ITEMS.iter().find(|(known, _)| name.as_str() == Some(known));
            known.map(|(_, item)| *item)
        };
        return names.iter().take(ITEMS.len()).filter_map(item).collect();
    }
    let shown = [
        (FooterItem::ContextUsed, !is("ui.footer.hideContextPercentage", false)),
        (FooterItem::ModelName, !is("ui.footer.hideModelInfo", false)),
        (FooterItem::Workspace, !is("ui.footer.hideCWD", false)),
        (FooterItem::GitBranch, !is("ui.footer.hideCWD", false)),
        (FooterItem::Sandbox, !is("ui.footer.hideSandboxStatus", false)),
        (FooterItem::MemoryUsage, is("ui.showMemoryUsage", false)),
    ];
    shown.into_iter().filter_map(|(item, is_shown)| is_shown.then_some(item)).collect()
}

fn phrases(settings: &SettingValues, is: &impl Fn(&str, bool) -> bool, kind: &str) -> Phrases {
    if !is("ui.accessibility.enableLoadingPhrases", true) {
        return Phrases::default();
    }
    let own = settings.get("ui.customWittyPhrases").and_then(Value::as_array);
    let own = own
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|phrase| one_line(phrase).chars().take(LONGEST_PHRASE).collect::<String>());
    let wants_own = matches!(kind, "witty" | "all");
    Phrases {
        has_tips: matches!(kind, "tips" | "all"),
        own: own.filter(|phrase| wants_own && !phrase.is_empty()).take(MOST_PHRASES).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn read(ui: &Value) -> UiSettings {
        UiSettings::read(&SettingValues::new(Arc::new(json!({ "ui": ui }))))
    }

    #[test]
    fn the_last_row_has_the_items_of_the_settings() {
        use FooterItem::*;
        for (ui, items) in [
            (json!({}), &[ContextUsed, ModelName, Workspace, GitBranch, Sandbox][..]),
            (
                json!({ "footer": { "hideCWD": true, "hideModelInfo": true } }),
                &[ContextUsed, Sandbox],
            ),
            (
                json!({ "footer": { "hideContextPercentage": true, "hideSandboxStatus": true }, "showMemoryUsage": true }),
                &[ModelName, Workspace, GitBranch, MemoryUsage],
            ),
            (
                json!({ "footer": { "items": ["session-id", "corgi", 1, "workspace"] } }),
                &[SessionId, Workspace],
            ),
            (json!({ "footer": { "items": [] } }), &[]),
        ] {
            assert_eq!(read(&ui).footer, items, "{ui}");
        }
    }

    #[test]
    fn phrases_are_those_of_the_program_and_the_user() {
        let own = json!(["a\u{1b}b", "", 1, "c"]);
        for (kind, has_tips, count) in
            [("off", false, 0), ("tips", true, 0), ("witty", false, 2), ("all", true, 2)]
        {
            let phrases =
                read(&json!({ "loadingPhrases": kind, "customWittyPhrases": own })).phrases;
            assert_eq!((phrases.has_tips, phrases.own.len()), (has_tips, count), "{kind}");
        }
        let quiet =
            json!({ "loadingPhrases": "all", "accessibility": { "enableLoadingPhrases": false } });
        assert_eq!(read(&quiet).phrases, Phrases::default());
    }
}
