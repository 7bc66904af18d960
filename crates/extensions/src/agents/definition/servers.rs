//! MCP servers that a definition brings (`mcp_servers`), in the form of the setting `mcpServers`.

use serde_json::{Map, Value, json};

use crate::agents::fields::Fields;

/// Maximum number of servers of one agent.
const MAX_SERVERS: usize = 20;
/// Keys of a server, with those of the setting.
const KEYS: [(&str, &str); 13] = [
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
        match server(entry) {
            Ok(entry) => drop(servers.insert(name, entry)),
            Err(fault) => fields.fault(&format!("mcp_servers.{name}"), &fault),
        }
    }
    servers
}

fn server(entry: Value) -> Result<Value, String> {
    let Value::Object(mut given) = entry else {
        return Err("expected keys and values".to_owned());
    };
    given.remove(TRUST);
    let auth = given.remove("auth");
    let mut entry = renamed(given, &KEYS)?;
    if let Some(auth) = auth {
        entry.extend(sign_in(auth)?);
    }
    Ok(Value::Object(entry))
}

/// Returns the keys of the setting for `auth`.
fn sign_in(auth: Value) -> Result<Map<String, Value>, String> {
    let Value::Object(mut given) = auth else {
        return Err("auth: expected keys and values".to_owned());
    };
    let kind = given.remove("type");
    let (keys, mut entry) = match kind.as_ref().and_then(Value::as_str) {
        Some("oauth") => (&OAUTH_KEYS[..], Map::new()),
        Some("google-credentials") => {
            let provider = ("authProviderType".to_owned(), json!("google_credentials"));
            (&[("scopes", "scopes")][..], Map::from_iter([provider]))
        }
        _ => return Err("auth.type: expected google-credentials or oauth".to_owned()),
    };
    let mut oauth = renamed(given, keys).map_err(|fault| format!("auth: {fault}"))?;
    oauth.insert("enabled".to_owned(), json!(!entry.contains_key("authProviderType")));
    entry.insert("oauth".to_owned(), Value::Object(oauth));
    Ok(entry)
}

fn renamed(given: Map<String, Value>, keys: &[(&str, &str)]) -> Result<Map<String, Value>, String> {
    let rename = |(key, value): (String, Value)| match keys.iter().find(|(known, _)| *known == key)
    {
        Some((_, name)) => Ok(((*name).to_owned(), value)),
        None => Err(format!("Unrecognized key(s) in object: '{key}'")),
    };
    given.into_iter().map(rename).collect()
}
