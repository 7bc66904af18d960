//! One entry of `mcpServers`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};
use url::Url;

use crate::google::GoogleAccess;
use crate::oauth::OAuthSettings;

/// Time limit of connecting and of each call, if the entry sets none (as in Gemini CLI).
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);

/// A server of the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// Name of the server: the key in `mcpServers`.
    pub name: String,
    /// Address of the server.
    pub endpoint: ServerAddress,
    /// Time limit of connecting and of each call. CallProgress of a call starts the time again.
    pub timeout: Duration,
    /// True if the entry sets `timeout`.
    pub has_timeout: bool,
    /// Text for the user.
    pub description: Option<String>,
    /// The only tools that are used, by the server's names; `None` for all tools.
    pub include: Option<Vec<String>>,
    /// Tools that are not used, by the server's names.
    pub exclude: Vec<String>,
    /// Settings of signing in to the server.
    pub oauth: OAuthSettings,
    /// Google credentials that sign requests to the server, instead of signing in to it.
    pub google: Option<GoogleAccess>,
}

/// Address of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerAddress {
    /// Program that communicates over its standard streams.
    Stdio {
        /// Program: a path, or a name that is looked up in `PATH`.
        command: String,
        /// Arguments.
        args: Vec<String>,
        /// Variables that are set in addition to the inherited ones.
        env: Vec<(String, String)>,
        /// Working directory, relative to the project's folder.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http(Remote),
    /// HTTP with server-sent events, the transport of the protocol's version 2024-11-05.
    Sse(Remote),
    /// Streamable HTTP; server-sent events if that fails.
    HttpOrSse(Remote),
}

/// Address of a server on the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Remote {
    /// Address with scheme `http` or `https`.
    pub url: Url,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
}

impl ServerAddress {
    /// Returns the address on the network; `None` for a program.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        match self {
            Self::Stdio { .. } => None,
            Self::Http(remote) | Self::Sse(remote) | Self::HttpOrSse(remote) => Some(remote),
        }
    }
}

impl ServerConfig {
    /// Reads an entry, in which variables have already been replaced. Returns `None` for an entry
    /// without an address: it only changes a server that an extension brings.
    ///
    /// # Errors
    /// A message for the user that says what is wrong with the entry.
    pub fn read(name: &str, entry: &Value) -> Result<Option<Self>, String> {
        let entry = entry.as_object().ok_or("the entry is not an object")?;
        let Some(endpoint) = endpoint(entry)? else {
            return Ok(None);
        };
        let oauth = OAuthSettings::read(entry)?;
        let google = GoogleAccess::read(entry, endpoint.remote(), &oauth)?;
        let timeout = entry.get("timeout").and_then(Value::as_f64).filter(|limit| *limit > 0.0);
        let given = timeout.map(|limit| Duration::try_from_secs_f64(limit / 1000.0));
        Ok(Some(Self {
            name: name.to_owned(),
            endpoint,
            timeout: given.and_then(Result::ok).unwrap_or(DEFAULT_TIMEOUT),
            has_timeout: timeout.is_some(),
            description: text(entry, "description").map(str::to_owned),
            include: entry.get("includeTools").map(texts),
            exclude: entry.get("excludeTools").map(texts).unwrap_or_default(),
            oauth,
            google,
        }))
    }

