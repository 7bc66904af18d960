//! Colours of a conversation: the parameters with which the terminal shows each look. Pure.

use std::borrow::Cow;

use pollux_input::ColourDepth;

use crate::row::Look;
use crate::theme::{Role, Theme, parse_theme};

/// Least contrast between the text of a changed part and its background.
const LEGIBLE: f32 = 4.5;

/// Colours and styles of text on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Palette {
    /// Parameters of the SGR sequences, by look; `None` on a screen without colours.
    codes: Option<Vec<Option<Cow<'static, str>>>>,
}

impl Palette {
    /// Returns the palette of the sixteen colours of the terminal, which the user chooses there.
    pub(crate) fn sixteen() -> Self {
        Self::with(|look| sixteen(look).map(Cow::Borrowed))
    }

    /// Returns the palette without colours, styles and links.
    pub(crate) fn none() -> Self {
        Self { codes: None }
    }

    /// Returns the palette of a theme, on a terminal with so many colours.
    pub(crate) fn of(theme: &Theme, depth: ColourDepth) -> Self {
        if theme.is_ansi() {
            return Self::sixteen();
        }
        Self::with(|look| themed(look, theme, depth).map(Cow::Owned))
    }

    /// Returns the palette with lines below changed words, in place of backgrounds.
    #[must_use]
    pub(crate) fn without_backgrounds(mut self) -> Self {
        if let Some(codes) = &mut self.codes {
            for (part, line) in [(Look::AddedPart, Look::Green), (Look::RemovedPart, Look::Red)] {
                let code = codes[line as usize].as_deref().unwrap_or_default();
                codes[part as usize] = Some(format!("4;{code}").into());
            }
        }
        self
    }

    fn with(code: impl Fn(Look) -> Option<Cow<'static, str>>) -> Self {
        Self { codes: Some(Look::ALL.into_iter().map(code).collect()) }
    }

    /// Returns the parameters of the SGR sequence for a look; `None` for plain text.
    pub(crate) fn code(&self, look: Look) -> Option<&str> {
        self.codes.as_ref()?.get(look as usize)?.as_deref()
    }

    /// Returns true if links are written as such.
    pub(crate) fn has_links(&self) -> bool {
        self.codes.is_some()
    }
}

/// Returns the messages about a theme in a text, and the parameters of the SGR sequences of all its
/// looks.
pub fn theme_report(text: &str) -> (Vec<String>, Vec<String>) {
    let (theme, problems) = match parse_theme(text) {
        Ok((theme, problems)) => (Some(theme), problems),
        Err(problem) => (None, vec![problem]),
    };
    let depths = [ColourDepth::Sixteen, ColourDepth::Indexed, ColourDepth::True];
    let palettes = theme.iter().flat_map(|theme| depths.map(|depth| Palette::of(theme, depth)));
    let codes = palettes.flat_map(|palette| palette.codes.into_iter().flatten().flatten());
    let codes = codes.map(Cow::into_owned).collect();
    (problems.iter().map(ToString::to_string).collect(), codes)
}

fn sixteen(look: Look) -> Option<&'static str> {
    Some(match look {
        Look::Plain => return None,
        Look::Bold => "1",
        Look::Dim | Look::Comment => "2",
        Look::Red => "31",
        Look::Green | Look::StringText => "32",
        Look::Yellow | Look::TypeName => "33",
        Look::Cyan | Look::Number => "36",
        Look::Italic => "3",
        Look::BoldItalic => "1;3",
        Look::Title => "1;4",
        Look::Link => "4",
        Look::Keyword => "35",
        Look::Function => "34",
        Look::RemovedPart => "7;31",
        Look::AddedPart => "7;32",
        Look::Found => "7",
    })
}

/// Returns the parameters for a look: its style and the colour of the theme.
fn themed(look: Look, theme: &Theme, depth: ColourDepth) -> Option<String> {
    let (style, role) = match look {
        Look::Plain => ("", Role::Text),
        Look::Bold => ("1", Role::Text),
        Look::Italic => ("3", Role::Text),
        Look::BoldItalic => ("1;3", Role::Text),
        Look::Dim => ("", Role::Secondary),
        Look::Comment => ("", Role::Comment),
        Look::Red => ("", Role::Error),
        Look::Green | Look::Number => ("", Role::Success),
        Look::Yellow | Look::StringText => ("", Role::Warning),
        Look::Cyan => ("", Role::Accent),
        Look::TypeName => ("", Role::Cyan),
        Look::Function => ("", Role::Symbol),
        Look::Keyword => ("", Role::Link),
        Look::Title => ("1;4", Role::Link),
        Look::Found => ("7", Role::Text),
        Look::Link => ("4", Role::Link),
        Look::RemovedPart => return part(theme, Role::Error, Role::DiffRemoved, depth),
        Look::AddedPart => return part(theme, Role::Success, Role::DiffAdded, depth),
    };
    if depth == ColourDepth::Sixteen && matches!(look, Look::Dim | Look::Comment) {
        // The grey of a theme is one of few that are legible on its background.
        return sixteen(look).map(str::to_owned);
    }
    let colour = theme.colour(role).map(|colour| colour.foreground(depth));
    join(style, colour)
}

/// Returns the parameters for a changed part of a line: on the background of the theme if the text
/// is legible there, otherwise with both colours exchanged.
fn part(theme: &Theme, text: Role, behind: Role, depth: ColourDepth) -> Option<String> {
    let (text, behind) = (theme.colour(text)?, theme.colour(behind)?);
    let is_legible = depth != ColourDepth::Sixteen
        && text.contrast(behind).is_some_and(|contrast| contrast >= LEGIBLE);
    if is_legible {
        return join(&behind.background(depth), Some(text.foreground(depth)));
    }
    join("7", Some(text.foreground(depth)))
}

fn join(style: &str, colour: Option<String>) -> Option<String> {
    match colour {
        Some(colour) if style.is_empty() => Some(colour),
        Some(colour) => Some(format!("{style};{colour}")),
        None if style.is_empty() => None,
        None => Some(style.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::theme::built_in_theme;

    #[test]
    fn looks_have_the_colours_of_the_theme() {
        let theme = built_in_theme("Default").unwrap();
        let table = [
            (ColourDepth::True, Look::Red, Some("38;2;255;135;175")),
            (ColourDepth::True, Look::Title, Some("1;4;38;2;135;175;255")),
            (ColourDepth::True, Look::Plain, None),
            (ColourDepth::True, Look::AddedPart, Some("48;2;0;95;0;38;2;215;255;215")),
            (ColourDepth::Indexed, Look::Keyword, Some("38;5;111")),
            (ColourDepth::Indexed, Look::RemovedPart, Some("48;5;52;38;5;211")),
            (ColourDepth::Sixteen, Look::Keyword, Some("34")),
            (ColourDepth::Sixteen, Look::AddedPart, Some("7;32")),
            (ColourDepth::Sixteen, Look::Dim, Some("2")),
        ];
        for (depth, look, expected) in table {
            assert_eq!(Palette::of(theme, depth).code(look), expected, "{depth:?} {look:?}");
        }
        let ansi = Palette::of(built_in_theme("ANSI Light").unwrap(), ColourDepth::True);
        assert_eq!(ansi, Palette::sixteen());
        let lines = ansi.without_backgrounds();
        assert_eq!(
            (lines.code(Look::AddedPart), lines.code(Look::Red)),
            (Some("4;32"), Some("31"))
        );
        assert_eq!(Palette::none().without_backgrounds(), Palette::none());
        assert_eq!(Palette::none().code(Look::Red), None);
    }
}
