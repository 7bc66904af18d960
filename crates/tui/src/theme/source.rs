//! The form of a theme in settings and files: JSON with the colours by key. A colour that cannot be
//! used is reported with its key and line; the theme has the other colours.

use std::fmt;

use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use pollux_protocol::plain_text::{one_line, visible};
use serde_json::Value;

use super::colour::Colour;
use super::{ROLES, Role, Theme, ThemeKind, built_in_theme};

/// Roles with the keys of their colours, the stronger key first. The keys with capital letters are
/// those of older themes.
const KEYS: [(Role, &[&str]); ROLES] = [
    (Role::Background, &["background.primary", "Background"]),
    (Role::Text, &["text.primary", "Foreground"]),
    (Role::Secondary, &["text.secondary", "Gray"]),
    (Role::Link, &["text.link", "AccentBlue"]),
    (Role::Accent, &["text.accent", "AccentPurple"]),
    (Role::Symbol, &["ui.symbol", "AccentPurple", "text.accent"]),
    (Role::Cyan, &["AccentCyan", "text.link"]),
    (Role::Success, &["status.success", "AccentGreen"]),
    (Role::Warning, &["status.warning", "AccentYellow"]),
    (Role::Error, &["status.error", "AccentRed"]),
    (Role::Comment, &["ui.comment", "Comment"]),
    (Role::DiffAdded, &["background.diff.added", "DiffAdded"]),
    (Role::DiffRemoved, &["background.diff.removed", "DiffRemoved"]),
];

/// Keys of colours that Gemini CLI uses for what Pollux does not draw.
const UNUSED: [&str; 14] = [
    "text.response",
    "background.message",
    "background.input",
    "background.focus",
    "border.default",
    "border.focused",
    "ui.active",
    "ui.dark",
    "ui.focus",
    "ui.gradient",
    "LightBlue",
    "DarkGray",
    "GradientColors",
    "$schema",
];

/// Maximum number of problems that are reported.
const MOST_PROBLEMS: usize = 5;
/// Maximum number of characters of a name in a problem.
const LONGEST: usize = 60;

/// Something in a theme that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThemeProblem {
    /// Line in the text, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl fmt::Display for ThemeProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

/// Returns the theme in a text, and what cannot be used in it.
///
/// # Errors
/// The problem if the text is no theme.
pub(crate) fn parse_theme(text: &str) -> Result<(Theme, Vec<ThemeProblem>), ThemeProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let root = parsed.map_err(|error| ThemeProblem {
        line: error.line_display(),
        message: format!("{}.", one_line(&visible(&error.kind().to_string()))),
    })?;
    let Some(root) = root.value.as_ref().and_then(Node::as_object) else {
        return Err(ThemeProblem { line: 1, message: "The file is no JSON object.".to_owned() });
    };
    let mut reader = Reader { text, found: Vec::new(), problems: Vec::new() };
    for property in &root.properties {
        reader.read(property.name.as_str(), &property.value);
    }
    let Reader { found, mut problems, .. } = reader;
    problems.truncate(MOST_PROBLEMS);
    let name = root.properties.iter().rfind(|property| property.name.as_str() == "name");
    let name = name.and_then(|property| property.value.as_string_lit());
    let name = name.map(|name| shortened(&name.value)).filter(|name| !name.is_empty());
    let Some(name) = name else {
        let message = "\"name\" is missing: the name of the theme.".to_owned();
        return Err(ThemeProblem { line: 1, message });
    };
    Ok((with_defaults(name, &found), problems))
}

/// Returns the theme of an entry in the table of the program.
pub(super) fn built_in(entry: &Value) -> Option<Theme> {
    let entry = entry.as_object()?;
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let found: Vec<(&str, Colour)> = entry
        .iter()
        .filter_map(|(key, value)| Some((key.as_str(), Colour::parse(value.as_str()?)?)))
        .collect();
    let kind = if text("type")? == "light" { ThemeKind::Light } else { ThemeKind::Dark };
    let name = text("name")?.to_owned();
    Some(Theme { name, kind, paints_text: false, colours: by_role(&found) })
}

/// Reader of the colours in a theme.
struct Reader<'t> {
    text: &'t str,
    found: Vec<(String, Colour)>,
    problems: Vec<ThemeProblem>,
}

impl Reader<'_> {
    /// Reads the value at a dotted key.
    fn read(&mut self, key: &str, value: &Node<'_>) {
        let is_colour = KEYS.iter().any(|(_, keys)| keys.contains(&key));
        let is_group = KEYS
            .iter()
            .flat_map(|(_, keys)| *keys)
            .chain(&UNUSED)
            .any(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')));
        match value {
            Node::Object(group) if is_group => {
                for property in &group.properties {
                    self.read(&format!("{key}.{}", property.name.as_str()), &property.value);
                }
            }
            Node::StringLit(name) if is_colour => match Colour::parse(&name.value) {
                Some(colour) => self.found.push((key.to_owned(), colour)),
                None if name.value.trim().is_empty() => {}
                None => {
                    let name = shortened(&name.value);
                    self.report(value, format!("{key}: \"{name}\" is no colour."));
                }
            },
            _ if is_colour => self.report(value, format!("{key} must be a colour in quotes.")),
            _ if is_group => self.report(value, format!("{key} must be an object.")),
            Node::StringLit(kind) if key == "type" => {
                if kind.value != "custom" {
                    self.report(value, "type must be \"custom\".".to_owned());
                }
            }
            _ if key == "name" || UNUSED.contains(&key) => {}
            _ => self.report(value, format!("{} is no key of a theme.", shortened(key))),
        }
    }

    fn report(&mut self, value: &Node<'_>, message: String) {
        if self.problems.len() < MOST_PROBLEMS {
            let line = self.text[..value.start()].matches('\n').count() + 1;
            self.problems.push(ThemeProblem { line, message });
        }
    }
}

