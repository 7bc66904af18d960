//! Colour themes: those of the program, and the user's own. Pure.

use std::sync::LazyLock;

use serde_json::Value;

mod choice;
mod colour;
mod source;

pub(crate) use choice::{Background, ThemeChoice, all_themes};
pub(crate) use colour::Colour;
pub(crate) use source::parse_theme;

/// Themes of the program that have colours of their own, in the form of a theme file.
const BUILT_IN: &str = include_str!("../themes/built_in.json");

/// Name of the theme with the sixteen colours that the user has chosen in the terminal.
pub(crate) const ANSI: &str = "ANSI";
/// Name of the same theme for a light background, where Gemini CLI has one of its own.
pub(crate) const ANSI_LIGHT: &str = "ANSI Light";

/// Background that a theme is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThemeKind {
    Dark,
    Light,
    /// Both: the colours are those of the terminal.
    Any,
}

/// Meaning of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Background,
    /// Text without another meaning.
    Text,
    /// Times, counts, hints.
    Secondary,
    /// Links, titles, keywords.
    Link,
    /// Paths, commands, marks.
    Accent,
    /// Names of functions.
    Symbol,
    /// Names of types.
    Cyan,
    /// Added lines, numbers.
    Success,
    /// Warnings, texts in quotes.
    Warning,
    /// Errors, removed lines.
    Error,
    Comment,
    DiffAdded,
    DiffRemoved,
}

/// Number of roles.
const ROLES: usize = Role::DiffRemoved as usize + 1;

/// A theme.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Theme {
    pub(crate) name: String,
    pub(crate) kind: ThemeKind,
    /// True if text without a meaning also has a colour, because the user asked for that.
    paints_text: bool,
    /// Colours by role.
    colours: [Option<Colour>; ROLES],
}

impl Theme {
    /// Returns the theme with the colours of the terminal.
    pub(crate) fn ansi(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: ThemeKind::Any,
            paints_text: false,
            colours: [None; ROLES],
        }
    }

    /// Returns true if the colours are those of the terminal.
    pub(crate) fn is_ansi(&self) -> bool {
        self.colours == [None; ROLES]
    }

    /// Returns a colour; `None` for the terminal's own.
    pub(crate) fn colour(&self, role: Role) -> Option<Colour> {
        match role {
            Role::Text if !self.paints_text => None,
            role => self.colours[role as usize],
        }
    }

    /// Returns the name as lists show it.
    pub(crate) fn label(&self) -> String {
        let kind = match self.kind {
            ThemeKind::Dark => "Dark",
            ThemeKind::Light => "Light",
            ThemeKind::Any => return self.name.clone(),
        };
        if self.name.contains(kind) { self.name.clone() } else { format!("{} {kind}", self.name) }
    }
}

/// Themes of the program, the dark ones first.
static THEMES: LazyLock<Vec<Theme>> = LazyLock::new(|| {
    let parsed: Vec<Value> = serde_json::from_str(BUILT_IN).unwrap_or_default();
    let mut themes: Vec<Theme> = parsed.iter().filter_map(source::built_in).collect();
    let light = themes.iter().position(|theme| theme.kind == ThemeKind::Light);
    themes.insert(light.unwrap_or_default(), Theme::ansi(ANSI_LIGHT));
    themes.insert(0, Theme::ansi(ANSI));
    themes
});

/// Returns the themes of the program.
pub(crate) fn built_in_themes() -> &'static [Theme] {
    &THEMES
}

/// Returns the theme of the program with this name.
pub(crate) fn built_in_theme(name: &str) -> Option<&'static Theme> {
    THEMES.iter().find(|theme| theme.name == name)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn all_themes_of_gemini_cli_exist() {
        let names: Vec<&str> = built_in_themes().iter().map(|theme| theme.name.as_str()).collect();
        let expected = [
            "ANSI",
            "Atom One",
            "Ayu",
            "Default",
            "Dracula",
            "GitHub",
            "GitHub Dark Colorblind",
            "Holiday",
            "Shades Of Purple",
            "Solarized Dark",
            "Tokyo Night",
            "ANSI Light",
            "Ayu Light",
            "Default Light",
            "GitHub Light",
            "GitHub Light Colorblind",
            "Google Code",
            "Solarized Light",
            "Xcode",
        ];
        assert_eq!(names, expected);
        assert_eq!(built_in_theme("Default").unwrap().label(), "Default Dark");
        assert_eq!(built_in_theme("Xcode").unwrap().label(), "Xcode Light");
        assert_eq!(built_in_theme("Ayu Light").unwrap().label(), "Ayu Light");
    }

    #[test]
    fn every_colour_is_legible_on_the_background_of_its_theme() {
        let roles = [
            Role::Secondary,
            Role::Link,
            Role::Accent,
            Role::Symbol,
            Role::Cyan,
            Role::Success,
            Role::Warning,
            Role::Error,
            Role::Comment,
        ];
        for theme in built_in_themes().iter().filter(|theme| !theme.is_ansi()) {
            let background = theme.colour(Role::Background).unwrap();
            let is_dark = background.luminance().unwrap() < 0.2;
            assert_eq!(is_dark, theme.kind == ThemeKind::Dark, "{}", theme.name);
            for role in roles {
                let contrast = theme.colour(role).unwrap().contrast(background).unwrap();
                assert!(contrast >= 4.5, "{} {role:?}: {contrast:.1}", theme.name);
            }
        }
    }

    #[test]
    fn added_and_removed_are_not_only_red_and_green_for_the_colour_blind() {
        for name in ["GitHub Dark Colorblind", "GitHub Light Colorblind"] {
            let theme = built_in_theme(name).unwrap();
            let rgb = |role| match theme.colour(role) {
                Some(Colour::Rgb(rgb)) => rgb,
                other => panic!("{other:?}"),
            };
            // Blue differs from orange in the part that all of them see.
            let (added, removed) = (rgb(Role::Success), rgb(Role::Error));
            assert!(added[2] > added[0] && removed[2] < removed[0], "{name}");
        }
    }
}
