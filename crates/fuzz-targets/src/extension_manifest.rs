//! Manifests of extensions: any bytes are a manifest within bounds, whose paths stay inside, or an
//! error that names the file.

use std::path::{Component, Path};

use pollux_extensions::Variables;
use pollux_extensions::manifest::{Manifest, parse};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(mut value) = parse(bytes) else { return };
    Variables::new(Path::new("/e"), Path::new("/w")).fill(&mut value);
    let manifest = match Manifest::of(&value, Path::new("/e/x.json")) {
        Ok(manifest) => manifest,
        Err(message) => {
            assert!(message.contains("/e/x.json") || message.starts_with("Invalid "), "{message}");
            return;
        }
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    assert!(!manifest.name.is_empty() && manifest.name.chars().all(is_name), "{:?}", manifest.name);
    assert!(manifest.servers.iter().all(|(_, entry)| entry.get("trust").is_none()));
    let files = manifest.context_files.iter().flatten().chain(&manifest.plan_directory);
    for file in files {
        let mut parts = Path::new(file).components();
        assert!(parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)), "{file}");
    }
    for setting in &manifest.settings {
        assert!(!setting.variable.contains(['=', '\n', ' ']), "{:?}", setting.variable);
    }
}
