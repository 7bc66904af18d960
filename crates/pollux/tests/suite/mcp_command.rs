//! `pollux mcp`, with servers that are shell scripts.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use pollux_testkit::{Finished, Signal, reply, timed_test};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::mcp_server::{ScriptServer, branch, introduction, listing, tool};
use super::stage::{SOON, Stage, is_alive, wait_until};

fn mcp(stage: &Stage, words: &[&str]) -> Finished {
    stage.program().args(["mcp"]).args(words).run()
}

/// Returns the servers of the project's settings file.
fn servers(stage: &Stage) -> Value {
    let text = stage.home.read_project_file(".gemini/settings.json");
    serde_json::from_str::<Value>(&text).unwrap()["mcpServers"].clone()
}

#[test]
fn entries_are_those_of_gemini_cli() {
    for (line, transport, expected) in [
        (
            "s node a.js -x --flag v -- --y z",
            "stdio",
            json!({"command": "node", "args": ["a.js", "-x", "--flag", "v", "--y", "z"]}),
        ),
        (
            "-e A=1 s cmd -e C=3 -x",
            "stdio",
            json!({"command": "cmd", "args": ["-x"], "env": {"A": "1", "C": "3"}}),
        ),
        (
            "s cmd --timeout 10 --foo=bar -abc --no-trust --headers=q -- -e Q=1",
            "stdio",
            json!({"command": "cmd", "args": ["--foo=bar", "-abc", "--headers=q", "-e", "Q=1"], "timeout": 10, "trust": false}),
        ),
        (
            "s cmd 5 -3 true -eA=1 -sx",
            "stdio",
            json!({"command": "cmd", "args": ["5", "-3", "true", "-eA=1", "-sx"]}),
        ),
        (
            "s cmd --trust --description d --include-tools a --include-tools b",
            "stdio",
            json!({"command": "cmd", "args": [], "trust": true, "description": "d", "includeTools": ["a", "b"]}),
        ),
        (
            "-t http -H Authorization:x:y --header X-B:z s http://h/mcp",
            "http",
            json!({"url": "http://h/mcp", "type": "http", "headers": {"Authorization": "x:y", "X-B": "z"}}),
        ),
        (
            "--type sse s http://h --exclude-tools a,b",
            "sse",
            json!({"url": "http://h", "type": "sse", "excludeTools": ["a,b"]}),
        ),
        // Gemini CLI cuts the value at the second `=`, and rejects a command after `--`.
        ("-e A=b=c,d s cmd", "stdio", json!({"command": "cmd", "args": [], "env": {"A": "b=c,d"}})),
        ("s -- npx -y pkg", "stdio", json!({"command": "npx", "args": ["-y", "pkg"]})),
    ] {
        let stage = Stage::new();
        let run = mcp(&stage, &["add"].into_iter().chain(line.split(' ')).collect::<Vec<_>>());
        run.assert_code(0);
        let text = format!("MCP server \"s\" added to project settings. ({transport})\n");
        assert_eq!((run.stdout_text(), run.stderr_text()), (text, String::new()), "{line}");
        assert_eq!(servers(&stage), json!({ "s": expected }), "{line}");
    }
}

#[test]
fn everything_else_in_the_file_stays_as_it_is() {
    let stage = Stage::new();
    let before = "{\n  // mine\n  \"mcpServers\": {\n    \"b\": {\"command\": \"$B\"} /* b */,\n    \"a.c\": {\"url\": \"https://h/${P}\"}\n  },\n  \"ui\": {\"theme\": \"$T\"} // end\n}\n";
    stage.home.project_file(".gemini/settings.json", before);
    let variables = |words: &[&str]| {
        stage.program().args(["mcp"]).args(words).env("B", "x").env("P", "y").env("T", "z").run()
    };
    variables(&["add", "new.one", "cmd"]).assert_code(0);
    let added = stage.home.read_project_file(".gemini/settings.json");
    for part in
        ["// mine", "\"b\": {\"command\": \"$B\"} /* b */", "https://h/${P}", "\"$T\"} // end"]
    {
        assert!(added.contains(part), "{part}: {added}");
    }
    let run = variables(&["add", "new.one", "other"]);
    assert_eq!(
        run.stdout_text(),
        "MCP server \"new.one\" is already configured within project settings.\n\
         MCP server \"new.one\" updated in project settings.\n"
    );
    assert!(stage.home.read_project_file(".gemini/settings.json").contains("\"other\""));
    let run = variables(&["remove", "new.one"]);
    assert_eq!(run.stdout_text(), "Server \"new.one\" removed from project settings.\n");
    assert_eq!(stage.home.read_project_file(".gemini/settings.json"), before);
    let run = variables(&["remove", "new.one"]);
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "Server \"new.one\" not found in project settings.\n");
    let run = variables(&["remove", "-s", "user", "b"]);
    assert_eq!(run.stdout_text(), "Server \"b\" not found in user settings.\n");
}

