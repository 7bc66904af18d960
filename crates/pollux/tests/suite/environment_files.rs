//! The `.env` files that Pollux obeys without consent: no command and no file tool reads or changes
//! them, and none of their variables starts a program.

use std::fs;
use std::path::Path;

use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sandbox::{Place, holds, users};
use super::stage::Stage;

/// Files that only the user changes, relative to the folder of a [`Place`].
const GUARDED: [&str; 5] =
    ["home/.env", "home/.gemini/.env", "project/.gemini/.env", ".env", ".gemini/.env"];

/// Level, and the guarded files that commands at this level can read.
const LEVELS: [(&str, &[&str]); 3] =
    [("inspect", &[]), ("workspace-write", &[]), ("protect", &[".env"])];

#[test]
fn no_confined_command_reads_or_changes_a_file_that_the_next_run_obeys() {
    for user in users() {
        for (level, readable) in LEVELS {
            if !holds(user, level) {
                continue;
            }
            for file in GUARDED {
                let place = Place::new(user);
                let path = place.path(file);
                place.write(file, "KEY=hush\n");
                let name = path.to_str().unwrap();
                let read = place.run(level, &format!("cat {name}; cp {name} copy; cat copy"));
                let is_read = String::from_utf8_lossy(&read.stdout).contains("hush");
                assert_eq!(is_read, readable.contains(&file), "{user:?} {level} {file}");
                for line in [
                    format!("echo BASH_ENV=x > {name}"),
                    format!("echo BASH_ENV=x >> {name}"),
                    format!("rm -f {name}; echo BASH_ENV=x > {name}"),
                    format!("echo BASH_ENV=x > new; mv -f new {name}"),
                    format!("ln -sf /dev/null {name}"),
                ] {
                    place.run(level, &line);
                    let text = fs::read_to_string(&path).unwrap_or_default();
                    assert_eq!(text, "KEY=hush\n", "{user:?} {level}: {line}");
                }
            }
        }
    }
}

#[test]
fn a_new_file_that_the_next_run_would_obey_is_moved_aside() {
    for user in users().into_iter().filter(|user| holds(*user, "protect")) {
        for file in GUARDED {
            let place = Place::new(user);
            let path = place.path(file);
            let line = format!("mkdir -p {0}; echo BASH_ENV=x > {0}/.env", parent(&path));
            let run = place.run("protect", &line);
            assert!(path.symlink_metadata().is_err(), "{user:?} {file}");
            let reported = String::from_utf8_lossy(&run.stderr);
            let name = path.display().to_string();
            assert!(reported.contains(&(name + " is new, and protected")), "{reported}");
        }
        // Programs of a project read and write the file of the project itself.
        let place = Place::new(user);
        let run = place.run("protect", "cat .env; echo A=1 > .env; cat .env; rm .env; echo > .env");
        assert_eq!(String::from_utf8_lossy(&run.stdout), "secret\nA=1\n");
        assert!(run.stderr.is_empty() && place.path("project/.env").exists());
    }
}

fn parent(path: &Path) -> &str {
    path.parent().unwrap().to_str().unwrap()
}

/// Runs one command line and returns everything that the run reported.
fn run_line(stage: &Stage, line: &str) -> String {
    let call = reply().call("run_shell_command", json!({ "command": line }));
    stage.server.stream(call).stream(reply().text("done"));
    let run = stage.yolo("go");
    format!("{}\n{}", stage.response(), String::from_utf8_lossy(&run.stderr))
}

#[test]
fn a_command_cannot_make_the_next_run_start_a_program_or_ask_another_server() {
    if !holds(None, "protect") {
        return;
    }
    for file in [".env", ".gemini/.env"] {
        let stage = Stage::new();
        let file = stage.home.home().join(file);
        let reported = run_line(
            &stage,
            &format!(
                "echo 'touch ~/planted' > ~/e.sh; printf 'BASH_ENV=%s\\nGOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9\\n' ~/e.sh > {}",
                file.display()
            ),
        );
        assert!(reported.contains("is new, and protected"), "{reported}");
        assert!(!file.exists());
        // A hook runs in the next session.
        let hooks = json!({"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "true"}]}]}});
        stage.home.settings(&hooks);
        stage.server.stream(reply().text("done"));
        stage.yolo("go");
        assert!(!stage.home.home().join("planted").exists());
    }
}

#[test]
fn variables_of_a_file_start_no_program_and_other_variables_reach_children() {
    for file in [".env", ".gemini/.env"] {
        let stage = Stage::new();
        let home = stage.home.home();
        fs::write(home.join("e.sh"), "touch ~/planted\n").unwrap();
        let variables = format!(
            "BASH_ENV={0}/e.sh\nENV={0}/e.sh\nLD_PRELOAD={0}/e.so\nGIT_SSH_COMMAND={0}/e.sh\nDATABASE_URL=db\n",
            home.display()
        );
        fs::write(home.join(file), variables).unwrap();
        let print =
            "printf '%s %s %s ' \"${BASH_ENV-unset}\" \"${LD_PRELOAD-unset}\" \"$DATABASE_URL\"";
        let hook = format!("bash -c true; {print} >> ~/seen");
        let hooks =
            json!({"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": hook}]}]}});
        stage.home.settings(&hooks);
        let reported = run_line(&stage, &format!("bash -c true; {print} >> ~/seen"));
        assert!(!home.join("planted").exists(), "{file}");
        let seen = fs::read_to_string(home.join("seen")).unwrap();
        assert_eq!(seen, "unset unset db unset unset db ", "{file}");
        let notice =
            format!("Ignored in {}: BASH_ENV, ENV, LD_PRELOAD, ", home.join(file).display());
        assert_eq!(reported.matches(&notice).count(), 1, "{reported}");
        assert!(!reported.contains("e.so"), "{reported}");
    }
}

#[test]
fn no_file_tool_reads_or_changes_the_file_in_any_mode() {
    for mode in ["default", "auto_edit", "yolo"] {
        for file in [".env", ".gemini/.env", ".gemini/oauth_creds.json"] {
            for exists in [true, false] {
                let stage = Stage::new();
                let home = stage.home.home();
                let path = home.join(file);
                if exists {
                    fs::write(&path, "KEY=hush\n").unwrap();
                }
                let name = path.to_str().unwrap();
                for (tool, arguments) in [
                    ("read_file", json!({ "file_path": name })),
                    ("read_many_files", json!({ "include": [file] })),
                    (
                        "grep_search",
                        json!({
                            "pattern": "KEY",
                            "dir_path": parent(&path),
                            "include_pattern": path.file_name().unwrap().to_str(),
                            "no_ignore": true,
                        }),
                    ),
                    ("write_file", json!({ "file_path": name, "content": "planted" })),
                    (
                        "replace",
                        json!({ "file_path": name, "old_string": "hush", "new_string": "x", "instruction": "x" }),
                    ),
                ] {
                    stage.server.stream(reply().call(tool, arguments));
                }
                stage.server.stream(reply().text("Done."));
                let run = stage
                    .pollux(&["--approval-mode", mode, "-o", "stream-json", "-p", "go"])
                    .directory(&home)
                    .run();
                run.assert_code(0);
                let reported = format!("{:?}", stage.server.last_request().contents());
                assert!(!reported.contains("KEY=hush"), "{mode} {file}: {reported}");
                let text = fs::read_to_string(&path).ok();
                assert_eq!(text.as_deref(), exists.then_some("KEY=hush\n"), "{mode} {file}");
            }
        }
    }
}
