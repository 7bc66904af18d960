//! Signing in to MCP servers: `mcp auth`, `/mcp auth`, and what happens without it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;

use pollux_testkit::{CapturedRequest, ModelReply, ReplyContent, reply, write_executable};
use serde_json::{Value, json};

use super::line::Talk;
use super::mcp_server::tool;
use super::stage::{SOON, Stage, wait_until};

/// Creates a stage with the server `web`, which requires the token `ACCESS-1`, and its
/// authorization server.
fn stage_with(oauth: &Value) -> Stage {
    let stage = Stage::new();
    let base = stage.server.url();
    let metadata = json!({
        "issuer": base, "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"), "registration_endpoint": format!("{base}/register"),
        "code_challenge_methods_supported": ["S256"],
    });
    let resource = json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]});
    let token = json!({"access_token": "ACCESS-1", "refresh_token": "R1", "expires_in": 3600});
    for (path, document) in [
        ("/.well-known/oauth-protected-resource/mcp", resource),
        ("/.well-known/oauth-authorization-server", metadata),
        ("/register", json!({"client_id": "cid"})),
        ("/token", token),
    ] {
        stage.server.route(path, move |_| reply().json(document.clone()));
    }
    stage.server.route("/mcp", answer);
    let entry = json!({"url": format!("{base}/mcp"), "type": "http", "oauth": oauth});
    stage.home.settings(&json!({"mcpServers": {"web": entry}}));
    stage
}

fn answer(request: &CapturedRequest) -> ModelReply {
    if request.header("authorization") != Some("Bearer ACCESS-1") {
        return reply().status(401, "").header("www-authenticate", "Bearer");
    }
    let body = &request.body;
    let result = match body["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"},
        }),
        "tools/list" => json!({"tools": [tool("look")]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "seen"}]}),
        _ if request.method == "POST" => return reply().status(202, ""),
        _ => return reply().status(405, ""),
    };
    reply().json(json!({"jsonrpc": "2.0", "id": body["id"], "result": result}))
}

/// Returns the file of tokens.
fn tokens(stage: &Stage) -> PathBuf {
    stage.home.home().join(".gemini/mcp-oauth-tokens.json")
}

/// Returns a parameter of a page's address.
fn parameter(page: &str, name: &str) -> String {
    let start = page.find(&format!("{name}=")).unwrap_or_else(|| panic!("{name} in {page}"));
    let value = page[start + name.len() + 1..].split(['&', '\n', ' ', '\r']).next().unwrap();
    value.replace("%3A", ":").replace("%2F", "/")
}

/// Signs in on a page as a browser does: opens the address of the redirect.
fn redirect(page: &str) {
    let target = parameter(page, "redirect_uri");
    let port = target.strip_prefix("http://localhost:").unwrap().split('/').next().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    let state = parameter(page, "&state");
    let request = format!(
        "GET /oauth/callback?code=C&state={state} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.contains("You are signed in."), "{response}");
}

/// Writes a browser, which saves the address that it is to open; returns its path and the file.
fn browser(stage: &Stage) -> (PathBuf, PathBuf) {
    let (program, page) = (stage.home.home().join("browser"), stage.home.home().join("page"));
    let script =
        format!("#!/bin/sh\nprintf '%s' \"$1\" > '{0}.new'\nmv '{0}.new' '{0}'\n", page.display());
    write_executable(&program, &script);
    (program, page)
}

/// Waits for the address that the browser was to open.
fn opened(page: &PathBuf) -> String {
    wait_until("the browser is started", || page.exists());
    fs::read_to_string(page).unwrap()
}

#[test]
fn a_code_is_pasted_and_the_token_used_until_it_is_removed() {
    let stage = stage_with(&json!({}));
    let mut run = stage.alone().args(["mcp", "auth", "web"]).stdin_held_open().spawn();
    let text = run.stderr_until("and press Enter.");
    assert!(text.contains("Authentication required for MCP Server: 'web.'"), "{text}");
    let page = text.lines().find(|line| line.contains("/authorize?")).unwrap();
    let (target, state) = (parameter(page, "redirect_uri"), parameter(page, "&state"));
    run.write_stdin(format!("{target}?code=C&state={state}\n").as_bytes());
    let run = run.wait();
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "✅ Successfully authenticated with MCP server 'web'!\n");
    let saved: Value = serde_json::from_slice(&fs::read(tokens(&stage)).unwrap()).unwrap();
    assert_eq!(saved[0]["serverName"], "web");
    assert_eq!(saved[0]["token"]["refreshToken"], "R1");
    assert!(!run.stderr_text().contains("ACCESS-1"));

    stage.server.stream(reply().call("mcp_web_look", json!({})));
    stage.server.stream(reply().text("done"));
    stage.pollux(&["-y", "-p", "go"]).run().assert_code(0);
    assert!(stage.response().contains("seen"), "{}", stage.response());

    for (code, message) in [
        (0, "Removed the credentials of MCP server 'web'.\n"),
        (0, "There are no credentials of MCP server 'web'.\n"),
    ] {
        let run = stage.alone().args(["mcp", "logout", "web"]).run();
        assert_eq!(run.assert_code(code).stdout_text(), message);
        assert!(!tokens(&stage).exists());
    }
}

