//! The first rows of a conversation.

use pollux_input::resumed_state_lines;
use pollux_protocol::SessionFacts;
use pollux_protocol::plain_text::{for_terminal, one_line};

use crate::fold::{Breaks, Room, fold};
use crate::row::{Look, Row};
use crate::ui_settings::UiSettings;

/// Keys that a new user needs.
const HINTS: &str = "/help for commands   @path adds a file   !command runs it   Esc stops";
/// The hint about all keys.
const KEYS: &str = "   ? keys";

/// Returns the rows about a session; `place` is its folder as it is shown.
pub(crate) fn greeting(
    version: &str,
    facts: &SessionFacts,
    place: &str,
    is_new_user: bool,
    settings: &UiSettings,
    cells: usize,
) -> Vec<Row> {
    let model = one_line(&for_terminal(&facts.model));
    let trust = if facts.is_trusted { "" } else { " (not trusted)" };
    let mut lines = Vec::new();
    if !settings.hides_banner {
        let session = format!(" · {model} · {place}{trust}");
        let banner = Row::new(Look::Bold, format!("Pollux {version}"));
        lines.push(banner.with(Look::Plain, &session));
    }
    if is_new_user && !settings.hides_tips {
        let keys = if settings.has_shortcuts_hint { KEYS } else { "" };
        lines.push(Row::new(Look::Dim, HINTS).with(Look::Dim, keys));
    }
    lines.extend(resumed_state_lines(facts).iter().map(|line| Row::plain(line.as_str())));
    lines.iter().flat_map(|line| fold(line, Room::new(cells), Breaks::Words)).collect()
}
