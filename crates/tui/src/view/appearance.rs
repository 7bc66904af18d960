//! The appearance of the conversation: its settings, and the theme for the terminal's background.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use pollux_input::{
    BACKGROUND_QUERY, Multiplexer, TerminalKind, TerminalReport, UserOptions, is_theme_file,
    read_theme_file,
};
use pollux_protocol::SettingValues;
use serde_json::Value;

use super::View;
use crate::palette::Palette;
use crate::picker::{Picker, ThemePicker};
use crate::row::Look;
use crate::theme::{Background, Theme, ThemeChoice, all_themes};
use crate::ui_settings::{LIVE_SETTINGS, UiSettings};
use crate::vim_command::VIM_MODE;

/// Function that returns the settings as they were last read.
pub(super) type ReadSettings<'a> = Box<dyn Fn() -> SettingValues + 'a>;

/// Appearance of the conversation.
pub(super) struct Appearance<'a> {
    read: ReadSettings<'a>,
    is_coloured: bool,
    home: Option<PathBuf>,
    terminal: TerminalKind,
    pub(super) ui: UiSettings,
    theme: ThemeChoice,
    background: Background,
    /// True once the terminal was asked for its background.
    is_asked: bool,
    /// True once the user was warned about a theme for another background.
    has_warned: bool,
}

impl<'a> Appearance<'a> {
    pub(super) fn new(read: ReadSettings<'a>, options: &UserOptions) -> Self {
        let settings = read();
        let theme = choose(&settings, options.home.as_deref());
        Self {
            read,
            ui: UiSettings::read(&settings),
            is_coloured: options.is_coloured,
            home: options.home.clone(),
            terminal: options.terminal.clone(),
            theme,
            background: Background::default(),
            is_asked: false,
            has_warned: false,
        }
    }

    /// Returns the palette of the theme.
    pub(super) fn palette(&self) -> Palette {
        self.palette_of(self.theme.for_background(self.background))
    }

    fn palette_of(&self, theme: &Theme) -> Palette {
        if !self.is_coloured {
            return Palette::none();
        }
        let palette = Palette::of(theme, self.terminal.depth);
        if self.ui.has_backgrounds { palette } else { palette.without_backgrounds() }
    }

    /// Returns the query for the background, if it matters and was not sent. Nothing waits for the
    /// answer.
    fn query(&mut self) -> Option<&'static str> {
        let is_needed = self.is_coloured
            && !self.terminal.is_console
            && !self.is_asked
            && self.theme.needs_background();
        self.is_asked |= is_needed;
        is_needed.then_some(BACKGROUND_QUERY)
    }
}

fn choose(settings: &SettingValues, home: Option<&std::path::Path>) -> ThemeChoice {
    ThemeChoice::of(settings, |name| is_theme_file(name).then(|| read_theme_file(name, home)))
}

impl View<'_> {
    /// Shows the problems of the theme, and asks for the background if it matters.
    pub(super) fn begin_theme(&mut self) {
        if self.appearance.is_coloured {
            for problem in std::mem::take(&mut self.appearance.theme.problems) {
                self.story.notice(Look::Yellow, &format!("! {problem}"));
            }
        }
        if let Some(query) = self.appearance.query() {
            self.screen.send(query);
        }
    }

    /// Switches the keys of vi on or off, as the settings say.
    pub(super) fn read_vim_mode(&mut self) {
        let settings = (self.appearance.read)();
        let is_on = settings.get(VIM_MODE).and_then(Value::as_bool).unwrap_or_default();
        self.vim.is_on.store(is_on, Ordering::Relaxed);
        self.composer.use_vim(is_on);
    }

    /// Applies settings that have changed.
    pub(super) fn settings_changed(&mut self, changed: &[String]) {
        if !changed.iter().any(|key| LIVE_SETTINGS.contains(&key.as_str())) {
            return;
        }
        if changed.iter().any(|key| key == VIM_MODE) {
            self.read_vim_mode();
        }
        let settings = (self.appearance.read)();
        self.appearance.ui = UiSettings::read(&settings);
        self.apply_settings();
        let removed = self.outside.set(&settings);
        self.screen.send(&removed);
        let theme = choose(&settings, self.appearance.home.as_deref());
        if theme != self.appearance.theme {
            self.appearance.theme = theme;
            self.appearance.has_warned = false;
            self.begin_theme();
        }
        self.show_theme();
    }

    /// Passes the settings to the parts of the screen.
    pub(super) fn apply_settings(&mut self) {
        let settings = &self.appearance.ui;
        self.story.set(settings.clone());
        self.composer.escape_pasted_at(settings.escapes_pasted_at);
    }

    /// Handles what the terminal has reported.
    pub(super) fn take_reports(&mut self) {
        for report in self.keyboard.decoder.take_reports() {
            match report {
                TerminalReport::Background(colour) => self.take_background(colour),
                TerminalReport::Focus(has_focus) => self.outside.focused(has_focus),
            }
        }
    }

    fn take_background(&mut self, colour: [u8; 3]) {
        // tmux reports white if it does not know the background.
        let is_made_up =
            self.appearance.terminal.multiplexer == Some(Multiplexer::Tmux) && colour == [0xff; 3];
        if !self.appearance.is_asked || is_made_up {
            return;
        }
        let before = self.appearance.background;
        self.appearance.background = before.reported(colour);
        if self.appearance.background != before {
            self.show_theme();
        }
    }

    /// Draws the live rows in the theme.
    fn show_theme(&mut self) {
        let previewed = self.picker.as_ref().and_then(Picker::previewed);
        let palette = match previewed {
            Some(theme) => self.appearance.palette_of(theme),
            None => self.appearance.palette(),
        };
        self.screen.set_palette(palette);
        if previewed.is_none()
            && !self.appearance.has_warned
            && self.appearance.ui.has_warnings
            && let Some(text) = self.appearance.theme.mismatch(self.appearance.background)
        {
            self.appearance.has_warned = true;
            self.story.notice(Look::Yellow, &format!("! {text}"));
        }
        self.frames.change();
    }

    /// Opens the list of themes.
    pub(super) fn open_themes(&mut self) {
        let settings = (self.appearance.read)();
        let current = self.appearance.theme.for_background(self.appearance.background);
        let mut themes = all_themes(&settings);
        if !themes.iter().any(|theme| theme.name == current.name) {
            // The theme of a file.
            themes.insert(0, current.clone());
        }
        let picker = ThemePicker::new(themes, &current.name);
        self.picker = Some(Picker::Themes(picker));
        self.show_theme();
    }

    /// Applies the palette after a key in a list, or after its end.
    pub(super) fn preview_theme(&mut self) {
        self.show_theme();
    }
}

#[cfg(test)]
mod tests;