#[test]
fn secrets_of_the_environment_are_saved_as_references() {
    let stage = Stage::new();
    let secret = "hunter2-hunter2";
    let add = |words: &[&str]| {
        let run = stage.program().args(["mcp", "add", "-s", "user"]).args(words);
        run.env("MY_TOKEN", secret).run()
    };
    let run = add(&["one", "cmd", "-e", &format!("KEY={secret}"), "-e", "RAW=$MY_TOKEN"]);
    let note = "KEY is saved with a reference to $MY_TOKEN, whose value it has, so that the file contains no secret.\n";
    assert_eq!(run.stderr_text(), note);
    let header = format!("Authorization: Bearer {secret}");
    let address = format!("http://h/?k={secret}");
    add(&["-t", "http", "-H", &header, "-H", "X: ${MY_TOKEN}", "two", &address]).assert_code(0);
    let file = stage.home.gemini().join("settings.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(secret), "{text}");
    let settings: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        settings["mcpServers"]["one"]["env"],
        json!({"KEY": "$MY_TOKEN", "RAW": "$MY_TOKEN"})
    );
    let headers = json!({"Authorization": "Bearer $MY_TOKEN", "X": "${MY_TOKEN}"});
    assert_eq!(settings["mcpServers"]["two"]["headers"], headers);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let run = stage.program().args(["mcp", "get", "one"]).env("MY_TOKEN", secret).run();
    assert!(run.stdout_text().contains("$MY_TOKEN"), "{}", run.report());
    assert!(!run.stdout_text().contains(secret), "{}", run.report());
}

#[test]
fn a_linked_settings_file_stays_a_link() {
    let stage = Stage::new();
    stage.home.user_file("dotfiles.json", "{}");
    let link = stage.home.gemini().join("settings.json");
    symlink(stage.home.gemini().join("dotfiles.json"), &link).unwrap();
    mcp(&stage, &["add", "-s", "user", "s", "cmd"]).assert_code(0);
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&link).unwrap().contains("\"cmd\""));
}

#[test]
fn wrong_entries_are_refused() {
    let stage = Stage::new();
    for (words, message) in [
        (&["add", "s", "cmd", "-t", "http"][..], "\"cmd\" cannot be used: `url` is not an address"),
        (
            &["add", "s", "ftp://h", "-t", "sse"],
            "\"ftp://h\" cannot be used: `url` must begin with",
        ),
        (&["add", "__proto__", "cmd"], "\"__proto__\" cannot be a name."),
        (&["add", "", "cmd"], "\"\" cannot be a name."),
        (&["add", "s", "cmd", "-e", "X"], "Invalid values:\n  Argument: env, Given: \"X\""),
    ] {
        let run = mcp(&stage, words);
        run.assert_code(1);
        assert!(run.stderr_text().starts_with(message), "{}", run.report());
    }
    assert!(!stage.home.project().join(".gemini").exists());
    let run = mcp(&stage, &["add", "s", "https://h/mcp"]);
    run.assert_code(0);
    assert!(run.stderr_text().contains("--transport http"), "{}", run.report());
    stage.home.project_file(".gemini/settings.json", "{ \"a\": ");
    mcp(&stage, &["add", "s", "cmd"]).assert_code(52);
    assert_eq!(stage.home.read_project_file(".gemini/settings.json"), "{ \"a\": ");
}

#[test]
fn the_home_directory_has_no_project_settings() {
    let stage = Stage::new();
    for words in [&["add", "s", "cmd"][..], &["remove", "s"]] {
        let run = stage.program().args(["mcp"]).args(words).directory(stage.home.home()).run();
        run.assert_code(1);
        let message = "Error: Please use --scope user to edit settings in the home directory.\n";
        assert_eq!(run.stderr_text(), message);
    }
    let add = ["mcp", "add", "-s", "user", "s", "cmd"];
    stage.program().args(add).directory(stage.home.home()).run().assert_code(0);
    let run = stage.program().args(["mcp", "list"]).directory(stage.home.home()).run();
    assert_eq!(run.stdout_text().matches(" s: ").count(), 1, "{}", run.report());
}

