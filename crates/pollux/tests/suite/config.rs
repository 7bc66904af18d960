//! `pollux config`: the built program shows, changes and explains settings.

use std::fs;
use std::path::PathBuf;

use pollux_testkit::{Finished, Tree};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::Stage;

fn config(stage: &Stage, words: &[&str]) -> Finished {
    let run = stage.alone().args(["config"]).args(words).run();
    assert!(stage.session_files().is_empty(), "no session is begun\n{}", run.report());
    run
}

/// Returns the standard output of a successful run.
fn reported(stage: &Stage, words: &[&str]) -> String {
    let run = config(stage, words);
    run.assert_code(0);
    run.stdout_text()
}

/// Returns the message of a run that fails.
fn refused(stage: &Stage, words: &[&str], code: i32) -> String {
    let run = config(stage, words);
    run.assert_code(code);
    assert_eq!(run.stdout_text(), "", "{}", run.report());
    run.stderr_text()
}

fn json_of(stage: &Stage, words: &[&str]) -> Value {
    let run = config(stage, &[words, &["--json"]].concat());
    serde_json::from_str(&run.stdout_text())
        .unwrap_or_else(|error| panic!("{error}\n{}", run.report()))
}

fn user_file(stage: &Stage) -> PathBuf {
    stage.home.gemini().join("settings.json")
}

#[test]
fn get_prints_the_value_that_counts() {
    let stage = Stage::new();
    stage.home.settings(&json!({"model": {"name": "file"}, "general": {"maxAttempts": 3}}));
    stage.home.project_settings(&json!({"general": {"maxAttempts": 4}, "tools": {"core": ["a"]}}));
    for (words, expected) in [
        (&["get", "general.maxAttempts"][..], "4\n"),
        (&["get", "model.name"], "file\n"),
        (&["get", "model.name", "--model", "flag"], "flag\n"),
        (&["get", "general.retryFetchErrors"], "true\n"),
        (&["get", "tools.core"], "[\"a\"]\n"),
        (&["get", "output.format", "-o", "json"], "json\n"),
        (&["get", "general.defaultApprovalMode", "-y"], "yolo\n"),
    ] {
        assert_eq!(reported(&stage, words), expected, "{words:?}");
    }
    let run =
        stage.alone().env("GEMINI_MODEL", "variable").args(["config", "get", "model.name"]).run();
    assert_eq!(run.stdout_text(), "variable\n");
    let group: Value = serde_json::from_str(&reported(&stage, &["get", "general"])).unwrap();
    assert_eq!(group["maxAttempts"], json!(4));
}

#[test]
fn what_is_not_set_or_not_known_exits_1() {
    let stage = Stage::new();
    assert_eq!(
        refused(&stage, &["get", "telemetry.outfile"], 1),
        "telemetry.outfile is not set.\n"
    );
    assert_eq!(
        json_of(&stage, &["get", "telemetry.outfile"]),
        json!({"key": "telemetry.outfile", "value": null, "set": false})
    );
    let message = "There is no setting general.maxAtempts. Did you mean general.maxAttempts?\n";
    for verb in ["get", "explain", "unset"] {
        assert_eq!(refused(&stage, &[verb, "general.maxAtempts"], 1), message, "{verb}");
    }
    let run = config(&stage, &["set", "general.maxAtempts", "3", "--json"]);
    run.assert_code(1);
    let reported: Value = serde_json::from_str(&run.stdout_text()).unwrap();
    assert_eq!(
        reported,
        json!({"error": {"type": "Error", "message": message.trim_end(), "code": 1}})
    );
    assert!(!user_file(&stage).exists());
}

