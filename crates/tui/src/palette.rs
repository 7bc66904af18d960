//! Colours of a conversation.

use crate::row::Look;

/// Colours and styles of text on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Palette {
    is_coloured: bool,
}

impl Palette {
    /// Returns the palette of the sixteen colours of the terminal, which the user chooses there.
    pub(crate) fn sixteen() -> Self {
        Self { is_coloured: true }
    }

    /// Returns the palette without colours, styles and links.
    pub(crate) fn none() -> Self {
        Self { is_coloured: false }
    }

    /// Returns the parameters of the SGR sequence for a look; `None` for plain text.
    pub(crate) fn code(&self, look: Look) -> Option<&str> {
        self.is_coloured.then(|| sixteen(look)).flatten()
    }

    /// Returns true if links are written as such.
    pub(crate) fn has_links(&self) -> bool {
        self.is_coloured
    }
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
    })
}
