//! Commands by key: the usual keys, and those of the user. Pure.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use pollux_config::KeyBinding;

use super::commands::{KEY_COMMANDS, KeyCommand, SIGNALS, WITHOUT_EFFECT};
use super::stroke::{CTRL, KeyCode, Stroke};
use super::{KeyPress, KeySignal};

/// The usual keys.
static USUAL: LazyLock<Arc<KeyMap>> = LazyLock::new(|| Arc::new(KeyMap::usual_keys()));

/// Keys with their effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyMap {
    /// Keys of each command, in the order of [`KEY_COMMANDS`].
    keys: Vec<Vec<Stroke>>,
    /// Index of the command of each key.
    commands: HashMap<Stroke, usize>,
}

impl Default for KeyMap {
    fn default() -> Self {
        Self::clone(&USUAL)
    }
}

impl KeyMap {
    /// Returns the usual keys.
    pub fn usual() -> Arc<Self> {
        Arc::clone(&USUAL)
    }

    fn usual_keys() -> Self {
        let parse = |key: &&str| Stroke::parse(key).ok();
        let keys: Vec<Vec<Stroke>> = KEY_COMMANDS
            .iter()
            .map(|command| command.keys.iter().filter_map(parse).collect())
            .collect();
        let mut map = Self { keys, commands: HashMap::new() };
        map.index();
        map
    }

    fn index(&mut self) {
        let keys = self.keys.iter().enumerate();
        self.commands =
            keys.flat_map(|(at, keys)| keys.iter().map(move |key| (*key, at))).collect();
    }

    /// Returns the usual keys, changed as the user's bindings say, and a message for each binding
    /// that has no effect or takes the key of another command. `file` is its name in messages.
    pub fn with(bindings: &[KeyBinding], file: &str) -> (Self, Vec<String>) {
        let mut map = Self::default();
        let mut messages = Vec::new();
        // The line that has bound a key, and its command.
        let mut bound: HashMap<Stroke, (usize, &str)> = HashMap::new();
        for binding in bindings {
            let text = match map.bind(binding) {
                Ok(Some(key)) => {
                    let earlier = bound.insert(key, (binding.line, &*binding.command));
                    let other = earlier.filter(|(_, command)| *command != binding.command);
                    other.map(|(line, command)| {
                        format!(
                            "{key} is bound to {command} on line {line} already; this line counts"
                        )
                    })
                }
                Ok(None) => None,
                Err(message) => Some(message),
            };
            messages.extend(text.map(|text| format!("{file}, line {}: {text}.", binding.line)));
        }
        map.index();
        (map, messages)
    }

    /// Applies a binding; returns the key that it binds.
    fn bind(&mut self, binding: &KeyBinding) -> Result<Option<Stroke>, String> {
        let name = binding.command.trim();
        let (is_removal, name) = name.strip_prefix('-').map_or((false, name), |name| (true, name));
        let key = Stroke::parse(&binding.key).map_err(|part| format!("{part:?} is not a key"))?;
        if SIGNALS.contains(&name) {
            return Err(format!("the key of {name} is a signal of the terminal, and stays"));
        }
        if WITHOUT_EFFECT.contains(&name) {
            return Err(format!("{name} has no effect in Pollux"));
        }
        let command = KEY_COMMANDS.iter().position(|command| command.names.contains(&name));
        let Some(command) = command else { return Err(format!("{name:?} is not a command")) };
        let is_bound = self.keys[command].contains(&key);
        if is_removal {
            self.keys[command].retain(|bound| *bound != key);
            return if is_bound { Ok(None) } else { Err(format!("{key} is not a key of {name}")) };
        }
        if key == INTERRUPT || key == SUSPEND {
            return Err(format!("{key} is a signal of the terminal, and stays"));
        }
        if key.text().is_some() {
            return Err(format!("{key} types a character, and stays"));
        }
        // A key has one effect.
        self.keys.iter_mut().for_each(|keys| keys.retain(|bound| *bound != key));
        self.keys[command].push(key);
        Ok(Some(key))
    }

    /// Returns the effect of a key; `None` if it has none. A key with Shift has the effect of the
    /// key without it, unless it has its own.
    pub(super) fn press(&self, stroke: Stroke) -> Option<KeyPress> {
        if let Some(press) = self.bound(stroke) {
            return Some(press);
        }
        match stroke {
            INTERRUPT => return Some(KeyPress::Signal(KeySignal::Interrupt)),
            SUSPEND => return Some(KeyPress::Signal(KeySignal::Suspend)),
            _ => {}
        }
        let text = stroke.text().map(|letter| KeyPress::Text(letter.to_string()));
        text.or_else(|| self.bound(stroke.without_shift()))
    }

    /// Returns the effect that a key is bound to.
    pub(super) fn bound(&self, stroke: Stroke) -> Option<KeyPress> {
        let command = self.commands.get(&stroke)?;
        KEY_COMMANDS.get(*command).map(|command| command.press.clone())
    }

