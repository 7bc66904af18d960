use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(front: &str) -> Result<AgentDefinition, DefinitionError> {
    let is_tool = |name: &str| ["read_file", "glob"].contains(&name);
    agent_definition(&format!("---\n{front}\n---\nYou test.\n"), &is_tool)
}

fn faults(front: &str) -> Vec<String> {
    match read(front) {
        Err(DefinitionError::Invalid(faults)) => faults,
        other => panic!("{front:?}: {other:?}"),
    }
}

#[test]
fn unset_keys_have_the_values_of_gemini_cli() {
    let agent = read("name: a-1_b\ndescription: D").unwrap();
    assert_eq!((agent.name.as_str(), agent.description.as_str()), ("a-1_b", "D"));
    assert_eq!((agent.max_turns, agent.time_limit), (30, Duration::from_mins(10)));
    assert_eq!((agent.model, agent.temperature, agent.tools), (AgentModel::Unset, None, None));
    assert_eq!((agent.instructions.as_str(), agent.query.as_str()), ("You test.", "${query}"));
}

#[test]
fn every_key_is_read() {
    let agent = read(
        "kind: local\nname: a\ndescription: >\n  One\n  two\ndisplay_name: A B\n\
         tools: [read_file, 'mcp_*', mcp_s_*, mcp_s_t]\nmodel: flash\ntemperature: 0\n\
         max_turns: 3\ntimeout_mins: 0.5",
    );
    let agent = agent.unwrap();
    assert_eq!((agent.description.as_str(), agent.shown_name()), ("One two", "A B"));
    assert_eq!(agent.model, AgentModel::Named("flash".to_owned()));
    let inherits = read("name: a\ndescription: D\nmodel: inherit").unwrap();
    assert_eq!(inherits.model, AgentModel::Inherit);
    assert_eq!((agent.max_turns, agent.time_limit), (3, Duration::from_secs(30)));
    assert_eq!(agent.temperature, Some(0.0));
    for (tool, is_allowed) in
        [("read_file", true), ("glob", false), ("mcp_x_y", true), ("read_files", false)]
    {
        assert_eq!(agent.allows(tool), is_allowed, "{tool}");
    }
    assert!(read("name: a\ndescription: D\ntools: ['*']").unwrap().allows("anything"));
    assert!(!read("name: a\ndescription: D\ntools: []").unwrap().allows("read_file"));
}

#[test]
fn each_fault_is_named() {
    for (front, expected) in [
        ("description: D", "(Local Agent) name: Required"),
        ("name: a", "(Local Agent) description: Required"),
        ("name: A b\ndescription: D", "(Local Agent) name: Name must be a valid slug"),
        ("name: ''\ndescription: D", "(Local Agent) name: Name must be a valid slug"),
        ("name: [a]\ndescription: D", "(Local Agent) name: expected text"),
        ("name: a\ndescription: ' '", "(Local Agent) description: must not be empty"),
        ("name: a\ndescription: 1", "(Local Agent) description: expected text"),
        (
            "name: a\ndescription: D\ntool: [x]",
            "(Local Agent) Unrecognized key(s) in object: 'tool'",
        ),
        ("name: a\ndescription: D\ntools: x", "(Local Agent) tools: expected a list"),
        ("name: a\ndescription: D\ntools: [1]", "(Local Agent) tools: expected a list"),
        ("name: a\ndescription: D\ntools: [nosuch]", "(Local Agent) tools.0: Invalid tool name"),
        ("name: a\ndescription: D\ntools: ['read_*']", "(Local Agent) tools.0: Invalid tool name"),
        ("name: a\ndescription: D\ntools: ['mcp_a*']", "(Local Agent) tools.0: Invalid tool name"),
        ("name: a\ndescription: D\nmodel: ''", "(Local Agent) model: must not be empty"),
        ("name: a\ndescription: D\ntemperature: 3", "(Local Agent) temperature: expected"),
        ("name: a\ndescription: D\ntemperature: hot", "(Local Agent) temperature: expected"),
        ("name: a\ndescription: D\nmax_turns: 0", "(Local Agent) max_turns: expected"),
        ("name: a\ndescription: D\nmax_turns: 1.5", "(Local Agent) max_turns: expected a whole"),
        ("name: a\ndescription: D\nmax_turns: 1e9", "(Local Agent) max_turns: expected"),
        ("name: a\ndescription: D\ntimeout_mins: -1", "(Local Agent) timeout_mins: expected"),
        ("name: a\ndescription: D\nkind: other", "(Local Agent) kind: expected local or remote"),
        ("name: a\ndescription: D\nmcp_servers: x", "(Local Agent) mcp_servers: expected"),
    ] {
        let faults = faults(front);
        assert!(faults.len() == 1 && faults[0].starts_with(expected), "{front:?}: {faults:?}");
    }
    assert_eq!(faults("x: 1\ny: 2").len(), 3, "all of them");
}