#[test]
fn a_token_that_ends_during_a_session_is_named_to_the_model() {
    let stage = stage_with(&json!({}));
    let base = stage.server.url();
    let kept = json!([{
        "serverName": "web", "token": {"accessToken": "ACCESS-1", "refreshToken": "gone"},
        "clientId": "cid", "tokenUrl": format!("{base}/token"),
        "mcpServerUrl": format!("{base}/mcp"), "updatedAt": 1,
    }]);
    fs::write(tokens(&stage), kept.to_string()).unwrap();
    let refused = json!({"error": "invalid_grant"}).to_string();
    let refused = move |_: &CapturedRequest| {
        reply().status(400, ReplyContent::of("application/json", &refused))
    };
    stage.server.route("/token", refused);
    stage.server.route("/mcp", |request| {
        if request.body["method"] == "tools/call" {
            reply().status(401, "")
        } else {
            answer(request)
        }
    });
    stage.server.stream(reply().call("mcp_web_look", json!({})));
    stage.server.stream(reply().text("done"));
    stage.pollux(&["-y", "-p", "go"]).run().assert_code(0);
    let response = stage.response();
    assert!(response.contains("requires authentication. Sign in: /mcp auth web"), "{response}");
    assert!(!tokens(&stage).exists(), "the grant is not valid");
}

#[test]
fn without_a_token_a_headless_run_names_the_remedy() {
    let stage = stage_with(&json!({"enabled": true}));
    stage.server.stream(reply().text("done"));
    let run = stage.pollux(&["-p", "go"]).run();
    run.assert_code(0);
    let stderr = run.stderr_text();
    for line in [
        "MCP server 'web' requires authentication using: /mcp auth web",
        "Sign in at the terminal: pollux mcp auth web",
    ] {
        assert!(stderr.contains(line), "{line}: {stderr}");
    }
    let list = stage.alone().args(["mcp", "list"]).run().stdout_text();
    assert!(list.contains("    the server requires authentication: pollux mcp auth web"), "{list}");
    let test = stage.alone().args(["mcp", "test", "web"]).run();
    let text = test.assert_code(1).stdout_text();
    assert!(text.contains("without signing in: pollux mcp auth web"), "{text}");
}