    /// Returns the commands that are listed, with the names of their keys.
    pub fn listed(&self) -> impl Iterator<Item = (&'static KeyCommand, Vec<String>)> {
        KEY_COMMANDS
            .iter()
            .zip(&self.keys)
            .filter(|(command, _)| !command.effect.is_empty())
            .map(|(command, keys)| (command, keys.iter().map(Stroke::to_string).collect()))
    }

    /// Returns the names of the keys with this effect, if the user has changed them.
    pub fn changed(&self, press: &KeyPress) -> Option<Vec<String>> {
        let at = KEY_COMMANDS.iter().position(|command| command.press == *press)?;
        let keys = self.keys.get(at).filter(|keys| USUAL.keys.get(at) != Some(*keys))?;
        Some(keys.iter().map(Stroke::to_string).collect())
    }
}

/// Keys that the terminal turns into signals, unless it reports them as sequences.
const INTERRUPT: Stroke = Stroke { code: KeyCode::Char('c'), modifiers: CTRL };
const SUSPEND: Stroke = Stroke { code: KeyCode::Char('z'), modifiers: CTRL };

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pretty_assertions::assert_eq;

    use super::*;

    fn map(entries: &[(&str, &str)]) -> (KeyMap, Vec<String>) {
        let binding = |(index, (command, key)): (usize, &(&str, &str))| KeyBinding {
            line: index + 1,
            command: (*command).to_owned(),
            key: (*key).to_owned(),
        };
        let bindings: Vec<KeyBinding> = entries.iter().enumerate().map(binding).collect();
        KeyMap::with(&bindings, "keys.json")
    }

    fn press(map: &KeyMap, key: &str) -> Option<KeyPress> {
        map.press(Stroke::parse(key).unwrap())
    }

    #[test]
    fn every_usual_key_has_one_effect() {
        let mut keys = BTreeSet::new();
        let mut names = BTreeSet::new();
        for command in KEY_COMMANDS {
            for key in command.keys {
                let stroke = Stroke::parse(key).unwrap();
                assert!(keys.insert(stroke), "{key} is there twice");
                assert_eq!(KeyMap::usual().press(stroke), Some(command.press.clone()), "{key}");
            }
            for name in command
                .names
                .iter()
                .chain(WITHOUT_EFFECT)
                .filter(|name| command.names.contains(*name))
            {
                assert!(names.insert(*name) && !WITHOUT_EFFECT.contains(name), "{name}");
            }
        }
    }

    #[test]
    fn keys_of_the_user_are_added_and_removed() {
        let (map, messages) = map(&[("input.newline", "ctrl+t"), ("-input.newline", "ctrl+j")]);
        assert_eq!(messages, [""; 0]);
        assert_eq!(press(&map, "ctrl+t"), Some(KeyPress::Newline));
        assert_eq!(press(&map, "ctrl+j"), None);
        assert_eq!(press(&map, "alt+enter"), Some(KeyPress::Newline));
        assert_eq!(map.changed(&KeyPress::Todos), Some(Vec::new()));
        let newline = map.changed(&KeyPress::Newline).unwrap();
        assert_eq!(newline.last().unwrap(), "Ctrl-T");
        assert_eq!(map.changed(&KeyPress::Undo), None);
    }

    #[test]
    fn what_cannot_be_bound_is_named_with_its_line() {
        let (map, messages) = map(&[
            ("input.newlin", "ctrl+t"),
            ("input.newline", "hyper+t"),
            ("app.dumpFrame", "f5"),
            ("basic.quit", "ctrl+q"),
            ("edit.undo", "ctrl+c"),
            ("edit.undo", "x"),
            ("-edit.undo", "f7"),
            ("edit.undo", "f8"),
            ("cursor.home", "f8"),
            ("cursor.home", "f8"),
        ]);
        assert_eq!(
            messages,
            [
                "keys.json, line 1: \"input.newlin\" is not a command.",
                "keys.json, line 2: \"hyper\" is not a key.",
                "keys.json, line 3: app.dumpFrame has no effect in Pollux.",
                "keys.json, line 4: the key of basic.quit is a signal of the terminal, and stays.",
                "keys.json, line 5: Ctrl-C is a signal of the terminal, and stays.",
                "keys.json, line 6: X types a character, and stays.",
                "keys.json, line 7: F7 is not a key of edit.undo.",
                "keys.json, line 9: F8 is bound to edit.undo on line 8 already; this line counts.",
            ]
        );
        assert_eq!(press(&map, "f8"), Some(KeyPress::Home));
        assert_eq!(press(&map, "ctrl+c"), Some(KeyPress::Signal(KeySignal::Interrupt)));
        assert_eq!(press(&map, "shift+left"), Some(KeyPress::Left));
        assert_eq!(press(&map, "shift+x"), Some(KeyPress::Text("X".to_owned())));
    }
}
