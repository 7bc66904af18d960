//! Properties of the terminal, as far as its variables tell them. Pure.

use pollux_config::environment::names;

/// Number of colours that a terminal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColourDepth {
    /// The sixteen colours that the user has chosen in the terminal.
    #[default]
    Sixteen,
    /// These, and 240 fixed colours.
    Indexed,
    /// All colours, of 24 bits.
    True,
}

/// Program that shares a terminal among several others, and interprets their sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplexer {
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
}

/// Properties of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalKind {
    /// Number of colours.
    pub depth: ColourDepth,
    /// Multiplexer in which the program runs.
    pub multiplexer: Option<Multiplexer>,
    /// Name of the terminal (`TERM_PROGRAM`, otherwise `TERM`), in lower case.
    pub name: String,
    /// Title of the window that the user wants (`CLI_TITLE`), in place of the folder.
    pub title: Option<String>,
    /// True for the console of Linux, which shows some unknown sequences as text.
    pub is_console: bool,
}

/// Values of `TERM` without `256color` whose terminals show all colours.
const TRUE_COLOUR: [&str; 7] =
    ["xterm-kitty", "xterm-ghostty", "alacritty", "wezterm", "foot", "contour", "rio"];

impl TerminalKind {
    /// Returns the properties that the variables of the environment tell.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let term = variable(names::TERM).unwrap_or_default();
        let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
        let multiplexer = if is_set(names::TMUX) {
            Some(Multiplexer::Tmux)
        } else {
            is_set(names::STY).then_some(Multiplexer::Screen)
        };
        let is_windows_terminal = is_set(names::WT_SESSION);
        let name = if is_windows_terminal {
            "windows_terminal".to_owned()
        } else {
            // Inside of tmux, the variable may be that of the terminal around it, or of tmux.
            let program = variable(names::TERM_PROGRAM).filter(|name| name != "tmux");
            program.unwrap_or_else(|| term.clone()).to_lowercase()
        };
        let wants_true = variable(names::COLORTERM)
            .is_some_and(|value| matches!(value.as_str(), "truecolor" | "24bit"));
        let is_true = TRUE_COLOUR.iter().any(|known| term.starts_with(known))
            || term.ends_with("-direct")
            || is_windows_terminal;
        let depth = match multiplexer {
            // Screen shows 24 bits wrongly unless it is told to.
            Some(Multiplexer::Screen) if term.contains("256color") => ColourDepth::Indexed,
            Some(Multiplexer::Screen) => ColourDepth::Sixteen,
            _ if wants_true || is_true => ColourDepth::True,
            _ if term.contains("256color") => ColourDepth::Indexed,
            _ => ColourDepth::Sixteen,
        };
        let title = variable(names::CLI_TITLE).filter(|title| !title.trim().is_empty());
        Self { depth, multiplexer, name, title, is_console: term == "linux" }
    }

    /// Returns a sequence (`ESC ]` ... `BEL`) in the form in which it reaches the terminal through
    /// the multiplexer, which ignores it if its user has not allowed that.
    pub fn passed_through(&self, sequence: &str) -> String {
        match self.multiplexer {
            Some(Multiplexer::Tmux) => {
                let doubled = sequence.replace('\u{1b}', "\u{1b}\u{1b}");
                format!("\u{1b}Ptmux;{doubled}\u{1b}\\")
            }
            Some(Multiplexer::Screen) => format!("\u{1b}P{sequence}\u{1b}\\"),
            None => sequence.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn kind(variables: &[(&str, &str)]) -> TerminalKind {
        TerminalKind::of(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn colours_are_those_that_the_terminal_shows() {
        for (variables, depth) in [
            (&[][..], ColourDepth::Sixteen),
            (&[("TERM", "xterm")], ColourDepth::Sixteen),
            (&[("TERM", "xterm-256color")], ColourDepth::Indexed),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], ColourDepth::True),
            (&[("TERM", "xterm"), ("COLORTERM", "24bit")], ColourDepth::True),
            (&[("TERM", "xterm"), ("COLORTERM", "yes")], ColourDepth::Sixteen),
            (&[("TERM", "xterm-kitty")], ColourDepth::True),
            (&[("TERM", "xterm-direct")], ColourDepth::True),
            (&[("TERM", "xterm"), ("WT_SESSION", "1")], ColourDepth::True),
            (
                &[("TERM", "screen-256color"), ("STY", "1"), ("COLORTERM", "truecolor")],
                ColourDepth::Indexed,
            ),
            (&[("TERM", "screen"), ("STY", "1")], ColourDepth::Sixteen),
        ] {
            assert_eq!(kind(variables).depth, depth, "{variables:?}");
        }
    }

    #[test]
    fn sequences_pass_through_multiplexers() {
        let tmux = kind(&[("TERM", "tmux-256color"), ("TERM_PROGRAM", "tmux"), ("TMUX", "/t,1,0")]);
        assert_eq!(tmux.name, "tmux-256color");
        assert_eq!(tmux.passed_through("\x1b]9;a\x07"), "\x1bPtmux;\x1b\x1b]9;a\x07\x1b\\");
        let screen = kind(&[("STY", "1")]);
        assert_eq!(screen.passed_through("\x1b]9;a\x07"), "\x1bP\x1b]9;a\x07\x1b\\");
        let plain = kind(&[("TERM_PROGRAM", "iTerm.app")]);
        assert_eq!(plain.name, "iterm.app");
        assert_eq!(plain.passed_through("\x1b]9;a\x07"), "\x1b]9;a\x07");
    }
}