#[test]
fn failures_have_exit_codes() {
    let stage = stage_with(&json!({}));
    let run = stage.alone().args(["mcp", "auth", "nosuch"]).run();
    assert!(run.assert_code(1).stderr_text().contains("Server 'nosuch' not found"));
    let mut run = stage.alone().args(["mcp", "auth", "web"]).stdin_held_open().spawn();
    run.stderr_until("and press Enter.");
    run.write_stdin(b"http://localhost:1/oauth/callback?error=access_denied\n");
    let run = run.wait();
    let message = "Failed to authenticate with MCP server 'web': OAuth error: access_denied";
    assert!(run.assert_code(41).stderr_text().contains(message), "{}", run.report());
    assert!(!tokens(&stage).exists());
    let (program, page) = browser(&stage);
    let terminal = stage.alone().args(["mcp", "auth", "web"]).env("BROWSER", &program);
    let mut terminal = terminal.in_terminal(30, 100);
    terminal.wait_for_text("(y: open it, n: only show", SOON);
    terminal.send("q\r");
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 130);
    assert!(terminal.screen().contains("Authentication cancelled by user."));
    assert!(!page.exists());
}

#[test]
fn a_browser_opens_the_page() {
    let stage = stage_with(&json!({}));
    let (program, page) = browser(&stage);
    let terminal = stage.alone().args(["mcp", "auth", "web"]).env("BROWSER", &program);
    let mut terminal = terminal.in_terminal(30, 100);
    terminal.wait_for_text("(y: open it, n: only show", SOON);
    terminal.send("y\r");
    redirect(&opened(&page));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0, "{}", terminal.screen());
    assert!(tokens(&stage).exists());
}

#[test]
fn a_conversation_signs_in_and_has_the_tools_at_once() {
    let stage = stage_with(&json!({}));
    let (program, page) = browser(&stage);
    stage.server.stream(reply().call("mcp_web_look", json!({})));
    stage.server.stream(reply().text("done"));
    let talk = Talk::start(stage, |run| run.args(["-y"]).env("BROWSER", &program));
    talk.wait_for_text("requires authentication using: /mcp auth web");
    talk.type_line("/mcp auth");
    talk.wait_for_text("  - web");
    talk.wait_for_prompt();
    talk.type_line("/mcp auth web");
    talk.wait_for_text("Choose 1-3");
    talk.type_line("1");
    redirect(&opened(&page));
    talk.wait_for_text("Successfully authenticated and reloaded tools for 'web'");
    talk.wait_for_prompt();
    talk.type_line("go");
    talk.wait_for_text("done");
    talk.wait_for_prompt();
    assert!(talk.stage.response().contains("seen"));
    let (stage, transcript) = talk.leave();
    assert!(!transcript.contains("ACCESS-1"));
    assert!(tokens(&stage).exists());
}

#[test]
fn a_conversation_takes_a_pasted_address_and_asks_where_it_is_enabled() {
    let talk = Talk::start(stage_with(&json!({"enabled": true})), |run| run);
    // Nobody has typed a command.
    talk.wait_for_text("Authentication required for MCP Server: 'web.'");
    talk.wait_for_text("Choose 1-2");
    talk.type_line("1");
    talk.wait_for_text("If the browser cannot reach this machine afterwards");
    let transcript = String::from_utf8(talk.terminal.transcript()).unwrap();
    let start = transcript.find("http://127.0.0.1").unwrap();
    let page: String =
        transcript[start..].chars().take_while(|letter| !letter.is_control()).collect();
    assert!(page.contains("&resource="), "the address is whole: {page}");
    let (target, state) = (parameter(&page, "redirect_uri"), parameter(&page, "&state"));
    talk.type_line(&format!("/mcp auth web {target}?code=C&state={state}"));
    talk.wait_for_text("Successfully authenticated and reloaded tools for 'web'");
    talk.type_line("/mcp list");
    talk.wait_for_text("web (http): ready");
    talk.wait_for_prompt();
    talk.end();
}

#[test]
fn a_server_that_may_not_receive_google_credentials_is_named() {
    let stage = Stage::new();
    let entry = json!({"url": "https://x.example/mcp", "authProviderType": "google_credentials"});
    stage.home.settings(&json!({"mcpServers": {"g": entry}}));
    stage.server.stream(reply().text("done"));
    let run = stage.pollux(&["-p", "go"]).run();
    let stderr = run.assert_code(0).stderr_text();
    assert!(
        stderr
            .contains("Host \"x.example\" is not an allowed host for Google Credential provider."),
        "{stderr}"
    );
}