#[test]
fn a_server_is_disabled_and_enabled_again() {
    let stage = Stage::new();
    let entry = ScriptServer::default().entry(&stage, "server");
    stage.home.settings(&json!({"mcpServers": {"Docs": entry}}));
    let file = stage.home.gemini().join("mcp-server-enablement.json");
    let state = || mcp(&stage, &["get", "Docs", "--json"]).json()["state"].clone();
    assert_eq!(state(), "enabled");
    let run = mcp(&stage, &["disable", "docs", "--session"]);
    run.assert_code(0);
    assert!(run.stdout_text().contains("no lasting effect"), "{}", run.report());
    assert!(!file.exists());
    let run = mcp(&stage, &["disable", "docs"]);
    assert_eq!(run.stdout_text(), "MCP server 'Docs' disabled.\n");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "{\n  \"docs\": {\n    \"enabled\": false\n  }\n}"
    );
    assert_eq!(state(), "disabled");
    let line =
        format!("○ Docs: {} (stdio) - Disabled\n", stage.home.project().join("server").display());
    assert!(mcp(&stage, &["list"]).stdout_text().contains(&line));
    mcp(&stage, &["test", "Docs"]).assert_code(1);
    assert_eq!(mcp(&stage, &["enable", " DOCS"]).stdout_text(), "MCP server 'Docs' enabled.\n");
    assert_eq!((state(), fs::read_to_string(&file).unwrap()), (json!("enabled"), "{}".to_owned()));
    let run = mcp(&stage, &["enable", "other"]);
    run.assert_code(1);
    assert!(
        run.stderr_text().starts_with("Error: Server 'other' not found. Use 'pollux mcp list'")
    );
}

#[test]
fn the_list_tries_all_servers_at_once() {
    let stage = Stage::new();
    let good = ScriptServer::default().entry(&stage, "good");
    let mut slow =
        ScriptServer { start: "sleep 60", ..ScriptServer::default() }.entry(&stage, "slow");
    slow["timeout"] = json!(1500);
    let mut slower =
        ScriptServer { start: "sleep 60", ..ScriptServer::default() }.entry(&stage, "slower");
    slower["timeout"] = json!(1500);
    let dead = ScriptServer { start: "echo broken >&2; exit 3", ..ScriptServer::default() };
    let dead = dead.entry(&stage, "dead");
    stage.home.settings(&json!({
        "mcpServers": {
            "good": good, "slow": slow, "slower": slower, "dead": dead,
            "gone": {"httpUrl": "http://127.0.0.1:9/x?key=hidden-value"}, "bare": {"trust": true},
            "out": {"command": "out"}
        },
        "mcp": {"excluded": ["out"]},
    }));
    let _alone = timed_test();
    let began = Instant::now();
    let run = mcp(&stage, &["list"]);
    let took = began.elapsed();
    run.assert_code(0);
    let path = |name: &str| stage.home.project().join(name).display().to_string();
    let expected = [
        "Configured MCP servers:".to_owned(),
        String::new(),
        format!("✓ good: {} (stdio) - Connected", path("good")),
        format!("✗ slow: {} (stdio) - Disconnected", path("slow")),
        "    no connection within 1.5 s".to_owned(),
        format!("✗ slower: {} (stdio) - Disconnected", path("slower")),
        "    no connection within 1.5 s".to_owned(),
        format!("✗ dead: {} (stdio) - Disconnected", path("dead")),
        "    the program ended with exit code 3: broken".to_owned(),
        "✗ gone: http://127.0.0.1:9/x?key=******** (http) - Disconnected".to_owned(),
    ];
    let text = run.stdout_text();
    assert_eq!(text.lines().take(expected.len()).collect::<Vec<_>>(), expected);
    assert!(text.contains("\n✗ bare:  - Disconnected\n    The entry cannot be used: "), "{text}");
    let end = "⛔ out: out (stdio) - Blocked\n    Server 'out' is blocked by mcp.excluded.\n";
    assert!(text.ends_with(end), "{text}");
    // One after the other, the slow ones alone would take 3 s, and then the others.
    assert!(took < Duration::from_secs(15), "{took:?}");
    let list = mcp(&stage, &["list", "--json"]).json();
    let status = |at: usize| list["servers"][at]["status"].clone();
    assert_eq!(
        (status(0), status(1), status(6)),
        (json!("connected"), json!("disconnected"), json!("blocked"))
    );
    assert_eq!(list["servers"][0]["scope"], "user");
}