/// Returns the user's theme. Colours that it does not have are those of the default theme for its
/// background.
fn with_defaults(name: String, found: &[(String, Colour)]) -> Theme {
    let found: Vec<(&str, Colour)> =
        found.iter().map(|(key, colour)| (key.as_str(), *colour)).collect();
    let own = by_role(&found);
    let background = own[Role::Background as usize].and_then(Colour::luminance);
    // Half as bright as white for the eye.
    let is_light = background.is_some_and(|luminance| luminance > 0.2);
    let (kind, default) = match background {
        Some(_) if is_light => (ThemeKind::Light, "Default Light"),
        Some(_) => (ThemeKind::Dark, "Default"),
        None => (ThemeKind::Any, "Default"),
    };
    let default = built_in_theme(default).map(|theme| theme.colours).unwrap_or_default();
    let mut colours = own;
    for (colour, default) in colours.iter_mut().zip(default) {
        *colour = colour.or(default);
    }
    Theme { name, kind, paints_text: own[Role::Text as usize].is_some(), colours }
}

/// Returns the colours by role.
fn by_role(found: &[(&str, Colour)]) -> [Option<Colour>; ROLES] {
    let mut colours = [None; ROLES];
    for (role, keys) in KEYS {
        let colour = |key: &&str| found.iter().rfind(|(known, _)| known == key);
        colours[role as usize] = keys.iter().find_map(colour).map(|(_, colour)| *colour);
    }
    colours
}

/// Returns a text of a theme as messages show it.
fn shortened(text: &str) -> String {
    one_line(&visible(text)).trim().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn theme_problems(text: &str) -> Vec<String> {
        match parse_theme(text) {
            Ok((_, problems)) => problems.iter().map(ThemeProblem::to_string).collect(),
            Err(problem) => vec![problem.to_string()],
        }
    }

    #[test]
    fn a_theme_has_its_colours_and_those_of_the_default_theme() {
        let text = r##"{
            // A note.
            "name": "Mine", "type": "custom",
            "text": { "primary": "#112233", "link": "coral" },
            "background": { "primary": "#fff", "diff": { "added": "#cfc" } },
            "ui": { "gradient": ["#000", "#fff"], "comment": "gray" },
            "status": { "error": "" },
            "AccentGreen": "#010203",
        }"##;
        let (theme, problems) = parse_theme(text).unwrap();
        assert_eq!(problems, []);
        assert_eq!((theme.name.as_str(), theme.kind), ("Mine", ThemeKind::Light));
        let default = built_in_theme("Default Light").unwrap();
        for (role, expected) in [
            (Role::Text, Colour::parse("#112233")),
            (Role::Link, Colour::parse("coral")),
            (Role::Cyan, Colour::parse("coral")),
            (Role::Success, Colour::parse("#010203")),
            (Role::Comment, Some(Colour::Ansi(8))),
            (Role::DiffAdded, Colour::parse("#ccffcc")),
            (Role::Error, default.colour(Role::Error)),
            (Role::Accent, default.colour(Role::Accent)),
        ] {
            assert_eq!(theme.colour(role), expected, "{role:?}");
        }
        let (plain, _) = parse_theme(r#"{"name": "a"}"#).unwrap();
        assert_eq!((plain.kind, plain.colour(Role::Text)), (ThemeKind::Any, None));
    }

    #[test]
    fn problems_have_their_line_and_key() {
        let table = [
            (
                "{\"name\": \"a\",\n\"text\": {\n\"link\": \"blu\"}}",
                "line 3: text.link: \"blu\" is no colour.",
            ),
            (
                "{\"name\": \"a\",\n\"AccentRed\": 1}",
                "line 2: AccentRed must be a colour in quotes.",
            ),
            ("{\"name\": \"a\", \"text\": \"red\"}", "line 1: text must be an object."),
            ("{\"name\": \"a\",\n\n\"txt\": {}}", "line 3: txt is no key of a theme."),
            ("{\"name\": \"a\", \"type\": \"dark\"}", "line 1: type must be \"custom\"."),
            ("{\"name\": \"a\", \"\u{1b}[2J\": 1}", "line 1: \\u{1b}[2J is no key of a theme."),
            ("{\n}", "line 1: \"name\" is missing: the name of the theme."),
            ("[]", "line 1: The file is no JSON object."),
            ("", "line 1: The file is no JSON object."),
        ];
        for (text, problem) in table {
            assert_eq!(theme_problems(text), [problem], "{text}");
        }
        let broken = theme_problems("{\n\"name\": \"a\"\n\"text\"");
        assert!(broken[0].starts_with("line 3: "), "{broken:?}");
        let many = format!("{{\"name\": \"a\", {}}}", "\"b\": 1,".repeat(100));
        assert_eq!(theme_problems(&many).len(), MOST_PROBLEMS);
        assert_eq!(theme_problems(&"[".repeat(60 << 10)).len(), 1);
    }
}