#[test]
fn set_and_unset_keep_what_a_person_wrote() {
    let stage = Stage::new();
    let text = "\u{feff}{\r\n\t// my model\r\n\t\"model\": { \"name\": \"a\" }, // short\r\n\t\"theme\": 1\r\n}\r\n";
    stage.home.user_file("settings.json", text);
    let saved = reported(&stage, &["set", "model.name", "b"]);
    assert_eq!(saved, format!("model.name = \"b\" saved in {}\n", user_file(&stage).display()));
    let read = || fs::read_to_string(user_file(&stage)).unwrap();
    assert_eq!(read(), text.replace("\"a\"", "\"b\""));
    reported(&stage, &["set", "general.maxAttempts", "2"]);
    let added = ",\r\n\t\"general\": {\r\n\t\t\"maxAttempts\": 2\r\n\t}\r\n}";
    assert_eq!(read(), text.replace("\"a\"", "\"b\"").replace("\r\n}", added));
    reported(&stage, &["unset", "general.maxAttempts"]);
    reported(&stage, &["unset", "general"]);
    reported(&stage, &["set", "model.name", "a"]);
    assert_eq!(read(), text);
    let again = reported(&stage, &["set", "model.name", "a"]);
    assert!(again.starts_with("model.name is \"a\" already in "), "{again}");
    assert!(reported(&stage, &["unset", "ui.theme"]).starts_with("ui.theme is not set in "));
}

#[test]
fn a_new_file_is_made_where_it_belongs() {
    let stage = Stage::new();
    fs::remove_dir(stage.home.gemini()).unwrap();
    reported(&stage, &["set", "general.maxAttempts", "2"]);
    assert_eq!(
        fs::read_to_string(user_file(&stage)).unwrap(),
        "{\n  \"general\": {\n    \"maxAttempts\": 2\n  }\n}"
    );
    reported(&stage, &["set", "--project", "general.maxAttempts", "3"]);
    assert!(stage.home.read_project_file(".gemini/settings.json").contains("\"maxAttempts\": 3"));
    assert_eq!(reported(&stage, &["get", "general.maxAttempts"]), "3\n");
    let system = stage.home.temporary().join("system/settings.json");
    let run = stage
        .alone()
        .env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &system)
        .args(["config", "set", "--system", "general.maxAttempts", "4"])
        .run();
    run.assert_code(0);
    assert!(fs::read_to_string(&system).unwrap().contains("\"maxAttempts\": 4"));
}

#[test]
fn values_are_checked_before_anything_is_written() {
    let stage = Stage::new();
    for (words, message) in [
        (["general.maxAttempts", "many"], "general.maxAttempts takes a number, not \"many\"."),
        (["general.vimMode", "1"], "general.vimMode takes true or false, not \"1\"."),
        (["output.format", "yaml"], "output.format takes one of text, json, not \"yaml\"."),
        (
            ["general", "{}"],
            "general is a group of settings, not one: name one of them, such as general.preferredEditor.",
        ),
        (
            ["admin.mcp.enabled", "true"],
            "admin.mcp.enabled cannot be set there: only the account's administrator can set it.",
        ),
    ] {
        let reported = refused(&stage, &["set", words[0], words[1]], 1);
        assert_eq!(reported, format!("{message}\n"));
    }
    let here = refused(&stage, &["set", "--project", "security.folderTrust.enabled", "false"], 1);
    assert!(here.contains("a project's own file cannot set it"), "{here}");
    let both = refused(&stage, &["set", "--project", "--system", "general.vimMode", "true"], 1);
    assert!(both.contains("Only one of --user, --project and --system"), "{both}");
    assert!(!user_file(&stage).exists());
    assert!(!stage.home.project().join(".gemini").exists());
}

#[test]
fn a_broken_file_is_left_alone() {
    let stage = Stage::new();
    stage.home.user_file("settings.json", "{\n  \"model\": {},\n}");
    let before = Tree::of(stage.home.gemini());
    for words in
        [&["set", "model.name", "x"][..], &["unset", "model.name"], &["list"], &["migrate"]]
    {
        let message = refused(&stage, words, 52);
        assert!(
            message.contains("settings.json: Trailing commas are not allowed (line 2, column 14)"),
            "{message}"
        );
    }
    assert_eq!(Tree::of(stage.home.gemini()), before);
}

