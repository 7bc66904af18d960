//! A settings file: parsing, variables and merging never panic, and what was parsed can be written
//! and read again. The input is two layers with a NUL between them.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pollux_config::{Environment, interpolate, jsonc, merge_into};

fuzz_target!(|input: &str| {
    let (lower, upper) = input.split_once('\0').unwrap_or((input, "{}"));
    let path = Path::new("settings.json");
    let Ok(mut settings) = jsonc::parse(path, lower) else { return };
    let written = settings.to_string();
    assert_eq!(
        jsonc::parse(path, &written).as_ref(),
        Ok(&settings),
        "not the same when read again"
    );

    interpolate(&mut settings, &Environment::from_pairs([("HOME", "/home/user")]));
    if let Ok(upper) = jsonc::parse(path, upper) {
        merge_into(&mut settings, &upper);
        let once = settings.clone();
        if !holds_lists(&upper) {
            merge_into(&mut settings, &upper);
            assert_eq!(settings, once, "merging the same layer twice changes nothing");
        }
    }
});

/// Lists may grow with each merge.
fn holds_lists(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Array(_) => true,
        serde_json::Value::Object(map) => map.values().any(holds_lists),
        _ => false,
    }
}
