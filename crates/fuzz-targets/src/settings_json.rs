//! A settings file: parsing, variables, merging and editing never panic; parsed settings can be
//! written and read again, and an edit changes only its target. The input is two layers with a NUL
//! between them; the second is merged into the first, and its keys are set there by edits.

use std::path::Path;

use pollux_config::{Environment, edit, interpolate, jsonc, merge_into};
use serde_json::Value;

pub(crate) fn run(input: &str) {
    let (lower, upper) = input.split_once('\0').unwrap_or((input, "{}"));
    let path = Path::new("settings.json");
    let Ok(mut settings) = jsonc::parse(path, lower) else { return };
    let written = settings.to_string();
    assert_eq!(
        jsonc::parse(path, &written).as_ref(),
        Ok(&settings),
        "not the same when read again"
    );

    jsonc::key_places(path, lower).expect("what is parsed has places");
    if let Ok(Value::Object(upper)) = jsonc::parse(path, upper) {
        for (name, value) in upper.iter().take(4) {
            edits(lower, &settings, name, value);
        }
    }

    interpolate(&mut settings, &Environment::from_pairs([("HOME", "/home/user")]));
    if let Ok(upper) = jsonc::parse(path, upper) {
        merge_into(&mut settings, &upper);
        let once = settings.clone();
        if !holds_lists(&upper) {
            merge_into(&mut settings, &upper);
            assert_eq!(settings, once, "merging the same layer twice changes nothing");
        }
    }
}

/// Sets and unsets a key of the root, and a key one level below.
fn edits(text: &str, settings: &Value, name: &str, value: &Value) {
    let path = Path::new("settings.json");
    let read = |text: &str| jsonc::parse(path, text).expect("an edited file can be read");
    let mut expected = settings.clone();
    expected[name] = value.clone();
    let set = edit::set(path, text, &[name], value).expect("a key of the root can be set");
    assert_eq!(read(&set), expected, "{set:?}");
    let unset = edit::unset(path, text, &[name]).expect("a key can be unset");
    let mut expected = settings.clone();
    let was_there = expected.as_object_mut().expect("the root").shift_remove(name).is_some();
    assert_eq!(read(&unset), expected, "{unset:?}");
    assert_eq!(was_there, unset != text, "only what is there is removed");
    match edit::set(path, text, &[name, "below"], value) {
        Ok(set) => assert_eq!(&read(&set)[name]["below"], value, "{set:?}"),
        Err(error) => {
            let is_blocked = settings.get(name).is_some_and(|value| !value.is_object());
            assert!(is_blocked || error.message.contains("nested deeper"), "{error}");
        }
    }
}

/// Returns true if a value contains a list. Lists may grow with each merge.
fn holds_lists(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Array(_) => true,
        serde_json::Value::Object(map) => map.values().any(holds_lists),
        _ => false,
    }
}