#[test]
fn a_change_that_does_not_count_says_why() {
    let stage = Stage::new();
    let untrusted = |words: &[&str]| {
        let program = stage.alone().env_remove("GEMINI_CLI_TRUST_WORKSPACE");
        program.args(["config"]).args(words).run()
    };
    let run = untrusted(&["set", "--project", "general.maxAttempts", "3"]);
    run.assert_code(0);
    assert_eq!(run.stderr_text(), "This file has no effect now: the folder is not trusted.\n");
    assert_eq!(untrusted(&["get", "general.maxAttempts"]).stdout_text(), "10\n");
    assert_eq!(untrusted(&["get", "general.maxAttempts", "--skip-trust"]).stdout_text(), "3\n");

    let reported = config(&stage, &["set", "general.maxAttempts", "5"]).stderr_text();
    assert!(
        reported.ends_with(".gemini/settings.json:3 has the value 3, which is in effect.\n"),
        "{reported}"
    );
    let reported = config(&stage, &["set", "general.devtools", "true"]).stderr_text();
    assert_eq!(reported, "general.devtools has no effect in this version of Pollux.\n");

    let run = stage
        .alone()
        .directory(stage.home.home())
        .args(["config", "set", "--project", "general.vimMode", "true"])
        .run();
    run.assert_code(1);
    assert!(run.stderr_text().contains("use --user"), "{}", run.report());
}

#[test]
fn explain_shows_every_layer() {
    let stage = Stage::new();
    stage.home.user_file("settings.json", "{\n  \"model\": {\n    \"name\": \"mine\"\n  }\n}");
    stage.home.project_settings(&json!({"model": {"name": "$THEIRS"}}));
    let run = stage
        .alone()
        .env("THEIRS", "theirs")
        .env("GEMINI_MODEL", "variable")
        .args(["config", "explain", "model.name", "--json"])
        .run();
    let reported: Value = serde_json::from_str(&run.stdout_text()).unwrap();
    assert_eq!(reported["value"], json!("variable"));
    assert_eq!(reported["setting"]["default"], Value::Null);
    let layers = reported["layers"].as_array().unwrap();
    let line = |layer: &Value| {
        [&layer["source"], &layer["outcome"], &layer["value"], &layer["written"], &layer["line"]]
            .map(Value::clone)
    };
    let lines: Vec<_> = layers.iter().map(line).collect();
    assert_eq!(
        serde_json::to_value(&lines).unwrap(),
        json!([
            ["default", "unset", null, null, null],
            ["system-defaults", "unset", null, null, null],
            ["user", "overridden", "mine", null, 3],
            ["project", "overridden", "theirs", "$THEIRS", 3],
            ["system", "unset", null, null, null],
            ["environment", "wins", "variable", null, null],
            ["flag", "unset", null, null, null],
        ])
    );
    let text = reported_of(&stage);
    assert!(text.starts_with("model.name = \"mine\"\n"), "{text}");
    assert!(text.contains("* user             \"mine\"  "), "{text}");
    assert!(text.contains("settings.json:3\n"), "{text}");
    assert!(text.contains("(not read: the folder is not trusted)\n"), "{text}");
}

/// Returns the explanation of the model's name in an untrusted folder.
fn reported_of(stage: &Stage) -> String {
    let program = stage.alone().env_remove("GEMINI_CLI_TRUST_WORKSPACE");
    program.args(["config", "explain", "model.name"]).run().stdout_text()
}

#[test]
fn variables_of_the_dotenv_file_are_reported_with_it() {
    let stage = Stage::new();
    stage.home.project_file(".env", "GEMINI_MODEL=from-file\n");
    let reported = json_of(&stage, &["explain", "model.name"]);
    let layer = &reported["layers"][5];
    assert_eq!(layer["value"], json!("from-file"));
    assert_eq!(layer["names"], json!(["GEMINI_MODEL"]));
    assert!(layer["path"].as_str().unwrap().ends_with("project/.env"), "{layer}");
}