    /// Adds variables to those of a program. They do not replace those of the entry.
    pub fn inherit<'a>(&mut self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let ServerAddress::Stdio { env, .. } = &mut self.endpoint else { return };
        for (name, value) in variables {
            if env.iter().all(|(known, _)| known != name) {
                env.push((name.to_owned(), value.to_owned()));
            }
        }
    }

    /// Creates the entry of a server that cannot be used, to show it.
    pub fn unusable(name: &str) -> Self {
        let (command, args, env, cwd) = (String::new(), Vec::new(), Vec::new(), None);
        Self {
            name: name.to_owned(),
            endpoint: ServerAddress::Stdio { command, args, env, cwd },
            timeout: DEFAULT_TIMEOUT,
            has_timeout: false,
            description: None,
            include: None,
            exclude: Vec::new(),
            oauth: OAuthSettings::default(),
            google: None,
        }
    }

    /// Returns true if the entry lets this tool of the server be used. An entry of `includeTools`
    /// may continue with a parenthesis, which is ignored (as in Gemini CLI).
    pub fn uses(&self, tool: &str) -> bool {
        let names = |listed: &String| {
            listed == tool || listed.strip_prefix(tool).is_some_and(|rest| rest.starts_with('('))
        };
        let is_included = self.include.as_ref().is_none_or(|list| list.iter().any(names));
        is_included && !self.exclude.iter().any(|excluded| excluded == tool)
    }

    /// Returns the command line or address of the server, for the user. Values of headers and
    /// variables may be secret and are not shown.
    pub fn target(&self) -> String {
        match &self.endpoint {
            ServerAddress::Stdio { command, args, .. } => {
                let words: Vec<&str> =
                    [command.as_str()].into_iter().chain(args.iter().map(String::as_str)).collect();
                words.join(" ")
            }
            ServerAddress::Http(remote)
            | ServerAddress::Sse(remote)
            | ServerAddress::HttpOrSse(remote) => shown(&remote.url),
        }
    }

    /// Returns the facts about the server for hooks.
    pub(crate) fn context(&self) -> Map<String, Value> {
        let mut context = Map::new();
        context.insert("server_name".to_owned(), json!(self.name));
        context.insert("tool_name".to_owned(), Value::Null);
        match &self.endpoint {
            ServerAddress::Stdio { command, args, cwd, .. } => {
                context.insert("command".to_owned(), json!(command));
                context.extend((!args.is_empty()).then(|| ("args".to_owned(), json!(args))));
                context.extend(cwd.as_ref().map(|cwd| ("cwd".to_owned(), json!(cwd))));
            }
            ServerAddress::Http(remote)
            | ServerAddress::Sse(remote)
            | ServerAddress::HttpOrSse(remote) => {
                context.insert("url".to_owned(), json!(remote.url.as_str()));
            }
        }
        context
    }

    /// Returns the name of the transport: `stdio`, `http` or `sse`.
    pub fn transport(&self) -> &'static str {
        match self.endpoint {
            ServerAddress::Stdio { .. } => "stdio",
            ServerAddress::Sse(_) => "sse",
            ServerAddress::Http(_) | ServerAddress::HttpOrSse(_) => "http",
        }
    }
}

/// Returns an address without a password in it.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for addresses that cannot have a user, and then there is nothing to hide.
    if url.password().is_some() && url.set_password(Some("***")).is_err() {
        return String::new();
    }
    url.into()
}

fn endpoint(entry: &Map<String, Value>) -> Result<Option<ServerAddress>, String> {
    let kind = text(entry, "type");
    if let Some(url) = text(entry, "httpUrl") {
        return Ok(Some(ServerAddress::Http(remote(entry, "httpUrl", url)?)));
    }
    if let Some(url) = text(entry, "url") {
        let remote = remote(entry, "url", url)?;
        return Ok(Some(match kind {
            Some("http") => ServerAddress::Http(remote),
            Some("sse") => ServerAddress::Sse(remote),
            _ => ServerAddress::HttpOrSse(remote),
        }));
    }
    let Some(command) = text(entry, "command") else {
        return match text(entry, "tcp") {
            Some(_) => Err("`tcp` is not supported: use `command`, `url` or `httpUrl`".to_owned()),
            None => Ok(None),
        };
    };
    let env = entry.get("env").and_then(Value::as_object);
    Ok(Some(ServerAddress::Stdio {
        command: command.to_owned(),
        args: entry.get("args").map(texts).unwrap_or_default(),
        env: env.map(pairs).unwrap_or_default(),
        cwd: text(entry, "cwd").map(PathBuf::from),
    }))
}

fn remote(entry: &Map<String, Value>, key: &str, url: &str) -> Result<Remote, String> {
    let parsed = Url::parse(url).map_err(|error| format!("`{key}` is not an address: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host().is_none() {
        return Err(format!("`{key}` must begin with http:// or https://"));
    }
    let headers = entry.get("headers").and_then(Value::as_object);
    Ok(Remote { url: parsed, headers: headers.map(pairs).unwrap_or_default() })
}

/// Returns a text that is not empty.
fn text<'e>(entry: &'e Map<String, Value>, key: &str) -> Option<&'e str> {
    entry.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the entries with text values; numbers and booleans are written as text.
