use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn merged(layers: &[Value]) -> Value {
    let mut result = json!({});
    for layer in layers {
        merge_into(&mut result, layer);
    }
    result
}

#[test]
fn strategies() {
    let cases = [
        // Scalars and arrays are replaced, objects merge.
        (
            json!({"a": 1, "b": {"c": [1], "d": 2}}),
            json!({"b": {"c": [2]}}),
            json!({"a": 1, "b": {"c": [2], "d": 2}}),
        ),
        // null overwrites; a scalar replaces an object, and an object replaces a scalar.
        (json!({"a": {"b": 1}}), json!({"a": null}), json!({"a": null})),
        (json!({"a": {"b": 1}}), json!({"a": 3}), json!({"a": 3})),
        (json!({"a": 3}), json!({"a": {"b": 1}}), json!({"a": {"b": 1}})),
        // A server's definition is replaced as a whole.
        (
            json!({"mcpServers": {"x": {"command": "a", "trust": true}, "y": {}}}),
            json!({"mcpServers": {"x": {"command": "b"}}}),
            json!({"mcpServers": {"x": {"command": "b"}, "y": {}}}),
        ),
        // Lists are appended, repeats kept.
        (
            json!({"context": {"includeDirectories": ["a"]}, "hooks": {"BeforeTool": [1]}}),
            json!({"context": {"includeDirectories": ["a", "b"]}, "hooks": {"BeforeTool": [1]}}),
            json!({"context": {"includeDirectories": ["a", "a", "b"]}, "hooks": {"BeforeTool": [1, 1]}}),
        ),
        // Lists are appended, repeats dropped; a single value counts as a list.
        (
            json!({"tools": {"exclude": ["a", "b"], "core": ["x"]}}),
            json!({"tools": {"exclude": ["b", "c"], "core": ["y"]}}),
            json!({"tools": {"exclude": ["a", "b", "c"], "core": ["y"]}}),
        ),
        (
            json!({"policyPaths": ["a"]}),
            json!({"policyPaths": "b"}),
            json!({"policyPaths": ["a", "b"]}),
        ),
        // Without a list to append to, the value stays as written.
        (json!({}), json!({"policyPaths": "b"}), json!({"policyPaths": "b"})),
        // Banned keys are dropped at any depth.
        (
            json!({}),
            json!({"__proto__": 1, "a": {"constructor": 1, "b": 2}}),
            json!({"a": {"b": 2}}),
        ),
    ];
    for (base, upper, expected) in cases {
        assert_eq!(merged(&[base.clone(), upper.clone()]), expected, "{base} + {upper}");
    }
}

/// Generates layers whose values have the types of the schema, built from a few keys of each
/// strategy.
fn layer() -> impl Strategy_ {
    let names = || proptest::collection::vec("[abc]", 0..4);
    let maybe = proptest::option::of::<proptest::collection::VecStrategy<&str>>;
    (
        proptest::option::of(0..3i32),
        maybe(names()),
        maybe(names()),
        maybe(names()),
        proptest::option::of(proptest::collection::btree_map("[xy]", 0..3i32, 0..3)),
        proptest::option::of(proptest::collection::btree_map("[xy]", 0..3i32, 0..3)),
    )
        .prop_map(|(turns, concat, union, replace, servers, theme)| {
            let mut map = Map::new();
            let mut put = |key: &str, inner: &str, value: Option<Value>| {
                if let Some(value) = value {
                    let slot = map.entry(key).or_insert_with(|| json!({}));
                    slot[inner] = value;
                }
            };
            put("model", "maxSessionTurns", turns.map(Into::into));
            put("context", "includeDirectories", concat.map(Into::into));
            put("tools", "exclude", union.map(Into::into));
            put("tools", "core", replace.map(Into::into));
            put("ui", "customThemes", theme.map(|map| json!(map)));
            if let Some(servers) = servers {
                let servers: Map<_, _> = servers
                    .into_iter()
                    .map(|(name, n)| (name, json!({ format!("k{n}"): n })))
                    .collect();
                map.insert("mcpServers".into(), servers.into());
            }
            Value::Object(map)
        })
}

use proptest::strategy::Strategy as ProptestStrategy;
/// A generator of layers, named so as not to clash with the merge strategy.
trait Strategy_: ProptestStrategy<Value = Value> {}
impl<T: ProptestStrategy<Value = Value>> Strategy_ for T {}

proptest! {
    #[test]
    fn merging_is_associative(a in layer(), b in layer(), c in layer()) {
        let left = merged(&[merged(&[a.clone(), b.clone()]), c.clone()]);
        let mut upper = b;
        merge_into(&mut upper, &c);
        let mut right = a;
        merge_into(&mut right, &upper);
        // A list without a counterpart keeps its repeats, so the lists are compared after uniting.
        let unite_exclude = |mut value: Value| {
            if let Some(Value::Array(items)) = value.pointer_mut("/tools/exclude") {
                unite(items, Vec::new());
            }
            value
        };
        prop_assert_eq!(unite_exclude(left), unite_exclude(right));
    }

    #[test]
    fn an_empty_layer_changes_nothing(a in layer()) {
        prop_assert_eq!(merged(&[a.clone(), json!({})]), a);
    }
}