#[test]
fn texts_that_define_no_agent_are_named() {
    let is_tool = |_: &str| true;
    for (text, error) in [
        ("You test.", "does not begin with front matter"),
        ("---\nname: a\n", "has no end"),
        ("---\nname: [\n---\n", "YAML frontmatter parsing failed: "),
        ("---\nname: a\ntimeout_mins: .inf\n---\n", "YAML frontmatter parsing failed: "),
        ("---\njust text\n---\n", "expected keys and values"),
        ("---\nkind: remote\nname: a\n---\n", "remote agents are not available"),
        ("---\nname: a\nagent_card_url: http://x\n---\n", "remote agents are not available"),
        ("---\n- name: a\n  kind: remote\n---\n", "remote agents are not available"),
    ] {
        let found = agent_definition(text, &is_tool).unwrap_err().to_string();
        assert!(found.contains(error), "{text:?}: {found}");
    }
    let text = "\u{feff}---\r\nname: a\r\ndescription: D\r\n---\r\nYou\r\ntest.\r\n";
    assert_eq!(agent_definition(text, &is_tool).unwrap().instructions, "You\r\ntest.");
}

#[test]
fn servers_have_the_form_of_the_settings() {
    let agent = read(
        "name: a\ndescription: D\nmcp_servers:\n  s: {command: x, args: [y], trust: true, \
         include_tools: [t]}\n  h: {http_url: 'https://h', auth: {type: oauth, client_id: c}}\n  \
         g: {url: 'https://g', auth: {type: google-credentials, scopes: [p]}}",
    );
    assert_eq!(
        Value::Object(agent.unwrap().servers),
        json!({
            "s": {"command": "x", "args": ["y"], "includeTools": ["t"]},
            "h": {"httpUrl": "https://h", "oauth": {"clientId": "c", "enabled": true}},
            "g": {
                "url": "https://g",
                "authProviderType": "google_credentials",
                "oauth": {"scopes": ["p"], "enabled": false},
            },
        })
    );
    for (servers, fault) in [
        ("{s: x}", "mcp_servers.s: expected keys and values"),
        ("{s: {httpUrl: x}}", "mcp_servers.s: Unrecognized key(s) in object: 'httpUrl'"),
        ("{s: {url: x, auth: y}}", "mcp_servers.s.auth: expected keys and values"),
        ("{s: {url: x, auth: {type: basic}}}", "mcp_servers.s.auth.type: expected google"),
        ("{s: {url: x, auth: {type: oauth, x: 1}}}", "mcp_servers.s.auth: Unrecognized key(s)"),
    ] {
        let faults = faults(&format!("name: a\ndescription: D\nmcp_servers: {servers}"));
        let expected = format!("(Local Agent) {fault}");
        assert!(faults.len() == 1 && faults[0].starts_with(&expected), "{servers}: {faults:?}");
    }
}

#[test]
fn values_of_servers_have_the_types_of_the_setting() {
    for (entry, fault) in [
        ("command: 5", "command: Expected string, received number"),
        ("command: x, args: 5", "args: Expected array, received number"),
        ("command: x, args: [y, 5]", "args.1: Expected string, received number"),
        ("command: x, args:", "args: Expected array, received null"),
        ("command: x, env: [A]", "env: Expected object, received array"),
        ("command: x, env: {A: 1}", "env.A: Expected string, received number"),
        ("command: x, cwd: true", "cwd: Expected string, received boolean"),
        ("url: {a: b}", "url: Expected string, received object"),
        ("http_url: 5", "http_url: Expected string, received number"),
        ("url: x, headers: y", "headers: Expected object, received string"),
        ("tcp: 5", "tcp: Expected string, received number"),
        ("url: x, type: y", "type: Invalid enum value. Expected 'stdio' | 'sse' | 'http', "),
        ("command: x, timeout: soon", "timeout: Expected number, received string"),
        ("command: x, timeout: '5'", "timeout: Expected number, received string"),
        ("command: x, trust: 1", "trust: Expected boolean, received number"),
        ("command: x, trust: 'true'", "trust: Expected boolean, received string"),
        ("command: x, description: 5", "description: Expected string, received number"),
        ("command: x, include_tools: y", "include_tools: Expected array, received string"),
        ("command: x, exclude_tools: [[]]", "exclude_tools.0: Expected string, received array"),
        (
            "url: x, auth: {type: oauth, client_id: 5}",
            "auth.client_id: Expected string, received number",
        ),
        (
            "url: x, auth: {type: google-credentials, scopes: y}",
            "auth.scopes: Expected array, received string",
        ),
    ] {
        let faults = faults(&format!("name: a\ndescription: D\nmcp_servers: {{s: {{{entry}}}}}"));
        let expected = format!("(Local Agent) mcp_servers.s.{fault}");
        assert!(faults.len() == 1 && faults[0].starts_with(&expected), "{entry}: {faults:?}");
    }
    let all = "name: a\ndescription: D\nmcp_servers: {s: {command: 5, x: 1}, t: {url: 6}}";
    assert_eq!(faults(all).len(), 3, "all of them");
}

#[test]
fn placeholders_are_filled_once() {
    let mut agent = read("name: a\ndescription: D").unwrap();
    agent.instructions = "${today} ${query} ${other} $ ${ ${today".to_owned();
    let filled = agent.instructions("${today}", &[("today", "T")]);
    assert_eq!(filled, "T ${today} ${other} $ ${ ${today");
    assert_eq!(agent.message("do ${query}"), "do ${query}");
}

proptest! {
    #[test]
    fn nothing_panics(front in ".{0,60}", body in ".{0,40}", task in ".{0,20}") {
        let text = format!("---\n{front}\n---\n{body}");
        if let Ok(agent) = agent_definition(&text, &|_| true) {
            prop_assert!(!agent.name.is_empty() && !agent.description.is_empty());
        }
        let agent = AgentDefinition { instructions: body, ..read("name: a\ndescription: D").unwrap() };
        agent.instructions(&task, &[]);
    }
}