fn pairs(map: &Map<String, Value>) -> Vec<(String, String)> {
    let pair = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return None,
        };
        Some((name.clone(), value))
    };
    map.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn read(entry: &Value) -> Result<Option<ServerConfig>, String> {
        ServerConfig::read("s", entry)
    }

    #[test]
    fn the_address_decides_the_transport() {
        let url = "https://h/mcp";
        for (entry, transport, falls_back) in [
            (json!({"command": "node", "args": ["x"]}), "stdio", false),
            (json!({"httpUrl": url}), "http", false),
            (json!({"httpUrl": url, "url": "http://other", "type": "sse"}), "http", false),
            (json!({"url": url, "command": "node"}), "http", true),
            (json!({"url": url, "type": "http"}), "http", false),
            (json!({"url": url, "type": "sse"}), "sse", false),
            (json!({"command": "node", "type": "http"}), "stdio", false),
        ] {
            let config = read(&entry).unwrap().unwrap();
            let is_either = matches!(config.endpoint, ServerAddress::HttpOrSse(_));
            assert_eq!((config.transport(), is_either), (transport, falls_back), "{entry}");
        }
    }

    #[test]
    fn entries_that_cannot_be_used_say_why() {
        assert_eq!(read(&json!({"trust": true})).unwrap(), None);
        assert_eq!(read(&json!({"command": " "})).unwrap(), None);
        for (entry, message) in [
            (json!([]), "the entry is not an object"),
            (json!({"tcp": "h:1"}), "`tcp` is not supported: use `command`, `url` or `httpUrl`"),
            (json!({"url": "ftp://h"}), "`url` must begin with http:// or https://"),
            (json!({"httpUrl": "h"}), "`httpUrl` is not an address: relative URL without a base"),
        ] {
            assert_eq!(read(&entry).unwrap_err(), message, "{entry}");
        }
    }

    #[test]
    fn values_are_read() {
        let config = read(&json!({
            "command": "c", "args": ["a", 1], "env": {"A": "x=y", "N": 5, "L": []}, "cwd": "sub",
            "timeout": 1500, "description": "d", "includeTools": ["a(x)"], "excludeTools": ["b"],
        }))
        .unwrap()
        .unwrap();
        let env = vec![("A".to_owned(), "x=y".to_owned()), ("N".to_owned(), "5".to_owned())];
        let (command, args) = ("c".to_owned(), vec!["a".to_owned()]);
        let cwd = Some("sub".into());
        assert_eq!(config.endpoint, ServerAddress::Stdio { command, args, env, cwd });
        assert_eq!((config.timeout, config.has_timeout), (Duration::from_millis(1500), true));
        for timeout in [json!(0), json!(-1), json!("5"), json!(1e300)] {
            let config = read(&json!({"command": "c", "timeout": timeout})).unwrap().unwrap();
            assert_eq!(config.timeout, DEFAULT_TIMEOUT, "{timeout}");
        }
    }

    #[test]
    fn tools_are_included_and_excluded() {
        let uses = |entry: Value, tool: &str| {
            let mut whole = json!({"command": "c"});
            whole.as_object_mut().unwrap().append(&mut entry.as_object().unwrap().clone());
            read(&whole).unwrap().unwrap().uses(tool)
        };
        for (entry, used, unused) in [
            (json!({}), &["a", "b"][..], &[][..]),
            (json!({"includeTools": ["a"]}), &["a"], &["b", "ab"]),
            (json!({"includeTools": ["a(x, y)"]}), &["a"], &["a(x", "b"]),
            (json!({"includeTools": []}), &[], &["a"]),
            (json!({"excludeTools": ["a"]}), &["b", "ab"], &["a"]),
            (json!({"includeTools": ["a", "b"], "excludeTools": ["a"]}), &["b"], &["a"]),
        ] {
            for tool in used {
                assert!(uses(entry.clone(), tool), "{entry} {tool}");
            }
            for tool in unused {
                assert!(!uses(entry.clone(), tool), "{entry} {tool}");
            }
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let entry = json!({"url": "https://me:hidden@h/mcp", "headers": {"X": "hidden"}});
        let config = read(&entry).unwrap().unwrap();
        assert_eq!(config.target(), "https://me:***@h/mcp");
        let entry = json!({"command": "c", "args": ["-x"], "env": {"KEY": "hidden"}});
        assert_eq!(read(&entry).unwrap().unwrap().target(), "c -x");
    }
}
