use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn lists(layers: &[(LayerKind, Value)]) -> (Option<Vec<String>>, Vec<String>) {
    let layer = |(kind, mcp): &(LayerKind, Value)| Layer {
        kind: *kind,
        path: "/none".into(),
        value: json!({"mcp": mcp}),
    };
    let layers: Vec<Layer> = layers.iter().map(layer).collect();
    let ServerLists { allowed, excluded } = server_lists(&layers);
    (allowed, excluded)
}

#[test]
fn no_layer_gives_back_what_another_takes() {
    use LayerKind::{System, SystemDefaults, User, Workspace};
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(lists(&[]), (None, Vec::new()));
    let found = lists(&[
        (SystemDefaults, json!({"excluded": ["d"]})),
        (User, json!({"allowed": [" A ", "b", "c"], "excluded": ["u"]})),
        (Workspace, json!({"allowed": ["a", "C"], "excluded": ["w", "u"]})),
        (System, json!({"excluded": ["s"]})),
    ]);
    assert_eq!(found, (Some(texts(&[" A ", "c"])), texts(&["s", "d", "u", "w", "u"])));
    let nothing = lists(&[(User, json!({"allowed": []})), (Workspace, json!({"allowed": ["a"]}))]);
    assert_eq!(nothing, (Some(Vec::new()), Vec::new()), "an empty list allows nothing");
    assert_eq!(lists(&[(User, json!({"allowed": "a"}))]), (None, Vec::new()), "no list");
}
