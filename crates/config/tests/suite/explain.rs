use pollux_config::consent::EarlierAnswers;
use pollux_config::{
    Accepted, Inspection, LayerFileState, LayerKind, RemarkKind, SourceOutcome, ValueSource, find,
    report,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::home::Home;

#[test]
fn what_was_not_accepted_is_reported_as_such() {
    let home = Home::new();
    home.write(
        "work/.gemini/settings.json",
        r#"{"tools": {"core": ["a"]}, "model": {"name": "gemini-2.5-pro"}}"#,
    );
    let mut found = find(&home.options(&home.work(), true, false)).unwrap();
    found.look(EarlierAnswers::Nothing);
    let loaded = found.load(Accepted::nothing()).unwrap();
    let explanation = Inspection::new(&loaded, &[]).explain("tools.core");
    let step = explanation
        .steps
        .iter()
        .find(|step| step.source == ValueSource::File(LayerKind::Workspace));
    let step = step.unwrap();
    assert_eq!(
        step.outcome,
        SourceOutcome::Ignored("you have not approved it for this folder".to_owned())
    );
    assert_eq!((step.written.clone(), step.value.clone()), (Some(json!(["a"])), None));
    assert_eq!(explanation.value, None);
    let remarks = report(&loaded);
    let [remark] = &remarks[..] else { panic!("{remarks:?}") };
    assert_eq!(remark.key, "tools.core");
    assert!(matches!(remark.kind, RemarkKind::NotHonoured(_)), "{remark:?}");
}

#[test]
fn every_layer_has_a_file_whether_it_is_there_or_not() {
    let home = Home::new();
    home.write("home/.gemini/settings.json", "{}");
    home.write("work/.gemini/settings.json", "{}");
    home.write("system/settings.json", "{}");
    let states = |loaded: &pollux_config::Loaded| {
        loaded.files.iter().map(|file| (file.kind, file.state.clone())).collect::<Vec<_>>()
    };
    let skipped = |reason: &str| LayerFileState::Skipped(reason.to_owned());
    assert_eq!(
        states(&home.load()),
        [
            (LayerKind::SystemDefaults, LayerFileState::Absent),
            (LayerKind::User, LayerFileState::Read),
            (LayerKind::Workspace, skipped("the folder is not trusted")),
            (LayerKind::System, LayerFileState::Read),
        ]
    );
    let trusted = home.load_with(true, false).unwrap();
    assert_eq!(states(&trusted)[2], (LayerKind::Workspace, LayerFileState::Read));
    let at_home = home.load_in(&home.path("home"), true, false).unwrap();
    assert_eq!(states(&at_home)[2].1, skipped("the folder is the home directory"));
    assert_eq!(states(&at_home).len(), 4);
}

#[test]
fn places_are_those_of_the_file() {
    let mut home = Home::new();
    home.set("MODEL", "from-variable");
    let text = "\u{feff}// mine\r\n{\r\n  \"model\": {\r\n    \"name\": \"$MODEL\"\r\n  }\r\n}";
    let path = home.write("home/.gemini/settings.json", text);
    let loaded = home.load();
    let explanation = Inspection::new(&loaded, &[]).explain("model.name");
    let step = explanation.steps.iter().find(|step| step.outcome == SourceOutcome::Wins).unwrap();
    assert_eq!(step.path.as_deref(), Some(path.as_path()));
    let position = step.position.unwrap();
    assert_eq!((position.line, position.column), (4, 5));
    assert_eq!(step.written, Some(json!("$MODEL")));
    assert_eq!(step.value, Some(json!("from-variable")));
}