#[test]
fn list_shows_what_is_set() {
    let stage = Stage::new();
    stage
        .home
        .settings(&json!({"tools": {"exclude": ["a"]}, "general": {"maxAttempts": 3}, "x": 1}));
    stage.home.project_settings(&json!({"tools": {"exclude": ["b"]}}));
    let run = config(&stage, &["list"]);
    let user = user_file(&stage);
    let project = stage.home.project().join(".gemini/settings.json");
    let expected = format!(
        "general.maxAttempts = 3  # user {user}:6\n\
         tools.exclude = [\"a\",\"b\"]  # user {user}:3, project {project}:3\n",
        user = user.display(),
        project = project.display(),
    );
    let lines: Vec<&str> = expected.lines().collect();
    let reported = run.stdout_text();
    for (line, expected) in reported.lines().zip(&lines) {
        assert_eq!(line.split("  # ").next(), expected.split("  # ").next());
    }
    assert_eq!(reported.lines().count(), 2, "{reported}");
    assert!(reported.contains(&format!("# user {}:", user.display())), "{reported}");
    assert!(reported.contains(&format!(", project {}:3", project.display())), "{reported}");
    assert_eq!(run.stderr_text(), "Unknown keys in the files: 1. See config report.\n");
    let all = json_of(&stage, &["list", "--all"]);
    let count = all["settings"].as_array().unwrap().len();
    assert!(count > 200, "{count}");
    assert_eq!(all["settings"][0]["key"], json!("mcpServers"));
}

#[test]
fn report_names_what_does_nothing() {
    let stage = Stage::new();
    stage.home.user_file(
        "settings.json",
        "{\n  \"theme\": \"x\",\n  \"general\": {\n    \"devtools\": true,\n    \"disableAutoUpdate\": true,\n    \"maxAttempts\": \"many\"\n  }\n}",
    );
    let text = reported(&stage, &["report"]);
    let expected = format!(
        "{}:\n  2: theme: a name of the first settings format, without effect; config migrate moves it to ui.theme\n  \
         4: general.devtools: has no effect in this version of Pollux\n  \
         5: general.disableAutoUpdate: an old name, which still works; see config migrate\n  \
         6: general.maxAttempts: Expected number, received string\n",
        user_file(&stage).display()
    );
    assert_eq!(text, expected);
    let reported = json_of(&stage, &["report"]);
    let kinds: Vec<_> = reported["files"][0]["remarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|remark| remark["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["flat", "not-acted-on", "old-name", "wrong-value"]);
    fs::remove_file(user_file(&stage)).unwrap();
    assert_eq!(self::reported(&stage, &["report"]), "There are no settings files.\n");
}

#[test]
fn migrate_gives_old_keys_their_new_names() {
    let stage = Stage::new();
    stage.home.user_file(
        "settings.json",
        "{\n  // updates\n  \"general\": { \"disableAutoUpdate\": true }\n}\n",
    );
    assert_eq!(reported(&stage, &["get", "general.enableAutoUpdate"]), "false\n");
    let reported = reported(&stage, &["migrate"]);
    assert_eq!(
        reported,
        format!("general.disableAutoUpdate renamed in {}\n", user_file(&stage).display())
    );
    assert_eq!(
        fs::read_to_string(user_file(&stage)).unwrap(),
        "{\n  // updates\n  \"general\": {\n    \"enableAutoUpdate\": false\n  }\n}\n"
    );
    let none = json_of(&stage, &["migrate", "--project"]);
    assert_eq!(none["keys"], json!([]));
}

#[test]
fn migrate_moves_the_keys_of_the_first_format() {
    let stage = Stage::new();
    let old = "{\n  // mine\n  \"model\": \"gemini-2.5-flash\",\n  \"contextFileName\": \"NOTES.md\",\n  \"maxSessionTurns\": 7, // few\n  \"disableAutoUpdate\": true,\n  \"theme\": \"old\",\n  \"ui\": { \"theme\": \"new\" }\n}\n";
    stage.home.user_file("settings.json", old);
    // As in Gemini CLI, the keys have no effect where they are.
    assert!(!reported(&stage, &["list"]).contains("NOTES.md"));
    let report = reported(&stage, &["report"]);
    assert!(report.contains("3: model: a name of the first settings format"), "{report}");
    let migrated = json_of(&stage, &["migrate"]);
    let keys = ["model", "contextFileName", "disableAutoUpdate", "maxSessionTurns", "theme"];
    assert_eq!(migrated["keys"], json!(keys));
    for (key, value) in [
        ("model.name", "gemini-2.5-flash"),
        ("context.fileName", "NOTES.md"),
        ("model.maxSessionTurns", "7"),
        ("general.enableAutoUpdate", "false"),
        ("ui.theme", "new"),
    ] {
        assert_eq!(reported(&stage, &["get", key]).trim().trim_matches('"'), value, "{key}");
    }
    let text = fs::read_to_string(user_file(&stage)).unwrap();
    assert!(text.contains("// mine") && !text.contains("contextFileName"), "{text}");
    assert_eq!(json_of(&stage, &["migrate"])["keys"], json!([]));
}

