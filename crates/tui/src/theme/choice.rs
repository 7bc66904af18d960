//! The theme of a conversation: from the settings, and for the background of the terminal. Pure.

use pollux_protocol::SettingValues;
use serde_json::Value;

use super::{ANSI, ANSI_LIGHT, Theme, ThemeKind, built_in_theme, built_in_themes, parse_theme};

/// Luminance of a background, from 0 to 255, above which it is light, and below which it is dark.
/// In between the earlier decision stays.
const LIGHT: f32 = 140.0;
const DARK: f32 = 110.0;

/// Pairs of themes: for a dark and for a light background.
const PAIRS: [(&str, &str); 6] = [
    (ANSI, ANSI_LIGHT),
    ("Ayu", "Ayu Light"),
    ("Default", "Default Light"),
    ("GitHub", "GitHub Light"),
    ("GitHub Dark Colorblind", "GitHub Light Colorblind"),
    ("Solarized Dark", "Solarized Light"),
];

/// Background of the terminal, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Background(Option<ThemeKind>);

impl Background {
    /// Returns the background after the terminal has reported a colour.
    pub(crate) fn reported(self, [red, green, blue]: [u8; 3]) -> Self {
        let [red, green, blue] = [red, green, blue].map(f32::from);
        let brightness = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        if brightness > LIGHT {
            Self(Some(ThemeKind::Light))
        } else if brightness < DARK {
            Self(Some(ThemeKind::Dark))
        } else {
            self
        }
    }
}

/// Choice of a theme.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ThemeChoice {
    /// Theme that the settings name.
    theme: Theme,
    /// True if its counterpart takes its place on the other background.
    is_adapted: bool,
    /// Problems for the user.
    pub(crate) problems: Vec<String>,
}

impl ThemeChoice {
    /// Chooses the theme of the settings. `read` reads a file of a theme.
    pub(crate) fn of(
        settings: &SettingValues,
        read: impl FnOnce(&str) -> Option<Result<String, String>>,
    ) -> Self {
        let name = settings.get("ui.theme").and_then(Value::as_str).unwrap_or_default().trim();
        let is_adapted =
            settings.get("ui.autoThemeSwitching").and_then(Value::as_bool).unwrap_or(true);
        let (theme, problems) = match name {
            "" => (Some(Theme::ansi(ANSI)), Vec::new()),
            name => named(name, settings, read),
        };
        let problems = problems.iter().map(|problem| format!("Theme {name}: {problem}")).collect();
        Self { theme: theme.unwrap_or_else(|| Theme::ansi(ANSI)), is_adapted, problems }
    }

    /// Returns true if the background of the terminal matters.
    pub(crate) fn needs_background(&self) -> bool {
        self.theme.kind != ThemeKind::Any
    }

    /// Returns the theme for a background: the chosen one, or its counterpart.
    pub(crate) fn for_background(&self, background: Background) -> &Theme {
        let Some(kind) = background.0.filter(|kind| self.is_adapted && *kind != self.theme.kind)
        else {
            return &self.theme;
        };
        let counterpart = PAIRS.iter().find_map(|(dark, light)| match kind {
            ThemeKind::Light if *dark == self.theme.name => built_in_theme(light),
            ThemeKind::Dark if *light == self.theme.name => built_in_theme(dark),
            _ => None,
        });
        counterpart.unwrap_or(&self.theme)
    }

    /// Returns the warning about a theme that is for the other background.
    pub(crate) fn mismatch(&self, background: Background) -> Option<String> {
        let theme = self.for_background(background);
        let (for_kind, is) = match (theme.kind, background.0?) {
            (ThemeKind::Dark, ThemeKind::Light) => ("dark", "light"),
            (ThemeKind::Light, ThemeKind::Dark) => ("light", "dark"),
            _ => return None,
        };
        Some(format!(
            "The theme {} is for a {for_kind} background, and the terminal has a {is} one. \
             /theme lists others.",
            theme.name
        ))
    }
}

/// Returns all themes that a user can choose: those of the program and of the settings.
pub(crate) fn all_themes(settings: &SettingValues) -> Vec<Theme> {
    let own = settings.get("ui.customThemes").and_then(Value::as_object);
    let own = own.into_iter().flatten().filter_map(|(name, value)| {
        let (theme, _) = parse_theme(&value.to_string()).ok()?;
        Some(Theme { name: name.clone(), ..theme })
    });
    let own: Vec<Theme> = own.collect();
    own.into_iter().chain(built_in_themes().iter().cloned()).collect()
}

