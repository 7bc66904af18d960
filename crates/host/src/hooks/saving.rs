//! Storage of disabled hooks in the settings.

use std::path::Path;
use std::sync::Arc;

use pollux_config::{ConfigError, FileScope, SyntaxError, edit, edit_file, jsonc};
use pollux_hooks::SaveDisabled;
use serde_json::{Value, json};

use crate::setup::Setup;

const KEY: [&str; 2] = ["hooksConfig", "disabled"];

/// Returns a function that disables and enables hooks. A hook is disabled in the project's settings
/// if there are trusted ones, otherwise in the user's; it is enabled in both.
pub(crate) fn saving(setup: &Setup) -> SaveDisabled {
    let (places, cwd) = (setup.places.clone(), setup.input.request.folder.clone());
    let trusted = setup.loaded.trust.is_trusted();
    Arc::new(move |labels, on| {
        let project = FileScope::Project.path(&places, &cwd);
        let has_project = trusted && project.is_file();
        let user = FileScope::User.path(&places, &cwd);
        let mut scopes = vec![(FileScope::User, &user)];
        if has_project {
            scopes.insert(0, (FileScope::Project, &project));
        }
        if !on {
            scopes.truncate(1);
        }
        let save = |(scope, path): (FileScope, &std::path::PathBuf)| -> Result<(), ConfigError> {
            edit_file(scope, path, &|text| changed(path, text, labels, on)).map(drop)
        };
        scopes.into_iter().try_for_each(save).map_err(|error| error.to_string())
    })
}

/// Returns the settings text with these labels added to the list or removed from it.
fn changed(path: &Path, text: &str, labels: &[String], on: bool) -> Result<String, SyntaxError> {
    let value = if text.trim().is_empty() { json!({}) } else { jsonc::parse(path, text)? };
    let listed = value.get(KEY[0]).and_then(|group| group.get(KEY[1])).and_then(Value::as_array);
    let mut list: Vec<Value> = listed.cloned().unwrap_or_default();
    let before = list.clone();
    list.retain(|item| !labels.iter().any(|label| item == label));
    if !on {
        list.extend(labels.iter().map(|label| json!(label)));
    }
    if list == before { Ok(text.to_owned()) } else { edit::set(path, text, &KEY, &json!(list)) }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn labels_come_and_go_and_comments_stay() {
        let path = Path::new("/s.json");
        let change =
            |text: &str, label: &str, on| changed(path, text, &[label.to_owned()], on).unwrap();
        let off = change("{\n  // mine\n  \"a\": 1\n}\n", "guard", false);
        assert!(off.contains("// mine"), "{off}");
        assert_eq!(jsonc::parse(path, &off).unwrap()["hooksConfig"]["disabled"], json!(["guard"]));
        assert_eq!(change(&off, "guard", false), off, "twice is once");
        let on = change(&off, "guard", true);
        assert_eq!(jsonc::parse(path, &on).unwrap()["hooksConfig"]["disabled"], json!([]));
        assert_eq!(change("", "guard", true), "");
        assert!(changed(path, "{", &[], true).is_err());
    }
}