#[test]
fn without_servers_there_is_nothing_to_list() {
    let stage = Stage::new();
    let run = mcp(&stage, &["list"]);
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "No MCP servers configured.\n");
    assert_eq!(mcp(&stage, &["list", "--json"]).json(), json!({"servers": []}));
}

#[test]
fn nothing_starts_in_an_untrusted_folder() {
    let stage = Stage::new();
    let canary = ScriptServer { start: "touch started", ..ScriptServer::default() };
    let entry = canary.entry(&stage, "server");
    stage.home.settings(&json!({"mcpServers": {"own": entry}}));
    stage.home.project_settings(&json!({"mcpServers": {"theirs": entry}}));
    let untrusted = |words: &[&str]| {
        let run = stage.program().args(["mcp"]).args(words);
        run.env_remove("GEMINI_CLI_TRUST_WORKSPACE").run()
    };
    let run = untrusted(&["list"]);
    run.assert_code(0);
    assert!(run.stderr_text().starts_with("Warning: MCP servers are configured but disabled because this folder is untrusted.\nUser-level"));
    let text = run.stdout_text();
    for name in ["own", "theirs"] {
        assert!(
            text.contains(&format!("○ {name}: ")) && text.contains("(stdio) - Disabled"),
            "{text}"
        );
        untrusted(&["test", name]).assert_code(1);
        assert_eq!(untrusted(&["get", name, "--json"]).json()["state"], "disabled");
    }
    let run = untrusted(&["add", "another", "cmd"]);
    assert!(run.stderr_text().contains("This folder is not trusted"), "{}", run.report());
    assert!(servers(&stage)["theirs"].is_object(), "the other servers of the file stay");
    assert!(!stage.home.project().join("started").exists());
    untrusted(&["test", "own", "--skip-trust"]).assert_code(0);
    assert!(stage.home.project().join("started").exists());
}

#[test]
fn a_server_of_the_project_starts_after_its_approval() {
    let stage = Stage::new();
    stage.home.trust_project();
    let by_rule =
        |words: &[&str]| stage.program().args(words).env_remove("GEMINI_CLI_TRUST_WORKSPACE").run();
    // The answers about this folder are pinned with the first run.
    stage.home.project_settings(&json!({"general": {"defaultApprovalMode": "auto_edit"}}));
    stage.server.stream(reply().text("hi"));
    by_rule(&["-p", "hi"]).assert_code(0);
    let canary = ScriptServer { start: "touch started", ..ScriptServer::default() };
    let path = canary.write(&stage, "server").display().to_string();
    let run = by_rule(&["mcp", "add", "s", &path]);
    assert!(run.stderr_text().contains("after you have approved it"), "{}", run.report());
    assert!(
        by_rule(&["mcp", "list"]).stdout_text().contains("(stdio) - Disabled\n    You have not")
    );
    by_rule(&["mcp", "test", "s"]).assert_code(1);
    assert!(!stage.home.project().join("started").exists());
}

