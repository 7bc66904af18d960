use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::load::{Layer, LayerFile};
use crate::{Accepted, Settings, Trust, TrustSource, TrustState};

/// Returns settings of layers without files.
fn loaded(layers: &[(LayerKind, Value)]) -> Loaded {
    let mut merged = schema::defaults();
    for (_, value) in layers {
        merge_into(&mut merged, value);
    }
    let path = |kind| PathBuf::from(format!("/none/{kind:?}.json"));
    Loaded {
        settings: Settings::new(merged),
        layers: layers
            .iter()
            .map(|(kind, value)| Layer { kind: *kind, path: path(*kind), value: value.clone() })
            .collect(),
        files: [
            LayerKind::SystemDefaults,
            LayerKind::User,
            LayerKind::Workspace,
            LayerKind::System,
        ]
        .into_iter()
        .map(|kind| {
            let is_read = layers.iter().any(|(read, _)| *read == kind);
            let state = if is_read { LayerFileState::Read } else { LayerFileState::Absent };
            LayerFile { kind, path: path(kind), state }
        })
        .collect(),
        trust: Trust { state: TrustState::Trusted, source: TrustSource::Flag },
        accepted: Accepted::everything(),
        environment: Environment::default(),
        dotenv: None,
        warnings: Vec::new(),
        unknown_keys: Vec::new(),
    }
}

/// Returns the sources that have a value, with their outcome.
fn outcomes(explanation: &Explanation) -> Vec<(&'static str, &'static str)> {
    let said = explanation.steps.iter().filter(|step| step.outcome != SourceOutcome::Unset);
    said.map(|step| (step.source.as_str(), step.outcome.as_str())).collect()
}

/// A key, the layers, the final value, and the outcome of each source.
type Case<'a> = (&'a str, &'a [(LayerKind, Value)], Value, &'a [(&'a str, &'a str)]);

