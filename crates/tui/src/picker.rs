//! Lists that the user opens in place of the input: themes, settings, models, sessions, servers,
//! help. Pure.

use pollux_input::{KeyPress, ListAnswer, ListRequest};

use crate::surface::Frame;
use crate::theme::Theme;

mod help;
mod layout;
mod list;
mod models;
mod sample;
mod servers;
mod sessions;
mod settings;
mod themes;

pub(crate) use help::HelpPicker;
pub(crate) use models::ModelPicker;
pub(crate) use servers::ServersPicker;
pub(crate) use sessions::SessionPicker;
pub(crate) use settings::SettingsPicker;
pub(crate) use themes::ThemePicker;

/// A list in place of the input.
pub(crate) enum Picker {
    Themes(ThemePicker),
    Sessions(SessionPicker),
    Models(ModelPicker),
    Settings(Box<SettingsPicker>),
    Servers(ServersPicker),
    Help(HelpPicker),
}

/// Effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PickerStep {
    /// The list stays.
    Open,
    /// The list closes.
    Close,
    /// The list closes, and a command runs.
    Run(String),
    /// The list stays, and a command runs.
    Do(String),
    /// The list closes, and a text is inserted into the input.
    Insert(String),
}

/// Settings file that a change is stored in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    #[default]
    User,
    Workspace,
}

impl Scope {
    /// Returns the other file.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::User => Self::Workspace,
            Self::Workspace => Self::User,
        }
    }

    /// Returns the name in the arguments of commands.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Workspace => "project",
        }
    }

    /// Returns the name in hints.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::User => "User Settings",
            Self::Workspace => "Workspace Settings",
        }
    }
}

impl Picker {
    /// Applies a key.
    pub(crate) fn press(&mut self, key: KeyPress) -> PickerStep {
        match self {
            Self::Themes(picker) => picker.press(key),
            Self::Sessions(picker) => picker.press(key),
            Self::Models(picker) => picker.press(key),
            Self::Settings(picker) => picker.press(key),
            Self::Servers(picker) => picker.press(key),
            Self::Help(picker) => picker.press(key),
        }
    }

    /// Returns the rows, at most `height`, with the cursor in the text of the search.
    pub(crate) fn frame(&self, cells: usize, height: usize) -> Frame {
        match self {
            Self::Themes(picker) => picker.frame(cells, height),
            Self::Sessions(picker) => picker.frame(cells, height),
            Self::Models(picker) => picker.frame(cells, height),
            Self::Settings(picker) => picker.frame(cells, height),
            Self::Servers(picker) => picker.frame(cells, height),
            Self::Help(picker) => picker.frame(cells, height),
        }
    }

    /// Returns the theme in which the screen is shown meanwhile.
    pub(crate) fn previewed(&self) -> Option<&Theme> {
        match self {
            Self::Themes(picker) => picker.selected(),
            _ => None,
        }
    }

    /// Returns what the list needs next.
    pub(crate) fn wanted(&mut self) -> Option<ListRequest> {
        match self {
            Self::Themes(_) | Self::Help(_) => None,
            Self::Sessions(picker) => picker.wanted(),
            Self::Models(picker) => picker.wanted(),
            Self::Settings(picker) => picker.wanted(),
            Self::Servers(picker) => picker.wanted(),
        }
    }

    /// Notes the end of a command, or a change of settings or servers.
    pub(crate) fn changed(&mut self) {
        match self {
            Self::Settings(picker) => picker.changed(),
            Self::Servers(picker) => picker.changed(),
            _ => {}
        }
    }

    /// Takes the answer to the last request, or the message why there is none.
    pub(crate) fn take(&mut self, answer: Result<ListAnswer, String>) {
        match self {
            Self::Themes(_) | Self::Help(_) => {}
            Self::Sessions(picker) => picker.take(answer),
            Self::Models(picker) => picker.take(answer),
            Self::Settings(picker) => picker.take(answer),
            Self::Servers(picker) => picker.take(answer),
        }
    }
}