/// Returns the theme with a name, with its problems.
fn named(
    name: &str,
    settings: &SettingValues,
    read: impl FnOnce(&str) -> Option<Result<String, String>>,
) -> (Option<Theme>, Vec<String>) {
    let custom = settings.get("ui.customThemes").and_then(|themes| themes.get(name));
    if let Some(custom) = custom {
        let key = format!("ui.customThemes.{name}");
        return match parse_theme(&custom.to_string()) {
            Ok((theme, problems)) => {
                let problems = problems.iter().map(|it| format!("{key}: {}", it.message)).collect();
                (Some(Theme { name: name.to_owned(), ..theme }), problems)
            }
            Err(problem) => (None, vec![format!("{key}: {}", problem.message)]),
        };
    }
    if let Some(theme) = built_in_theme(name) {
        return (Some(theme.clone()), Vec::new());
    }
    match read(name) {
        Some(Ok(text)) => match parse_theme(&text) {
            Ok((theme, problems)) => {
                (Some(theme), problems.iter().map(ToString::to_string).collect())
            }
            Err(problem) => (None, vec![problem.to_string()]),
        },
        Some(Err(reason)) => (None, vec![format!("{reason}.")]),
        None => (None, vec!["no theme has this name. /theme lists them.".to_owned()]),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn choice(ui: &Value) -> ThemeChoice {
        let settings = SettingValues::new(Arc::new(json!({ "ui": ui })));
        ThemeChoice::of(&settings, |name| match name {
            "~/a.json" => Some(Ok("{\"name\": \"File\", \"Gray\": \"no\"}".to_owned())),
            "~/b.json" => Some(Err("it cannot be read".to_owned())),
            _ => None,
        })
    }

    #[test]
    fn the_settings_name_a_theme() {
        let own = json!({ "Mine": { "type": "custom", "name": "x", "Gray": "no" }, "Bad": 1 });
        for (name, theme, problems) in [
            ("", "ANSI", &[][..]),
            ("Dracula", "Dracula", &[]),
            ("None", "ANSI", &["Theme None: no theme has this name. /theme lists them."]),
            ("Mine", "Mine", &["Theme Mine: ui.customThemes.Mine: Gray: \"no\" is no colour."]),
            ("Bad", "ANSI", &["Theme Bad: ui.customThemes.Bad: The file is no JSON object."]),
            ("~/a.json", "File", &["Theme ~/a.json: line 1: Gray: \"no\" is no colour."]),
            ("~/b.json", "ANSI", &["Theme ~/b.json: it cannot be read."]),
        ] {
            let found = choice(&json!({ "theme": name, "customThemes": own }));
            assert_eq!(found.theme.name, theme, "{name}");
            assert_eq!(found.problems, problems, "{name}");
        }
        assert_eq!(choice(&json!({ "theme": 1 })).theme.name, "ANSI");
    }

    #[test]
    fn a_theme_adapts_to_the_background() {
        let background = |part| Background::default().reported([part; 3]);
        for (name, part, shown, has_warning) in [
            ("Default", 255, "Default Light", false),
            ("Default", 20, "Default", false),
            ("Default Light", 20, "Default", false),
            ("Default", 125, "Default", false),
            ("Solarized Light", 0, "Solarized Dark", false),
            ("Dracula", 255, "Dracula", true),
            ("Dracula", 30, "Dracula", false),
            ("Xcode", 0, "Xcode", true),
        ] {
            let found = choice(&json!({ "theme": name }));
            assert_eq!(found.for_background(background(part)).name, shown, "{name} {part}");
            assert_eq!(found.mismatch(background(part)).is_some(), has_warning, "{name} {part}");
        }
        let fixed = choice(&json!({ "theme": "Default", "autoThemeSwitching": false }));
        assert_eq!(fixed.for_background(background(255)).name, "Default");
        assert!(fixed.mismatch(background(255)).is_some());
        // In between, the earlier decision stays.
        let light = background(200).reported([125; 3]);
        assert_eq!(light, background(200));
        assert!(!choice(&json!({})).needs_background());
    }
}
