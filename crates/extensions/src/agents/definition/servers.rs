//! MCP servers that a definition brings (`mcp_servers`), in the form of the setting `mcpServers`.

use pollux_config::check_value;
use pollux_config::schema::{SettingKind, find};
use pollux_protocol::plain_text::one_line;
use serde_json::{Map, Value, json};

use crate::agents::fields::Fields;

/// Setting whose entries have the same values.
const SETTING: &str = "mcpServers";

/// Maximum number of servers of one agent.
const MAX_SERVERS: usize = 20;
/// Maximum length of a message about a value, in characters.
const LONGEST_FAULT: usize = 200;
/// Keys of a server, with those of the setting.
const KEYS: [(&str, &str); 14] = [
    ("command", "command"),
    ("args", "args"),
    ("env", "env"),
    ("cwd", "cwd"),
    ("url", "url"),
    ("http_url", "httpUrl"),
    ("headers", "headers"),
    ("tcp", "tcp"),
    ("type", "type"),
    ("timeout", "timeout"),
    (TRUST, TRUST),
    ("description", "description"),
    ("include_tools", "includeTools"),
    ("exclude_tools", "excludeTools"),
];
/// Key whose value has no effect: a definition cannot decide that its own tools need no approval.
const TRUST: &str = "trust";
/// Keys of `auth` with the type `oauth`, with those of the setting.
const OAUTH_KEYS: [(&str, &str); 10] = [
    ("client_id", "clientId"),
    ("client_secret", "clientSecret"),
    ("scopes", "scopes"),
    ("authorization_url", "authorizationUrl"),
    ("token_url", "tokenUrl"),
    ("issuer", "issuer"),
    ("audiences", "audiences"),
    ("redirect_uri", "redirectUri"),
    ("token_param_name", "tokenParamName"),
    ("registration_url", "registrationUrl"),
];

/// Faults of one server: where in it, and what is wrong.
type Faults = Vec<(String, String)>;

/// Reads the servers. Each fault is added to `fields`.
pub(super) fn servers(fields: &mut Fields) -> Map<String, Value> {
    let given = fields.take("mcp_servers", "expected keys and values", |value| match value {
        Value::Object(servers) => Some(servers),
        _ => None,
    });
    let given = given.unwrap_or_default();
    if given.len() > MAX_SERVERS {
        fields.fault("mcp_servers", "too many servers");
        return Map::new();
    }
    let mut servers = Map::new();
    for (name, entry) in given {
        let mut faults = Faults::new();
        let entry = server(entry, &mut faults);
        for (place, fault) in faults {
            let fault: String = one_line(&fault).chars().take(LONGEST_FAULT).collect();
            fields.fault(&format!("mcp_servers.{name}{place}"), &fault);
        }
        servers.insert(name, entry);
    }
    servers
}

/// Returns an entry of the setting.
fn server(entry: Value, faults: &mut Faults) -> Value {
    let Value::Object(mut given) = entry else {
        faults.push((String::new(), "expected keys and values".to_owned()));
        return Value::Null;
    };
    let auth = given.remove("auth");
    let mut entry = renamed(given, &KEYS, "", faults);
    for (key, name) in KEYS {
        if let Some((value, kind)) = entry.get(name).zip(kind_of(name)) {
            check(kind, value, &format!(".{key}"), faults);
        }
    }
    entry.remove(TRUST);
    if let Some(auth) = auth {
        entry.extend(sign_in(auth, faults));
    }
    Value::Object(entry)
}

/// Returns the keys of the setting for `auth`.
fn sign_in(auth: Value, faults: &mut Faults) -> Map<String, Value> {
    let Value::Object(mut given) = auth else {
        faults.push((".auth".to_owned(), "expected keys and values".to_owned()));
        return Map::new();
    };
    let kind = given.remove("type");
    let (keys, mut entry) = match kind.as_ref().and_then(Value::as_str) {
        Some("oauth") => (&OAUTH_KEYS[..], Map::new()),
        Some("google-credentials") => {
            let provider = ("authProviderType".to_owned(), json!("google_credentials"));
            (&[("scopes", "scopes")][..], Map::from_iter([provider]))
        }
        _ => {
            let fault = "expected google-credentials or oauth".to_owned();
            faults.push((".auth.type".to_owned(), fault));
            return Map::new();
        }
    };
    let mut oauth = renamed(given, keys, ".auth", faults);
    for (key, name) in keys {
        let Some(value) = oauth.get(*name) else { continue };
        // The setting lets any value be.
        let is_list = matches!(*key, "scopes" | "audiences");
        let kind = if is_list { SettingKind::TEXTS } else { SettingKind::Text };
        check(kind, value, &format!(".auth.{key}"), faults);
    }
    oauth.insert("enabled".to_owned(), json!(!entry.contains_key("authProviderType")));
    entry.insert("oauth".to_owned(), Value::Object(oauth));
    entry
}

/// Returns the values with the keys of the setting.
fn renamed(
    given: Map<String, Value>,
    keys: &[(&str, &str)],
    place: &str,
    faults: &mut Faults,
) -> Map<String, Value> {
    let mut entry = Map::new();
    for (key, value) in given {
        match keys.iter().find(|(known, _)| *known == key) {
            Some((_, name)) => drop(entry.insert((*name).to_owned(), value)),
            None => {
                faults.push((place.to_owned(), format!("Unrecognized key(s) in object: '{key}'")));
            }
        }
    }
    entry
}

/// Returns the type of a key of the setting.
fn kind_of(key: &str) -> Option<SettingKind> {
    let SettingKind::Map(SettingKind::Record(entry)) = find(SETTING)?.kind else { return None };
    entry.fields.iter().find(|field| field.name == key).map(|field| field.kind)
}

/// Adds a fault for each part of a value that has the wrong type. Unlike in settings, a text that
/// spells a number or a boolean is one of them.
fn check(kind: SettingKind, value: &Value, place: &str, faults: &mut Faults) {
    let mut converted = value.clone();
    let found = check_value(kind, place, &mut converted);
    // Items of lists are written like keys.
    let place_of = |key: String| key.replace('[', ".").replace(']', "");
    faults.extend(found.into_iter().map(|issue| (place_of(issue.key), issue.message)));
    if converted != *value {
        let fault = format!("Expected {}, received string", kind.json_type());
        faults.push((place.to_owned(), fault));
    }
}