#[test]
fn credentials_are_masked() {
    let stage = Stage::new();
    let secret = "ghp_0123456789abcdefghij";
    stage.home.settings(&json!({
        "mcpServers": {"x": {"command": "y", "env": {"TOKEN": secret}, "args": ["--token", secret]}},
        "telemetry": {"otlpEndpoint": format!("https://me:{secret}@host/")},
    }));
    let set = ["set", "mcpServers.z.headers.Authorization", secret];
    let runs: [&[&str]; 8] = [
        &["list"],
        &["list", "--json"],
        &["get", "mcpServers"],
        &["get", "mcpServers.x.env.TOKEN"],
        &["explain", "mcpServers", "--json"],
        &["explain", "telemetry.otlpEndpoint"],
        &["report"],
        &set,
    ];
    for words in runs {
        let run = config(&stage, words);
        let reported = run.stdout_text() + &run.stderr_text();
        assert!(!reported.contains("0123456789"), "{words:?}: {reported}");
    }
    assert!(
        fs::read_to_string(user_file(&stage))
            .unwrap()
            .contains(&format!("\"Authorization\": \"{secret}\""))
    );
}

#[test]
fn nothing_that_moves_the_cursor_reaches_the_terminal() {
    let stage = Stage::new();
    stage.home.user_file("settings.json", r#"{"model": {"name": "a\u001b[2Jb\u0007"}}"#);
    assert_eq!(reported(&stage, &["get", "model.name"]), "ab\n");
}

#[test]
fn incomplete_lines_get_the_usage() {
    let stage = Stage::new();
    for (words, message) in [
        (&["config", "set", "model.name"][..], "config set takes KEY VALUE."),
        (&["config", "get"], "config get takes KEY."),
        (&["config", "list", "general"], "config list takes no further arguments."),
        (&["config"], "config needs a subcommand: "),
    ] {
        let run = stage.alone().args(words).run();
        run.assert_code(1);
        assert!(run.stderr_text().starts_with(message), "{}", run.report());
    }
    let help = stage.alone().args(["config", "set", "--help"]).run();
    help.assert_code(0);
    assert!(help.stdout_text().contains("--project"), "{}", help.report());
}

#[test]
fn hostile_files_are_refused_at_once() {
    let stage = Stage::new();
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(200_000), "]".repeat(200_000));
    let huge = format!("{{\"a\": \"{}\"}}", "x".repeat(17 << 20));
    let wide: String =
        "\u{feff}{}".encode_utf16().map(|unit| char::from_u32(unit.into()).unwrap()).collect();
    let utf16: Vec<u8> = wide.chars().flat_map(|letter| (letter as u16).to_le_bytes()).collect();
    for (bytes, words) in [
        (deep.into_bytes(), "nested deeper than 128 levels"),
        (huge.into_bytes(), "EFBIG"),
        (b"{\"a\": \"\0\"}".to_vec(), "control character that is not escaped (line 1, column 8)"),
        (utf16, "The file is UTF-16 (little endian). Settings files are UTF-8"),
        (b"\xff\xfe\xfd".to_vec(), "settings.json: "),
    ] {
        stage.home.user_file("settings.json", bytes);
        for verb in [&["list"][..], &["set", "general.vimMode", "true"]] {
            let message = refused(&stage, verb, 52);
            assert!(message.contains(words), "{message}");
        }
    }
}