#[test]
fn a_test_says_what_a_server_offers() {
    let stage = Stage::new();
    let server = ScriptServer {
        start: "echo listening >&2",
        list: listing(&[tool("look"), tool("hide")]),
        ..ScriptServer::default()
    };
    let mut entry = server.entry(&stage, "server");
    entry["excludeTools"] = json!(["hide"]);
    stage.home.settings(&json!({"mcpServers": {"docs": entry}}));
    let run = mcp(&stage, &["test", "docs"]);
    run.assert_code(0);
    let text = run.stdout_text();
    for part in [
        "docs: ",
        "(stdio), user settings\n",
        "  ✓ connect ",
        "  ✓ list tools ",
        "  ✓ ping ",
        "Server: fake 1, protocol 2025-06-18\n",
        "Tools: 1\n  mcp_docs_look  Does look.\n",
        "Left out by the settings: hide\n",
        "  | listening\n",
        "\nThe server can be used.\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = mcp(&stage, &["test", "docs", "--json"]).json();
    assert_eq!(
        (&json["usable"], &json["tools"][0]["name"]),
        (&json!(true), &json!("mcp_docs_look"))
    );
    assert_eq!(json["log"], json!(["listening"]));
}

#[test]
fn a_test_says_which_prompts_and_resources_a_server_offers() {
    let stage = Stage::new();
    let capabilities = json!({"tools": {}, "prompts": {}, "resources": {}});
    let prompts = json!({"prompts": [{"name": "review", "description": "Reviews."}]});
    let error = r#"*resources/list*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"disk full"}}\n' "$id";;"#;
    let server = ScriptServer {
        initialize: format!("echo \"$line\" > asked; {}", introduction(&capabilities, "")),
        more: format!("{}{error}", branch("prompts/list", &prompts)),
        ..ScriptServer::default()
    };
    stage.home.settings(&json!({"mcpServers": {"docs": server.entry(&stage, "server")}}));
    let run = mcp(&stage, &["test", "docs"]);
    // The tools can be used.
    run.assert_code(0);
    let text = run.stdout_text();
    for part in [
        "  ✓ list prompts ",
        "  ✗ list resources ",
        "cannot list its resources: the server refused: disk full\n",
        "\nPrompts: 1\n  review  Reviews.\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = mcp(&stage, &["test", "docs", "--json"]).json();
    assert_eq!(json["prompts"], json!([{"name": "review", "description": "Reviews."}]));
    assert_eq!((&json["resources"], &json["usable"]), (&json!([]), &json!(true)));
    let asked: Value = serde_json::from_str(&stage.home.read_project_file("asked")).unwrap();
    assert!(asked["params"]["capabilities"]["sampling"].is_object(), "{asked}");
}

#[test]
fn a_variable_that_a_header_needs_is_named() {
    let stage = Stage::new();
    stage.server.route("/mcp", |_| reply().status(500, "no"));
    let url = format!("{}/mcp", stage.server.url());
    stage.home.settings(&json!({"mcpServers": {
        "web": {"httpUrl": url, "headers": {"X-Key": "key $UNSET_KEY"}},
    }}));
    let expected = "The variable UNSET_KEY in the header X-Key is not set, so it is empty.";
    let list = mcp(&stage, &["list"]).stdout_text();
    assert!(list.contains(&format!("\n    {expected}\n")), "{list}");
    let test = mcp(&stage, &["test", "web"]).stdout_text();
    assert!(test.contains(&format!("! {expected}\n")), "{test}");
    let json = mcp(&stage, &["test", "web", "--json"]).json();
    assert_eq!(json["problems"], json!([expected]));
    let sent: Vec<_> = stage.server.requests();
    assert!(sent.iter().all(|one| one.header("x-key").unwrap().trim() == "key"), "{sent:?}");
}

#[test]
fn a_test_says_what_is_wrong() {
    let stage = Stage::new();
    let dead =
        ScriptServer { start: "echo one >&2; echo two >&2; exit 3", ..ScriptServer::default() };
    let mut slow = ScriptServer { start: "echo loading >&2; sleep 60", ..ScriptServer::default() }
        .entry(&stage, "slow");
    slow["timeout"] = json!(1500);
    stage.home.settings(&json!({"mcpServers": {
        "dead": dead.entry(&stage, "dead"), "slow": slow, "none": {"command": "no-such-program-x"}
    }}));
    for (name, parts) in [
        ("dead", &["✗ connect ", "exit code 3: two", "  | one\n  | two\n"][..]),
        ("slow", &["no connection within 1.5 s", "  | loading\n"]),
        ("none", &["no-such-program-x"]),
    ] {
        let run = mcp(&stage, &["test", name]);
        run.assert_code(1);
        for part in parts {
            assert!(run.stdout_text().contains(part), "{part}: {}", run.report());
        }
        assert!(run.stdout_text().ends_with("The server cannot be used.\n"), "{}", run.report());
    }
}

#[test]
fn a_signal_ends_the_servers() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let stage = Stage::new();
        let slow =
            ScriptServer { start: "echo $$ > pid; exec sleep 60", ..ScriptServer::default() };
        let mut entry = slow.entry(&stage, "slow");
        entry["timeout"] = json!(60_000);
        stage.home.settings(&json!({"mcpServers": {"slow": entry}}));
        let pid = stage.home.project().join("pid");
        let running = stage.program().args(["mcp", "list"]).spawn();
        let has_pid = || fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'));
        wait_until("the server runs", has_pid);
        let _alone = timed_test();
        let asked = Instant::now();
        running.signal(signal);
        running.wait().assert_code(code);
        assert!(asked.elapsed() < SOON / 6, "{:?}", asked.elapsed());
        let server = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        wait_until("the server has ended", || !is_alive(server));
    }
}
