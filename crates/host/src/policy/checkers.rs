//! Programs that check calls, as the settings of the user and the system name them.

use std::collections::BTreeMap;

use pollux_config::{Layer, LayerKind, Places};
use pollux_policy::{CheckerProgram, CheckerPrograms};
use serde_json::Value;

use crate::setup::Setup;

/// Setting that names the programs. A project's file does not count: a project must not choose its
/// own checkers.
const SETTING: &str = "pollux.safetyCheckers";

impl Setup {
    /// Returns the programs of `pollux.safetyCheckers`. Their environment is the same as for hooks.
    pub(crate) fn checkers(&self) -> CheckerPrograms {
        let programs = programs(&self.loaded.layers, &self.places);
        if programs.is_empty() {
            return CheckerPrograms::default();
        }
        let environment = crate::hooks::environment_of_programs(&self.loaded);
        CheckerPrograms { programs, environment }
    }
}

fn programs(layers: &[Layer], places: &Places) -> BTreeMap<String, CheckerProgram> {
    let mut programs = BTreeMap::new();
    for layer in layers.iter().filter(|layer| layer.kind != LayerKind::Workspace) {
        let found = SETTING.split('.').try_fold(&layer.value, |value, key| value.get(key));
        for (name, entry) in found.and_then(Value::as_object).into_iter().flatten() {
            let Some(command) = entry.get("command").and_then(Value::as_str) else { continue };
            let listed = entry.get("args").and_then(Value::as_array).into_iter().flatten();
            let program = CheckerProgram {
                file: places.expand_home(command),
                arguments: listed.filter_map(Value::as_str).map(str::to_owned).collect(),
            };
            programs.insert(name.clone(), program);
        }
    }
    programs
}

#[cfg(test)]
mod tests {
    use pollux_config::Environment;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_project_names_no_checkers() {
        let layer = |kind, path: &str| {
            let value =
                json!({"pollux": {"safetyCheckers": {"a": {"command": path, "args": ["x"]}}}});
            Layer { kind, path: "/settings.json".into(), value }
        };
        let environment = Environment::from_pairs([("HOME", "/home/me")]);
        let places = Places::new(&environment);
        let named = |layers: &[Layer]| {
            let programs = programs(layers, &places);
            programs.get("a").map(|program| program.file.display().to_string())
        };
        let (user, project, system) = (
            layer(LayerKind::User, "~/check"),
            layer(LayerKind::Workspace, "/evil"),
            layer(LayerKind::System, "/etc/check"),
        );
        assert_eq!(named(std::slice::from_ref(&project)), None);
        assert_eq!(named(&[user.clone(), project.clone()]).as_deref(), Some("/home/me/check"));
        assert_eq!(named(&[user, project, system]).as_deref(), Some("/etc/check"));
    }
}