fn check(table: &[Case<'_>]) {
    for (key, layers, value, expected) in table {
        let loaded = loaded(layers);
        let explanation = Inspection::new(&loaded, &[]).explain(key);
        assert_eq!(explanation.value.as_ref(), Some(value), "{key}");
        assert_eq!(outcomes(&explanation), *expected, "{key}");
    }
}

#[test]
fn the_strongest_layer_wins() {
    use LayerKind::{System, SystemDefaults, User, Workspace};
    check(&[
        ("general.maxAttempts", &[], json!(10), &[("default", "wins")]),
        (
            "general.maxAttempts",
            &[
                (User, json!({"general": {"maxAttempts": 3}})),
                (System, json!({"general": {"maxAttempts": 4}})),
            ],
            json!(4),
            &[("default", "overridden"), ("user", "overridden"), ("system", "wins")],
        ),
        // Equal values: the strongest source wins.
        (
            "general.maxAttempts",
            &[
                (SystemDefaults, json!({"general": {"maxAttempts": 3}})),
                (Workspace, json!({"general": {"maxAttempts": 3}})),
            ],
            json!(3),
            &[("default", "overridden"), ("system-defaults", "overridden"), ("project", "wins")],
        ),
        // A list that is replaced.
        (
            "tools.core",
            &[
                (User, json!({"tools": {"core": ["a"]}})),
                (Workspace, json!({"tools": {"core": ["b"]}})),
            ],
            json!(["b"]),
            &[("user", "overridden"), ("project", "wins")],
        ),
        ("nobody.knows", &[(User, json!({"nobody": {"knows": 1}}))], json!(1), &[("user", "wins")]),
    ]);
}

#[test]
fn joined_values_are_made_of_layers() {
    use LayerKind::{System, User, Workspace};
    check(&[
        // Lists that are appended; one of them adds nothing.
        (
            "tools.exclude",
            &[
                (User, json!({"tools": {"exclude": ["a"]}})),
                (Workspace, json!({"tools": {"exclude": ["b"]}})),
                (System, json!({"tools": {"exclude": ["b"]}})),
            ],
            json!(["a", "b"]),
            &[("user", "merged"), ("project", "overridden"), ("system", "merged")],
        ),
        // Objects are merged key by key, servers entry by entry.
        (
            "mcpServers",
            &[
                (User, json!({"mcpServers": {"a": {"command": "x"}}})),
                (Workspace, json!({"mcpServers": {"b": {"command": "y"}}})),
            ],
            json!({"a": {"command": "x"}, "b": {"command": "y"}}),
            &[("default", "overridden"), ("user", "merged"), ("project", "merged")],
        ),
        (
            "mcpServers.a.command",
            &[
                (User, json!({"mcpServers": {"a": {"command": "x"}}})),
                (Workspace, json!({"mcpServers": {"a": {"command": "y"}}})),
            ],
            json!("y"),
            &[("user", "overridden"), ("project", "wins")],
        ),
    ]);
}

#[test]
fn variables_beat_files_and_flags_beat_both() {
    let mut loaded = loaded(&[(LayerKind::User, json!({"model": {"name": "file"}}))]);
    loaded.environment = Environment::from_pairs([("GEMINI_MODEL", "variable")]);
    let value = |given: &[Given]| {
        let explanation = Inspection::new(&loaded, given).explain("model.name");
        (explanation.value.clone(), outcomes(&explanation))
    };
    let user = ("user", "overridden");
    assert_eq!(value(&[]), (Some(json!("variable")), vec![user, ("environment", "wins")]));
    let flag = Given { key: "model.name", flag: "--model", value: json!("flag") };
    let expected = vec![user, ("environment", "overridden"), ("flag", "wins")];
    assert_eq!(value(&[flag]), (Some(json!("flag")), expected));
}

#[test]
fn the_variable_of_the_sandbox_beats_its_flag() {
    let mut loaded = loaded(&[]);
    loaded.environment = Environment::from_pairs([("GEMINI_SANDBOX", "docker")]);
    let flag = Given { key: "tools.sandbox", flag: "--sandbox", value: json!(false) };
    let given = [flag];
    let explanation = Inspection::new(&loaded, &given).explain("tools.sandbox");
    assert_eq!(explanation.value, Some(json!("docker")));
    assert_eq!(outcomes(&explanation), [("flag", "overridden"), ("environment", "wins")]);
}

#[test]
fn folders_of_the_flag_are_added() {
    let layer = json!({"context": {"includeDirectories": ["a"]}});
    let loaded = loaded(&[(LayerKind::User, layer)]);
    let flag = "--include-directories";
    let given = [Given { key: "context.includeDirectories", flag, value: json!(["b"]) }];
    let explanation = Inspection::new(&loaded, &given).explain("context.includeDirectories");
    assert_eq!(explanation.value, Some(json!(["a", "b"])));
    assert_eq!(outcomes(&explanation)[1..], [("user", "wins"), ("flag", "merged")]);
}

#[test]
fn a_value_that_does_not_fit_gives_way_to_the_default() {
    let layer = json!({"general": {"maxAttempts": "many"}, "output": {"format": "yaml"}});
    let loaded = loaded(&[(LayerKind::User, layer)]);
    let inspection = Inspection::new(&loaded, &[]);
    assert_eq!(inspection.value("general.maxAttempts"), Some(&json!(10)));
    assert_eq!(inspection.value("output.format"), Some(&json!("text")));
    let notes = inspection.explain("output.format").notes;
    assert!(notes[0].contains("one of text, json"), "{notes:?}");
}

#[test]
fn the_short_form_of_telemetry_is_understood() {
    let layers = [
        (LayerKind::User, json!({"telemetry": {"enabled": false}})),
        (LayerKind::Workspace, json!({"telemetry": true})),
    ];
    let mut loaded = loaded(&layers);
    let reported = |loaded: &Loaded| {
        let explanation = Inspection::new(loaded, &[]).explain("telemetry.enabled");
        (explanation.value.clone(), outcomes(&explanation))
    };
    let files = [("user", "overridden"), ("project", "wins")];
    assert_eq!(reported(&loaded), (Some(json!(true)), files.to_vec()));
    loaded.environment = Environment::from_pairs([("GEMINI_TELEMETRY_ENABLED", "0")]);
    let all = [("user", "overridden"), ("project", "overridden"), ("environment", "wins")];
    assert_eq!(reported(&loaded), (Some(json!(false)), all.to_vec()));
}
